"""Lines over a scale that is not time: how one figure goes with another, for several ways of doing it.

A line has a colour, a dash and, at its end, its name, so that it can be followed without colours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from allotment.pictures.chart import AXIS, INNER, Chart, Levels, Table, drawing, stretched, swatch
from allotment.pictures.markup import Markup, element, joined, number, percent
from allotment.pictures.palette import paint
from allotment.pictures.ticks import Tick, amount_words, number_ticks

HEIGHT, TOP, UNIT = 240.0, 18.0, 15.0
MOST_POINTS: Final = 240
MOST_TABLE: Final = 40


@dataclass(frozen=True, slots=True)
class Line:
    """One line: its points, in the order of the scale below."""

    name: str
    points: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class Lines:
    """Several lines. ``below`` and ``beside`` say what is counted along the two scales, in which units."""

    title: str
    lines: tuple[Line, ...]
    below: str
    beside: str
    highest: float = 0.0


def lines(value: Lines, name: str) -> Chart:
    """The picture."""
    points = [point for each in value.lines for point in each.points]
    ticks = number_ticks(max((x for x, _ in points), default=0.0), 8)
    widest = ticks[-1].at
    top = max([value.highest, *(y for _, y in points)])
    levels = Levels(number_ticks(top, 5), value.beside, TOP, HEIGHT)
    bottom = TOP + HEIGHT
    paths = [
        element("path", class_=f"line s{paint(place)} d{paint(place)}", d=_path(each.points, widest, levels))
        for place, each in enumerate(value.lines)
    ]
    svg = drawing(
        name,
        value.title,
        _about(value),
        bottom + AXIS + UNIT,
        joined(_tick(tick, len(ticks) - 1 - at, widest) for at, tick in enumerate(ticks)),
        element("text", value.below, class_="tick end", x="100%", y=bottom + 15 + UNIT),
        levels.lines(),
        stretched(TOP, HEIGHT, *paths),
        levels.numbers(),
    )
    keys = tuple(
        (swatch(element("path", class_=f"line s{paint(place)} d{paint(place)}", d="M0 6H18")), each.name)
        for place, each in enumerate(value.lines)
    )
    return Chart(svg, keys, _table(value), height=bottom + AXIS + UNIT)


def _path(points: Sequence[tuple[float, float]], widest: float, levels: Levels) -> str:
    step = max(1, len(points) // MOST_POINTS)
    kept = [*points[::step], *points[-1:]]
    places = [(number(x / widest * INNER, 1), number(levels.y(y) - levels.top, 1)) for x, y in kept]
    if not places:
        return ""
    (x, y), *_ = places
    return f"M{x} {y}" + "".join(f"L{x} {y}" for before, (x, y) in pairwise(places) if before != (x, y))


def _tick(tick: Tick, from_end: int, widest: float) -> Markup:
    share = tick.at / widest
    x, anchor = percent(share), "start" if share < 0.04 else "end" if share > 0.96 else "middle"
    kind = f"tick {anchor}" + (" odd" if from_end % 2 and share > 0 else "")
    line = element("line", class_="grid", x1=x, x2=x, y1=TOP, y2=TOP + HEIGHT)
    return joined((line, element("text", tick.label, class_=kind, x=x, y=TOP + HEIGHT + 15)))


def _about(value: Lines) -> str:
    ends = (f"{each.name} ends at {amount_words(each.points[-1][1])}" for each in value.lines if each.points)
    return f"{value.beside} by {value.below}. " + "; ".join(ends) + "."


def _table(value: Lines) -> Table | None:
    moments = sorted({x for each in value.lines for x, _ in each.points})
    if not moments:
        return None
    step = max(1, -(-len(moments) // MOST_TABLE))
    known = [dict(each.points) for each in value.lines]
    rows = tuple(
        (amount_words(at), *(amount_words(each[at]) if at in each else "–" for each in known))
        for at in moments[::step]
    )
    titles = (value.below, *(each.name for each in value.lines))
    return Table(titles, rows, frozenset(range(len(titles))))
