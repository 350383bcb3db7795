"""A Job whose Workloads Kueue has all closed while the Job has not ended: nobody will start it again.

Facts, seen on Kueue 0.17: a Job of several slices that somebody suspends gets its Workloads finished with the
reason ``FailedToStart`` when Kueue cannot put its pods' annotations together again. The Job stays suspended,
and Kueue makes no other Workload of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from allotment.kubernetes.follow import fields
from allotment.kubernetes.follow.causes.phrases import short
from allotment.kubernetes.follow.model import Cause, State, by_condition, evidence
from allotment.kubernetes.follow.part import FINISHED, Part

NOT_STARTED: Final = "FailedToStart"
PATIENCE: Final = 60.0


def given_up(part: Part) -> Iterator[Cause]:
    """Its newest Workload says that Kueue could not start it, and none is left that waits or has quota."""
    if not part.is_job or not part.is_suspended or not part.workloads or part.unfinished:
        return
    newest = max(part.workloads, key=lambda each: fields.created(each) or 0.0)
    found = fields.condition(newest, FINISHED)
    if found is None or not (found.reason == NOT_STARTED or _is_old(part, found)):
        return
    why = short(found.message) or "it does not say why"
    words = (
        f"Kueue could not start it and has given it up: {why}"
        if found.reason == NOT_STARTED
        else f"Kueue has finished every Workload of it, and the Job has not ended: {why}"
    )
    remedy = f"`allot apply --again {part.name}` makes its Job anew; what is done stays done"
    shown = (*by_condition(newest, FINISHED), evidence(part.owner, "spec.suspend", "true"))
    yield Cause("given-up", State.NEVER, words, remedy, shown)


def _is_old(part: Part, found: fields.Condition) -> bool:
    """Whether Kueue had the time to make another Workload."""
    return found.since is not None and part.now - found.since >= PATIENCE
