"""Where an axis has its ticks, and what they are called: spans of time or clock times, and round numbers.

Times fall on what people count in (1, 2, 5, 10, 15, 30 of seconds and minutes; 1, 2, 3, 6, 12 hours; days,
weeks); with a clock they fall on the full ones of its time zone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from allotment.pictures.spans import DAY, HOUR, MINUTE, span_words

_STEPS: Final = (
    *(1.0, 2.0, 5.0, 10.0, 15.0, 30.0),
    *(each * MINUTE for each in (1, 2, 5, 10, 15, 30)),
    *(each * HOUR for each in (1, 2, 3, 6, 12)),
    *(each * DAY for each in (1, 2, 7, 14, 28, 91, 182, 364)),
)
SHORT: Final = 10 * MINUTE
MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


@dataclass(frozen=True, slots=True)
class Tick:
    """A place on an axis, and its words."""

    at: float
    label: str


@dataclass(frozen=True, slots=True)
class Extent:
    """The time that a picture shows; with ``clock``, the moment of zero, in clock times.

    ``is_past`` says that it shows what was, not what is expected.
    """

    since: float
    until: float
    clock: datetime | None = None
    is_past: bool = False

    @property
    def length(self) -> float:
        """How long it is: never nothing, so that every moment has a place."""
        length = self.until - self.since
        return length if length > 0 and math.isfinite(length) else 1.0

    def share(self, at: float) -> float:
        """Where a moment lies, from 0 to 1."""
        if at == math.inf:
            return 1.0
        return min(1.0, max(0.0, (at - self.since) / self.length))


def time_ticks(extent: Extent, most: int = 10) -> tuple[Tick, ...]:
    """The ticks of an axis of time."""
    step = next((each for each in _STEPS if extent.length / each <= most), 0.0)
    if not step:
        step = math.ceil(extent.length / most / _STEPS[-1]) * _STEPS[-1]
    begin, end = extent.since, extent.since + extent.length
    shift = _shift(extent.clock, step)
    first = math.ceil((begin + shift) / step - 1e-9) * step - shift
    count = math.floor((end - first) / step + 1e-9) + 1
    places = [first + number * step for number in range(count)] or [begin]
    return tuple(Tick(at, moment_words(at, extent.clock, step)) for at in places)


def _shift(clock: datetime | None, step: float) -> float:
    """How far zero lies after a full step of the clock."""
    if clock is None:
        return 0.0
    midnight = clock.replace(hour=0, minute=0, second=0, microsecond=0)
    return (clock - midnight).total_seconds() % min(step, DAY)


def moment_words(at: float, clock: datetime | None, step: float = MINUTE) -> str:
    """A moment: how long after zero, or what the clock shows (the day at midnight)."""
    if clock is None:
        return span_words(at)
    then = (clock + timedelta(seconds=at + 0.5)).replace(microsecond=0)
    if step >= DAY or (then.hour, then.minute, then.second) == (0, 0, 0):
        return f"{then.day} {MONTHS[then.month - 1]}"
    return f"{then:%H:%M}" if step >= MINUTE else f"{then:%H:%M:%S}"


def when_words(at: float, extent: Extent) -> str:
    """A moment so that it can stand alone: how long after zero, or day and time of the clock.

    What is yet to come is not told before it comes: to the minute, it is the next one. What was is told as
    the clock showed it then. Of minutes seconds are told.
    """
    if extent.clock is None or not math.isfinite(at):
        return span_words(at)
    is_short = extent.length < SHORT
    if extent.is_past:
        then = extent.clock + timedelta(seconds=round(at, 3))
    elif is_short:
        then = extent.clock + timedelta(seconds=math.ceil(round(at, 3)))
    else:
        then = extent.clock + timedelta(seconds=round(at))
        if at > 0 and (then.second or then.microsecond):
            then += timedelta(minutes=1)
    time = f"{then:%H:%M:%S}" if is_short else f"{then:%H:%M}"
    return f"{then.day} {MONTHS[then.month - 1]} {time}"


def number_ticks(highest: float, most: int = 5) -> tuple[Tick, ...]:
    """Round numbers from nothing up to the highest, which the last is not below."""
    if highest < 1e-9 or not math.isfinite(highest):
        return (Tick(0.0, "0"), Tick(1.0, "1"))
    rough = highest / most
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(each * power for each in (1, 2, 5, 10) if each * power >= rough * (1 - 1e-9))
    count = math.ceil(highest / step - 1e-9)
    return tuple(Tick(place * step, amount_words(place * step)) for place in range(count + 1))


def amount_words(value: float) -> str:
    """A number for people: thousands apart, decimals only where they say something."""
    if not math.isfinite(value):
        return "–"
    size = abs(value)
    if size >= 1e15:
        return f"{value:.3g}"
    places = 0 if size >= 100 or value == round(value) else 1 if size >= 10 else 2
    text = f"{value:,.{places}f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    if text in {"0", "-0"}:
        return f"{value:.1g}" if value else "0"
    return text
