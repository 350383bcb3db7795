"""``format`` as version 4 of the strings extension has it: plain numbers and texts, without quotes.

Kubernetes has version 2, whose scientific numbers and whose lists look different (``formatting``).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import Decimal
from typing import Final

from allotment.devices.cel import values as v
from allotment.devices.cel.library.formatting import WHOLE, Writer, filled, refused
from allotment.devices.cel.numbers64 import UInt
from allotment.devices.cel.times import SECOND, Duration, Timestamp

_NUMBERS: Final = frozenset({int, UInt, float})


def format_plainly(template: str, arguments: list[v.Value]) -> str:
    """The template with its clauses filled in."""
    return filled(template, arguments, _WRITERS)


def _float(value: float) -> str:
    """All digits and no exponent."""
    if not math.isfinite(value):
        return _not_finite(value)
    return format(Decimal(repr(value)), "f").removesuffix(".0")


def _not_finite(value: float) -> str:
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _text(value: v.Value, precision: int) -> str:  # noqa: PLR0911 - one line a kind of value
    if v.is_list(value):
        return f"[{', '.join(_text(item, precision) for item in value)}]"
    if v.is_map(value):
        entries = sorted(
            (_text(v.key_value(key), precision), _text(item, precision)) for key, item in value.items()
        )
        return "{" + ", ".join(f"{key}: {item}" for key, item in entries) + "}"
    if value is None:
        return "null"
    if type(value) is float:
        return _float(value)
    if type(value) is bytes:
        return value.decode(errors="replace")
    if type(value) is Duration:
        return f"{_float(value.nanos / SECOND)}s"
    if type(value) in (int, UInt, bool, str, Timestamp) or v.runtime_type(value).kind == "type":
        return v.show(value)
    raise refused("s", value)


def _decimal(value: v.Value, _precision: int) -> str:
    if type(value) not in _NUMBERS:
        raise refused("d", value)
    return _float(value) if type(value) is float else v.show(value)


def _floating(letter: str) -> Writer:
    def write(value: v.Value, precision: int) -> str:
        if type(value) not in _NUMBERS:
            raise refused(letter, value)
        number = float(value)
        return f"{number:.{precision}{letter}}" if math.isfinite(number) else _not_finite(number)

    return write


_WRITERS: Final[Mapping[str, Writer]] = {
    "s": _text,
    "d": _decimal,
    "f": _floating("f"),
    "e": _floating("e"),
    **WHOLE,
}
