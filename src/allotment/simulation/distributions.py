"""Distributions beside measured values: a constant, and a log-normal through quantiles.

Times of pages are skewed to the right and never negative, as sums of many small factors are: a log-normal
through two known quantiles says that with the least that is made up. Sums of few values are drawn one by one;
of many, by a log-normal with the mean and the spread of the sum (Fenton and Wilkinson), which costs the same
however many there are and is never a mean alone.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Final

from allotment.simulation.run_times import Distribution

ONE_BY_ONE: Final = 64
"""Sums of so many values are drawn one by one."""
_NORMAL: Final = NormalDist()


@dataclass(frozen=True, slots=True)
class Constant:
    """Always the same."""

    value: float

    def draw(self, stream: random.Random) -> float:
        """The value."""
        del stream
        return self.value

    def total(self, stream: random.Random, count: int) -> float:
        """So many times the value."""
        del stream
        return self.value * count


@dataclass(frozen=True, slots=True)
class LogNormal:
    """A log-normal: ``median``, and the standard deviation ``spread`` of the logarithm; at most ``most``."""

    median: float
    spread: float
    most: float = math.inf

    def draw(self, stream: random.Random) -> float:
        """One value."""
        return min(self.median * math.exp(self.spread * stream.gauss(0.0, 1.0)), self.most)

    def total(self, stream: random.Random, count: int) -> float:
        """The sum of so many values."""
        if count <= ONE_BY_ONE:
            return sum(self.draw(stream) for _ in range(count))
        mean, variance = self._moments()
        spread = math.sqrt(math.log1p(variance / (count * mean * mean)))
        median = count * mean * math.exp(-spread * spread / 2)
        return min(median * math.exp(spread * stream.gauss(0.0, 1.0)), self.most * count)

    def quantile(self, part: float) -> float:
        """The value that so many of the values do not pass."""
        return min(self.median * math.exp(self.spread * _NORMAL.inv_cdf(part)), self.most)

    def _moments(self) -> tuple[float, float]:
        """Mean and variance, with what lies above ``most`` counted as that."""
        square = self.spread * self.spread
        if not math.isfinite(self.most):
            mean = self.median * math.exp(square / 2)
            return mean, mean * mean * math.expm1(square)
        if self.spread == 0:
            return min(self.median, self.most), 0.0
        edge = math.log(self.most / self.median) / self.spread
        above = 1 - _NORMAL.cdf(edge)
        first = self.median * math.exp(square / 2) * _NORMAL.cdf(edge - self.spread)
        second = self.median**2 * math.exp(2 * square) * _NORMAL.cdf(edge - 2 * self.spread)
        mean = first + self.most * above
        return mean, max(0.0, second + self.most**2 * above - mean * mean)


def through(half: float, part: float, value: float, most: float = math.inf) -> LogNormal | Constant:
    """The log-normal of which half do not pass ``half``, and so large a ``part`` does not pass ``value``."""
    if half <= 0 or value <= half:
        return Constant(max(half, 0.0))
    return LogNormal(half, math.log(value / half) / _NORMAL.inv_cdf(part), most)


@dataclass(frozen=True, slots=True)
class Scaled:
    """Another distribution, in which all takes so many times as long."""

    of: Distribution
    factor: float

    def draw(self, stream: random.Random) -> float:
        """One value."""
        return self.factor * self.of.draw(stream)

    def total(self, stream: random.Random, count: int) -> float:
        """The sum of so many values."""
        return self.factor * self.of.total(stream, count)


@dataclass(frozen=True, slots=True)
class Clustered:
    """Values as they were measured in several groups, such as the pages of volumes.

    Volumes differ from each other more than the pages of one do: a sum is of values of one group.
    """

    groups: Sequence[Sequence[float]]

    def draw(self, stream: random.Random) -> float:
        """A value of one of the groups."""
        group = self.groups[int(stream.random() * len(self.groups))]
        return group[int(stream.random() * len(group))]

    def total(self, stream: random.Random, count: int) -> float:
        """The sum of so many values of one group."""
        group = self.groups[int(stream.random() * len(self.groups))]
        return sum(stream.choices(group, k=count))
