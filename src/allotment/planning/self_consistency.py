"""Whether intervals hold what they promise, against further courses of the same simulator: self-consistency.

An interval of nine tenths is made of some draws; further draws, of other seeds and with other run times, fall
into it about nine times in ten, or the intervals are made wrongly. That says nothing about how near the
simulator is to a real cluster, and is never called accuracy.

Many figures have values that come again and again: a job that finds room begins at once. Where a bound is
such a value, the interval with its bounds holds more than it promises, so that an outcome which is as many
forecasts are counts by rank: in the part in which it would lie inside, were equals put in an order by chance.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Final

from allotment.simulation.metrics import Ground, measure
from allotment.simulation.outcome import Outcome
from allotment.simulation.work import Work

FORECASTS: Final = 39
"""Of so many draws, what lies from the second to the last but one holds nine tenths of further ones."""
SHARE: Final = 0.9
Figures = Mapping[tuple[str, str], float]
"""Figures of an outcome by their kind and what they are of; infinite is beyond the horizon."""


@dataclass(frozen=True, slots=True)
class Held:
    """Of one kind of figure: how many outcomes lay in their intervals by rank, of how many.

    ``within`` is how many lay between the bounds or on them. ``same`` counts the figures that are the same in
    all forecasts, of which there is no interval.
    """

    kind: str
    inside: float
    within: int
    outcomes: int
    same: int = 0

    @property
    def share(self) -> float:
        """The part that lay inside, by rank."""
        return self.inside / self.outcomes if self.outcomes else SHARE


def figures_of(outcome: Outcome, works: Iterable[Work], ground: Ground) -> Figures:
    """What is forecast: when each job begins and ends, and what teams and the whole come to."""
    found: dict[tuple[str, str], float] = {}
    for end in outcome.ends:
        if end.started is not None:
            found["a job begins", end.work] = end.started
        found["a job ends", end.work] = inf if end.finished is None else end.finished
    metrics = measure(outcome, works, ground)
    for wait in metrics.waits:
        found["a team's wait, half", f"{wait.team}/{wait.kind}"] = wait.p50
        found["a team's wait, nine in ten", f"{wait.team}/{wait.kind}"] = wait.p90
    found["all is over", ""] = inf if metrics.makespan is None else metrics.makespan
    found["cards in use", ""] = metrics.use
    if metrics.fairness is not None:
        found["fairness", ""] = metrics.fairness
    return found


def inwards(draws: int, share: float = SHARE) -> int:
    """How far in from each end of so many draws the bounds lie between which further ones fall so often."""
    return max(1, round((draws + 1) * (1 - share) / 2))


def by_rank(ordered: Sequence[float], value: float, share: float = SHARE) -> float:
    """In which part of the orders of equals a value lies inside."""
    step = inwards(len(ordered), share)
    first, last = bisect_left(ordered, value), bisect_right(ordered, value)
    places = min(last, len(ordered) - step) - max(first, step) + 1
    return max(0, places) / (last - first + 1)


def held(forecasts: Sequence[Figures], outcomes: Sequence[Figures], share: float = SHARE) -> list[Held]:
    """How often outcomes lie in the intervals of the forecasts, by kind of figure."""
    found: dict[str, Held] = {}
    step = inwards(len(forecasts), share)
    for key in forecasts[0]:
        ordered = sorted(each[key] for each in forecasts if key in each)
        if len(ordered) < len(forecasts):
            continue
        told = found.get(key[0], Held(key[0], 0.0, 0, 0))
        if ordered[0] == ordered[-1]:
            found[key[0]] = replace(told, same=told.same + 1)
            continue
        low, high = ordered[step - 1], ordered[-step]
        values = [outcome[key] for outcome in outcomes if key in outcome]
        found[key[0]] = replace(
            told,
            inside=told.inside + sum(by_rank(ordered, value, share) for value in values),
            within=told.within + sum(low <= value <= high for value in values),
            outcomes=told.outcomes + len(values),
        )
    return list(found.values())
