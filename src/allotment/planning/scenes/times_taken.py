"""How sure a figure is: how far all that rests on it may be off together, and how that is said.

A figure is the middle of what is taken for it. Beside what differs from page to page, or from start to start,
the figure itself may be wrong, for all of them alike: that is drawn once for a course, as one factor, and the
wider the less the figure rests on. What is told is what the middle is taken to be in nine courses of ten.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from statistics import NormalDist
from typing import Final

from allotment.planning.scenes.values import Source
from allotment.simulation.distributions import Constant, LogNormal
from allotment.simulation.run_times import Basis, Distribution

DOUBTS: Final[Mapping[Basis, float]] = {
    Basis.MEASURED: 0.05,
    Basis.OTHER_CARD: 0.4,
    Basis.ESTIMATE: 0.35,
    Basis.GUESS: 0.8,
}
"""How far all pages may be off together: about that part of themselves, two times in three."""
SOURCES: Final = {
    Basis.MEASURED: Source.MEASURED,
    Basis.OTHER_CARD: Source.OTHER_CARD,
    Basis.ESTIMATE: Source.ESTIMATE,
    Basis.GUESS: Source.GUESS,
}
NOTHING_TO_SAY: Final = 0.1
"""A figure that is surer than this is told as it is."""
_NINE_OF_TEN: Final = NormalDist().inv_cdf(0.95)


def doubt_of(factor: float) -> float:
    """The doubt of a figure that nine times of ten is off by no more than this factor, either way."""
    return math.log(factor) / _NINE_OF_TEN


def taken(middle: float, doubt: float) -> str:
    """What a middle is taken to be, where it is in any doubt: ``taken as 45 s to 180 s``."""
    if doubt < NOTHING_TO_SAY or middle <= 0:
        return ""
    factor = math.exp(_NINE_OF_TEN * doubt)
    return f"taken as {seconds_words(middle / factor)} to {seconds_words(middle * factor)}"


def middle_of(values: Distribution) -> float:
    """What half of the values do not pass."""
    return _quantile(values, 0.5)


def late_words(values: Distribution) -> str:
    """The middle and the late ones of a distribution, in words."""
    half, late = (seconds_words(_quantile(values, part)) for part in (0.5, 0.95))
    return half if half == late else f"{half}, one in twenty over {late}"


def seconds_words(value: float) -> str:
    """Seconds in two figures, or whole."""
    return f"{value:.2g} s" if value < 10 else f"{value:,.0f} s"


def _quantile(values: Distribution, part: float) -> float:
    if isinstance(values, Constant):
        return values.value
    if isinstance(values, LogNormal):
        return values.quantile(part)
    stream = random.Random(0)  # noqa: S311 - the same for the same figures
    return sorted(values.draw(stream) for _ in range(401))[int(part * 400)]
