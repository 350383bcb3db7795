"""What ``check`` says about a pipeline's need: each fault with its place in the file and what to do."""

from __future__ import annotations

import math
from collections.abc import Iterator

from allotment.devices.claims import MOST_DEVICES
from allotment.errors import Finding, Severity
from allotment.needs.cards import NO_KINDS, Kinds
from allotment.needs.limits import Fault, faults_of
from allotment.needs.memory_traps import memory_warnings
from allotment.needs.rules import MISSES_CARDS, SAME_OF_ONE, TOO_LARGE, UNGUARDED
from allotment.needs.select import unguarded
from allotment.platform.need import Need
from allotment.repository.model import HasNeed


def need_findings(pipeline: HasNeed, kinds: Kinds = NO_KINDS) -> list[Finding]:
    """Errors for what cannot be had, and warnings for what is most likely not what is meant."""
    if pipeline.gpu is None:
        return _of_processors(pipeline)
    errors = [_finding(pipeline, fault) for fault in faults_of(pipeline.gpu, kinds)]
    return [*errors, *(_finding(pipeline, each, Severity.WARNING) for each in _warnings(pipeline.gpu))]


def _finding(pipeline: HasNeed, fault: Fault, severity: Severity = Severity.ERROR) -> Finding:
    return Finding(
        pipeline.position("gpu", *fault.loc), fault.rule, fault.message, fault.hint, severity=severity
    )


def _warnings(need: Need) -> Iterator[Fault]:
    yield from _of_one(need, ())
    for place, fallback in enumerate(need.fallback):
        yield from _of_one(fallback, ("fallback", place))


def _of_one(need: Need, loc: tuple[str | int, ...]) -> Iterator[Fault]:
    for message, hint in memory_warnings(need.memory):
        yield Fault((*loc, "memory"), MISSES_CARDS, message, hint)
    for each in unguarded(need.select or ""):
        message = f"a device without `{each.key}` makes this selector an error, for every pod on every node"
        yield Fault((*loc, "select"), UNGUARDED, message, f"write {each.guarded}")
    if need.same is not None and need.count == 1:
        message = f"`same: {need.same}` says nothing about one card"
        yield Fault((*loc, "same"), SAME_OF_ONE, message, "ask for a `count` of two or more, or take it out")


def _of_processors(pipeline: HasNeed) -> list[Finding]:
    cores = math.ceil(pipeline.resources.cpu or 1)
    if cores <= MOST_DEVICES:
        return []
    message = (
        f"`cpu` asks for {cores} cores, and a claim holds at most {MOST_DEVICES} devices: "
        f"on a machine's own cores the pipeline gets {MOST_DEVICES}"
    )
    hint = f"ask for {MOST_DEVICES} or fewer, and let the window run more volumes at once"
    return [Finding(pipeline.position("resources", "cpu"), TOO_LARGE, message, hint, Severity.WARNING)]
