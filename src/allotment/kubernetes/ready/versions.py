"""Whether this Kubernetes is the one that the platform's file says, and has what its claims use.

A feature gate cannot be asked for. What is told of one is what can be seen: a field of its own that the
server kept in a trial (a claim template that is stored nowhere), or that a driver has published; else what
this version has on by default, and then it is said that this is a guess. Gates of NVIDIA's driver cannot be
seen at all, but for what it publishes only with them. Facts: `allotment.devices.server`, and the ways' own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from allotment.answers import Answer, fine, note, problem
from allotment.devices.server import Gate, Server, outside_words
from allotment.kubernetes import kinds
from allotment.kubernetes.follow.fields import items, text
from allotment.kubernetes.kinds import Object
from allotment.kubernetes.ready.seen import Seen
from allotment.kubernetes.render.context import minor_of
from allotment.kubernetes.render.platform.classes import class_objects
from allotment.needs.ways import Way, ways_of
from allotment.needs.ways.gates import (
    CONSUMABLE_SHARES,
    DYNAMIC_MIG,
    GATE_WORDS,
    DriverGate,
    driver_words,
    kubernetes_words,
)

CHECK: Final = "kubernetes"
GATES: Final = "gates"
FIRST_MINOR: Final = 34
CLAIMS: Final = "resource.k8s.io/v1"


def kubernetes(seen: Seen) -> Iterator[Answer]:
    """The version, and whether it serves claims."""
    said = minor_of(seen.platform)
    if seen.minor is None:
        yield note(CHECK, "which version of Kubernetes this is cannot be told")
    elif seen.minor < FIRST_MINOR:
        words = f"Kubernetes 1.{seen.minor} has no {CLAIMS}, by which devices are claimed"
        yield problem(CHECK, words, "update it: 1.34 is the first that has it")
        return
    elif seen.minor < said:
        words = f"this is Kubernetes 1.{seen.minor}, and the platform's file says 1.{said}: what only the "
        yield problem(
            CHECK, f"{words}newer one keeps is rendered, and dropped here without a word", _say(seen)
        )
    elif seen.minor > said:
        words = f"this is Kubernetes 1.{seen.minor}, and the platform's file says 1.{said}"
        yield note(CHECK, f"{words}: checks and plans decide as the older one", _say(seen))
    else:
        yield fine(CHECK, f"Kubernetes 1.{seen.minor}, as the platform's file says")
    if seen.minor is not None and (unknown := outside_words(f"1.{seen.minor}")):
        yield note(CHECK, unknown)
    if seen.served is not None and CLAIMS not in seen.served:
        remedy = "take `--runtime-config` and DynamicResourceAllocation=false from the API server's flags"
        yield problem(CHECK, f"it does not serve {CLAIMS}, so that nothing can be claimed", remedy)
    elif not seen.serves(kinds.SLICE):
        yield problem(CHECK, f"it does not serve {CLAIMS}, so that nothing can be claimed")


def _say(seen: Seen) -> str:
    return f'write `versions: {{kubernetes: "1.{seen.minor}"}}` in the platform\'s file'


def gates(seen: Seen) -> Iterator[Answer]:
    """What the ways to share a card need switched on, in Kubernetes and in the driver."""
    told: set[str] = set()
    for word in seen.platform.sharing:
        ways = ways_of(word)
        for way in ways:
            for gate in way.gates:
                yield from _kubernetes_gate(seen, gate, way, needed=len(ways) == 1)
            for driver_gate in way.driver_gates:
                if driver_gate.name not in told:
                    told.add(driver_gate.name)
                    yield from _driver_gate(seen, driver_gate, way)
    yield from _extended_names(seen)
    if seen.kept.get(Gate.PRIORITIZED_LIST) is False and seen.platform.scheduler == "default":
        yield _off(Gate.PRIORITIZED_LIST, "needs with a `fallback`", needed=True)


def _extended_names(seen: Seen) -> Iterator[Answer]:
    """Whether the server keeps the names by which pods may count the platform's kinds of card."""
    asked = [
        text(each, "metadata", "name") for each in class_objects(seen.platform).objects if _is_named(each)
    ]
    live = [found for name in asked if (found := seen.snapshot.named(kinds.DEVICE_CLASS, name)) is not None]
    if any(map(_is_named, live)):
        yield fine(GATES, f"{Gate.EXTENDED_RESOURCE} is on: classes have their extendedResourceName")
    elif live:
        what = "pods that count kinds of card (`limits: {allotment/CLASS: 1}`)"
        yield _off(Gate.EXTENDED_RESOURCE, what, needed=False)


def _is_named(value: Object) -> bool:
    return bool(text(value, "spec", "extendedResourceName"))


def _kubernetes_gate(seen: Seen, gate: Gate, way: Way, *, needed: bool) -> Iterator[Answer]:
    what = f"`sharing: {way.word}` ({GATE_WORDS.get(gate, way.title)})"
    if seen.kept.get(gate) is False:
        yield _off(gate, what, needed=needed)
    elif seen.kept.get(gate):
        yield fine(GATES, f"{gate} is on, for {what}: the server keeps its fields")
    elif gate in PUBLISHED and any(PUBLISHED[gate](each) for each in seen.snapshot.of(kinds.SLICE)):
        yield fine(GATES, f"{gate} is on, for {what}: slices have its fields")
    elif seen.minor is None:
        yield note(GATES, f"whether {gate} is on, for {what}, cannot be told")
    elif Server.of(f"1.{seen.minor}").has(gate):
        words = f"{gate}, for {what}, is on by default in Kubernetes 1.{seen.minor}"
        yield fine(GATES, f"{words}; whether somebody has switched it off cannot be seen")
    else:
        words = f"{what} needs {kubernetes_words(gate)}; whether somebody has switched it on cannot be seen"
        yield note(GATES, words, f"ask whoever runs the API server for --feature-gates={gate}=true")


def _off(gate: Gate, what: str, *, needed: bool) -> Answer:
    words = f"{gate} is off: the server drops its fields without a word, and {what} cannot be had"
    remedy = f"--feature-gates={gate}=true for the API server, the controllers, the scheduler and kubelets"
    return problem(GATES, words, remedy) if needed else note(GATES, words, remedy)


def _driver_gate(seen: Seen, gate: DriverGate, way: Way) -> Iterator[Answer]:
    shows = PUBLISHED_BY_DRIVER.get(gate.name)
    if shows is not None and any(shows(each) for each in seen.snapshot.of(kinds.SLICE)):
        yield fine(GATES, f"NVIDIA's driver has {gate.name} on, for {way.title}: its slices show it")
        return
    unseen = "no slice shows it" if shows is not None else "it cannot be seen from outside"
    words = f"{way.title} (`sharing: {way.word}`) needs {driver_words(gate)}; {unseen}"
    yield note(GATES, words, f"look at the chart's value `featureGates.{gate.name}`, or leave the way out")


def _has_counters(value: Object) -> bool:
    consuming = any(each.get("consumesCounters") for each in items(value, "spec", "devices"))
    return consuming or bool(items(value, "spec", "sharedCounters"))


def _has_shares(value: Object) -> bool:
    return any(
        each.get("allowMultipleAllocations") for each in (value.get("spec") or {}).get("devices") or ()
    )


PUBLISHED: Final = {Gate.PARTITIONABLE_DEVICES: _has_counters, Gate.CONSUMABLE_CAPACITY: _has_shares}
PUBLISHED_BY_DRIVER: Final[Mapping[str, Callable[[Object], bool]]] = {
    DYNAMIC_MIG.name: _has_counters,
    CONSUMABLE_SHARES.name: _has_shares,
}
