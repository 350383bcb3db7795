"""Reading order: pieces of text, found anywhere on a page, into lines and blocks.

A detector gives pieces in no useful order, on pages that were laid askew on the glass. So the skew is
measured first (the middle angle of the long pieces) and every piece is looked at as if the page were
straight. Then the page is cut where there is a clear gutter from top to bottom, else at the widest gap from
side to side, again and again (the recursive X-Y cut of Nagy and Seth, 1984); what cannot be cut is a block.
Inside a block, pieces at one height are one line, from left to right.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from allotment.running.ocr.text import Block, Line, Point, Quad

LONG_PIECE = 3.0  # this many times as wide as high: its angle can be trusted
GUTTER = 1.5  # a gap between columns, in heights of a line
GUTTER_SIDES = 2  # lines on both sides of a gutter, at least
PARAGRAPH = 0.75  # a gap between blocks, in heights of a line
SAME_LINE = 0.5  # how far apart two pieces of one line may be, in heights of the lower one
MOST_SKEW = math.radians(20)


@dataclass(frozen=True, slots=True)
class _Piece:
    """A piece as it would stand on a straight page."""

    line: Line
    left: float
    right: float
    top: float
    bottom: float

    @property
    def height(self) -> float:
        return self.bottom - self.top

    @property
    def middle(self) -> float:
        return (self.top + self.bottom) / 2


def in_reading_order(pieces: Sequence[Line]) -> tuple[Block, ...]:
    """The pieces of a page as blocks of lines, in the order in which a person reads them."""
    if not pieces:
        return ()
    skew = skew_of(pieces)
    straight = [_straightened(piece, skew) for piece in pieces]
    height = _median([piece.height for piece in straight])
    blocks: list[Block] = []
    rest = [straight]
    while rest:
        area = rest.pop()
        parts = _columns(area, height) or _paragraphs(area, height)
        if parts:
            rest.extend(reversed(parts))
        else:
            blocks.append(Block(tuple(_joined(row) for row in _rows(area))))
    return tuple(blocks)


def skew_of(pieces: Sequence[Line]) -> float:
    """The angle of the page in radians, clockwise: the middle one of its long pieces, by their length."""
    angles: list[tuple[float, float]] = []
    for piece in pieces:
        top_left, top_right, _, bottom_left = piece.quad
        width = math.dist(top_left, top_right)
        angle = math.atan2(top_right[1] - top_left[1], top_right[0] - top_left[0])
        if width >= LONG_PIECE * math.dist(top_left, bottom_left) and abs(angle) <= MOST_SKEW:
            angles.append((angle, width))
    total = sum(width for _, width in angles)
    passed = 0.0
    for angle, width in sorted(angles):
        passed += width
        if passed >= total / 2:
            return angle
    return 0.0


def _straightened(piece: Line, skew: float) -> _Piece:
    """The piece turned by the page's skew, with each side where its middle is: corners lean a little."""
    cos, sin = math.cos(skew), math.sin(skew)
    corners = [(x * cos + y * sin, y * cos - x * sin) for x, y in piece.quad]
    sides = [
        ((x + next_x) / 2, (y + next_y) / 2)
        for (x, y), (next_x, next_y) in zip(corners, corners[1:] + corners[:1], strict=True)
    ]
    return _Piece(
        line=piece,
        left=min(x for x, _ in sides),
        right=max(x for x, _ in sides),
        top=min(y for _, y in sides),
        bottom=max(y for _, y in sides),
    )


def _columns(area: list[_Piece], height: float) -> list[list[_Piece]]:
    """The area cut at its widest gutter, or nothing where there is none."""
    parts = _cut(area, lambda piece: (piece.left, piece.right), GUTTER * height)
    if any(len(_rows(part)) < GUTTER_SIDES for part in parts):
        return []
    return parts


def _paragraphs(area: list[_Piece], height: float) -> list[list[_Piece]]:
    """The area cut at its widest gap from side to side, or nothing where the lines stand close."""
    return _cut(area, lambda piece: (piece.top, piece.bottom), PARAGRAPH * height)


def _cut(
    area: list[_Piece], extent: Callable[[_Piece], tuple[float, float]], least: float
) -> list[list[_Piece]]:
    """The pieces before and after the widest gap along one axis, if it is at least that wide."""
    ordered = sorted(area, key=extent)
    reach = extent(ordered[0])[1]
    widest, at = least, 0
    for index, piece in enumerate(ordered[1:], start=1):
        start, end = extent(piece)
        if start - reach >= widest:
            widest, at = start - reach, index
        reach = max(reach, end)
    return [ordered[:at], ordered[at:]] if at else []


def _rows(area: list[_Piece]) -> list[list[_Piece]]:
    """The pieces of a block as lines from top to bottom, each from left to right."""
    rows: list[list[_Piece]] = []
    for piece in sorted(area, key=lambda piece: (piece.middle, piece.left)):
        if rows and _on_one_line(rows[-1], piece):
            rows[-1].append(piece)
        else:
            rows.append([piece])
    return [sorted(row, key=lambda piece: (piece.left, piece.top)) for row in rows]


def _on_one_line(row: list[_Piece], piece: _Piece) -> bool:
    """Whether a piece goes on with a line: as high up as the line, and beside what is there."""
    middle = sum(other.middle for other in row) / len(row)
    lower = min(piece.height, *(other.height for other in row))
    beside = all(piece.left >= other.right - lower or piece.right <= other.left + lower for other in row)
    return beside and abs(piece.middle - middle) <= SAME_LINE * lower


def _joined(row: list[_Piece]) -> Line:
    """The pieces of one line as a line."""
    if len(row) == 1:
        return row[0].line
    lines = [piece.line for piece in row]
    letters = [max(1, sum(len(word.text) for word in line.words)) for line in lines]
    confidence = sum(line.confidence * count for line, count in zip(lines, letters, strict=True)) / sum(
        letters
    )
    return Line(
        words=tuple(word for line in lines for word in line.words),
        confidence=confidence,
        quad=_spanning(lines[0].quad, lines[-1].quad),
    )


def _spanning(first: Quad, last: Quad) -> Quad:
    return (first[0], last[1], last[2], first[3])


def _median(values: Sequence[float]) -> float:
    return sorted(values)[len(values) // 2]


def between(quad: Quad, start: float, end: float) -> Quad:
    """The part of a quadrilateral from one fraction of its length to another."""
    top_left, top_right, bottom_right, bottom_left = quad
    return (
        _on_the_way(top_left, top_right, start),
        _on_the_way(top_left, top_right, end),
        _on_the_way(bottom_left, bottom_right, end),
        _on_the_way(bottom_left, bottom_right, start),
    )


def _on_the_way(start: Point, end: Point, fraction: float) -> Point:
    return (start[0] + (end[0] - start[0]) * fraction, start[1] + (end[1] - start[1]) * fraction)
