"""Rows of figures under each other on one scale: an interval with its middle, or a bar, or a bar in parts.

The words of a row stand over its line, so that they have the whole width on a narrow page as well.
"""

from __future__ import annotations

from dataclasses import dataclass

from allotment.pictures.chart import AXIS, Chart, Table, drawing, swatch, time_axis
from allotment.pictures.markup import Markup, element, joined, percent
from allotment.pictures.palette import fill, paint, patterns
from allotment.pictures.ticks import Extent, Tick, number_ticks

ROW, HEAD = 32.0, 26.0


@dataclass(frozen=True, slots=True)
class IntervalRow:
    """From the tenth to nine tenths, and the half; None is beyond the scale. ``said`` stands at the right."""

    label: str
    low: float | None
    middle: float | None
    high: float | None
    said: str = ""
    paint: int = 0
    group: str = ""


@dataclass(frozen=True, slots=True)
class Intervals:
    """Rows on one scale: of time where there is an ``extent``, else from 0 to ``highest``."""

    title: str
    rows: tuple[IntervalRow, ...]
    extent: Extent | None = None
    highest: float = 1.0
    unit: str = ""


@dataclass(frozen=True, slots=True)
class BarRow:
    """A bar in parts, each with its paint; ``said`` stands at the right, ``mark`` is a line across it."""

    label: str
    parts: tuple[tuple[int, float], ...]
    said: str = ""
    mark: float | None = None


@dataclass(frozen=True, slots=True)
class Bars:
    """Rows on a scale from 0 to the longest; ``keys`` say what the paints mean."""

    title: str
    rows: tuple[BarRow, ...]
    unit: str = ""
    keys: tuple[tuple[int, str], ...] = ()
    highest: float = 0.0


def intervals(value: Intervals, name: str) -> Chart:
    """The picture."""
    extent = value.extent or Extent(0.0, number_ticks(value.highest, 6)[-1].at)
    parts: list[Markup] = []
    y, group = 4.0, ""
    for row in value.rows:
        if row.group != group:
            group = row.group
            parts.append(element("text", group, class_="head", x=0, y=y + 16))
            y += HEAD
        parts.append(_interval(row, extent, y))
        y += ROW
    ground = _scale(value.extent, extent, value.unit, y)
    svg = drawing(name, value.title, _said(value.rows), y + AXIS, ground, *parts)
    sign = (
        element("line", class_="reach", x1=2, x2=16, y1=6, y2=6),
        element("circle", class_="dot", cx=7, cy=6, r=4),
        element("line", class_="stop", x1=16, x2=16, y1=1, y2=11),
    )
    return Chart(svg, ((swatch(*sign), "p10 to p90, dot at p50"),))


def _interval(row: IntervalRow, extent: Extent, y: float) -> Markup:
    low, middle, high = (1.0 if at is None else extent.share(at) for at in (row.low, row.middle, row.high))
    level = y + 23
    kind = f"s{paint(row.paint)}"
    parts = [
        *_words(row.label, row.said, y),
        element("line", class_="track-line", x1=0, x2="100%", y1=level, y2=level),
        element("line", class_=f"reach {kind}", x1=percent(low), x2=percent(high), y1=level, y2=level),
    ]
    if row.high is not None:
        x = percent(high)
        parts.append(element("line", class_=f"stop {kind}", x1=x, x2=x, y1=level - 5, y2=level + 5))
    elif row.low is not None:
        parts.append(element("text", "→", class_="tick end", x="100%", y=level - 3))
    if row.middle is not None:
        parts.append(
            element("circle", class_=f"dot f{paint(row.paint)}", cx=percent(middle), cy=level, r=4.5)
        )
    return joined(parts)


def _words(label: str, said: str, y: float) -> tuple[Markup, Markup]:
    return (
        element("text", label, class_="label", x=0, y=y + 13),
        element("text", said, class_="label end value", x="100%", y=y + 13),
    )


def _scale(time: Extent | None, extent: Extent, unit: str, bottom: float) -> Markup:
    if time is not None:
        return time_axis(time, 0.0, bottom)
    ticks = number_ticks(extent.until, 6)
    return joined(_tick(tick, place, extent, unit, bottom) for place, tick in enumerate(ticks))


def _tick(tick: Tick, place: int, extent: Extent, unit: str, bottom: float) -> Markup:
    share = extent.share(tick.at)
    x, anchor = percent(share), "start" if share < 0.04 else "end" if share > 0.96 else "middle"
    kind = f"tick {anchor}" + (" odd" if place % 2 else "")
    words = f"{tick.label} {unit}" if unit and share > 0.96 else tick.label
    line = element("line", class_="grid", x1=x, x2=x, y1=0, y2=bottom)
    return joined((line, element("text", words, class_=kind, x=x, y=bottom + 15)))


def _said(rows: tuple[IntervalRow, ...] | tuple[BarRow, ...]) -> str:
    return "; ".join(f"{row.label}: {row.said}" for row in rows) or "There is nothing to show."


def bars(value: Bars, name: str) -> Chart:
    """The picture."""
    longest = max([value.highest, *(sum(part for _, part in row.parts) for row in value.rows)])
    longest = max([longest, *(row.mark for row in value.rows if row.mark is not None)])
    highest = number_ticks(longest, 6)[-1].at
    extent = Extent(0.0, highest)
    parts = [_bar(row, extent, name, 4.0 + place * ROW) for place, row in enumerate(value.rows)]
    bottom = 4.0 + ROW * len(value.rows)
    used = {each for row in value.rows for each, _ in row.parts} | {each for each, _ in value.keys}
    svg = drawing(
        name,
        value.title,
        _said(value.rows),
        bottom + AXIS,
        patterns(name, used),
        _scale(None, extent, value.unit, bottom),
        *parts,
    )
    keys = tuple(
        (swatch(element("rect", fill=fill(name, each), width=18, height=12)), words)
        for each, words in value.keys
    )
    return Chart(svg, keys)


def _bar(row: BarRow, extent: Extent, name: str, y: float) -> Markup:
    parts: list[Markup] = [*_words(row.label, row.said, y)]
    parts.append(element("rect", class_="track", y=y + 18, width="100%", height=10))
    begin = 0.0
    for each, part in row.parts:
        share = extent.share(part)
        if share > 0:
            paint_ = fill(name, each)
            parts.append(
                element("rect", fill=paint_, x=percent(begin), y=y + 18, width=percent(share), height=10)
            )
        begin += share
    if row.mark is not None:
        x = percent(extent.share(row.mark))
        parts.append(element("line", class_="stop", x1=x, x2=x, y1=y + 15, y2=y + 31))
    return joined(parts)


def as_table(titles: tuple[str, ...], rows: tuple[tuple[str, ...], ...], right: int) -> Table | None:
    """A table whose columns from ``right`` on are numbers."""
    return Table(titles, rows, frozenset(range(right, len(titles)))) if rows else None
