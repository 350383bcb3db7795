"""Lints of a need against devices that are published: selectors that fail, gates that exclude each other.

A selector that is an error on one device keeps every pod of the claim off every node where the allocator
meets it; which device that is no cluster says. Counters on slices show that cards are cut on demand, devices
that several claims may hold that shares are on.
Facts: NVIDIA DRA driver for GPUs v0.5; kubernetes/kubernetes issue 135184.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

from allotment.devices.claims import ExactRequest
from allotment.devices.known_classes import NVIDIA_DRIVER
from allotment.devices.selectors import Matcher, SelectorError, evaluate
from allotment.devices.world import World
from allotment.errors import Severity
from allotment.needs.claim import claim_for, exactly
from allotment.needs.fault import Fault
from allotment.needs.fit import explain
from allotment.needs.lints.looked import Looked
from allotment.needs.lints.on_shared_cards import shared_card_not_whole
from allotment.needs.rules import GATE_OFF, INCOMPATIBLE_GATES, KUEUE_REFUSES, SELECTOR_FAILS
from allotment.needs.ways.choosing import able
from allotment.needs.ways.gates import CONSUMABLE_SHARES, DYNAMIC_MIG, kubernetes_words, off_by_default
from allotment.needs.ways.mig_on_demand import MIG_ON_DEMAND
from allotment.needs.words import describe
from allotment.platform.need import Need

WorldLint = Callable[[Looked, World], Iterator[Fault]]

_MOST: Final = 4
_COST: Final = "cost limit"
_GUARDED: Final = "guard the key: `.?key.orValue(…)`"
_CHEAPER: Final = "ask less of each device: every loop within a loop multiplies the cost"


def selector_fails(looked: Looked, world: World, matches: Matcher = evaluate) -> Iterator[Fault]:
    """A selector of the team's own that is an error on a device that is published."""
    for each in looked.choice.alternatives:
        if each.need.select is None or each.way is None:
            continue
        failures = list(_failures(exactly(each, looked.platform.cards), each.need.select, world, matches))
        if failures:
            device, why = failures[0]
            more = f" and {len(failures) - 1:,} more" if len(failures) > 1 else ""
            message = (
                f"the selector is an error on {device}{more}, which keeps the claim off every node: {why}"
            )
            evidence = tuple(f"{name}: {error}" for name, error in failures[:_MOST])
            hint = _CHEAPER if _COST in why else _GUARDED
            loc: tuple[str | int, ...] = ("select",)
            if each.need is not looked.need and each.need in looked.need.fallback:
                loc = ("fallback", looked.need.fallback.index(each.need), "select")
            yield Fault(loc, SELECTOR_FAILS, message, hint, evidence=evidence)


def _failures(
    exact: ExactRequest, selector: str, world: World, matches: Matcher
) -> Iterator[tuple[str, str]]:
    """The devices of the class on which the selector is an error."""
    known = world.classes.get(exact.device_class)
    for published in world.slices:
        for device in published.devices if known is not None else ():
            try:
                in_class = known is not None and all(
                    matches(each, published.driver, device) for each in known.selectors
                )
            except SelectorError:
                continue
            try:
                if in_class:
                    matches(selector, published.driver, device)
            except SelectorError as error:
                yield f"{device.name} of {published.pool.name}", str(error).splitlines()[0]


def gates_of_a_world(looked: Looked, world: World) -> Iterator[Fault]:
    """Gates that the published devices show to be on, and that exclude what the need uses."""
    shown = {
        DYNAMIC_MIG.name: [each for each in _cards(world) if each.startswith("counters of ")],
        CONSUMABLE_SHARES.name: [each for each in _cards(world) if not each.startswith("counters of ")],
    }
    for way in looked.ways:
        for gate in way.driver_gates if way.word != MIG_ON_DEMAND.word else ():
            for other in gate.refuses:
                if seen := shown.get(other):
                    message = f"`{way.word}` needs {gate.name}, which the driver does not do beside {other}"
                    evidence = tuple(seen[:_MOST])
                    hint = "use nodes that are set up otherwise, or another way to share"
                    yield Fault(("sharing",), INCOMPATIBLE_GATES, message, hint, evidence=evidence)


def on_demand_without_counters(looked: Looked, world: World) -> Iterator[Fault]:
    """Slices that are cut on demand, on a Kubernetes that has the gate off."""
    version = looked.platform.versions.kubernetes
    off = off_by_default(MIG_ON_DEMAND.gates, version)
    seen = [each for each in _cards(world) if each.startswith("counters of ")]
    if looked.on_cluster and off and seen and any(way.word == MIG_ON_DEMAND.word for way in looked.ways):
        message = (
            f"cards here are cut on demand, and Kubernetes {version} reads their counters only with a gate "
            "that is off"
        )
        evidence = (*seen[:_MOST], *(kubernetes_words(gate) for gate in off))
        hint = "switch it on in the API server and the scheduler, or cut the slices in advance"
        yield Fault(("sharing",), GATE_OFF, message, hint, Severity.WARNING, evidence)


def another_would_fit(looked: Looked, world: World) -> Iterator[Fault]:
    """A fallback that fits where the one that is claimed instead of the whole list never does."""
    need, kept = looked.need, looked.choice.alternatives[0].need
    if not looked.with_kueue or kept is not need or not need.fallback or _fits(need, looked, world):
        return
    for place, other in enumerate(need.fallback):
        if other.cpu is None and _fits(other, looked, world):
            words = describe(claim_for(other, kinds=looked.platform.cards))
            message = f"what is claimed never fits here, and {words}, which is given up for Kueue, would"
            hint = "write it in the place of the first, and take `fallback` out"
            yield Fault(("fallback", place), KUEUE_REFUSES, message, hint, Severity.WARNING)
            return


def _fits(need: Need, looked: Looked, world: World) -> bool:
    """Whether the need without its fallbacks is ever met."""
    alone = claim_for(
        replace(need, fallback=()), kinds=looked.platform.cards, able=able(looked.platform, world)
    )
    return explain(alone, world).fits_ever


def _cards(world: World) -> list[str]:
    """What shows that a gate is on: counters of a pool, or a device that several claims may hold."""
    found: list[str] = []
    for published in world.slices:
        if published.driver != NVIDIA_DRIVER:
            continue
        if published.shared_counters:
            found.append(f"counters of {published.pool.name}")
        found += [
            f"{device.name} of {published.pool.name} may be held by several claims"
            for device in published.devices
            if device.allow_multiple_allocations
        ]
    return found


WORLD_LINTS: Final[tuple[WorldLint, ...]] = (
    selector_fails,
    gates_of_a_world,
    on_demand_without_counters,
    another_would_fit,
    shared_card_not_whole,
)
