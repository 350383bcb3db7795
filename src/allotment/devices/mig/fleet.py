"""The cards of a world as what can be cut: one entry a card, however it is cut now.

A card is known by its product name. What is published of it today (itself, partitions, candidates for MIG on
demand) does not matter for how it could be cut; its number on the node is that of the driver's device names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from allotment.devices.catalogue import Card, by_product_name
from allotment.devices.known_classes import NVIDIA_DRIVER
from allotment.devices.slices import Device
from allotment.devices.world import World

_NAME: Final = re.compile(r"gpu-(\d+)(-mig-.*)?")


class FleetCard(NamedTuple):
    """A card of a node; ``number`` is that of its device's name."""

    node: str
    number: int
    card: Card

    @property
    def name(self) -> str:
        """The card as a person names it."""
        return f"{self.node} gpu-{self.number}"


def cards_of(world: World) -> tuple[FleetCard, ...]:
    """Every card that the catalogue knows, by node and number, in the order in which they are published."""
    found: dict[tuple[str, int], FleetCard] = {}
    for card in _cards(world):
        found.setdefault((card.node, card.number), card)
    order = {node: place for place, node in enumerate(dict.fromkeys(card.node for card in found.values()))}
    return tuple(sorted(found.values(), key=lambda card: (order[card.node], card.number)))


def unknown_products(world: World) -> tuple[str, ...]:
    """Product names of NVIDIA's devices that the catalogue does not have."""
    names = (
        _product(device) for each in world.slices if each.driver == NVIDIA_DRIVER for device in each.devices
    )
    return tuple(sorted({name for name in names if name and by_product_name(name) is None}))


def _cards(world: World) -> Iterator[FleetCard]:
    for published in world.slices:
        if published.driver != NVIDIA_DRIVER:
            continue
        for device in published.devices:
            match = _NAME.fullmatch(device.name)
            card = by_product_name(_product(device))
            if match is not None and card is not None:
                yield FleetCard(published.node_name or published.pool.name, int(match[1][:9]), card)


def _product(device: Device) -> str:
    for key in ("productName", f"{NVIDIA_DRIVER}/productName"):
        if isinstance(found := device.attributes.get(key), str):
            return found
    return ""
