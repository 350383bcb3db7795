"""What does not begin, or not end, in the first draw, in which columns, and what is said of it there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from allotment.planning.compare.comparison import Column
from allotment.simulation.outcome import Outcome, WorkEnd

MOST: int = 20


def unended(columns: Sequence[Column]) -> tuple[str, ...]:
    """A sentence for each work and reason, with the columns for which it holds; some of very many."""
    names: dict[tuple[str, str, str], list[str]] = {}
    for column in columns:
        for key in _of(column):
            names.setdefault(key, []).append(column.name)
    found = [
        f"{work} {does} under {', '.join(those)}" + (f": {reason}" if reason else "")
        for (work, does, reason), those in names.items()
    ]
    left = len(found) - MOST
    return (*found[:MOST], *([f"{left} more do not end"] if left > 0 else []))


def _of(column: Column) -> Iterator[tuple[str, str, str]]:
    if column.course is None or column.figures is None:
        return
    for end in column.course.ends:
        ends = end.work in column.figures.finishes
        if end.finished is None and (ends or end.started is None):
            yield end.work, _does(end), " ".join((end.never or _last(column.course, end)).split())


def _does(end: WorkEnd) -> str:
    """What becomes of it: apart from what waits for others is what would not begin with everything free."""
    if end.started is not None:
        return "does not end"
    return "can never begin" if end.never else "does not begin"


def _last(outcome: Outcome, end: WorkEnd) -> str:
    """The last that was said of its waiting."""
    waits = [each for each in outcome.waits if each.work == end.work]
    last = max(waits, key=lambda each: each.until, default=None)
    return "" if last is None else last.message or last.reason
