"""A live Job of a queue that will never run again: Kueue has closed every Workload of it.

Kueue makes a Workload for a Job once; where all of them are finished and the Job is not, nothing starts it.
Seen on Kueue 0.17: of a Job of several slices that somebody suspends, with the reason ``FailedToStart``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from allotment.kubernetes.apply.pausing import workloads_of
from allotment.kubernetes.follow import fields
from allotment.kubernetes.kinds import Object

FINISHED: Final = "Finished"
NOT_STARTED: Final = "FailedToStart"


def given_up(job: Object, workloads: Iterable[Object]) -> str | None:
    """What Kueue says of it where it has given the Job up; None where it has not."""
    own = list(workloads_of(job, workloads))
    if not own or not fields.is_true(job, "spec", "suspend"):
        return None
    if not all(fields.holds(each, FINISHED) for each in own):
        return None
    newest = max(own, key=lambda each: (fields.created(each) or 0.0, fields.name(each)))
    found = fields.condition(newest, FINISHED)
    if found is None or found.reason != NOT_STARTED:
        return None
    return " ".join(found.message.split()) or "it does not say why"
