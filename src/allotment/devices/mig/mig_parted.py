"""A layout as the file that NVIDIA's tool for static MIG reads: how many of each profile, by card of a node.

The tool is given no places: it creates partitions in every order until one works, so that what a layout needs
is what it gets. Cards are named by their number on the node. Nodes that are cut alike share a configuration.
Facts: NVIDIA/mig-parted, api/spec/v1 and README (August 2026).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from allotment.devices.mig.fleet import FleetCard
from allotment.devices.mig.seats import Seat

NAME = "allotment"
Entry = dict[str, Any]


def mig_parted(fleet: Sequence[FleetCard], seats: Sequence[Seat]) -> tuple[dict[str, Any], dict[str, str]]:
    """The file, and which configuration of it each node gets."""
    configurations: dict[str, list[Entry]] = {}
    by_node: dict[str, str] = {}
    for node in dict.fromkeys(each.node for each in fleet):
        entries = _entries([(at, each) for at, each in enumerate(fleet) if each.node == node], seats)
        if not entries:
            continue
        known = next((name for name, other in configurations.items() if other == entries), None)
        by_node[node] = known or f"{NAME}-{len(configurations) + 1}"
        configurations.setdefault(by_node[node], entries)
    return {"version": "v1", "mig-configs": configurations}, by_node


def _entries(cards: Sequence[tuple[int, FleetCard]], seats: Sequence[Seat]) -> list[Entry]:
    """What is set on the cards of a node; cards without MIG are left alone."""
    groups: dict[tuple[tuple[str, int], ...], list[int]] = {}
    for at, each in cards:
        if each.card.mig is not None:
            names = Counter(seat.name for seat in seats if seat.card == at and seat.profile is not None)
            groups.setdefault(tuple(sorted(names.items())), []).append(each.number)
    every = len(groups) == 1 and len(next(iter(groups.values()))) == len(cards)
    return [
        {
            "devices": "all" if every else numbers,
            "mig-enabled": bool(names),
            **({"mig-devices": dict(names)} if names else {}),
        }
        for names, numbers in groups.items()
    ]
