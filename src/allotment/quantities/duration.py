"""Durations: ``90s``, ``10m``, ``1h30m``, ``2d``, or a number of seconds.

The units are those of Go's durations, which the schedulers' own settings use, and ``d`` for days; below a
second nothing here is told apart.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Final

from allotment.quantities.quantity import QuantityError

UNITS: Final = {"d": 86_400, "h": 3_600, "m": 60, "s": 1}
LONGEST_SECONDS: Final = 2**31 - 1

_PART: Final = r"(?:([0-9]{{1,10}}(?:\.[0-9]{{1,9}})?){unit})?"
_FORM: Final = re.compile("".join(_PART.format(unit=unit) for unit in UNITS))


def parse_duration(value: str | int) -> int:
    """The duration in whole seconds."""
    if isinstance(value, int):
        return _bounded(Fraction(value), str(value))
    match = _FORM.fullmatch(value)
    if match is None or not value:
        raise QuantityError(f"`{value}` is not a duration", "write 90s, 10m, 1h30m or 2d")
    parts = zip(match.groups(), UNITS.values(), strict=True)
    return _bounded(sum((Fraction(number) * unit for number, unit in parts if number), Fraction()), value)


def format_duration(seconds: int) -> str:
    """A duration in the largest units that say it exactly: ``1h30m``."""
    parts = []
    for unit, size in UNITS.items():
        number, seconds = divmod(seconds, size)
        if number:
            parts.append(f"{number}{unit}")
    return "".join(parts) or "0s"


def _bounded(seconds: Fraction, value: str) -> int:
    if seconds.denominator != 1:
        raise QuantityError(f"`{value}` is not a whole number of seconds", "write 90s, 10m, 1h30m or 2d")
    if not 0 <= seconds <= LONGEST_SECONDS:
        raise QuantityError(f"`{value}` is no duration that can pass", "write 90s, 10m, 1h30m or 2d")
    return int(seconds)
