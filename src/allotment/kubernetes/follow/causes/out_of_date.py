"""What a condition says holds only as long as nothing that is newer contradicts it.

A refusal of Kueue's stays as it was written until Kueue looks at the Workload again, and Kueue does so when
something of the cohort ends. So a refusal for want of quota is held against the numbers of the queue: where
all of it is free, and nothing has ended since for which Kueue would look again, the refusal is out of date.
Facts, seen on Kueue 0.17: ``Pending the preemption`` stood for a quarter of an hour on a widened Job whose
pause had ended, with nothing taken back and the quota free.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from allotment.kubernetes.cluster.capacity import amount_text
from allotment.kubernetes.follow import fields
from allotment.kubernetes.follow.causes.phrases import ADMINISTRATOR
from allotment.kubernetes.follow.model import Cause, Evidence, State, Sum, by_condition, evidence
from allotment.kubernetes.follow.part import FINISHED, RESERVED, Part
from allotment.kubernetes.follow.sums import lacks_of, sums_of
from allotment.kubernetes.kinds import WORKLOAD, Object
from allotment.pictures.counts import counted

PATIENCE: Final = 60.0
_ENDS: Final = ((FINISHED, True), ("Evicted", True), (RESERVED, False))
"""By which conditions of another Workload quota becomes free."""


def reclaim_is_over(part: Part, workload: Object, found: fields.Condition) -> Cause | None:
    """A reclaim that Kueue announced and that is over: the quota is free, and Kueue has not looked again."""
    minutes = _minutes(part, workload, found)
    if minutes is None:
        return None
    words = (
        f"Kueue said {counted(minutes, 'minute')} ago that it would take back quota for it; now the "
        "quota is free, and Kueue has not looked at it again"
    )
    return _stale("reclaim-is-over", part, workload, words)


def quota_is_free(part: Part, workload: Object, found: fields.Condition) -> Cause | None:
    """A lack of quota that there is no more, and that Kueue has not looked at again."""
    minutes = _minutes(part, workload, found)
    if minutes is None:
        return None
    words = (
        f"what Kueue says of it is out of date: the quota that it lacked {counted(minutes, 'minute')} ago is "
        "free, and Kueue has not looked at it again"
    )
    return _stale("quota-is-free", part, workload, words)


def _stale(kind: str, part: Part, workload: Object, words: str) -> Cause:
    remedy = (
        f"pause it and let it go on (`suspend: true`, then `false`, an apply after each); else "
        f"{ADMINISTRATOR} starts Kueue's manager again"
    )
    shown = (*by_condition(workload, RESERVED), *(_sum_shown(workload, each) for each in sums_of(part)))
    return Cause(kind, State.WAITING, words, remedy, shown)


def _minutes(part: Part, workload: Object, found: fields.Condition) -> int | None:
    """For how long it has stood against the numbers of the queue; None where it does not."""
    sums = sums_of(part) if not part.is_growth else ()
    if found.since is None or not sums or not all(_is_free(each, found.message) for each in sums):
        return None
    age = part.now - max([found.since, *_ends(part, workload)])
    return int((part.now - found.since) // 60) if age >= PATIENCE else None


def _is_free(found: Sum, message: str) -> bool:
    """Whether all that it asks is free, in the flavors that the message names."""
    capacity = found.capacity
    named = {each.flavor for each in lacks_of(message) if each.resource == capacity.resource and each.flavor}
    parts = [each for each in capacity.parts if each.flavor in named]
    return capacity.has_free(found.asked) and all(each.free >= found.asked for each in parts)


def _ends(part: Part, workload: Object) -> Iterator[float]:
    """When others gave up quota, of any queue: a cohort may be of many."""
    for each in part.seen.of(WORKLOAD):
        if each is workload:
            continue
        for kind, holds in _ENDS:
            condition = fields.condition(each, kind)
            if condition is not None and condition.holds is holds and condition.since is not None:
                yield condition.since


def _sum_shown(workload: Object, found: Sum) -> Evidence:
    capacity = found.capacity
    asked = amount_text(found.asked, capacity.resource)
    return evidence(workload, capacity.resource, f"it asks for {asked}; {capacity.arithmetic()}")
