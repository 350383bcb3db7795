"""Figures of works that end in every column, where some end in some of them only.

When all is over, how many GPU-hours it takes and what it costs are figures of what ends. Where a column
leaves works behind that another ends, its own would be of less work, and look better for it; and one work
that ends nowhere would leave nothing to say of all the others. So those figures are of the works that end
everywhere, and how many do not is a row of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from allotment.planning.compare.comparison import Row
from allotment.planning.compare.rows import HOURS, MAKESPAN, PRICE, Ended, Figure

EVERYWHERE = {
    MAKESPAN.key: replace(MAKESPAN, title="what ends everywhere is over"),
    HOURS.key: replace(HOURS, title="GPU-hours of what ends everywhere"),
    PRICE.key: replace(PRICE, title="cost of what ends everywhere"),
}


@dataclass(frozen=True, slots=True)
class Draw:
    """What one draw of a column came to: its figures, and what became of each work that ends."""

    figures: dict[str, Figure]
    ends: dict[str, Ended]


def everywhere(columns: Sequence[Sequence[Draw]]) -> list[list[Draw]]:
    """The draws with figures of what ends in all columns under that seed, where anything does not."""
    seeds = (
        [_seed([column[place] for column in columns]) for place in range(len(columns[0]))] if columns else []
    )
    is_of_some = any(titled for _, titled in seeds)
    return [
        [_titled(draws[place]) if is_of_some else draws[place] for draws, _ in seeds]
        for place in range(len(columns))
    ]


def _seed(draws: Sequence[Draw]) -> tuple[list[Draw], bool]:
    """One draw of each column, and whether works are left out of it."""
    if all(each.finished is not None for draw in draws for each in draw.ends.values()):
        return list(draws), False
    ended = [{work for work, each in draw.ends.items() if each.finished is not None} for draw in draws]
    common = set.intersection(*ended)
    return ([_of(draw, common) for draw in draws], True) if common else (list(draws), False)


def _of(draw: Draw, works: set[str]) -> Draw:
    known = [draw.ends[work] for work in sorted(works)]
    values: dict[str, float | None] = {
        MAKESPAN.key: max(each.finished or 0.0 for each in known),
        HOURS.key: sum(each.hours for each in known),
        PRICE.key: sum(each.money or 0.0 for each in known),
    }
    figures = {key: (row, values.get(key, value)) for key, (row, value) in draw.figures.items()}
    return replace(draw, figures=figures)


def _titled(draw: Draw) -> Draw:
    figures = {key: (_row(row), value) for key, (row, value) in draw.figures.items()}
    return replace(draw, figures=figures)


def _row(row: Row) -> Row:
    return EVERYWHERE.get(row.key, row)
