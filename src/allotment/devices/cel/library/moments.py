"""What can be asked of timestamps and durations: ``getHours()`` and its kin, in UTC or another zone."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Final

from allotment.devices.cel import cel_types as t
from allotment.devices.cel.declarations import Overload, member
from allotment.devices.cel.numbers64 import quotient
from allotment.devices.cel.times import SECOND, Duration, Timestamp

_FIELDS: Final[dict[str, tuple[str, Callable[[datetime], int]]]] = {
    "getFullYear": ("year", lambda moment: moment.year),
    "getMonth": ("month", lambda moment: moment.month - 1),
    "getDayOfYear": ("day_of_year", lambda moment: moment.timetuple().tm_yday - 1),
    "getDayOfMonth": ("day_of_month", lambda moment: moment.day - 1),
    "getDate": ("day_of_month_1_based", lambda moment: moment.day),
    "getDayOfWeek": ("day_of_week", lambda moment: moment.isoweekday() % 7),
    "getHours": ("hours", lambda moment: moment.hour),
    "getMinutes": ("minutes", lambda moment: moment.minute),
    "getSeconds": ("seconds", lambda moment: moment.second),
}
_SPANS: Final = {
    "getHours": ("hours", 3600 * SECOND),
    "getMinutes": ("minutes", 60 * SECOND),
    "getSeconds": ("seconds", SECOND),
}


def _field(read: Callable[[datetime], int], *, with_year: bool) -> Callable[..., int]:
    def compute(moment: Timestamp, zone: str = "UTC") -> int:
        clock = moment.at(zone)
        return read(clock.moment) + (clock.years if with_year else 0)

    return compute


def _milliseconds(moment: Timestamp, zone: str = "UTC") -> int:
    moment.at(zone)
    return moment.nanos % SECOND // 10**6


def _span(unit: int) -> Callable[[Duration], int]:
    return lambda span: quotient(span.nanos, unit)


def _span_milliseconds(span: Duration) -> int:
    return quotient(span.nanos, 10**6)


def _asked(name: str, compute: Callable[..., int]) -> tuple[Overload, ...]:
    return (
        member(f"timestamp_to_{name}", (t.TIMESTAMP,), t.INT, compute),
        member(f"timestamp_to_{name}_with_tz", (t.TIMESTAMP, t.STRING), t.INT, compute),
    )


MOMENTS: Final[dict[str, tuple[Overload, ...]]] = {
    function: _asked(name, _field(read, with_year=name == "year"))
    for function, (name, read) in _FIELDS.items()
}
for _function, (_name, _unit) in _SPANS.items():
    MOMENTS[_function] += (member(f"duration_to_{_name}", (t.DURATION,), t.INT, _span(_unit)),)
MOMENTS["getMilliseconds"] = (
    *_asked("milliseconds", _milliseconds),
    member("duration_to_milliseconds", (t.DURATION,), t.INT, _span_milliseconds),
)
