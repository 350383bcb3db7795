"""Pictures of numbers in one line of text.

Series are eight heights of a block, the lowest for what is there at all; parts of a whole are stretches of a
bar, each with a sign of its own; what happens when is a track of signs, an interval a line between two ends.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate, pairwise
from typing import Final

BLOCKS: Final = "▁▂▃▄▅▆▇█"
NOTHING: Final = " "
IDLE: Final = "·"
WIDEST: Final = 40
LEAST_TAKEN: Final = 0.3
"""A column in which less of the time is taken shows nothing."""


def sparkline(values: Sequence[float], width: int = WIDEST, highest: float | None = None) -> str:
    """The values as heights from nothing up; of more values than columns, the highest of each stretch.

    ``highest`` is what the whole height stands for: the highest of them, if it is not given.
    """
    if not values:
        return ""
    columns = min(width, len(values))
    edges = [place * len(values) // columns for place in range(columns + 1)]
    heights = [max(values[start:end]) for start, end in pairwise(edges)]
    highest = max(heights) if highest is None else highest
    return "".join(_block(height, highest) for height in heights)


def histogram(values: Sequence[float], width: int = WIDEST) -> str:
    """How many values lie in each of equal parts between the lowest and the highest."""
    if not values:
        return ""
    lowest, highest = min(values), max(values)
    if lowest == highest:
        return BLOCKS[-1]
    columns = max(2, min(width, math.ceil(2 * math.sqrt(len(values)))))
    counts = [0] * columns
    for value in values:
        counts[min(columns - 1, int((value - lowest) / (highest - lowest) * columns))] += 1
    most = max(counts)
    return "".join(_block(count, most) for count in counts)


def bar(parts: Sequence[tuple[str, float]], whole: float, width: int = WIDEST) -> str:
    """Stretches of the signs, each as long as its part of the whole; what is there at all has one column."""
    if whole <= 0:
        return ""
    drawn, end = "", 0.0
    for sign, part in parts:
        if part <= 0:
            continue
        end += part
        columns = min(width, max(round(end / whole * width), len(drawn) + 1))
        drawn += sign * (columns - len(drawn))
    return drawn


def levels(changes: Iterable[tuple[float, float]], until: float, width: int = WIDEST) -> list[float]:
    """Of something that changes by so much at moments: how much of it there is on average in each column."""
    if until <= 0:
        return []
    sums, slopes = [0.0] * (width + 1), [0.0] * (width + 2)
    for at, by in changes:
        place = min(float(width), max(0.0, at / until * width))
        whole = int(place)
        sums[whole] += by * (1 - (place - whole))
        slopes[whole + 1] += by
    return [
        round(max(0.0, before + own), 6)
        for before, own in zip(accumulate(slopes[:width]), sums[:width], strict=True)
    ]


def track(stretches: Iterable[tuple[float, float, str]], until: float, width: int = WIDEST) -> str:
    """What happens from when until when, each with a sign: in each column that which takes most of it."""
    if until <= 0:
        return ""
    taken: list[dict[str, float]] = [{} for _ in range(width)]
    for start, end, sign in stretches:
        first, last = max(0.0, start / until * width), min(float(width), end / until * width)
        for column in range(int(first), min(width, math.ceil(last))):
            part = min(last, column + 1) - max(first, column)
            taken[column][sign] = taken[column].get(sign, 0.0) + part
    return "".join(_most(each) for each in taken)


def interval(low: float | None, middle: float | None, high: float | None, until: float, width: int) -> str:
    """A line from low to high with a dot in the middle; None is beyond the end, where an arrow stands."""
    if until <= 0 or width < 1 or low is None:
        return ""
    first, dot, last = (
        width if at is None else min(width - 1, max(0, int(at / until * width))) for at in (low, middle, high)
    )
    signs = [" "] * first + ["─"] * (min(last, width - 1) - first + 1)
    signs[first] = "├"
    signs[-1] = "┤" if high is not None else "→"
    if dot < width:
        signs[dot] = "●"
    return "".join(signs)


def _most(found: Mapping[str, float]) -> str:
    """The sign that takes most of a column; nothing where most of it is empty."""
    sign, part = max(found.items(), key=lambda item: (item[1], item[0]), default=(IDLE, 0.0))
    return sign if part > 0 and sum(found.values()) >= LEAST_TAKEN else IDLE


def _block(value: float, highest: float) -> str:
    if value <= 0 or highest <= 0:
        return NOTHING
    return BLOCKS[min(len(BLOCKS) - 1, round(value / highest * (len(BLOCKS) - 1)))]
