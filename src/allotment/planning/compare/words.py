"""How a comparison says its figures: short enough for a table of four columns, and never without a unit."""

from __future__ import annotations

from typing import Final

from allotment.pictures.spans import rounded_up
from allotment.planning.compare.comparison import Cell, Unit
from allotment.quantities.duration import format_duration

BEYOND: Final = "not in time"


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
        return f"{value:,.2f} {currency}".rstrip()
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
