"""Ranges of sizes and costs: least and most, within 64 bits, where everything too large is the largest."""

from __future__ import annotations

import math
from typing import Final, NamedTuple

MOST: Final = 2**64 - 1
STRING_FACTOR: Final = 0.1
REGEX_FACTOR: Final = 0.25
LIST_COST: Final = 10
MAP_COST: Final = 30
STRUCT_COST: Final = 40


class Range(NamedTuple):
    """Between ``low`` and ``high``."""

    low: int
    high: int

    def plus(self, other: Range) -> Range:
        """The sum."""
        return Range(min(MOST, self.low + other.low), min(MOST, self.high + other.high))

    def times(self, other: Range) -> Range:
        """The product."""
        return Range(min(MOST, self.low * other.low), min(MOST, self.high * other.high))

    def scaled(self, factor: float) -> Range:
        """The product with a factor, rounded up."""
        return Range(scaled(self.low, factor), scaled(self.high, factor))

    def union(self, other: Range) -> Range:
        """The range that holds both."""
        return Range(min(self.low, other.low), max(self.high, other.high))


def scaled(size: int, factor: float) -> int:
    """A size times a factor, rounded up, in floating point as upstream."""
    number = math.ceil(float(size) * factor) if math.isfinite(factor) else MOST
    return min(MOST, number)


def exactly(number: int) -> Range:
    """A known size or cost."""
    return Range(number, number)


UNKNOWN: Final = Range(0, MOST)
NOTHING: Final = Range(0, 0)
ONE: Final = Range(1, 1)
EMPTY_UNION: Final = Range(MOST, 0)


class Estimate(NamedTuple):
    """What a call costs, and how large its result is, where that is known."""

    cost: Range
    size: Range | None = None
