"""Whether a scheduler is worth adding for this work, out of the differences and nothing else.

Each is held against every simpler one that was played beside it, and it is worth adding only where it is
better than all of them: the answer is that of the one beside which it does worst. So a gain over Kueue is no
reason to add KAI where the default scheduler does as well. If the platform has another one now, what changes
from there is said too.

What counts is told by the differences: better or worse beyond chance, and by as much as the row says. With
too few draws nothing can be told from chance; then that is the answer, and not a no.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from allotment.pictures.counts import counted
from allotment.planning.compare.comparison import Advice, Better, Cell, Column, Difference, Row, Told, Verdict
from allotment.planning.compare.differences import CHANCE, FEWEST, held_against
from allotment.planning.compare.resting import not_if, other_cards
from allotment.planning.compare.rows import HOURS, PRICE, UNFINISHED
from allotment.planning.compare.words import by_how_much, said, titled
from allotment.planning.scenes.values import Source

SIMPLER: Final = {"kueue": ("default",), "kai": ("default", "kueue"), "both": ("default", "kueue", "kai")}
"""What is simpler than each, the simplest first: Kueue leaves placing to the default scheduler."""
HARDEST: Final = (Verdict.NO, Verdict.UNKNOWN, Verdict.MAYBE, Verdict.YES)
NOTHING: Final = "nothing that is weighed differs"
CHANCE_ALONE: Final = "nothing that is weighed differs beyond chance"
TOO_LITTLE: Final = "nothing differs by as much as counts"
Advise = Callable[[Column, Column], Advice]
_FEW: Final = 3


@dataclass(frozen=True, slots=True)
class Weighed:
    """A row that is better one way, with what it is in both columns."""

    row: Row
    here: Cell
    there: Cell
    difference: Difference

    @property
    def size(self) -> float:
        """How large it is, in times of what counts."""
        least = self.difference.counts_from
        return abs(self.difference.size) / least if least else 0.0

    @property
    def is_less(self) -> bool:
        """Whether the figure is smaller here, in the middle of the draws."""
        return self.difference.size < 0

    @property
    def is_better(self) -> bool:
        """Whether the middle of the draws is better here."""
        return self.is_less == (self.row.better is Better.LESS)

    def words(self, currency: str) -> str:
        """``books ends after 2h instead of 6h (-67 %, so in 8 of 8 draws)``."""
        here, there = (said(each.spread.p50, self.row.unit, currency) for each in (self.here, self.there))
        so = self.difference.less if self.is_less else self.difference.more
        is_known = self.here.spread.p50 is not None and self.there.spread.p50 is not None
        how = by_how_much(self.difference, self.row.unit) if is_known else ""
        draws = self.difference.draws
        drawn = f"{'so ' if how else ''}in {so} of {counted(draws, 'draw')}" if draws > 1 else ""
        much = ", ".join(part for part in (how, drawn) if part)
        title = titled(self.row) if self.here.spread.p50 is not None else self.row.title
        return f"{title} {here} instead of {there}" + (f" ({much})" if much else "")


def advice_for(
    columns: Sequence[Column], rows: Sequence[Row], until: float, currency: str, has: str = ""
) -> list[Advice]:
    """Of each scheduler that was played beside a simpler one: is it worth adding? ``has`` is there now."""
    plain = {column.scheduler: column for column in columns if not column.changes}
    return [
        _hardest(plain, name, has, partial(_advice, rows=rows, until=until, currency=currency))
        for name, simpler in SIMPLER.items()
        if name in plain and any(each in plain for each in simpler)
    ]


def rests_on(columns: Sequence[Column], draws: int) -> str:
    """From how much an answer is, what counts, and how much of it was assumed."""
    listed = {each for column in columns for each in column.assumptions}
    amounts = {
        word: sum(each.source is source for each in listed)
        for word, source in (("estimate", Source.ESTIMATE), ("guess", Source.GUESS))
    }
    parts = [counted(amount, word) for word, amount in amounts.items() if amount]
    assumed = f" It rests on {' and '.join(parts)}, which are listed below." if parts else ""
    if draws < FEWEST:
        return f"{counted(draws, 'draw')}: chance can be told from {FEWEST} draws on.{assumed}"
    return (
        f"{draws} draws of these works alone. A difference counts that is beyond chance (sign test, "
        f"{100 * CHANCE:.0f} %) and large: a tenth or more, and no less than a minute of an end and 90 "
        f"seconds of a wait; of percentages ten points.{assumed}"
    )


def _hardest(plain: dict[str, Column], name: str, has: str, advise: Advise) -> Advice:
    """The answer beside the simpler column that leaves least to gain; the simplest of several."""
    column = plain[name]
    found = [advise(column, plain[each]) for each in SIMPLER[name] if each in plain]
    advice = min(found, key=lambda each: HARDEST.index(each.verdict))
    if has == name:
        return replace(advice, is_here=True)
    if has not in plain or plain[has].name == advice.against:
        return advice
    return replace(advice, now=advise(column, plain[has]))


def _advice(column: Column, against: Column, rows: Sequence[Row], until: float, currency: str) -> Advice:
    advice = Advice(column.name, against.name, Verdict.NO)
    if column.refused:
        return replace(advice, reasons=(f"it cannot be had so: {column.refused}",))
    if against.refused:
        words = f"{against.name} cannot do this work: {against.refused}"
        return replace(advice, verdict=Verdict.YES, reasons=(words,), not_if=not_if(column, against, ()))
    weighed, dearer = _parted(_weighed(column, against, rows, until))
    draws = max((len(cell.values) for cell in column.cells.values()), default=0)
    if draws < FEWEST:
        return _too_few(advice, weighed, draws, currency)
    gains = [each for each in weighed if each.difference.told is Told.BETTER]
    costs = [each for each in weighed if each.difference.told is Told.WORSE]
    besides = tuple(_besides(each, column, against, currency) for each in dearer)
    if not gains:
        found = _without_gain(advice, weighed, costs, currency)
        return replace(found, costs=(*found.costs, *besides))
    return replace(
        advice,
        verdict=Verdict.MAYBE if costs else Verdict.YES,
        reasons=_told("better", gains, currency),
        costs=(*_told("worse", costs, currency), *besides),
        not_if=not_if(column, against, [(each.row, each.here, each.there) for each in gains]),
    )


def _weighed(column: Column, against: Column, rows: Sequence[Row], until: float) -> list[Weighed]:
    """What differs and is better one way, the largest first; the end of the only work is the end of all."""
    ends = sum(row.key.startswith("finish.") for row in rows)
    found = []
    for row in rows:
        difference = held_against(row, column, against, until)
        is_told_twice = row.key.startswith("finish.") and ends == 1
        if difference is None or row.better is Better.NEITHER or is_told_twice:
            continue
        if difference.told is not Told.SAME:
            found.append(Weighed(row, column.cells[row.key], against.cells[row.key], difference))
    return sorted(found, key=lambda each: (each.row.key != UNFINISHED.key, -each.size))


def _parted(weighed: Sequence[Weighed]) -> tuple[list[Weighed], list[Weighed]]:
    """What is weighed, and apart from it a cost that differs while GPU-hours do not: no scheduler's doing."""
    counting = {Told.BETTER, Told.WORSE}
    hours = any(each.row.key == HOURS.key and each.difference.told in counting for each in weighed)
    apart = [] if hours else [each for each in weighed if each.row.key == PRICE.key]
    kept = [each for each in weighed if each not in apart]
    return kept, [each for each in apart if each.difference.told in counting]


def _besides(each: Weighed, column: Column, against: Column, currency: str) -> str:
    """A cost that is not weighed, and why it is not."""
    where = other_cards(column, against)
    return (
        f"not weighed: {each.words(currency)}. These are as many GPU-hours on other cards"
        + (f" (in the first draw {where})" if where else "")
        + ": no scheduler knows prices, and which of equally good nodes it takes is up to chance or to names"
    )


def _told(word: str, listed: Sequence[Weighed], currency: str) -> tuple[str, ...]:
    """The largest of them in words; GPU-hours only where nothing is said of what they cost."""
    keys = {each.row.key for each in listed}
    shown = [each for each in listed if not (each.row.key == HOURS.key and PRICE.key in keys)]
    return tuple(f"{word}: {each.words(currency)}" for each in shown[:_FEW])


def _too_few(advice: Advice, weighed: Sequence[Weighed], draws: int, currency: str) -> Advice:
    """With so few draws anything may be chance; what they say is said."""
    large = [each for each in weighed if each.size >= 1]
    words = f"{counted(draws, 'draw')} cannot tell a difference from chance: take {FEWEST} or more"
    return replace(
        advice,
        verdict=Verdict.UNKNOWN,
        reasons=(
            words,
            *_told("better so far", [each for each in large if each.is_better], currency),
        ),
        costs=_told("worse so far", [each for each in large if not each.is_better], currency),
    )


def _without_gain(
    advice: Advice, weighed: Sequence[Weighed], costs: Sequence[Weighed], currency: str
) -> Advice:
    """Nothing is better beyond chance by as much as counts: a no, unless chance hides what would count."""
    small = [each for each in weighed if each.difference.told is Told.SMALL]
    hidden = [
        each for each in weighed if each.difference.told is Told.CHANCE and each.is_better and each.size >= 1
    ]
    if hidden and not costs:
        reasons = (*_told("may be chance", hidden, currency), "more draws would tell")
        return replace(advice, verdict=Verdict.UNKNOWN, reasons=reasons)
    if costs:
        return replace(advice, reasons=("nothing is better",), costs=_told("worse", costs, currency))
    if small:
        return replace(advice, reasons=(TOO_LITTLE, *_told("small", small, currency)))
    return replace(advice, reasons=(CHANCE_ALONE if weighed else NOTHING,))
