"""Whether a scheduler is worth adding for this work, out of the differences and nothing else.

A gain or a cost counts when it is beyond chance. From a tenth of the other's figure on it is worth the
trouble of another scheduler; from a twentieth on it is noted, and no more than a maybe. Waits are held
against a quarter of an hour where they are shorter, and GPU-hours that are spent again against all that are
spent: little is no reason, however often it doubles. What the gain rests on (a part of a card, reclaim, whole
nodes kept free) is seen in what was played, and says when it is not so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from allotment.planning.compare.comparison import Advice, Cell, Column, Difference, Row, Told, Unit, Verdict
from allotment.planning.compare.differences import FEWEST, difference
from allotment.planning.compare.rows import HOURS, LOST
from allotment.planning.compare.words import said
from allotment.simulation.outcome import End
from allotment.simulation.work import Kind

WORTH: Final = 0.10
NOTED: Final = 0.05
SHORT_WAIT: Final = 900.0
PRECEDING: Final = {"kueue": ("default",), "kai": ("kueue", "default"), "both": ("kai", "kueue", "default")}
CLOSE: Final = "{against} comes close: nothing differs by a tenth"
_WEIGHED: Final = ("makespan", "unfinished", "finish.", "wait.", "fairness", "gpu-hours", "money")
_FEW: Final = 3


@dataclass(frozen=True, slots=True)
class Weighed:
    """A row with what a column gains or loses in it."""

    row: Row
    here: Cell
    there: Cell
    difference: Difference
    least: float = 0.0

    @property
    def size(self) -> float:
        """How large it is, as a part of the other's figure or of ``least``; of nothing it is all."""
        whole = max(self.there.spread.p50 or 0.0, self.least)
        return abs(self.difference.spread.p50 or 0.0) / whole if whole else 1.0

    @property
    def is_gain(self) -> bool:
        """Whether it is better so."""
        return self.difference.told is Told.BETTER

    def words(self, currency: str) -> str:
        """``books ends after 2h instead of 6h``."""
        here, there = (said(each.spread.p50, self.row.unit, currency) for each in (self.here, self.there))
        after = " after" if self.row.unit is Unit.SECONDS and not self.row.key.startswith("wait") else ""
        return f"{self.row.title}{after} {here} instead of {there}"


def advice_for(columns: Sequence[Column], rows: Sequence[Row], until: float, currency: str) -> list[Advice]:
    """Of each scheduler that was played beside one that a cluster has before it: is it worth adding?"""
    plain = {column.scheduler: column for column in columns if not column.changes}
    pairs = [
        (plain[name], plain[before])
        for name, befores in PRECEDING.items()
        if name in plain
        for before in [next((each for each in befores if each in plain), "")]
        if before
    ]
    return [_advice(column, against, rows, until, currency) for column, against in pairs]


def _advice(column: Column, against: Column, rows: Sequence[Row], until: float, currency: str) -> Advice:
    if column.refused:
        return Advice(column.name, against.name, Verdict.NO, (f"it cannot be had so: {column.refused}",))
    if against.refused:
        words = f"{against.name} cannot do this work: {against.refused}"
        return Advice(column.name, against.name, Verdict.YES, (words,), not_if=_not_if(column, against))
    weighed = sorted(_weigh(column, against, rows, until), key=lambda each: -each.size)
    gains, costs = [each for each in weighed if each.is_gain], [each for each in weighed if not each.is_gain]
    verdict = _verdict(gains, costs)
    if not gains and not costs:
        words = _nothing(column, against, rows, until)
        return Advice(column.name, against.name, verdict, (words,))
    reasons = [f"{each.words(currency)}" for each in gains[:_FEW]]
    if verdict is not Verdict.NO and gains[0].size < WORTH:
        reasons.append(CLOSE.format(against=against.name))
    return Advice(
        column.name,
        against.name,
        verdict,
        tuple(f"because {each}" if not place else each for place, each in enumerate(reasons)),
        tuple(f"but {each.words(currency)}" for each in costs[:_FEW]),
        _not_if(column, against, gains) if verdict is not Verdict.NO else (),
    )


def _verdict(gains: Sequence[Weighed], costs: Sequence[Weighed]) -> Verdict:
    """Yes when a gain is worth it and no cost is; maybe when both are, or the gain is only noted."""
    if not gains:
        return Verdict.NO
    gain, cost = gains[0].size, costs[0].size if costs else 0.0
    if gain >= WORTH and cost < WORTH:
        return Verdict.YES
    return Verdict.NO if gain < WORTH <= cost else Verdict.MAYBE


def _weigh(column: Column, against: Column, rows: Sequence[Row], until: float) -> Iterable[Weighed]:
    for row in rows:
        here, there = column.cells.get(row.key), against.cells.get(row.key)
        if here is None or there is None or not (row.key.startswith(_WEIGHED) or row == LOST):
            continue
        found = difference(row, here.values, there.values, until)
        if found.told not in {Told.BETTER, Told.WORSE}:
            continue
        weighed = Weighed(row, here, there, found, _least(row, against))
        if weighed.size >= NOTED:
            yield weighed


def _least(row: Row, against: Column) -> float:
    """What a difference is held against, if the other's figure is smaller."""
    if row.key.startswith("wait."):
        return SHORT_WAIT
    hours = against.cells.get(HOURS.key)
    return hours.spread.p50 or 0.0 if row == LOST and hours is not None else 0.0


def _nothing(column: Column, against: Column, rows: Sequence[Row], until: float) -> str:
    """What there is to say where nothing is better or worse."""
    if not _is_unsure(column, against, rows, until):
        return "no difference in what is weighed"
    draws = max((len(cell.values) for cell in column.cells.values()), default=0)
    if draws < FEWEST:
        return f"{draws} draws are too few to tell a difference from chance: take {FEWEST} or more"
    return "no difference beyond chance in what is weighed"


def _is_unsure(column: Column, against: Column, rows: Sequence[Row], until: float) -> bool:
    return any(
        difference(row, column.cells[row.key].values, against.cells[row.key].values, until).told
        is Told.CHANCE
        for row in rows
        if row.key in column.cells and row.key in against.cells
    )


def _shares_cards(column: Column) -> bool:
    return column.course is not None and any(0 < span.gpus < 1 for span in column.course.spans)


def _takes_back(column: Column) -> bool:
    return column.course is not None and any(span.end is End.RECLAIMED for span in column.course.spans)


_RESTS_ON: Final[Mapping[Callable[[Column], bool], str]] = {
    _shares_cards: "a model's memory is not known and steady, for nothing keeps pods on a card apart, or one "
    "pod keeps a card busy: pods that share one are taken to be as fast as alone",
    _takes_back: "pages are long, or no two teams ask at once: the gain rests on what is taken back",
}
_WHOLE: Final = "nothing asks for whole nodes: the gain is that of {} beside the volumes"


def _not_if(column: Column, against: Column, gains: Sequence[Weighed] = ()) -> tuple[str, ...]:
    """On what the difference rests that the other column does not have, each as a condition."""
    seen = [words for rests, words in _RESTS_ON.items() if rests(column) and not rests(against)]
    kinds = [kind for kind in (Kind.GANG, Kind.FLEET) if any(f".{kind}." in each.row.key for each in gains)]
    if kinds:
        seen.append(_WHOLE.format(" and ".join(f"{kind}s" for kind in kinds)))
    return tuple(seen)
