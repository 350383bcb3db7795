"""What will happen to one work, read from many courses: start, end, window, hours, money, waits."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from allotment.planning.plan.courses import Course, WorkCourse
from allotment.planning.plan.plan import CardUse, Fits, Waiting, WorkPlan
from allotment.planning.plan.question import Question
from allotment.simulation.quantiles import Band, Spread, Steps, bands, evenly, share_beyond, spread
from allotment.simulation.run_times import RunTimes
from allotment.simulation.work import Kind, Unit, Work

MOMENTS: Final = 61
MOST_WAITS: Final = 3


def work_plan(
    work: Work, courses: Sequence[Course], question: Question, run_times: RunTimes, fits: Fits | None
) -> WorkPlan:
    """What the courses say of a work that is planned."""
    own = [each.works[work.name] for each in courses]
    ends = [each.finished for each in own]
    end, is_fleet = spread(ends), work.kind is Kind.FLEET
    uses = tuple(_cards(own, question.prices))
    costs = [cost(each, question.prices) for each in own]
    return WorkPlan(
        name=work.name,
        team=work.team,
        kind=str(work.kind),
        units=len(work.units),
        left=sum(_is_left(unit) for unit in work.units),
        pages=sum(max(0, unit.pages - unit.done) for unit in work.units),
        uncounted=sum(not unit.pages for unit in work.units),
        least=work.least,
        most=work.most,
        fits=fits,
        start=spread([each.started for each in own]),
        end=end,
        finishes=1 - sum(each is None for each in ends) / len(ends),
        late=None if is_fleet or question.deadline is None else share_beyond(ends, question.deadline),
        window=_window(own, end, question.until),
        cards=uses,
        gpu_hours=spread([sum(each.hours.values()) for each in own]),
        money=None if None in costs else spread(costs),
        waits=tuple(_waits(own)),
        reclaimed=_counts([each.reclaimed for each in own]),
        pages_lost=_counts([each.pages_lost for each in own]),
        failed=_counts([each.failed for each in own]),
        never=own[0].never if all(each.never and each.started is None for each in own) else "",
        basis=_basis(work, uses, run_times),
    )


def _is_left(unit: Unit) -> bool:
    return not unit.pages or unit.done < unit.pages


def cost(course: WorkCourse, prices: Mapping[str, float]) -> float | None:
    """What a work costs in one course; None where a card of it has no price."""
    if any(card not in prices for card in course.hours):
        return None
    return sum(hours * prices[card] for card, hours in course.hours.items())


def _counts(values: Sequence[int]) -> Spread:
    return spread([float(value) for value in values])


def _window(own: Sequence[WorkCourse], end: Spread, until: float) -> tuple[Band, ...]:
    """How many pods run from the beginning to a little after the end of nine draws of ten."""
    last = max((moment for each in own for moment, _ in each.steps), default=0.0)
    until = min(until, last) if end.p90 is None else end.p90
    if until <= 0:
        return ()
    return bands([Steps(each.steps) for each in own], evenly(until, MOMENTS))


def _cards(own: Sequence[WorkCourse], prices: Mapping[str, float]) -> Iterator[CardUse]:
    for card in sorted({card for each in own for card in each.hours}):
        yield CardUse(card, spread([each.hours.get(card, 0.0) for each in own]), prices.get(card))


def _waits(own: Sequence[WorkCourse]) -> Iterator[Waiting]:
    """The reasons that hold it up longest; of each, how it is said first."""
    seconds = defaultdict[str, list[float]](lambda: [0.0] * len(own))
    words: dict[str, str] = {}
    for place, course in enumerate(own):
        for (reason, message), waited in course.waits.items():
            seconds[reason][place] += waited
            words.setdefault(reason, message)
    ordered = sorted(seconds.items(), key=lambda item: (-sum(item[1]), item[0]))
    for reason, values in ordered[:MOST_WAITS]:
        if sum(values) > 0:
            yield Waiting(reason, words[reason], spread(values))


def _basis(work: Work, uses: Sequence[CardUse], run_times: RunTimes) -> str:
    """On what its run times rest, card by card."""
    if not work.recipe or not work.units:
        return ""
    told: dict[str, list[str]] = {}
    for use in uses:
        try:
            times = run_times.of(work.recipe, use.card)
        except LookupError:
            continue
        told.setdefault(times.said or str(times.basis), []).append(use.card)
    if len(told) == 1:
        return next(iter(told))
    return "; ".join(f"{', '.join(cards)}: {words}" for words, cards in told.items())
