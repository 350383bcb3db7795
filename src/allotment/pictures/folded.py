"""The timeline of very many cards: a row is a node or a kind of card, and shows how much each work has."""

from __future__ import annotations

from collections.abc import Sequence

from allotment.pictures.chart import INNER, stretched
from allotment.pictures.lanes import BINS, MOST_ROWS, Bar, Folded, Row, folded_rows
from allotment.pictures.markup import Markup, element, number
from allotment.pictures.palette import Paints, fill
from allotment.pictures.ticks import Extent, amount_words

HEAD, HEIGHT, GAP = 22.0, 30.0, 4.0

Body = tuple[list[Markup], list[Markup], float, tuple[str, ...]]
"""What is drawn of the rows, what stands over it, how high it is, and what to say about it."""


def draw_folded(rows: Sequence[Row], bars: Sequence[Bar], extent: Extent, paints: Paints) -> Body:
    """The rows of nodes, or of kinds of cards."""
    parts: list[Markup] = []
    heads: list[Markup] = []
    y = 0.0
    for each in folded_rows(rows, bars, extent, paints.of):
        words = f"{each.label} · {amount_words(each.size)} cards"
        heads.append(element("text", words, class_="head", x=0, y=y + 15))
        parts.append(element("rect", class_="track", y=y + HEAD, width="100%", height=HEIGHT))
        parts.append(stretched(y + HEAD, HEIGHT, *_layers(each, paints.name)))
        y += HEAD + HEIGHT + GAP
    what = "node" if len({row.group for row in rows}) <= MOST_ROWS else "kind of card"
    return parts, heads, y, (f"{len(rows):,} cards are too many for a row each: a row is a {what}.",)


def _layers(each: Folded, name: str) -> list[Markup]:
    """What each paint has of the row, one over the other from below."""
    ground, paths = [0.0] * BINS, []
    for paint, busy in each.layers:
        above = [min(each.size, a + b) for a, b in zip(ground, busy, strict=True)]
        paths.append(element("path", d=_between(ground, above, each.size), fill=fill(name, paint)))
        ground = above
    return paths


def _between(low: Sequence[float], high: Sequence[float], size: float) -> str:
    """The outline of what lies between two lines of steps."""
    heights = [number(HEIGHT * (1 - value / size), 1) for value in high]
    grounds = [number(HEIGHT * (1 - value / size), 1) for value in low]
    edges = [number((at + 1) * INNER / BINS) for at in range(BINS)]
    pieces = [f"M0 {heights[0]}"]
    for at, height in enumerate(heights):
        if at and height != heights[at - 1]:
            pieces.append(f"V{height}")
        if at + 1 == BINS or height != heights[at + 1]:
            pieces.append(f"H{edges[at]}")
    pieces.append(f"V{grounds[-1]}")
    falls = (at for at in range(BINS - 1, 0, -1) if grounds[at] != grounds[at - 1])
    pieces.extend(f"H{edges[at - 1]}V{grounds[at - 1]}" for at in falls)
    return "".join(pieces) + "H0Z"
