"""Durations in files: ``10m``, ``1h30m``, or a number of seconds."""

from __future__ import annotations

from dataclasses import dataclass

from allotment.documents.checking import Place
from allotment.quantities import QuantityError, parse_duration


@dataclass(frozen=True, slots=True)
class Duration:
    """A duration: ``10m``, or a number of seconds."""

    def read(self, value: object, place: Place) -> int:
        """The seconds."""
        place.refuse_trap("write 90s, 10m, 1h30m or 2d")
        if not isinstance(value, int | str) or isinstance(value, bool):
            place.refuse_type(value, "a duration such as 10m")
        try:
            return parse_duration(value)
        except QuantityError as error:
            place.refuse("bad-duration", error.message, error.hint)
