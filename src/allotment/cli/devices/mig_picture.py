"""A card as a bar of memory slots: what is cut where, and below it who sits there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import click

COLOURS: Final = ("green", "cyan", "yellow", "magenta", "blue", "red")
WALL: Final = "│"
NOTHING: Final = "·"
WIDEST_SLOT: Final = 8
NARROWEST_SLOT: Final = 2


class Piece(NamedTuple):
    """A stretch of slots: what is cut there, and for whom. ``colour`` is a number; None is left over."""

    start: int
    size: int
    name: str
    below: str = ""
    colour: int | None = None


def bar(pieces: Sequence[Piece], slots: int, width: int | None) -> Iterator[str]:
    """The two lines of a bar; slots that no piece covers are left over, a dot each column."""
    room = (80 if width is None else width) - 4
    each = max(NARROWEST_SLOT, min(WIDEST_SLOT, room // slots)) if slots > 1 else min(24, room)
    whole = list(_with_gaps(pieces, slots))
    for place, fill in ((2, NOTHING), (3, " ")):
        yield "  " + WALL + "".join(_cell(piece, piece[place], each, fill) + WALL for piece in whole)


def _with_gaps(pieces: Sequence[Piece], slots: int) -> Iterator[Piece]:
    at = 0
    for piece in sorted(pieces):
        if piece.start > at:
            yield Piece(at, piece.start - at, "")
        yield piece
        at = piece.start + piece.size
    if at < slots:
        yield Piece(at, slots - at, "")


def _cell(piece: Piece, text: object, each: int, fill: str) -> str:
    room = piece.size * each - 1
    written = str(text)[:room].ljust(room, fill if piece.colour is None else " ")
    return written if piece.colour is None else click.style(written, fg=COLOURS[piece.colour % len(COLOURS)])
