"""Pictures of numbers in one line of text.

Series are eight heights of a block, the lowest for what is there at all; parts of a whole are stretches of a
bar, each with a sign of its own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

BLOCKS: Final = "▁▂▃▄▅▆▇█"
NOTHING: Final = " "
WIDEST: Final = 40


def sparkline(values: Sequence[float], width: int = WIDEST) -> str:
    """The values as heights from nothing up; of more values than columns, the highest of each stretch."""
    if not values:
        return ""
    columns = min(width, len(values))
    edges = [place * len(values) // columns for place in range(columns + 1)]
    heights = [max(values[start:end]) for start, end in pairwise(edges)]
    highest = max(heights)
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


def _block(value: float, highest: float) -> str:
    if value <= 0 or highest <= 0:
        return NOTHING
    return BLOCKS[round(value / highest * (len(BLOCKS) - 1))]
