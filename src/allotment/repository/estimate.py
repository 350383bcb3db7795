"""What a pipeline's authors think a page takes: an estimate for plans, until there are measurements.

It is no part of the recipe: pages come out the same whatever anybody thinks of them.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any, Final

from allotment.documents.checking import Place, shown
from allotment.documents.shapes import Integer, Key, Record
from allotment.quantities import QuantityError, parse_duration
from allotment.repository.model import Estimate

MOST_SECONDS: Final = 7 * 86_400
_PARTS: Final = re.compile(r"([0-9]{1,7}(?:\.[0-9]{1,6})?)(ms|s)")
_UNITS: Final = {"ms": 0.001, "s": 1.0}
HINT: Final = "write 4s, 1.5s, 800ms, 2m, or a number of seconds"


@dataclass(frozen=True, slots=True)
class Seconds:
    """Seconds that need not be whole: ``1.5``, ``800ms``, or a duration such as ``2m``."""

    def read(self, value: object, place: Place) -> float:
        """The seconds."""
        place.refuse_trap(HINT)
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            place.refuse_type(value, "a duration such as 4s")
        seconds = _read(value)
        if seconds is None:
            place.refuse("bad-duration", f"`{shown(str(value))}` is not a duration", HINT)
        if not (math.isfinite(seconds) and 0 < seconds <= MOST_SECONDS):
            words = f"`{shown(str(value))}` is no time that a page or a model can take"
            place.refuse("bad-duration", words, HINT)
        return seconds


def _read(value: float | str) -> float | None:
    if not isinstance(value, str):
        return float(value)
    found = _PARTS.fullmatch(value.strip())
    if found is not None:
        return float(found[1]) * _UNITS[found[2]]
    try:
        return float(parse_duration(value))
    except QuantityError:
        return None


def _estimate(values: dict[str, Any], _place: Place) -> Estimate:
    return Estimate(**values)


ESTIMATE: Final = Record(
    {
        "page": Key(Seconds(), required="say how long a page takes, such as 4s"),
        "pages": Key(Integer(1, 1_000_000)),
        "load": Key(Seconds()),
    },
    _estimate,
)
