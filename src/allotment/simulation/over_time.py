"""A value that changes in steps over time: cards in use, what a team asks for, nodes that are free.

Metrics are sums over such values, and pictures draw them; both need them in time that is linear in the number
of changes.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class OverTime:
    """``points`` are times and the values that hold from then on, in order; before the first it is 0."""

    points: tuple[tuple[float, float], ...] = ()

    def at(self, time: float) -> float:
        """The value at that time."""
        place = bisect_right(self.points, time, key=lambda point: point[0])
        return self.points[place - 1][1] if place else 0.0

    def pieces(self, since: float, until: float) -> Iterator[tuple[float, float, float]]:
        """From when until when which value holds, of a stretch of time."""
        if until <= since:
            return
        start, value = since, self.at(since)
        for time, new in self.points[bisect_right(self.points, since, key=lambda point: point[0]) :]:
            if time >= until:
                break
            yield start, time, value
            start, value = time, new
        yield start, until, value

    def total(self, since: float, until: float) -> float:
        """The value times how long it holds, summed over a stretch of time."""
        return sum((end - start) * value for start, end, value in self.pieces(since, until))

    def mean(self, since: float, until: float) -> float:
        """The mean over a stretch of time; the value itself where it has no length."""
        return self.total(since, until) / (until - since) if until > since else self.at(since)


def summed(changes: Iterable[tuple[float, float]], start: float = 0.0) -> OverTime:
    """The running sum of changes, each at its time; ``start`` holds from time 0 on."""
    at_time: dict[float, float] = {0.0: start} if start else {}
    for time, change in changes:
        at_time[time] = at_time.get(time, 0.0) + change
    points: list[tuple[float, float]] = []
    value = 0.0
    for time in sorted(at_time):
        value = round(value + at_time[time], 9)
        if not points or points[-1][1] != value:
            points.append((time, value))
    return OverTime(tuple(points))
