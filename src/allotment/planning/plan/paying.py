"""Who pays for what is planned, by name: whose pods are taken, and who ends later because of it.

The same scene is played with what is planned and without it under the same seeds; the difference, seed by
seed, is what it costs others. That pods are taken for it is told by name, as the scheduler names them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from allotment.planning.plan.courses import Course, WorkCourse
from allotment.planning.plan.plan import Payer
from allotment.simulation.quantiles import spread
from allotment.simulation.work import Kind, Work

COUNTED: Final = 60.0
"""Who ends later by less than this, or has so few GPU-seconds less, does not pay."""


def payers_of(
    others: Sequence[Work], beside: Sequence[Course], alone: Sequence[Course], until: float
) -> tuple[Payer, ...]:
    """Who is set back in any of the draws, those that are so most often first."""
    found = list(_payers(others, beside, alone, until))
    return tuple(sorted(found, key=lambda each: (-each.draws, -(each.later.p50 or 0.0), each.name)))


def _payers(
    others: Sequence[Work], beside: Sequence[Course], alone: Sequence[Course], until: float
) -> Iterator[Payer]:
    for work in others:
        pairs = [
            (one.works[work.name], other.works[work.name])
            for one, other in zip(beside, alone, strict=True)
            if work.name in one.works and work.name in other.works
        ]
        later = [_later(one, other, until, is_fleet=work.kind is Kind.FLEET) for one, other in pairs]
        hit = [
            one.taken > 0 or delay is None or delay >= COUNTED
            for (one, _), delay in zip(pairs, later, strict=True)
        ]
        if any(hit):
            yield Payer(
                name=work.name,
                team=work.team,
                kind=str(work.kind),
                reclaimed=spread([float(one.taken) for one, _ in pairs]),
                pages_lost=spread([float(one.pages_taken) for one, _ in pairs]),
                later=spread(later),
                draws=sum(hit) / len(hit),
            )


def _later(one: WorkCourse, other: WorkCourse, until: float, *, is_fleet: bool) -> float | None:
    """By how much it is set back; None where it no longer ends within the horizon."""
    if is_fleet:
        return max(0.0, _hours(other.hours) - _hours(one.hours)) * 3600
    if other.finished is None:
        return max(0.0, (one.started or until) - (other.started or until))
    return None if one.finished is None else max(0.0, one.finished - other.finished)


def _hours(hours: Mapping[str, float]) -> float:
    return sum(hours.values())
