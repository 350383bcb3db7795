"""Answers as intervals: quantiles of what many simulated courses came to, and bands of what varies over time.

A quantile is a value that was drawn (the nearest rank), never one between two. What does not come about
within the horizon is later than all that does, and has no value: a median of which that is said is not known.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate

LOW, MIDDLE, HIGH = 0.1, 0.5, 0.9


@dataclass(frozen=True, slots=True)
class Spread:
    """The tenth, the half and nine tenths of what was drawn; None lies beyond the horizon."""

    p10: float | None
    p50: float | None
    p90: float | None

    @property
    def is_nothing(self) -> bool:
        """Whether it is nothing in nine of ten draws."""
        return self.p90 == 0


NOTHING = Spread(0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class Band:
    """How much of something there is at one time, over the draws."""

    at: float
    p10: float
    p50: float
    p90: float


def quantile(values: Sequence[float | None], share: float) -> float | None:
    """The least value that so large a share of the values does not pass; None of no values, or beyond."""
    if not values:
        return None
    ordered = sorted(math.inf if value is None else value for value in values)
    found = ordered[max(0, math.ceil(share * len(ordered) - 1e-9) - 1)]
    return None if found == math.inf else found


def spread(values: Sequence[float | None]) -> Spread:
    """The values as an interval and its middle."""
    return Spread(quantile(values, LOW), quantile(values, MIDDLE), quantile(values, HIGH))


def share_beyond(values: Sequence[float | None], limit: float) -> float:
    """Which part of the values is above the limit; what has no value is."""
    if not values:
        return 0.0
    return sum(value is None or value > limit for value in values) / len(values)


class Steps:
    """Something that changes at moments, such as how many pods run: its value at any time."""

    def __init__(self, changes: Iterable[tuple[float, float]]) -> None:
        ordered = sorted(changes)
        self._times = [at for at, _ in ordered]
        self._values = [0.0, *accumulate(by for _, by in ordered)]

    def at(self, time: float) -> float:
        """The value from this time on."""
        return self._values[bisect_right(self._times, time)]


def bands(draws: Sequence[Steps], times: Iterable[float]) -> tuple[Band, ...]:
    """The quantiles over the draws at each of the times."""
    return tuple(_band(time, sorted(each.at(time) for each in draws)) for time in times)


def evenly(until: float, count: int) -> tuple[float, ...]:
    """So many moments from 0 up to and with ``until``."""
    return tuple(until * number / (count - 1) for number in range(count))


def _band(time: float, values: Sequence[float]) -> Band:
    low, middle, high = (quantile(values, share) or 0.0 for share in (LOW, MIDDLE, HIGH))
    return Band(time, low, middle, high)
