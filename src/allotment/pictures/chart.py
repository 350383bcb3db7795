"""A picture with all that belongs to it: what it shows in words, its legend, and its numbers as a table.

A picture is as wide as the page gives it: places along it are shares of the width, so that letters and lines
keep their size on a wide page and on a narrow one. Colours come from the page's style, by class.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from allotment.pictures.counts import of_unit
from allotment.pictures.markup import Markup, element, joined, number, percent
from allotment.pictures.ticks import Extent, Tick, time_ticks

INNER = 1000
"""Units along the width of what is stretched to it."""
AXIS = 24
PLATE, LETTER = 14.0, 6.4
"""How high the plate under a number is, and how wide a letter on it, in pixels."""


@dataclass(frozen=True, slots=True)
class Table:
    """Numbers under a picture; ``right`` are the columns of numbers, ``left_out`` rows were too many."""

    titles: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    right: frozenset[int] = frozenset()
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class Chart:
    """A picture, the keys of its legend (a swatch and words), and the numbers in it.

    ``is_rowed``: the names of its rows stand to the left of it, and need room there. ``height`` is in pixels;
    0 is that of a picture which the page lays out.
    """

    svg: Markup
    legend: tuple[tuple[Markup, str], ...] = ()
    table: Table | None = None
    notes: tuple[str, ...] = ()
    is_rowed: bool = False
    height: float = 0.0


def drawing(name: str, title: str, about: str, height: float, *parts: Markup) -> Markup:
    """A picture of that height: its title and what it shows are read out to who cannot see it."""
    return element(
        "svg",
        element("title", title, id=f"{name}-title"),
        element("desc", about, id=f"{name}-desc"),
        *parts,
        class_="plot",
        width="100%",
        height=number(height),
        role="img",
        aria_labelledby=f"{name}-title {name}-desc",
    )


def stretched(top: float, height: float, *parts: Markup) -> Markup:
    """Parts whose places are units of the width (``INNER``) and of the height in pixels."""
    return element(
        "svg",
        *parts,
        y=top,
        width="100%",
        height=height,
        viewBox=f"0 0 {INNER} {number(height)}",
        preserveAspectRatio="none",
    )


def time_axis(extent: Extent, top: float, bottom: float) -> Markup:
    """Lines down from ``top``, and their times under ``bottom``; a narrow page shows every second one."""
    return joined(
        _time_tick(tick, place, extent.share(tick.at), top, bottom)
        for place, tick in enumerate(time_ticks(extent))
    )


def _time_tick(tick: Tick, place: int, share: float, top: float, bottom: float) -> Markup:
    anchor = "start" if share < 0.04 else "end" if share > 0.96 else "middle"
    x = percent(share)
    line = element("line", class_="grid", x1=x, x2=x, y1=top, y2=bottom)
    kind = f"tick {anchor}" + (" odd" if place % 2 else "")
    return joined((line, element("text", tick.label, class_=kind, x=x, y=bottom + 15)))


@dataclass(frozen=True, slots=True)
class Levels:
    """The scale of heights: lines across, which stand behind what is drawn, and their numbers before it."""

    ticks: Sequence[Tick]
    unit: str
    top: float
    height: float

    @property
    def highest(self) -> float:
        """What the whole height stands for."""
        return self.ticks[-1].at

    def y(self, value: float) -> float:
        """Where a value lies."""
        return self.top + self.height * (1 - value / self.highest)

    def lines(self) -> Markup:
        """A line for each number."""
        heights = [self.y(tick.at) for tick in self.ticks]
        return joined(element("line", class_="grid", x1=0, x2="100%", y1=y, y2=y) for y in heights)

    def numbers(self) -> Markup:
        """The numbers on their lines, the unit beside the uppermost, each on a plate over what is filled."""
        last = self.ticks[-1]
        words = [
            (tick, of_unit(tick.label, self.unit) if tick is last else tick.label) for tick in self.ticks[1:]
        ]
        return joined(
            joined(
                (
                    element("rect", class_="plate", x=0, y=self.y(tick.at) - PLATE, rx=2,
                            width=6 + LETTER * len(each), height=PLATE),
                    element("text", each, class_="tick level", x=3, y=self.y(tick.at) - 4),
                )
            )
            for tick, each in words
        )  # fmt: skip


def swatch(*parts: Markup) -> Markup:
    """The sign of a key of a legend."""
    return element("svg", *parts, class_="swatch", width=18, height=12, aria_hidden="true")
