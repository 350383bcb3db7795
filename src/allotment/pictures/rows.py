"""Rows of figures under each other on one scale: an interval with its middle, or a bar, or a bar in parts.

The words of a row stand over its line as text of the page, so that they wrap where the page is narrow, and
are read out as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from allotment.pictures.chart import AXIS, Chart, swatch, time_axis
from allotment.pictures.markup import Markup, element, joined, percent
from allotment.pictures.palette import fill, paint, patterns
from allotment.pictures.ticks import Extent, Tick, number_ticks, time_ticks

HEIGHT = 20.0


@dataclass(frozen=True, slots=True)
class IntervalRow:
    """From the tenth to nine tenths, and the half; None is beyond the scale. ``said`` stands at the right.

    Its label says what it is, so that it needs no ``paint``; with one it is that of a thing that has it
    in other pictures of the page too.
    """

    label: str
    low: float | None
    middle: float | None
    high: float | None
    said: str = ""
    paint: int | None = None
    group: str = ""


@dataclass(frozen=True, slots=True)
class Intervals:
    """Rows on one scale: of time where there is an ``extent``, else from 0 to ``highest``."""

    title: str
    rows: tuple[IntervalRow, ...]
    extent: Extent | None = None
    highest: float = 1.0
    unit: str = ""
    key: str = "p10 to p90, dot at p50"


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
    ticks = _ticks(value.extent, extent)
    parts: list[Markup] = []
    group = ""
    for row in value.rows:
        if row.group != group:
            group = row.group
            parts.append(element("h4", group))
        parts.append(_line(row.label, row.said, _grid(ticks, extent), *_interval(row, extent)))
    parts.append(_axis(ticks, value.extent, extent, value.unit))
    sign = (
        element("line", class_="reach plain", x1=2, x2=16, y1=6, y2=6),
        element("circle", class_="dot filled", cx=7, cy=6, r=4),
        element("line", class_="stop plain", x1=16, x2=16, y1=1, y2=11),
    )
    keys = [(swatch(*sign), value.key)]
    if any(row.high is None for row in value.rows):
        arrow = element("path", class_="beyond filled", d="M5 0L14 6L5 12Z")
        keys.append((swatch(arrow), "later than what is shown"))
    return Chart(_list(name, value.title, parts), tuple(keys))


def _interval(row: IntervalRow, extent: Extent) -> list[Markup]:
    low, middle, high = (1.0 if at is None else extent.share(at) for at in (row.low, row.middle, row.high))
    level = HEIGHT / 2
    kind, filled = (
        ("plain", "filled") if row.paint is None else (f"s{paint(row.paint)}", f"f{paint(row.paint)}")
    )
    parts = [
        element("line", class_="track-line", x1=0, x2="100%", y1=level, y2=level),
        element("line", class_=f"reach {kind}", x1=percent(low), x2=percent(high), y1=level, y2=level),
    ]
    if row.high is not None:
        x = percent(high)
        parts.append(element("line", class_=f"stop {kind}", x1=x, x2=x, y1=level - 6, y2=level + 6))
    else:
        beyond = element("path", class_=f"beyond {filled}", d="M-9 -6L0 0L-9 6Z")
        parts.append(element("svg", beyond, x="100%", y=level, class_="open"))
    if row.middle is not None:
        x = percent(middle)
        parts.append(element("circle", class_=f"dot {filled}", cx=x, cy=level, r=5))
    return parts


def bars(value: Bars, name: str) -> Chart:
    """The picture."""
    longest = max([value.highest, *(sum(part for _, part in row.parts) for row in value.rows)])
    longest = max([longest, *(row.mark for row in value.rows if row.mark is not None)])
    ticks = number_ticks(longest, 6)
    extent = Extent(0.0, ticks[-1].at)
    used = {each for row in value.rows for each, _ in row.parts} | {each for each, _ in value.keys}
    defined = element("svg", patterns(name, used), width=0, height=0, class_="none", aria_hidden="true")
    rows = [_line(row.label, row.said, _grid(ticks, extent), *_bar(row, extent, name)) for row in value.rows]
    picture = _list(name, value.title, [defined, *rows, _axis(ticks, None, extent, value.unit)])
    keys = tuple(
        (swatch(element("rect", fill=fill(name, each), width=18, height=12)), words)
        for each, words in value.keys
    )
    return Chart(picture, keys)


def _bar(row: BarRow, extent: Extent, name: str) -> list[Markup]:
    parts = [element("rect", class_="track", y=4, width="100%", height=12)]
    begin = 0.0
    for each, part in row.parts:
        share = extent.share(part)
        if share > 0:
            place = {"x": percent(begin), "width": percent(share)}
            parts.append(element("rect", fill=fill(name, each), y=4, height=12, **place))
        begin += share
    if row.mark is not None:
        x = percent(extent.share(row.mark))
        parts.append(element("line", class_="limit", x1=x, x2=x, y1=1, y2=HEIGHT - 1))
    return parts


def _list(name: str, title: str, parts: Sequence[Markup]) -> Markup:
    return element("div", *parts, class_="lines", id=name, role="group", aria_label=title)


def _line(label: str, said: str, *parts: Markup) -> Markup:
    """The words of a row, and under them its line."""
    words = element("div", element("span", label), element("b", said) if said else Markup(), class_="line")
    line = element("svg", *parts, class_="plot", width="100%", height=HEIGHT, aria_hidden="true")
    return joined((words, line))


def _ticks(time: Extent | None, extent: Extent) -> tuple[Tick, ...]:
    return time_ticks(time) if time is not None else number_ticks(extent.until, 6)


def _grid(ticks: Sequence[Tick], extent: Extent) -> Markup:
    return joined(
        element("line", class_="grid", x1=x, x2=x, y1=0, y2=HEIGHT)
        for x in (percent(extent.share(tick.at)) for tick in ticks)
    )


def _axis(ticks: Sequence[Tick], time: Extent | None, extent: Extent, unit: str) -> Markup:
    if time is not None:
        words = time_axis(time, 0.0, 4.0)
    else:
        words = joined(_tick(tick, len(ticks) - 1 - place, extent, unit) for place, tick in enumerate(ticks))
    return element("svg", words, class_="plot", width="100%", height=AXIS, aria_hidden="true")


def _tick(tick: Tick, from_end: int, extent: Extent, unit: str) -> Markup:
    share = extent.share(tick.at)
    x, anchor = percent(share), "start" if share < 0.04 else "end" if share > 0.96 else "middle"
    kind = f"tick {anchor}" + (" odd" if from_end % 2 and share > 0 else "")
    words = f"{tick.label} {unit}" if unit and share > 0.96 else tick.label
    line = element("line", class_="grid", x1=x, x2=x, y1=0, y2=4)
    return joined((line, element("text", words, class_=kind, x=x, y=19)))
