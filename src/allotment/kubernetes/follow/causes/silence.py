"""Nothing runs, and no other cause was found: what can still be said without guessing."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from typing import Final

from allotment.kubernetes.follow import fields
from allotment.kubernetes.follow.model import Cause, State, evidence
from allotment.kubernetes.follow.part import Part
from allotment.kubernetes.follow.pods import Phase, ends_of, index_of
from allotment.kubernetes.follow.ranges import written
from allotment.kubernetes.kinds import Object

RECENT: Final = 60.0
SOON: Final = "nothing: look again in a few seconds"


def silence(part: Part) -> Iterator[Cause]:
    """Nothing runs, and nothing says why."""
    shown = evidence(part.owner, "status", "nothing in it says why no pod runs")
    stopping = part.in_phase(Phase.STOPPING)
    age = part.now - (fields.created(part.owner) or part.now)
    if part.width == 0:
        words, remedy = (
            "its window is 0, so none of its pods is to run",
            "write a window of 1 or more and apply",
        )
        shown = evidence(part.owner, "spec.parallelism" if part.is_job else "spec.replicas", "0")
        yield Cause("window-of-nothing", State.WAITING, words, remedy, (shown,))
    elif stopping:
        words = f"{len(stopping)} of its pods are stopping, and no new ones have come yet"
        at = fields.text(stopping[0], "metadata", "deletionTimestamp")
        told = (evidence(stopping[0], "metadata.deletionTimestamp", at),)
        yield Cause("stopping", State.WAITING, words, "nothing: it takes a grace period at most", told)
    elif uncounted := _uncounted(part):
        one = len(uncounted) == 1
        words = (
            f"{'a pod' if one else f'{len(uncounted)} pods'} of it {'has' if one else 'have'} ended, and the "
            "Job controller has not counted what was done yet"
        )
        told = (evidence(uncounted[0], "status.phase", fields.text(uncounted[0], "status", "phase")),)
        yield Cause("not-counted-yet", State.WAITING, words, SOON, told)
    elif (since := _last_end(part)) is not None and 0 <= part.now - since < RECENT:
        words = f"a pod of it ended {part.now - since:.0f} s ago, and the next has not come yet"
        shown = evidence(part.owner, "status.completedIndexes", written(part.done) or "none")
        yield Cause("next-to-come", State.STARTING, words, SOON, (shown,))
    elif part.is_job and not part.pods and age < RECENT:
        words = "it has only just been sent, and has no pods yet"
        at = fields.text(part.owner, "metadata", "creationTimestamp")
        told = (evidence(part.owner, "metadata.creationTimestamp", at),)
        yield Cause("just-sent", State.WAITING, words, "nothing: look again in a minute", told)
    else:
        words = "no pod of it runs, and nothing that could be read says why"
        remedy = f"look at it with `kubectl describe -n {part.namespace} {_described(part)}`"
        yield Cause("unknown", State.WAITING, words, remedy, (shown,))


def _uncounted(part: Part) -> tuple[Object, ...]:
    """Pods that have ended of indexes of which the Job's status does not say so."""
    if not part.is_job:
        return ()
    ended = part.in_phase(Phase.SUCCEEDED, Phase.FAILED)
    told = part.done | part.failed
    return tuple(
        pod
        for pod in ended
        if (index := index_of(pod)) is not None and index not in told and _age_of_end(part, pod) < RECENT
    )


def _age_of_end(part: Part, pod: Object) -> float:
    """How long ago the last container of a pod ended; without an end where none is told."""
    since = max(ends_of(pod), default=None)
    return inf if since is None else part.now - since


def _last_end(part: Part) -> float | None:
    """When the last of its pods ended."""
    ended = part.in_phase(Phase.SUCCEEDED, Phase.FAILED) if part.is_job else ()
    return max((at for pod in ended for at in ends_of(pod)), default=None)


def _described(part: Part) -> str:
    return f"{'job' if part.is_job else 'deployment'} {fields.name(part.owner)}"
