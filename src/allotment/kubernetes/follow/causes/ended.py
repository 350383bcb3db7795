"""What is over: a Job that is complete, or that has failed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from allotment.kubernetes.follow import fields
from allotment.kubernetes.follow.model import Cause, State, by_condition
from allotment.kubernetes.follow.part import Part
from allotment.pictures.counts import counted

_TRY_AGAIN: Final = (
    "mend what the evidence says; `allot retry NAME` lets the failed ones be tried again, and `allot apply "
    "--again NAME` starts it anew. A volume whose source is wrong stays in the file; the right one goes to "
    "the end of it, under a new id"
)
_FAILED: Final[Mapping[str, tuple[str, str]]] = {
    "FailedIndexes": (
        "",
        _TRY_AGAIN,
    ),
    "MaxFailedIndexesExceeded": (
        "so many failed that Kubernetes stopped the rest",
        _TRY_AGAIN,
    ),
    "BackoffLimitExceeded": (
        "its workers failed more often than they may be tried again",
        "read what they wrote (`allot logs NAME --cluster`), mend it, and `allot apply --again NAME`",
    ),
    "PodFailurePolicy": (
        "a worker ended in a way that is not worth another try",
        "read what it wrote (`allot logs NAME --cluster`), mend it, and `allot apply --again NAME`",
    ),
    "DeadlineExceeded": (
        "it ran longer than the Job as a whole may",
        "raise `max_seconds` in its pipeline and `allot apply --again NAME`: what is done stays done",
    ),
}


def finished(part: Part) -> Iterator[Cause]:
    """A Job that is complete."""
    if not part.is_job:
        return
    if fields.holds(part.owner, "Complete"):
        words = f"all {counted(part.total, _unit(part))} are done"
        if part.total == 1:
            words = f"its one {_unit(part)} is done"
        yield Cause("finished", State.FINISHED, words, "", by_condition(part.owner, "Complete"))


def failed(part: Part) -> Iterator[Cause]:
    """A Job that Kubernetes has given up."""
    found = fields.condition(part.owner, "Failed") or fields.condition(part.owner, "FailureTarget")
    if not part.is_job or found is None or not found.holds:
        return
    reason = found.reason or "it does not say why"
    words, remedy = _FAILED.get(found.reason, (f"Kubernetes gave the Job up ({reason})", "read the evidence"))
    kind = "volumes-failed" if found.reason == "FailedIndexes" else "job-failed"
    if part.total > 1 or not words:
        failed = f" and {len(part.failed):,} failed for good" if part.failed else ""
        done = len(part.done)
        sums = f"of {counted(part.total, _unit(part))} {done:,} {'is' if done == 1 else 'are'} done{failed}"
        words = f"{words}; {sums}" if words else sums
    indexes = tuple(sorted(part.failed))
    remedy = remedy.replace("NAME", part.name)
    yield Cause(kind, State.FAILED, words, remedy, by_condition(part.owner, found.type), indexes)


def _unit(part: Part) -> str:
    if part.kind == "gang":
        return "worker"
    return "pack" if any(len(pack) > 1 for pack in part.volumes) else "volume"
