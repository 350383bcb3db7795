"""Cards that are cut on demand, as NVIDIA's DRA driver would publish them: every partition that could be cut.

One slice holds a counter set for each card (its memory slots and engines), and one slice for each card holds
the card itself and each profile at each of its places, by name; what a device takes of the counters excludes
what cannot be there beside it. On cards that must be reset for MIG it has to be on beforehand, and the card
itself is not offered. Uuids and slots as capacity are missing, since a partition that is not there has none.
Facts: the driver's gate DynamicMIG (v0.5, Kubernetes 1.35 and later).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Final

from allotment.devices.catalogue import Card, MigProfile
from allotment.devices.described_cards import capacity_of, card_devices
from allotment.devices.mig.cuts import Cut, all_cuts
from allotment.devices.slices import Capacity, CounterConsumption, CounterSet, Device, Pool, ResourceSlice
from allotment.quantities import format_bytes

MOST_CARDS: Final = 8  # counter sets of a slice, by the API
_COUNTERS: Final = {
    "multiprocessors": "multiprocessors",
    "copy_engines": "copy-engines",
    "decoders": "decoders",
    "encoders": "encoders",
    "jpeg_engines": "jpeg-engines",
    "ofa_engines": "ofa-engines",
}


def on_demand_slices(card: Card, node: str, count: int) -> Iterator[ResourceSlice]:
    """The slices of a node with so many of these cards."""
    pool = Pool(node, generation=1, resource_slice_count=count + 1)
    sets = tuple(CounterSet(_set_name(number), _all_counters(card)) for number in range(count))
    name = f"{node}-{card.driver}"
    yield ResourceSlice(f"{name}-0000", card.driver, pool, node_name=node, shared_counters=sets)
    for number in range(count):
        devices = tuple(sorted(_devices(card, node, number), key=lambda device: device.name))
        yield ResourceSlice(f"{name}-{number + 1:04d}", card.driver, pool, node_name=node, devices=devices)


def _devices(card: Card, node: str, number: int) -> Iterator[Device]:
    if card.mig is None:
        return
    if card.mig.without_reset:
        (whole,) = card_devices(card, node, number)
        memory = _all_counters(card).get("memory")
        capacity = whole.capacity if memory is None else {**whole.capacity, "memory": Capacity(memory)}
        taken = CounterConsumption(_set_name(number), _all_counters(card))
        yield replace(whole, capacity=capacity, consumes_counters=(taken,))
    cuts = all_cuts(card.mig)
    devices = card_devices(card, node, number, cuts)
    for cut, device in zip(cuts, devices, strict=True):
        attributes = {key: value for key, value in device.attributes.items() if key != "uuid"}
        capacity, takes = _amounts_of(cut, number)
        yield replace(device, attributes=attributes, capacity=capacity, consumes_counters=takes)


@lru_cache(maxsize=4096)
def _amounts_of(cut: Cut, number: int) -> tuple[Mapping[str, Capacity], tuple[CounterConsumption, ...]]:
    """What a partition of the card of this number offers and takes: one value for all nodes."""
    capacity = {key: value for key, value in capacity_of(cut).items() if "Slice" not in key}
    return capacity, (CounterConsumption(_set_name(number), _counters_of(cut)),)


def _set_name(number: int) -> str:
    return f"gpu-{number}-counter-set"


def _all_counters(card: Card) -> dict[str, str]:
    """What a card has: of everything the most that any of its profiles takes."""
    if card.mig is None:
        return {}
    found: dict[str, int] = {}
    for profile in card.mig.profiles:
        for key, value in _amounts(profile).items():
            found[key] = max(found.get(key, 0), value)
    slots = {f"memory-slice-{slot}": "1" for slot in range(card.mig.slots)}
    return {**{key: _written(key, value) for key, value in found.items()}, **slots}


def _counters_of(cut: Cut) -> dict[str, str]:
    """What a partition takes: its engines, and exactly its slots."""
    amounts = {key: _written(key, value) for key, value in _amounts(cut.profile).items()}
    slots = range(cut.start, cut.start + cut.profile.memory_slices)
    return {**amounts, **{f"memory-slice-{slot}": "1" for slot in slots}}


def _amounts(profile: MigProfile) -> dict[str, int]:
    told = {counter: getattr(profile, engine) for engine, counter in _COUNTERS.items()}
    return {
        key: value for key, value in {**told, "memory": profile.memory.value}.items() if value is not None
    }


def _written(key: str, value: int) -> str:
    return format_bytes(value) if key == "memory" else str(value)
