"""Spans of time as people say them, rounded in one way wherever they are said.

A span has the two largest units that it fills, and is rounded up to the smaller of them: whoever holds it
against a deadline, or waits for it, must never be told less than it takes. Below ten seconds tenths are told.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Final

MINUTE, HOUR, DAY = 60.0, 3_600.0, 86_400.0
_UNITS: Final = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))
_TENTHS: Final = 10.0
_NOISE: Final = 3
"""So many decimals of a second are told from none: sums of floats are no nearer."""


def rounded_up(seconds: float) -> int:
    """Whole seconds, up to the smaller of the two largest units that the span fills."""
    whole = math.ceil(round(seconds, _NOISE))
    for (size, _), (smaller, _) in pairwise(_UNITS):
        if whole >= size:
            return math.ceil(whole / smaller) * smaller
    return whole


def span_words(seconds: float) -> str:
    """A span of time in at most two units: ``4.2 s``, ``45 s``, ``1 h 15 min``, ``3 d 4 h``."""
    if not math.isfinite(seconds):
        return "–"
    size = abs(seconds)
    tenths = round(size, 1)
    if not tenths:
        return "0"
    sign = "-" if seconds < 0 else ""
    if tenths < _TENTHS:
        return f"{sign}{tenths:g} s"
    left, parts = rounded_up(size), []
    for unit, name in _UNITS:
        count, left = divmod(left, unit)
        if count:
            parts.append(f"{count:,} {name}")
    return sign + " ".join(parts)
