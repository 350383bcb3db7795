"""Who pays for what is planned, by name: whose pods are taken, and who ends later because of it.

The same scene is played with what is planned and without it under the same seeds; the difference, seed by
seed, is what it costs others. That pods are taken for it is told by name, as the scheduler names them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from allotment.planning.plan.courses import Course, WorkCourse
from allotment.planning.plan.plan import Payer
from allotment.simulation.quantiles import spread
from allotment.simulation.work import Kind, Work

COUNTED: Final = 60.0
"""Who ends later by less than this, or has so few GPU-seconds less, does not pay."""


def payers_of(
    others: Sequence[Work], beside: Sequence[Course], alone: Sequence[Course], ends: Sequence[float]
) -> tuple[Payer, ...]:
    """Who is set back in any of the draws, those that are so most often first.

    ``ends`` is until when what is planned runs in each draw; no longer are fleets looked at. Of the draws
    with what is planned only those are looked at that were played without it too.
    """
    found = list(_payers(others, beside[: len(alone)], alone, ends[: len(alone)]))
    return tuple(sorted(found, key=lambda each: (-each.draws, -(each.later.p50 or 0.0), each.name)))


def _payers(
    others: Sequence[Work], beside: Sequence[Course], alone: Sequence[Course], ends: Sequence[float]
) -> Iterator[Payer]:
    for work in others:
        ones = [each.works[work.name] for each in beside]
        pairs = zip(ones, (each.works[work.name] for each in alone), ends, strict=True)
        later = [_less(*each) if work.kind is Kind.FLEET else _later(*each) for each in pairs]
        hit = [
            one.taken > 0 or delay is None or delay >= COUNTED for one, delay in zip(ones, later, strict=True)
        ]
        if any(hit):
            yield Payer(
                name=work.name,
                team=work.team,
                kind=str(work.kind),
                reclaimed=spread([float(one.taken) for one in ones]),
                pages_lost=spread([float(one.pages_taken) for one in ones]),
                later=spread(later),
                draws=sum(hit) / len(hit),
            )


def _later(one: WorkCourse, other: WorkCourse, _: float) -> float | None:
    """By how much it ends later; None where it no longer ends within the horizon."""
    if other.finished is None:
        return 0.0
    return None if one.finished is None else max(0.0, one.finished - other.finished)


def _less(one: WorkCourse, other: WorkCourse, until: float) -> float:
    """How many GPU-seconds a fleet has less until then."""
    return max(0.0, total(other.steps, until) - total(one.steps, until))


def total(steps: Sequence[tuple[float, float]], until: float) -> float:
    """What something that changes in steps comes to until then."""
    return sum(by * (until - at) for at, by in steps if at < until)
