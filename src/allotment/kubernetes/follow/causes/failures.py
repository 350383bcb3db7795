"""Volumes that failed, for good or for now: what the codes and reasons of their containers mean.

Facts: the runner ends with 13 for what no other start can mend, 143 when it was told to end, 1 for
everything else; 126 to 128 are of the container's runtime, when it cannot start the command: an image
without the runner.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from allotment.kubernetes.follow import fields
from allotment.kubernetes.follow.causes.phrases import anew, listed, short
from allotment.kubernetes.follow.model import Cause, State, evidence
from allotment.kubernetes.follow.part import Part
from allotment.kubernetes.follow.pods import DISRUPTED, Ending, Phase, endings, index_of
from allotment.kubernetes.follow.ranges import written
from allotment.kubernetes.kinds import Object
from allotment.pictures.counts import counted

TOLD_TO_END: Final = 143
_LOGS: Final = "read what it wrote: `allot logs {name} --cluster`"


@dataclass(frozen=True, slots=True)
class _Kind:
    kind: str
    matches: Callable[[Object, tuple[Ending, ...]], bool]
    words: str
    remedy: str


def _by_code(*codes: int) -> Callable[[Object, tuple[Ending, ...]], bool]:
    return lambda _, ended: any(each.code in codes for each in ended)


def _by_reason(reason: str) -> Callable[[Object, tuple[Ending, ...]], bool]:
    return lambda pod, ended: (
        fields.text(pod, "status", "reason") == reason or any(each.reason == reason for each in ended)
    )


_KINDS: Final = (
    _Kind(
        "no-runner",
        lambda _, ended: any(
            each.code in {126, 127, 128} or each.reason in {"StartError", "ContainerCannotRun"}
            for each in ended
        ),
        "the runner cannot be started in its image",
        "put the runner into the image (`allot doctor` looks at images; docs/image.md), and name "
        "it in a new pipeline",
    ),
    _Kind(
        "out-of-memory",
        _by_reason("OOMKilled"),
        "the container used more memory than it may (OOMKilled)",
        "raise `memory` in `resources:` of its pipeline; a live Job keeps what it has: {anew}",
    ),
    _Kind(
        "deadline",
        _by_reason("DeadlineExceeded"),
        "it ran longer than a pod of it may",
        "raise `max_seconds` in its pipeline, or pack fewer volumes; what is done stays done",
    ),
    _Kind(
        "node-short",
        _by_reason("Evicted"),
        "the node ran short of memory or disk and put it off",
        "ask for more `memory` or `workdir` in `resources:`; it is tried again",
    ),
    _Kind("permanent", _by_code(13), "the runner says that no other try can mend it (exit code 13)", _LOGS),
    _Kind(
        "killed",
        _by_code(137),
        "it was killed: it did not end within its grace period",
        "nothing if it is seldom; pages that take longer than the grace period are what does it",
    ),
    _Kind(
        "failed",
        lambda _, ended: any(each.code not in {None, 0, TOLD_TO_END} for each in ended),
        "its worker failed",
        _LOGS,
    ),
)


def failures(part: Part) -> Iterator[Cause]:
    """Failed pods by kind; for good where the index is given up, and else for now."""
    found: dict[tuple[str, bool], list[tuple[Object, tuple[Ending, ...]]]] = {}
    for pod in _failed_pods(part):
        ended = endings(pod)
        kind = next((each for each in _KINDS if each.matches(pod, ended)), None)
        index = index_of(pod)
        if kind is None or (index is not None and index in part.done):
            continue
        final = index is not None and index in part.failed
        found.setdefault((kind.kind, final), []).append((pod, ended))
    told: set[int] = set()
    for kind in _KINDS:
        for final in (True, False):
            pods = found.get((kind.kind, final))
            if pods:
                indexes = {index for pod, _ in pods if (index := index_of(pod)) is not None}
                told |= indexes
                yield _cause(part, kind, pods, indexes, final=final)
    rest = part.failed - told
    if rest:
        words = (
            f"{counted(len(rest), _unit(part))} failed for good, and the pods are gone ({_names(part, rest)})"
        )
        remedy = (
            _LOGS.format(name=part.called(min(rest)))
            + ", or look at the attempts in the bucket (`allot status`)"
        )
        shown = (
            evidence(part.owner, "status.failedIndexes", fields.text(part.owner, "status", "failedIndexes")),
        )
        yield Cause("failed-indexes", State.FAILED, words, remedy, shown, tuple(sorted(rest)))


def _failed_pods(part: Part) -> Iterator[Object]:
    """Those that failed of themselves; of a fleet also those whose container was started again."""
    others = () if part.is_job else part.in_phase(Phase.STARTING, Phase.RUNNING)
    for pod in (*part.in_phase(Phase.FAILED), *(pod for pod in others if endings(pod))):
        disrupted = fields.condition(pod, DISRUPTED)
        if disrupted is None or not disrupted.holds:
            yield pod


def _cause(
    part: Part, kind: _Kind, pods: list[tuple[Object, tuple[Ending, ...]]], indexes: set[int], *, final: bool
) -> Cause:
    first, ended = pods[0]
    names = _names(part, indexes) if indexes else fields.name(first)
    total = len(indexes) or len(pods)
    how = (
        "failed for good"
        if final
        else "failed and is tried again"
        if total == 1
        else "failed and are tried again"
    )
    unit = _unit(part) if indexes else "pod"
    brief = f"{kind.words} ({names})"
    words = f"{counted(total, unit)} {how}: {brief}"
    codes = ", ".join(
        f"{each.reason or 'Error'}, exit code {each.code}" for each in ended if each.code is not None
    )
    message = next((each.message for each in ended if each.message), fields.text(first, "status", "message"))
    place = "status.containerStatuses[].state.terminated"
    if not codes:
        codes, place = fields.text(first, "status", "reason"), "status.reason"
    shown = [evidence(first, place, codes + (f": {short(message, 300)}" if message else ""))]
    if final:
        failed = fields.text(part.owner, "status", "failedIndexes")
        shown.append(evidence(part.owner, "status.failedIndexes", failed))
    remedy = kind.remedy.format(
        anew=anew(part), name=part.called(min(indexes)).split(" and ")[0] if indexes else part.name
    )
    return Cause(kind.kind, State.FAILED, words, remedy, tuple(shown), tuple(sorted(indexes)), brief=brief)


def _unit(part: Part) -> str:
    return "worker" if part.kind == "gang" else "pod" if part.kind == "fleet" else "volume"


def _names(part: Part, indexes: set[int] | frozenset[int]) -> str:
    if part.volumes:
        return listed([part.called(index) for index in sorted(indexes)])
    return f"index {written(indexes)}"
