"""What comes out the same, and is no answer: changes without effect, draws without chance.

A change that a scheduler does not look at makes a column that equals the one without it, figure for figure.
Draws that all come out alike are one draw, however many there are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from allotment.planning.compare.comparison import Better, Column, Row
from allotment.planning.compare.rows import FAIRNESS
from allotment.planning.compare.words import said

NO_QUOTAS: Final = "the default scheduler knows no quotas"
NO_WINDOWS: Final = "only under Kueue the window controller moves a window"
_WHY: Final = {
    ("quota", "default"): NO_QUOTAS,
    ("weight", "default"): NO_QUOTAS,
    ("limit", "default"): NO_QUOTAS,
    ("controller", "default"): NO_WINDOWS,
    ("controller", "kai"): NO_WINDOWS,
    ("minimum_runtime", "default"): "the default scheduler takes nothing back for a team",
}


def idle_changes(columns: Sequence[Column]) -> Iterator[str]:
    """A sentence for each column with changes that equals the one without them in all that was played.

    What a team deserves follows its quota, so the fairness of the same course may be another.
    """
    plain = {column.scheduler: column for column in columns if not column.changes and not column.refused}
    for column in columns:
        base = plain.get(column.scheduler)
        if not column.changes or column.refused or base is None:
            continue
        differing = _differing(column, base)
        if differing - {FAIRNESS.key}:
            continue
        keys = dict.fromkeys(change.partition("=")[0].partition(".")[0].strip() for change in column.changes)
        reasons = [_WHY[key, column.scheduler] for key in keys if (key, column.scheduler) in _WHY]
        why = f": {'; '.join(dict.fromkeys(reasons))}" if reasons else ""
        but = ", but for what fairness is counted by" if differing else ""
        yield f"`{'; '.join(column.changes)}` changes nothing under {column.scheduler}{but}{why}"


def all_alike(columns: Sequence[Column], rows: Sequence[Row]) -> Iterator[str]:
    """A sentence where nothing that is weighed differs from seed to seed, as it is shown."""
    weighed = [row for row in rows if row.better is not Better.NEITHER]
    shown = [
        [said(value, row.unit) for value in column.cells[row.key].values]
        for column in columns
        for row in weighed
        if row.key in column.cells
    ]
    draws = max(map(len, shown), default=0)
    if draws > 1 and all(len(set(values)) == 1 for values in shown):
        yield (
            f"all {draws} draws came out alike, because hardly anything here is left to chance: they say no "
            "more than one, and nothing of work that comes a little sooner or later"
        )


def _differing(column: Column, base: Column) -> set[str]:
    """The rows with other figures, or that only one of the two has."""
    rows = {*column.cells, *base.cells}
    return {row for row in rows if _values(column, row) != _values(base, row)}


def _values(column: Column, row: str) -> Sequence[float | None]:
    return column.cells[row].values if row in column.cells else ()
