"""Pods that the default scheduler finds no node for: what it says, and what of it can be told better.

Facts: Kubernetes 1.36, texts seen on a real one. The scheduler says ``cannot allocate all claims`` for every
claim that it cannot meet, whatever the reason, so whether there is a driver at all, and whether others still
hold the devices, is looked up here; the rest is for the allocator. Claims of a pod that stops hold their
devices until it is gone, while its quota is given on after a second.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from allotment.kubernetes.follow import fields
from allotment.kubernetes.follow.causes.phrases import (
    ADMINISTRATOR,
    BY_ITSELF,
    anew,
    ask_on,
    listed,
    short,
)
from allotment.kubernetes.follow.model import Cause, Evidence, State, evidence
from allotment.kubernetes.follow.part import Part
from allotment.kubernetes.follow.pods import UNSCHEDULED, Phase, allocated, claims_of
from allotment.kubernetes.kinds import DEVICE_CLASS, NODE, POD, SLICE, Object
from allotment.pictures.counts import counted

NO_CLAIM: Final = "cannot allocate all claims"
NO_KEY: Final = re.compile(r"no such key: (\S+)")
_DRIVER: Final = re.compile(r"""device\.driver\s*==\s*['"]([^'"]+)['"]""")
_NODES: Final = re.compile(
    r"nodes are available: (.*?)(?:\. (?:still not|preemption|no new claims)|\.?$)", re.DOTALL
)
_REASON: Final = re.compile(r"(\d{1,6}) (.+)")


def unschedulable(part: Part) -> tuple[tuple[Object, fields.Condition], ...]:
    """Its pods without a node, and what the scheduler says of each."""
    waiting = part.in_phase(Phase.PENDING)
    return tuple((pod, found) for pod in waiting if (found := fields.is_false(pod, UNSCHEDULED)) is not None)


def reasons_of(message: str) -> Mapping[str, int]:
    """How many nodes are out, by the reason: ``0/3 nodes are available: 2 Insufficient cpu, 1 …``."""
    found = _NODES.search(message)
    counts: dict[str, int] = {}
    for each in re.split(r", (?=\d+ )", found[1]) if found is not None else ():
        told = _REASON.fullmatch(each.strip())
        if told is not None:
            counts[told[2].strip()] = counts.get(told[2].strip(), 0) + int(told[1])
    return counts


def selector_fails(part: Part) -> Iterator[Cause]:
    """A selector that fails on some device, which keeps the pod off every node."""
    for pod, found in unschedulable(part):
        if "CEL runtime error" not in found.message and "no such key" not in found.message:
            continue
        key = NO_KEY.search(found.message)
        if key is not None:
            words = (
                f"its selector reads `{key[1]}`, which some device does not have, and that keeps it "
                "off every node"
            )
            remedy = f"mend the name, or guard it in `select`: `.?{key[1]}.orValue(…)`; then {anew(part)}"
        else:
            words = (
                "its selector fails on some device, and that keeps it off every node: "
                f"{short(found.message, 160)}"
            )
            remedy = f"mend `select` in its pipeline; then {anew(part)}"
        yield Cause("selector-fails", State.NEVER, words, remedy, _said(pod, found))
        return


def no_driver(part: Part) -> Iterator[Cause]:
    """Nobody publishes devices of the driver that its class asks for."""
    if not part.in_phase(Phase.PENDING) or not part.seen.knows(SLICE):
        return
    for name in part.device_classes:
        found = part.seen.named(DEVICE_CLASS, name)
        drivers = drivers_of(found) if found is not None else ()
        if found is None or not drivers:
            continue
        slices = [each for each in part.seen.of(SLICE) if fields.text(each, "spec", "driver") in drivers]
        if not slices:
            words = (
                f"no node offers devices of the driver `{drivers[0]}`, which its device class "
                f"`{name}` asks for"
            )
            remedy = (
                f"{ADMINISTRATOR} installs the DRA driver on the nodes with cards; it starts by itself then"
            )
            shown = (
                evidence(found, "spec.selectors", f"device.driver == '{drivers[0]}'"),
                Evidence(
                    "ResourceSlices", "spec.driver", f"none of {len(part.seen.of(SLICE))} is of {drivers[0]}"
                ),
                *(each for pod, told in unschedulable(part)[:1] for each in _said(pod, told)),
            )
            yield Cause("no-driver", State.NEVER, words, remedy, shown)
            return
        yield from _on_selected(part, drivers[0], slices)


def _on_selected(part: Part, driver: str, slices: list[Object]) -> Iterator[Cause]:
    """The nodes that its pods may go to have no such devices, though others have."""
    pod = next(iter(part.in_phase(Phase.PENDING)))
    wanted = fields.mapping(pod, "spec", "nodeSelector")
    named = {fields.text(each, "spec", "nodeName") for each in slices}
    if not wanted or "" in named:
        return
    nodes = [
        each
        for each in part.seen.of(NODE)
        if fields.mapping(each, "metadata", "labels").items() >= wanted.items()
    ]
    if not nodes or any(fields.name(each) in named for each in nodes):
        return
    labels = ", ".join(f"{key}={value}" for key, value in wanted.items())
    words = (
        f"its pods may go to {counted(len(nodes), 'node')} alone ({labels}), and none of them offers "
        f"devices of `{driver}`"
    )
    remedy = f"{ADMINISTRATOR} installs the driver there, or gives the flavor other labels"
    shown = (
        evidence(pod, "spec.nodeSelector", labels),
        Evidence("ResourceSlices", "spec.nodeName", f"of {driver}: {listed(sorted(named))}"),
    )
    yield Cause("no-driver-on-nodes", State.NEVER, words, remedy, shown)


def drivers_of(device_class: Object) -> tuple[str, ...]:
    """The drivers that a class names in its selectors."""
    texts = (
        fields.text(each, "cel", "expression") for each in fields.items(device_class, "spec", "selectors")
    )
    return tuple(dict.fromkeys(name for text in texts for name in _DRIVER.findall(text)))


def handed_over(part: Part) -> Iterator[Cause]:
    """Quota is there, and others that are stopping still have the devices."""
    waiting = [(pod, found) for pod, found in unschedulable(part) if NO_CLAIM in found.message]
    if not waiting:
        return
    drivers = {
        each for name in part.device_classes for each in drivers_of(part.seen.named(DEVICE_CLASS, name) or {})
    }
    stopping, held = [], 0
    for pod in part.seen.of(POD):
        if not fields.is_ending(pod) or fields.text(pod, "status", "phase") in {"Succeeded", "Failed"}:
            continue
        devices = [each for claim in claims_of(pod, part.seen) for each in allocated(claim)]
        mine = [each for each in devices if not drivers or each.split("/")[0] in drivers]
        if mine:
            stopping.append(pod)
            held += len(mine)
    if not stopping:
        return
    are, have = ("is", "has") if len(stopping) == 1 else ("are", "have")
    words = (
        f"its quota is granted, and {counted(len(stopping), 'pod')} of others that {are} stopping still "
        f"{have} {counted(held, 'device')}"
    )
    until = fields.text(stopping[0], "metadata", "deletionTimestamp")
    shown = (
        *_said(*waiting[0]),
        evidence(stopping[0], "metadata.deletionTimestamp", until),
        *(
            evidence(claim, "status.allocation", listed(allocated(claim)))
            for claim in claims_of(stopping[0], part.seen)
        ),
    )
    yield Cause(
        "devices-not-free-yet", State.WAITING, words, "nothing: it takes a grace period at most", shown
    )


def topology(part: Part) -> Iterator[Cause]:
    """Pods that have to be where the others of them are."""
    for pod, found in unschedulable(part):
        reasons = reasons_of(found.message)
        told = [reason for reason in reasons if "pod affinity" in reason or "topology" in reason]
        if not told:
            continue
        key = next((fields.text(term, "topologyKey") for term in _affinities(pod)), "")
        place = f"`{key}`" if key else "the same place"
        words = (
            f"its pods have to be together in one {place}, and the place that the first chose has no "
            "room for more"
        )
        remedy = (
            "wait until others end there, write `topology: {prefer: …}` for `require`, or a narrower `window`"
        )
        yield Cause("topology", State.WAITING, words, remedy, _said(pod, found))
        return


def _affinities(pod: Object) -> tuple[Mapping[str, object], ...]:
    return fields.items(
        pod, "spec", "affinity", "podAffinity", "requiredDuringSchedulingIgnoredDuringExecution"
    )


def no_node(part: Part) -> Iterator[Cause]:
    """Everything else that the scheduler says."""
    told = unschedulable(part)
    if not told:
        return
    pod, found = told[0]
    reasons = reasons_of(found.message)
    total = sum(reasons.values())
    many = f"{counted(len(told), 'pod')} of it {'finds' if len(told) == 1 else 'find'} no node"
    claims = sum(number for reason, number in reasons.items() if NO_CLAIM in reason)
    others = {reason: number for reason, number in reasons.items() if NO_CLAIM not in reason}
    shown = _said(pod, found)
    if claims and not others:
        nodes = "the only one does not have" if total == 1 else f"none of {total:,} has"
        words = f"{many}: {nodes} the devices free that its claim asks for"
        yield Cause("no-devices-free", State.WAITING, words, ask_on(part), shown)
        return
    if claims or NO_CLAIM in found.message:
        rest = "; ".join(f"{number} {_plain(reason)}" for reason, number in others.items())
        words = (
            f"{many}: {claims:,} {'has' if claims == 1 else 'have'} not the devices free that its claim "
            "asks for"
        )
        words += f", and of the others {rest}" if rest else ""
        yield Cause("no-devices-free", State.WAITING, words, ask_on(part), shown)
        return
    if reasons:
        words = (
            f"{many}: no node takes it "
            f"({'; '.join(f'{number} {_plain(reason)}' for reason, number in reasons.items())})"
        )
        remedy = _remedy(reasons)
        yield Cause("no-node", State.WAITING, words, remedy, shown)
        return
    if found.reason == "SchedulingGated" or not found.message:
        return
    words = f"{many}: {short(found.message, 160)}"
    yield Cause("unschedulable", State.WAITING, words, BY_ITSELF, shown)


def not_looked_at(part: Part) -> Iterator[Cause]:
    """Pods of which no scheduler has said a word."""
    waiting = [pod for pod in part.in_phase(Phase.PENDING) if fields.condition(pod, UNSCHEDULED) is None]
    old = [pod for pod in waiting if part.now - (fields.created(pod) or part.now) > 60]
    if not old:
        return
    who = fields.text(old[0], "spec", "schedulerName") or "default-scheduler"
    words = f"no scheduler has looked at {counted(len(old), 'pod')} of it; they ask for `{who}`"
    remedy = f"ask {ADMINISTRATOR} whether `{who}` runs"
    shown = (evidence(old[0], "status.conditions[PodScheduled]", f"there is none; schedulerName is {who}"),)
    yield Cause("no-scheduler", State.WAITING, words, remedy, shown)


_PLAIN: Final = {
    "node(s) were unschedulable": "closed for new pods",
    "node(s) didn't match Pod's node affinity/selector": "not of the kind that it asks for",
}


def _plain(reason: str) -> str:
    if reason.startswith("Insufficient "):
        return f"without enough free {reason.removeprefix('Insufficient ')}"
    if "untolerated taint" in reason:
        return (
            f"kept for others ({reason[reason.find('{') :]})"
            if "{" in reason
            else "kept for others (a taint)"
        )
    return _PLAIN.get(reason, short(reason, 80))


def _remedy(reasons: Mapping[str, int]) -> str:
    if any(reason.startswith("Insufficient ") for reason in reasons):
        return "ask for less `cpu` or `memory` in `resources:`, or wait until others end"
    return f"ask {ADMINISTRATOR} about the nodes: {listed(sorted(reasons), 2)}"


def _said(pod: Object, found: fields.Condition) -> tuple[Evidence, ...]:
    return (evidence(pod, f"status.conditions[{UNSCHEDULED}]", found.words),)
