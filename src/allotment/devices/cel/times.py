"""Points in time and spans of it, to the nanosecond, within the limits of CEL.

Timestamps reach from the year 1 to 9999, durations to 10,000 years (what fits 64 bits of nanoseconds, in
fact). Texts are RFC 3339 and Go's durations (``1h30m``, ``-1.5s``).
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from functools import total_ordering
from typing import Final, NamedTuple, Self
from zoneinfo import ZoneInfo

from allotment.devices.cel.numbers64 import INT_MAX, INT_MIN
from allotment.devices.cel.problems import EvaluationError
from allotment.quantities.quoting import quoted

SECOND: Final = 10**9
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST: Final = -62135596800
_LAST: Final = 253402300799
_UNITS: Final = {
    "h": 3600 * SECOND,
    "m": 60 * SECOND,
    "s": SECOND,
    "ms": 10**6,
    "us": 10**3,
    "µs": 10**3,
    "ns": 1,
}
_PART: Final = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(ns|us|µs|ms|s|m|h)")
_RFC3339: Final = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:[Zz]|([+-])(\d\d):(\d\d))", re.ASCII
)
_NUMBER: Final = re.compile(r"[+-]?[0-9]{1,6}", re.ASCII)
_YEARS: Final = 400
_YEARS_LAST: Final = 146_097 * 86_400
"""The calendar repeats itself, days of the week included, after so many years, and they last so long."""
_EDGE: Final = 86_400 * 366


class Clock(NamedTuple):
    """What clocks show, and by how many years the calendar has been set back."""

    moment: datetime
    years: int


@total_ordering
class Duration:
    """A span of time."""

    __slots__ = ("nanos",)

    def __init__(self, nanos: int) -> None:
        if not INT_MIN <= nanos <= INT_MAX:
            raise EvaluationError("integer overflow")
        self.nanos = nanos

    @classmethod
    def parse(cls, text: str) -> Self:
        """The span that a text says."""
        body = text[1:] if text[:1] in ("+", "-") else text
        if body == "0":
            return cls(0)
        parts = _PART.findall(body)
        if not body or "".join(number + unit for number, unit in parts) != body:
            raise EvaluationError(f"time: invalid duration {quoted(text)}")
        total = sum(_nanos(number, _UNITS[unit]) for number, unit in parts)
        if total > INT_MAX:
            raise EvaluationError(f"time: invalid duration {quoted(text)}")
        return cls(-total if text.startswith("-") else total)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Duration) and self.nanos == other.nanos

    def __lt__(self, other: Duration) -> bool:
        return self.nanos < other.nanos

    def __hash__(self) -> int:
        return hash(self.nanos)

    def __str__(self) -> str:
        whole, rest = divmod(abs(self.nanos), SECOND)
        fraction = f".{rest:09d}".rstrip("0") if rest else ""
        return f"{'-' if self.nanos < 0 else ''}{whole}{fraction}s"


@total_ordering
class Timestamp:
    """A point in time: nanoseconds since 1970."""

    __slots__ = ("nanos",)

    def __init__(self, nanos: int) -> None:
        if not _FIRST <= nanos // SECOND <= _LAST:
            raise EvaluationError("timestamp overflow")
        self.nanos = nanos

    @classmethod
    def parse(cls, text: str) -> Self:
        """The time that a text says."""
        match = _RFC3339.fullmatch(text)
        if match is None:
            raise EvaluationError(_unparsed(text))
        *numbers, fraction, sign, hours, minutes = match.groups()
        try:
            moment = datetime(*map(int, numbers), tzinfo=UTC)  # type: ignore[misc, arg-type]  # six numbers
        except ValueError as error:
            raise EvaluationError(_unparsed(text)) from error
        seconds = (moment - _EPOCH) // timedelta(seconds=1)
        if sign:
            seconds -= int(sign + "1") * (int(hours) * 3600 + int(minutes) * 60)
        return cls(seconds * SECOND + int((fraction or "0")[:9].ljust(9, "0")))

    def at(self, zone: str) -> Clock:
        """The moment on the clocks of a zone, its microseconds left out."""
        seconds = self.nanos // SECOND
        years = 0 if seconds - _FIRST >= _EDGE and _LAST - seconds >= _EDGE else _shift(seconds)
        moment = _EPOCH + timedelta(seconds=seconds - years * _YEARS_LAST)
        return Clock(_on_clocks(moment, zone), years * _YEARS)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Timestamp) and self.nanos == other.nanos

    def __lt__(self, other: Timestamp) -> bool:
        return self.nanos < other.nanos

    def __hash__(self) -> int:
        return hash(self.nanos)

    def __str__(self) -> str:
        moment = _EPOCH + timedelta(seconds=self.nanos // SECOND)
        rest = self.nanos % SECOND
        fraction = f".{rest:09d}".rstrip("0") if rest else ""
        return f"{moment.year:04d}-{moment:%m-%dT%H:%M:%S}{fraction}Z"


def _unparsed(text: str) -> str:
    return f'parsing time "{text}" as "2006-01-02T15:04:05Z07:00": cannot parse "{text}" as "2006"'


def _nanos(number: str, unit: int) -> int:
    whole, _, fraction = number.partition(".")
    digits = fraction[:18]
    return int(whole[:25] or "0") * unit + (int(digits) * unit // 10 ** len(digits) if digits else 0)


def _shift(seconds: int) -> int:
    """By how many cycles of the calendar a moment at its ends must be moved to stand between them."""
    return 1 if seconds > 0 else -1


def _on_clocks(moment: datetime, zone: str) -> datetime:
    """A moment on the clocks of a zone: by its name, or by hours and minutes from UTC, any number of them."""
    hours, colon, minutes = zone.partition(":")
    if colon:
        east = _number(hours) * 60 + (-1 if zone[0] == "-" else 1) * _number(minutes)
        return moment + timedelta(minutes=east)
    if zone in ("", "UTC", "Local"):
        return moment
    if ".." in zone or zone[0] in "/\\":
        raise EvaluationError("time: invalid location name")
    try:
        return moment.astimezone(ZoneInfo(zone))
    except (KeyError, ValueError, OSError) as error:
        raise EvaluationError(f"unknown time zone {zone}") from error


def _number(text: str) -> int:
    if not _NUMBER.fullmatch(text):
        raise EvaluationError(f"strconv.Atoi: parsing {quoted(text)}: invalid syntax")
    return int(text)
