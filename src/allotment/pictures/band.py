"""What varies from draw to draw over time: the middle as a line, around it where eight of ten draws are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from allotment.pictures.chart import (
    AXIS,
    Chart,
    Levels,
    Table,
    drawing,
    stretched,
    swatch,
    time_axis,
)
from allotment.pictures.curves import area, line
from allotment.pictures.markup import Markup, element, joined, percent
from allotment.pictures.palette import paint
from allotment.pictures.ticks import Extent, amount_words, number_ticks, when_words

HEIGHT, MARK, ABOVE = 150.0, 30.0, 20.0
MOST_TABLE: Final = 48


@dataclass(frozen=True, slots=True)
class Moment:
    """The tenth, the half and nine tenths of the draws, from this moment on."""

    at: float
    low: float
    middle: float
    high: float


@dataclass(frozen=True, slots=True)
class BandMark:
    """Something that happens in an interval of time, at the half of the draws; None is beyond the end."""

    label: str
    low: float | None
    middle: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class BandChart:
    """The moments in order; ``levels`` are heights with words, as the most that is allowed.

    ``paint`` is the colour that the thing it is about has in other pictures of the page.
    """

    title: str
    unit: str
    moments: tuple[Moment, ...]
    extent: Extent
    marks: tuple[BandMark, ...] = ()
    levels: tuple[tuple[float, str], ...] = ()
    paint: int | None = None

    @property
    def kinds(self) -> tuple[str, str]:
        """The classes of its strokes and of its areas."""
        return ("", "") if self.paint is None else (f" s{paint(self.paint)}", f" f{paint(self.paint)}")


def band(value: BandChart, name: str) -> Chart:
    """The picture."""
    tops = [moment.high for moment in value.moments] + [level for level, _ in value.levels]
    top = MARK * len(value.marks) + ABOVE
    scale = Levels(number_ticks(max(tops, default=0.0), 4), value.unit, top, HEIGHT)
    bottom = top + HEIGHT
    parts = [time_axis(value.extent, top, bottom), scale.lines()]
    if value.moments:
        parts.append(stretched(top, HEIGHT, *_paths(value, scale.highest)))
    parts += [_level(words, scale.y(level)) for level, words in value.levels]
    parts += [_mark(mark, value, place * MARK, bottom) for place, mark in enumerate(value.marks)]
    parts.append(scale.numbers())
    svg = drawing(name, value.title, _about(value), bottom + AXIS, *parts)
    return Chart(svg, _legend(value), _table(value), height=bottom + AXIS)


def _paths(value: BandChart, highest: float) -> list[Markup]:
    low = tuple((moment.at, moment.low) for moment in value.moments)
    middle = tuple((moment.at, moment.middle) for moment in value.moments)
    high = tuple((moment.at, moment.high) for moment in value.moments)
    stroke, filled = value.kinds
    return [
        element("path", class_=f"band{filled}", d=area(low, high, value.extent, highest, HEIGHT)),
        element("path", class_=f"edge{stroke}", d=line(low, value.extent, highest, HEIGHT)),
        element("path", class_=f"edge{stroke}", d=line(high, value.extent, highest, HEIGHT)),
        element("path", class_=f"curve{stroke}", d=line(middle, value.extent, highest, HEIGHT)),
    ]


def _level(words: str, y: float) -> Markup:
    line_ = element("line", class_="bound", x1=0, x2="100%", y1=y, y2=y)
    return joined((line_, element("text", words, class_="tick end", x="100%", y=y - 4)))


def _mark(mark: BandMark, value: BandChart, top: float, bottom: float) -> Markup:
    """A line at the half, and over the picture the interval from the tenth to nine tenths."""
    extent = value.extent
    stroke, filled = value.kinds
    low, middle, high = (1.0 if at is None else extent.share(at) for at in (mark.low, mark.middle, mark.high))
    y = top + 20
    anchor = "start" if middle < 0.2 else "end" if middle > 0.8 else "middle"
    parts = [element("line", class_=f"reach{stroke}", x1=percent(low), x2=percent(high), y1=y, y2=y)]
    if mark.middle is not None:
        x = percent(middle)
        parts.append(element("line", class_="mark", x1=x, x2=x, y1=y, y2=bottom))
        parts.append(element("circle", class_=f"dot{filled}", cx=x, cy=y, r=4))
    if mark.high is not None:
        x = percent(high)
        parts.append(element("line", class_=f"stop{stroke}", x1=x, x2=x, y1=y - 5, y2=y + 5))
    parts.append(element("text", mark.label, class_=f"tick {anchor} strong", x=percent(middle), y=top + 10))
    return joined(parts)


def _legend(value: BandChart) -> tuple[tuple[Markup, str], ...]:
    stroke, filled = value.kinds
    keys = [
        (swatch(element("line", class_=f"curve{stroke}", x1=0, x2=18, y1=6, y2=6)), "middle of the draws"),
        (swatch(element("rect", class_=f"band{filled}", width=18, height=12)), "eight of ten draws"),
    ]
    if value.marks:
        sign = (
            element("line", class_=f"reach{stroke}", x1=2, x2=16, y1=6, y2=6),
            element("circle", class_=f"dot{filled}", cx=5, cy=6, r=4),
            element("line", class_=f"stop{stroke}", x1=16, x2=16, y1=1, y2=11),
        )
        keys.append((swatch(*sign), "p10 to p90 of a moment, dot at p50"))
    return tuple(keys)


def _about(value: BandChart) -> str:
    if not value.moments:
        return "Nothing is known."
    peak = max(moment.middle for moment in value.moments)
    marks = "".join(
        f" {mark.label}: {_moment(mark.middle, value.extent)} in the middle,"
        f" {_moment(mark.high, value.extent)} at nine tenths."
        for mark in value.marks
    )
    return f"{value.unit} over time, {amount_words(peak)} at most in half of the draws.{marks}"


def _moment(at: float | None, extent: Extent) -> str:
    return "not within the time shown" if at is None else when_words(at, extent)


def _table(value: BandChart) -> Table | None:
    rows: list[tuple[str, ...]] = []
    last: tuple[str, ...] = ()
    for moment in value.moments:
        figures = tuple(amount_words(each) for each in (moment.low, moment.middle, moment.high))
        if figures != last:
            rows.append((when_words(moment.at, value.extent), *figures))
            last = figures
    if not rows:
        return None
    kept = tuple(rows[:MOST_TABLE])
    return Table(("from", "p10", "p50", "p90"), kept, frozenset(range(4)), len(rows) - len(kept))
