"""The table of a comparison in text: figures below each other, columns beside, and marks of what differs.

A figure that varies has two lines: its middle, and the interval below. Rows in which nothing happens in any
column are left out; so are those of works that end alike, where there are many.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import wrap
from typing import Final

import click

from allotment.cli.columns import GAP
from allotment.cli.shared import safe
from allotment.planning.compare.comparison import Column, Comparison, Row, Told
from allotment.planning.compare.words import interval, said

MOST_WORKS: Final = 8
LABEL: Final = 30
NARROWEST: Final = 14
MARKS: Final = {
    Told.BETTER: "+",
    Told.WORSE: "-",
    Told.OTHER: "*",
    Told.SMALL: "≈",
    Told.CHANCE: "~",
    Told.SAME: " ",
}
COLOURS: Final = {"+": "green", "-": "red"}


def shown_rows(found: Comparison) -> list[Row]:
    """The rows that stand in a table: those in which anything happens, and not too many of single works.

    The end of the only work that ends is when all is over.
    """
    happening = [row for row in found.rows if _happens(found, row)]
    of_works = [row for row in happening if row.key.startswith("finish.")]
    if len(of_works) == 1:
        return [row for row in happening if row not in of_works]
    if len(of_works) <= MOST_WORKS:
        return happening
    told = sorted(
        (row for row in of_works if any(mark(column, row).strip() for column in found.played)),
        key=lambda row: not any(mark(column, row) in COLOURS for column in found.played),
    )
    kept = set(told[:MOST_WORKS])
    return [row for row in happening if row not in of_works or row in kept]


def _happens(found: Comparison, row: Row) -> bool:
    cells = [column.cells[row.key] for column in found.played if row.key in column.cells]
    return any(said(value, row.unit) != said(0.0, row.unit) for cell in cells for value in cell.values)


def mark(column: Column, row: Row) -> str:
    """What a figure is against the first column's, as a sign."""
    cell = column.cells.get(row.key)
    return " " if cell is None or cell.difference is None else MARKS[cell.difference.told]


def cells(found: Comparison, row: Row) -> Iterator[str]:
    """A row's figures with their intervals and marks, by column."""
    for column in found.played:
        cell = column.cells.get(row.key)
        words = "–" if cell is None else interval(cell, row.unit, found.currency)
        yield f"{words} {mark(column, row)}".rstrip()


def heads_of(found: Comparison, limit: int) -> list[tuple[str, ...]]:
    """The columns' names as they stand above the table: the scheduler, and below it what is changed."""
    room = max(NARROWEST, (limit - LABEL) // len(found.played) - len(GAP) - 2)
    return [
        (
            safe(column.scheduler if column.changes else column.name).upper(),
            *(line for change in column.changes for line in wrap(safe(change), room)),
        )
        for column in found.played
    ]


def lines_of(found: Comparison, limit: int) -> list[str]:
    """The table's lines; ``limit`` is how wide it may be.

    More columns than fit beside each other stand in tables below each other.
    """
    rows = []
    heads = heads_of(found, limit)
    widths = [max(len(line) for line in head) + 2 for head in heads]
    for row in shown_rows(found):
        middles, intervals = zip(*(_two_lines(found, column, row) for column in found.played), strict=True)
        rows.append((safe(row.title), middles, intervals))
        widths = [
            max(width, len(middle), len(below))
            for width, middle, below in zip(widths, middles, intervals, strict=True)
        ]
    longest = max((len(title) for title, *_ in rows), default=0)
    lines: list[str] = []
    for part in _parts(widths, limit):
        room = limit - sum(width + len(GAP) for width in widths[part])
        room = min(max(NARROWEST, room), max(longest, NARROWEST))
        lines += ["", *_head(heads[part], widths[part], room)]
        for title, middles, intervals in rows:
            for words, each in _folded(title, middles[part], intervals[part], room):
                lines.append(_line(words, each, widths[part], room))
    return lines[1:]


def _head(heads: Sequence[Sequence[str]], widths: Sequence[int], room: int) -> Iterator[str]:
    """The lines above the columns."""
    for place in range(max(len(head) for head in heads)):
        line = [f"{head[place]}  " if place < len(head) else "" for head in heads]
        yield GAP.join(
            ("".ljust(room), *(each.rjust(width) for each, width in zip(line, widths, strict=True)))
        ).rstrip()


def _parts(widths: Sequence[int], limit: int) -> Iterator[slice]:
    """Which columns stand beside each other."""
    start, used = 0, NARROWEST
    for place, width in enumerate(widths):
        if used + width + len(GAP) > limit and place > start:
            yield slice(start, place)
            start, used = place, NARROWEST
        used += width + len(GAP)
    yield slice(start, len(widths))


def _folded(
    title: str, middles: Sequence[str], intervals: Sequence[str], room: int
) -> Iterator[tuple[str, Sequence[str]]]:
    """A figure's lines: its title goes on beside the intervals."""
    pieces = wrap(title, room, subsequent_indent=" ") or [""]
    below = [intervals] if any(intervals) else []
    blank = ("",) * len(middles)
    for place in range(max(len(pieces), 1 + len(below))):
        words = pieces[place] if place < len(pieces) else ""
        yield words, middles if place == 0 else below[0] if place <= len(below) else blank


def _line(words: str, cells: Sequence[str], widths: Sequence[int], room: int) -> str:
    padded = (_painted(cell, cell.rjust(width)) for cell, width in zip(cells, widths, strict=True))
    return GAP.join((words.ljust(room), *padded)).rstrip()


def _two_lines(found: Comparison, column: Column, row: Row) -> tuple[str, str]:
    cell = column.cells.get(row.key)
    if cell is None:
        return "–  ", ""
    middle = said(cell.spread.p50, row.unit, found.currency)
    whole = interval(cell, row.unit, found.currency)
    below = whole.partition(" (")[2].removesuffix(")") if whole != middle else ""
    return f"{middle} {mark(column, row)}", f"{below}  " if below else ""


def _painted(cell: str, piece: str) -> str:
    colour = COLOURS.get(cell[-1:])
    return click.style(piece, fg=colour) if colour else piece


# ---
