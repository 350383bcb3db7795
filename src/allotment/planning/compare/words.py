"""How a comparison says its figures: short enough for a table of four columns, and never without a unit."""

from __future__ import annotations

from typing import Final

from allotment.pictures.spans import rounded_up
from allotment.planning.compare.comparison import Cell, Difference, Row, Unit
from allotment.quantities.duration import format_duration

BEYOND: Final = "not in time"
MANY_TIMES: Final = 2.0
"""From so much more on, it is told how many times."""
ALMOST_ALL, MOST_LESS = -99.0, -99.9
"""Less by almost all is never told as by all of it."""


def lasting(seconds: float) -> str:
    """A span of time in its two largest units, rounded as everywhere: ``2h10m``, ``45s``."""
    return ("-" if seconds <= -1 else "") + format_duration(rounded_up(abs(seconds)))


def said(value: float | None, unit: Unit, currency: str = "") -> str:
    """One figure in its unit; of a row that has no figure in these draws, that it is beyond the horizon."""
    if value is None:
        return BEYOND
    if unit is Unit.SECONDS:
        return lasting(value)
    if unit is Unit.PART:
        return f"{100 * value:.0f} %"
    if unit is Unit.COUNT:
        return f"{value:,.0f}"
    if unit is Unit.MONEY:
        return f"{value:,.{0 if abs(value) >= 100 else 2}f} {currency}".rstrip()
    digits = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2
    return f"{value:,.{digits}f}"


def interval(cell: Cell, unit: Unit, currency: str = "") -> str:
    """The middle, and from where to where eight tenths of the draws lie, if that is more than the middle."""
    spread = cell.spread
    middle, low, high = (said(each, unit, currency) for each in (spread.p50, spread.p10, spread.p90))
    if low == high:
        return middle
    of_unit = {Unit.PART: " %", Unit.MONEY: f" {currency}"}.get(unit, "")
    return f"{middle} ({low.removesuffix(of_unit)}–{high})"


def titled(row: Row) -> str:
    """A row's title as the beginning of a sentence about its figure: ``books ends after``."""
    is_end = row.unit is Unit.SECONDS and not row.key.startswith("wait.")
    return f"{row.title} after" if is_end else row.title


def by_how_much(difference: Difference, unit: Unit) -> str:
    """A difference against the other's figure: ``-12 %``, ``+40 points``, ``3.2 times``."""
    if unit is Unit.PART:
        points = round(100 * difference.size)
        words = f"{points:+d} point" + ("" if abs(points) == 1 else "s")
        return words if points else ""
    if unit in {Unit.COUNT, Unit.NODES} or difference.relative is None:
        return ""
    if difference.relative >= MANY_TIMES:
        return f"{difference.relative + 1:.3g} times"
    percent = 100 * difference.relative
    return f"{max(percent, MOST_LESS):+.1f} %" if -100 < percent < ALMOST_ALL else f"{percent:+.0f} %"
