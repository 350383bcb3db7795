"""Whether two columns differ by more than chance, and apart from that by so much that it counts.

Columns are played under the same seeds, so each seed is a pair of its own. A difference is beyond chance when
it goes one way so often that an even split would hardly come out so: the two-sided sign test, which supposes
nothing of how run times are spread (they are very skewed). Pairs that are alike say nothing and are left out.
How much counts is another question, and each row has its own answer to it (``rows``). Marks of a table, the
advice and pages all say what is told here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from allotment.planning.compare.comparison import Better, Column, Difference, Row, Told, Unit
from allotment.simulation.quantiles import quantile, spread

CHANCE: Final = 0.05
FEWEST: Final = 6
"""With fewer pairs not even those that all go one way are beyond chance."""
ROUNDING: Final = 1e-9
ROUNDED: Final = 0.005
"""Parts are shown in whole percents: what is shown as a tenth, or as ten points, is one."""
LEAST_PART: Final = 0.01
LEAST: Final = {
    Unit.SECONDS: 10.0,
    Unit.PART: 0.005,
    Unit.COUNT: 0.5,
    Unit.NODES: 0.05,
    Unit.GPU_HOURS: 0.01,
    Unit.MONEY: 0.01,
}
"""What is alike: less than 1 % of the other's figure, and less than these; 10 s are pace, and no decision."""


def difference(
    row: Row,
    values: Sequence[float | None],
    base: Sequence[float | None],
    until: float,
    whole: Sequence[float | None] | None = None,
) -> Difference:
    """The values less those of the base, by seed; what is beyond the horizon counts as at the horizon.

    ``whole`` are the base's figures that the part which counts is of, where those are not its own.
    """
    pairs = [_known(here, until) - _known(there, until) for here, there in zip(values, base, strict=True)]
    here, of = (quantile([_known(each, until) for each in listed], 0.5) or 0.0 for listed in (values, base))
    alike = max(LEAST[row.unit], LEAST_PART * abs(of))
    counted = of if whole is None else quantile([_known(each, until) for each in whole], 0.5) or 0.0
    counts_from = max(_least(row), max(0.0, row.counts.part - ROUNDED) * abs(counted), alike)
    less, more = sum(each < 0 for each in pairs), sum(each > 0 for each in pairs)
    chance = sign_test(less, more)
    return Difference(
        spread=spread(pairs),
        less=less,
        more=more,
        draws=len(pairs),
        chance=chance,
        relative=(here - of) / of if of else None,
        told=_told(row.better, pairs, alike, chance, large=_is_large(here - of, pairs, counts_from)),
        size=here - of,
        counts_from=counts_from,
    )


def held_against(row: Row, column: Column, base: Column, until: float) -> Difference | None:
    """The difference of a row between two columns that both have it."""
    here, there = column.cells.get(row.key), base.cells.get(row.key)
    if here is None or there is None:
        return None
    whole = base.cells.get(row.counts.of)
    return difference(row, here.values, there.values, until, None if whole is None else whole.values)


def sign_test(less: int, more: int) -> float:
    """How likely a split at least so uneven is, where either way is as likely."""
    count, fewer = less + more, min(less, more)
    if not count:
        return 1.0
    tail = sum(math.comb(count, each) for each in range(fewer + 1)) / 2.0**count
    return min(1.0, 2 * tail)


def _known(value: float | None, until: float) -> float:
    return until if value is None else value


def _least(row: Row) -> float:
    least = row.counts.least
    return least - ROUNDED if row.unit is Unit.PART and least else least


def _is_large(size: float, pairs: Sequence[float], counts_from: float) -> bool:
    """Whether the figures that are shown differ by as much as counts, and the way that the pairs do."""
    return abs(size) >= counts_from - ROUNDING and size * (quantile(pairs, 0.5) or 0.0) > 0


def _told(better: Better, pairs: Sequence[float], alike: float, chance: float, *, large: bool) -> Told:
    middle = quantile(pairs, 0.5) or 0.0
    if max(map(abs, pairs), default=0.0) < alike:
        return Told.SAME
    if chance > CHANCE:
        return Told.CHANCE
    if abs(middle) < alike:
        return Told.SAME
    if not large:
        return Told.SMALL
    if better is Better.NEITHER:
        return Told.OTHER
    return Told.BETTER if (middle < 0) == (better is Better.LESS) else Told.WORSE
