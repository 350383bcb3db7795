"""A request for all devices of a node: every one that passes the request must be had, and be in order.

One that is tainted, in use or used up keeps the request off its node. Devices that break a constraint, and
more than a claim may have, are an error to the allocator, which keeps the pod off every node: so a node that
is passed over while one of its devices is in use can be in the way once it is empty (``allocateOne`` and
``validateDeviceRequest`` of k8s.io/dynamic-resource-allocation).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Final, NamedTuple

from allotment.devices.allocation.rules import attribute_of
from allotment.devices.claims import MOST_DEVICES, Constraint
from allotment.devices.slices import DeviceId
from allotment.needs.clauses import Candidate
from allotment.needs.same import same_words
from allotment.planning.why.room import Room
from allotment.planning.why.steps import Lost, Sifted, Stage, Step
from allotment.planning.why.values import cards_words

Here = list[Candidate]
OF_ALL: Final = "all of a node are asked for"
OF_NODE: Final = "are of a node that "
WITH_ALL: Final = "are, with all of their node, "


class Rule(NamedTuple):
    """A constraint: whether devices keep it, and what they have of what it is about."""

    constraint: Constraint
    holds: Callable[[Here], bool]
    values: Callable[[Here], str]


def look_at_whole_nodes(room: Room, found: Sifted, rules: Sequence[Rule]) -> tuple[Step | None, Step | None]:
    """The steps at which no node is left: with nothing in use, and now."""
    nodes = room.by_node(found.every)
    too_many = {node: here for node, here in nodes.items() if len(here) > MOST_DEVICES}
    if too_many:
        words = f"{WITH_ALL}{MOST_DEVICES} or fewer"
        lost = tuple(_lost(here, f"{len(here):,} on {node}", node) for node, here in too_many.items())
        left = sum(map(len, nodes.values())) - sum(map(len, too_many.values()))
        step = Step(Stage.CONSTRAINT, words, left, lost)
        return step, step
    ever = _step(nodes, _ids(found.would), rules, "in order")
    return ever, _step(nodes, _ids(found.free), rules, "free")


def _step(
    nodes: Mapping[str, Here], good: Collection[DeviceId], rules: Sequence[Rule], state: str
) -> Step | None:
    whole = {node: here for node, here in nodes.items() if all(each.listed.id in good for each in here)}
    for rule in rules:
        breaking = {node: here for node, here in whole.items() if not rule.holds(here)}
        if breaking:
            left = sum(map(len, whole.values())) - sum(map(len, breaking.values()))
            words = f"{WITH_ALL}{same_words(rule.constraint)}"
            lost = tuple(_lost(here, f"{node}: {rule.values(here)}", node) for node, here in breaking.items())
            return Step(Stage.CONSTRAINT, words, left, lost, attribute_of(rule.constraint) or "")
    if whole:
        return None
    lost = tuple(
        _lost(here, f"{sum(each.listed.id in good for each in here):,} of {len(here):,} on {node}", node)
        for node, here in nodes.items()
    )
    return Step(Stage.NODE, f"{OF_NODE}has all of them {state}", 0, lost)


def _lost(here: Here, why: str, node: str) -> Lost:
    return Lost(len(here), cards_words(here), why, (node,))


def _ids(devices: Sequence[Candidate]) -> frozenset[DeviceId]:
    return frozenset(each.listed.id for each in devices)
