"""A Job without a queue: the default scheduler places what it finds a place for, KAI what it has room for.

By default a new Job is as wide as its window, and its pods wait for devices by themselves; the controller
only narrows it when told, and widens it again. KAI moves windows itself and is left to it; of a gang that it
starts together, more than are left can never start, and that is said.
"""

from __future__ import annotations

from allotment.kubernetes.operate.bounds import bounds_of, decision
from allotment.kubernetes.operate.part import Part
from allotment.kubernetes.operate.queued import Wish
from allotment.kubernetes.operate.values import Decision, Verb
from allotment.kubernetes.render.placing import MIN_MEMBER


def judged_plain(part: Part, window: tuple[int, int]) -> Decision | Wish:
    """What becomes of a Job of the default scheduler's, or that it would grow."""
    if part.is_suspended:
        return decision(part, Verb.STAYS, "it is suspended")
    bounds = bounds_of(part, window)
    if part.left <= part.width <= window[1] and (part.told is None or part.told >= part.width):
        return decision(part, Verb.STAYS, bounds.because)
    if bounds.most < part.width:
        return decision(part, Verb.SHRINKS, bounds.because, bounds.most)
    if bounds.most == part.width:
        return decision(part, Verb.STAYS, bounds.because)
    return Wish(part, bounds)


def judged_by_kai(part: Part) -> Decision:
    """What there is to say of a Job of KAI's."""
    if part.gang > max(1, part.left):
        words = (
            f"KAI starts {part.gang} of its pods together or none, and {part.left} are left: one that is "
            f"evicted would not come back; kubectl -n {part.namespace} annotate --overwrite job {part.name} "
            f"{MIN_MEMBER}={max(1, part.left)}"
        )
        return decision(part, Verb.ASKS, words)
    return decision(part, Verb.STAYS, "KAI fills what is free by itself")
