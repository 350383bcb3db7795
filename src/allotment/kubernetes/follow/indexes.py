"""Indexes of a part as they stand: which volumes run where, on which devices, and which failed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from allotment.kubernetes.follow import fields
from allotment.kubernetes.follow.model import Counts, Index, IndexState
from allotment.kubernetes.follow.part import Part
from allotment.kubernetes.follow.pods import Phase, devices_of, endings, node_of, phase_of
from allotment.kubernetes.kinds import Object

_STATES: Final[Mapping[Phase, IndexState]] = {
    Phase.GATED: IndexState.PENDING,
    Phase.PENDING: IndexState.PENDING,
    Phase.STARTING: IndexState.STARTING,
    Phase.RUNNING: IndexState.RUNNING,
    Phase.LOST: IndexState.LOST,
    Phase.STOPPING: IndexState.STOPPING,
    Phase.SUCCEEDED: IndexState.DONE,
    Phase.FAILED: IndexState.WAITING,
}
_LIVELIEST: Final = (Phase.RUNNING, Phase.STARTING, Phase.PENDING, Phase.GATED, Phase.LOST, Phase.STOPPING)


def indexes_of(part: Part) -> Iterator[Index]:
    """The indexes that have a pod and are not done, and those that failed."""
    if not part.is_job:
        yield from _copies(part)
        return
    for number in sorted({*part.by_index, *part.failed} - part.done):
        index = _index(part, number, part.by_index.get(number, ()))
        if index is not None:
            yield index


def _index(part: Part, number: int, pods: Sequence[Object]) -> Index | None:
    phases = {phase: pod for pod in pods if (phase := phase_of(pod, part.seen))}
    failures = sum(phase_of(pod, part.seen) is Phase.FAILED for pod in pods)
    live = next((phase for phase in _LIVELIEST if phase in phases), None)
    volumes = part.volumes_at(number)
    if number in part.failed:
        pod = phases.get(Phase.FAILED)
        return Index(
            number,
            volumes,
            IndexState.FAILED,
            fields.name(pod),
            failures=failures,
            message=_ended(pod),
            part=part.number,
        )
    if live is None:
        failed = phases.get(Phase.FAILED)
        if failed is None:
            return None
        return Index(
            number,
            volumes,
            IndexState.WAITING,
            fields.name(failed),
            failures=failures,
            message=_ended(failed),
            part=part.number,
        )
    return _of_pod(part, phases[live], _STATES[live], number, failures)


def _copies(part: Part) -> Iterator[Index]:
    """The copies of a fleet, in the order of their names."""
    for number, pod in enumerate(sorted(part.pods, key=fields.name)):
        phase = phase_of(pod, part.seen)
        if phase is not Phase.SUCCEEDED:
            yield _of_pod(part, pod, _STATES[phase], number)


def _of_pod(part: Part, pod: Object, state: IndexState, number: int, failures: int = 0) -> Index:
    return Index(
        number,
        part.volumes_at(number) if part.is_job else (),
        state,
        fields.name(pod),
        node_of(pod),
        devices_of(pod, part.seen),
        fields.moment(pod, "status", "startTime"),
        failures,
        part=part.number,
    )


def _ended(pod: Object | None) -> str:
    """How a pod ended, in few words."""
    if pod is None:
        return ""
    reason = fields.text(pod, "status", "reason")
    for each in endings(pod):
        if each.code is not None and each.code != 0:
            why = reason or ("" if each.reason == "Error" else each.reason)
            return f"exit code {each.code}" + (f", {why}" if why else "")
    return reason


def counts_of(part: Part, indexes: Sequence[Index]) -> Counts:
    """How many indexes stand how."""
    found = {state: sum(each.state is state for each in indexes) for state in IndexState}
    return Counts(
        total=part.total,
        done=len(part.done) or (fields.count(part.owner, "status", "succeeded") if part.is_job else 0),
        failed=len(part.failed),
        running=found[IndexState.RUNNING],
        starting=found[IndexState.STARTING],
        pending=found[IndexState.PENDING],
        stopping=found[IndexState.STOPPING] + found[IndexState.LOST],
    )
