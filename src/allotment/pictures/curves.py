"""Lines and areas over time, of values that hold from one moment to the next: the outlines of steps.

Thousands of steps are made few enough to draw: of each stretch of time that is narrower than anybody can
see, its lowest and its highest stay.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import Final

from allotment.pictures.chart import INNER
from allotment.pictures.markup import number
from allotment.pictures.over_time import Steps
from allotment.pictures.ticks import Extent

MOST_STEPS: Final = 400


def within(steps: Steps, extent: Extent) -> Steps:
    """The steps of an extent: the one that holds at its beginning first, values that go on joined."""
    begin, end = extent.since, extent.since + extent.length
    ordered = sorted(steps, key=lambda step: step[0])
    at_begin = [value for at, value in ordered if at <= begin]
    found = [(begin, at_begin[-1] if at_begin else 0.0)]
    for at, value in ordered:
        if begin < at < end and value != found[-1][1]:
            if found[-1][0] == at:
                found.pop()
            found.append((at, value))
    return tuple(_thinned(found, extent))


def _thinned(steps: Sequence[tuple[float, float]], extent: Extent) -> Iterable[tuple[float, float]]:
    if len(steps) <= MOST_STEPS:
        return steps
    bins: dict[int, list[tuple[float, float]]] = {}
    for step in steps:
        bins.setdefault(int(extent.share(step[0]) * MOST_STEPS / 2), []).append(step)
    kept: dict[tuple[float, float], None] = {}
    for found in bins.values():
        chosen = {min(found, key=_value), max(found, key=_value), found[-1]}
        kept.update(dict.fromkeys(sorted(chosen)))
    return tuple(kept)


def _value(step: tuple[float, float]) -> float:
    return step[1]


def value_at(steps: Steps, at: float) -> float:
    """What holds at a moment: nothing before the first step."""
    place = bisect_right(steps, at, key=lambda step: step[0])
    return steps[place - 1][1] if place else 0.0


def line(steps: Steps, extent: Extent, highest: float, height: float) -> str:
    """The path of a line of steps."""
    points = _points(steps, extent, highest, height)
    return _forward(points) + f"H{INNER}"


def area(low: Steps, high: Steps, extent: Extent, highest: float, height: float) -> str:
    """The path around what lies between two lines of steps."""
    above = _points(high, extent, highest, height)
    below = _points(low, extent, highest, height)
    return _forward(above) + f"H{INNER}" + _backward(below) + "Z"


def _points(steps: Steps, extent: Extent, highest: float, height: float) -> list[tuple[str, str]]:
    return [
        (number(extent.share(at) * INNER, 1), number(height * (1 - value / highest), 1))
        for at, value in within(steps, extent)
    ]


def _forward(points: Sequence[tuple[str, str]]) -> str:
    (x, y), *rest = points
    return f"M{x} {y}" + "".join(f"H{x}V{y}" for x, y in rest)


def _backward(points: Sequence[tuple[str, str]]) -> str:
    return f"V{points[-1][1]}" + "".join(
        f"H{points[place][0]}V{points[place - 1][1]}" for place in range(len(points) - 1, 0, -1)
    ) + f"H{points[0][0]}"  # fmt: skip
