"""A Job that Kueue admits: what it may do by itself, whatever its peers do.

A growth that does not fit costs three defects of Kueue's, so it is taken back soon. A cut of a Job of which
Kueue has given quota back for volumes that have run out frees too much of it (``reclaimablePods`` stays as it
is, and is taken off the smaller count again: seen with 0.17), so such a Job is left to end by itself: Kueue
admits it for what is left. After an eviction a Job comes back whole or not at all, so it is lowered to what
fits. Release 0.17 does not start a Job again that has grown: two annotations of its pods' template say
the old Workload.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from allotment.kubernetes.follow import fields
from allotment.kubernetes.kinds import Object
from allotment.kubernetes.operate.bounds import Bounds, bounds_of, decision, left_words
from allotment.kubernetes.operate.part import Part, count_of
from allotment.kubernetes.operate.queues import Queues
from allotment.kubernetes.operate.values import Decision, Pace, Verb

FREE_IT: Final = (
    "kubectl -n {0.namespace} patch job {0.name} --type merge -p "
    '\'{{"spec":{{"template":{{"metadata":{{"annotations":{{"kueue.x-k8s.io/workload":null,'
    '"kueue.x-k8s.io/workload-slice-name":null}}}}}}}}}}\''
)
"""Takes the old Workload's name off a suspended Job's pods."""


@dataclass(frozen=True, slots=True)
class Wish:
    """A Job that would take more, up to ``bounds.most``; ``granted`` is its Workload, if Kueue admits it."""

    part: Part
    bounds: Bounds
    granted: Object | None = None


def judged(part: Part, window: tuple[int, int], queues: Queues, pace: Pace) -> Decision | Wish:
    """What becomes of a Job of a queue, or that it would grow."""
    slices = part.slices
    if not slices.live:
        return _without(part)
    if slices.is_paused:
        return decision(part, Verb.STAYS, "it is paused")
    if slices.granted is not None:
        return _admitted(part, window, slices.granted, queues.now, pace)
    return _waiting(part, window, slices.live[0], queues)


def _admitted(
    part: Part, window: tuple[int, int], workload: Object, now: float, pace: Pace
) -> Decision | Wish:
    """A Job with quota."""
    if fields.holds(workload, "Evicted"):
        return decision(part, Verb.STAYS, "it is being evicted")
    if part.slices.has_given_back:
        words = f"{left_words(part)}, and Kueue has given back what is not needed"
        return decision(part, Verb.STAYS, words)
    granted = count_of(workload)
    bounds = bounds_of(part, window)
    if part.left < part.width:
        return decision(part, Verb.STAYS, bounds.because)
    if part.width > granted:
        return _growing(part, bounds, granted, now, pace)
    if part.width < granted:
        return decision(part, Verb.STAYS, f"Kueue has still to take {granted - part.width} back")
    return _within(part, bounds, workload)


def _within(part: Part, bounds: Bounds, granted: Object) -> Decision | Wish:
    """A Job with quota for what it asks for."""
    if bounds.most < part.width:
        return decision(part, Verb.SHRINKS, bounds.because, bounds.most)
    if bounds.most == part.width:
        return decision(part, Verb.STAYS, bounds.because)
    return Wish(part, bounds, granted)


def _without(part: Part) -> Decision:
    if part.slices.is_stuck:
        why = "Kueue gave up to start it again after an eviction, as it had grown"
        return decision(part, Verb.ASKS, f"{why} (mended in later releases); {FREE_IT.format(part)}")
    return decision(part, Verb.STAYS, "Kueue has no Workload of it yet")


def _waiting(part: Part, window: tuple[int, int], asked: Object, queues: Queues) -> Decision:
    """A Job without quota: lowered to what fits, so that it is admitted; never below what its window says."""
    if part.slices.has_given_back:
        return decision(part, Verb.STAYS, f"it waits for quota, and {left_words(part)}")
    queue = queues.queue_of(asked)
    hindered = "its LocalQueue is not there" if queue is None else queues.hindered(queue)
    if hindered is not None:
        return decision(part, Verb.STAYS, f"it has no quota, and {hindered}")
    bounds = bounds_of(part, window, queues.most(asked))
    was = "it was evicted, and" if fields.holds(asked, "Evicted") else "it waits for quota, and"
    if bounds.most < part.width:
        return decision(part, Verb.LOWERED, f"{was} {bounds.because}", bounds.most)
    return _to_what_fits(part, bounds, queues.fits(asked), was)


def _to_what_fits(part: Part, bounds: Bounds, fits: int | None, was: str) -> Decision:
    if fits is None:
        return decision(part, Verb.STAYS, f"{was} what its queue has free cannot be told")
    if fits >= part.width:
        return decision(part, Verb.STAYS, f"{was} fits: Kueue will admit it")
    to = max(bounds.least, fits)
    if to < part.width:
        return decision(part, Verb.LOWERED, f"{was} {fits} of {part.width} would be admitted now", to)
    return decision(part, Verb.STAYS, f"{was} {fits} of the {part.width} that it needs at least are free")


def _growing(part: Part, bounds: Bounds, granted: int, now: float, pace: Pace) -> Decision:
    """A growth that Kueue has not granted: a moment of patience, then back."""
    if bounds.most < part.width:
        return decision(part, Verb.SHRINKS, bounds.because, max(bounds.least, min(bounds.most, granted)))
    asked = part.slices.asked
    since = part.stepped if asked is None else max(part.stepped, fields.created(asked) or 0.0)
    if now - since < pace.patience:
        return decision(part, Verb.STAYS, f"Kueue has granted {granted}, and may still grant {part.width}")
    why = None if asked is None else fields.condition(asked, "QuotaReserved")
    said = f": {why.message}" if why is not None and why.message else ""
    words = f"Kueue did not grant {part.width} within {pace.patience:g} s{said}"
    return decision(part, Verb.TAKEN_BACK, words, max(1, min(granted, part.width)))
