"""Tables in plain text: columns as wide as what is in them, narrower where the terminal is not wide enough.

A pipe gets every character; on a terminal, columns are cut (``…`` stands for what had to go), and the last
one goes on below itself, because what it says is why somebody looks. Colours are put on after measuring.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from textwrap import wrap

import click

GAP = "  "
FURTHER = 2
CUT = "…"


@dataclass(frozen=True, slots=True)
class Column:
    """A column. ``least`` is how narrow it may become (0: never).

    ``paint`` colours a piece of a cell, by what the whole cell says.
    """

    title: str
    least: int = 0
    right: bool = False
    from_middle: bool = False
    paint: Callable[[str, str], str] | None = None


def terminal_width() -> int | None:
    """How wide lines may be; None where nobody looks at them."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def folded(line: str, width: int | None) -> list[str]:
    """The line on as many as the width needs, those after the first further in; colours count for nothing."""
    bare = click.unstyle(line)
    if width is None or len(bare) <= width:
        return [line]
    margin = " " * (len(bare) - len(bare.lstrip()) + FURTHER)
    lines, used = [""], 0
    for word in line.split(" "):
        size = len(click.unstyle(word))
        if lines[-1].strip() and used + size > width:
            lines.append(margin)
            used = len(margin)
        lines[-1] += word + " "
        used += size + 1
    return [each.rstrip() for each in lines]


def table(columns: Sequence[Column], rows: Iterable[Sequence[str]], width: int | None) -> list[str]:
    """The table's lines, with its titles; columns that are empty throughout are left out."""
    listed = [tuple(row) for row in rows]
    kept = [place for place in range(len(columns)) if any(row[place] for row in listed)]
    shown = [columns[place] for place in kept]
    titles = tuple(column.title for column in shown)
    cells = [tuple(row[place] for place in kept) for row in listed]
    widths = _widths(shown, [titles, *cells], width)
    lines = _lines([Column(column.title, right=column.right) for column in shown], titles, widths)
    return [*lines, *(line for row in cells for line in _lines(shown, row, widths))]


def cut(text: str, width: int, *, from_middle: bool = False) -> str:
    """The text in so many characters."""
    if len(text) <= width:
        return text
    if width <= 1:
        return CUT[:width]
    if not from_middle:
        return text[: width - 1] + CUT
    tail = (width - 1) // 2
    return text[: width - 1 - tail] + CUT + text[len(text) - tail :]


def _widths(columns: Sequence[Column], rows: Sequence[Sequence[str]], width: int | None) -> list[int]:
    widths = [max(len(row[place]) for row in rows) for place in range(len(columns))]
    if width is None:
        return widths
    excess = sum(widths) + len(GAP) * (len(columns) - 1) - width
    while excess > 0:
        spare = [
            (widths[place] - column.least, place)
            for place, column in enumerate(columns)
            if column.least and widths[place] > column.least
        ]
        if not spare:
            break
        _, widest = max(spare)
        widths[widest] -= 1
        excess -= 1
    return widths


def _lines(columns: Sequence[Column], row: Sequence[str], widths: Sequence[int]) -> list[str]:
    """A row, on as many lines as its last cell needs."""
    *fixed, last = zip(columns, row, widths, strict=True)
    cells = [_padded(column, text, width) for column, text, width in fixed]
    column, text, width = last
    pieces = wrap(text, max(1, width)) or [""]
    blank = "".join(" " * (each + len(GAP)) for each in widths[:-1])
    begin = "".join(cell + GAP for cell in cells)
    painted = [column.paint(text, piece) if column.paint and piece else piece for piece in pieces]
    return [(begin + painted[0]).rstrip(), *(blank + piece for piece in painted[1:])]


def _padded(column: Column, text: str, width: int) -> str:
    fitted = cut(text, width, from_middle=column.from_middle)
    padded = fitted.rjust(width) if column.right else fitted.ljust(width)
    return column.paint(text, padded) if column.paint else padded
