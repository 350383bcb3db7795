"""Conversions between types: ``int('3')``, ``string(1.5)``, ``type(x)``."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from typing import Final

from allotment.devices.cel import cel_types as t
from allotment.devices.cel import values as v
from allotment.devices.cel.declarations import Library, Overload
from allotment.devices.cel.numbers64 import INT_MAX, INT_MIN, UINT_MAX, UInt, int64, uint64
from allotment.devices.cel.problems import EvaluationError
from allotment.devices.cel.times import SECOND, Duration, Timestamp


def go_float(value: float) -> str:
    """A number as Go's ``%g`` writes it: the fewest digits, an exponent from a million on."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    sign, digits, exponent = Decimal(repr(value)).as_tuple()
    text = "".join(map(str, digits)).rstrip("0") or "0"
    power = len(digits) + int(exponent) - 1 if text != "0" else 0
    minus = "-" if sign else ""
    if power < -4 or power >= 6:
        exponent_text = f"{'-' if power < 0 else '+'}{abs(power):02d}"
        return f"{minus}{text[0]}{'.' if len(text) > 1 else ''}{text[1:]}e{exponent_text}"
    if power < 0:
        return f"{minus}0.{'0' * (-power - 1)}{text}"
    whole, fraction = text[: power + 1].ljust(power + 1, "0"), text[power + 1 :]
    return f"{minus}{whole}{'.' if fraction else ''}{fraction}"


def _float_to_int(value: float) -> int:
    if not math.isfinite(value) or value <= INT_MIN or value >= INT_MAX:
        raise EvaluationError("integer overflow")
    return int64(math.trunc(value))


def _float_to_uint(value: float) -> UInt:
    if not math.isfinite(value) or value < 0 or value >= UINT_MAX:
        raise EvaluationError("unsigned integer overflow")
    return uint64(math.trunc(value))


def _unconvertible(wanted: str) -> EvaluationError:
    return EvaluationError(f"type conversion error from 'string' to '{wanted}'")


def _text_to_int(text: str) -> int:
    return _parsed(text, "int", INT_MIN, INT_MAX)


def _text_to_uint(text: str) -> UInt:
    return UInt(_parsed(text, "uint", 0, UINT_MAX))


def _parsed(text: str, wanted: str, low: int, high: int) -> int:
    sign = text[:1] if text[:1] in ("+", "-") and low < 0 else ""
    digits = text[len(sign) :]
    if not digits.isascii() or not digits.isdigit():
        raise _unconvertible(wanted)
    number = int(digits.lstrip("0")[:25] or "0") * (-1 if sign == "-" else 1)
    if not low <= number <= high:
        raise _unconvertible(wanted)
    return number


def _text_to_float(text: str) -> float:
    if text.strip() != text or "_" in text:
        raise _unconvertible("double")
    try:
        value = float(text)
    except ValueError as error:
        raise _unconvertible("double") from error
    if math.isinf(value) and "inf" not in text.lower():
        raise _unconvertible("double")
    return value


def _text_to_bool(text: str) -> bool:
    if text in ("1", "t", "T", "TRUE", "true", "True"):
        return True
    if text in ("0", "f", "F", "FALSE", "false", "False"):
        return False
    raise _unconvertible("bool")


def _text_to_duration(text: str) -> Duration:
    try:
        return Duration.parse(text)
    except EvaluationError as error:
        raise _unconvertible(t.DURATION.name) from error


def _text_to_timestamp(text: str) -> Timestamp:
    try:
        return Timestamp.parse(text)
    except EvaluationError as error:
        raise _unconvertible(t.TIMESTAMP.name) from error


def _no_duration(_value: int) -> Duration:
    raise EvaluationError("type conversion error from 'int' to 'google.protobuf.Duration'")


def _bytes_to_text(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError as error:
        raise EvaluationError("invalid UTF-8 in bytes, cannot convert to string") from error


def _same(value: v.Value) -> v.Value:
    return value


def _type(value: v.Value) -> t.CelType:
    return v.runtime_type(value)


def _show_bool(value: v.Value) -> str:
    return "true" if value else "false"


_Row = tuple[str, t.CelType, Callable[[v.Value], v.Value]]


def _to(result: t.CelType, *rows: _Row) -> tuple[Overload, ...]:
    return tuple(Overload(name, (kind,), result, compute) for name, kind, compute in rows)


DURATIONS_OF_NUMBERS: Final = Library(
    {"duration": _to(t.DURATION, ("int64_to_duration", t.INT, _no_duration))},
)
"""Declared before cel-go 0.28, and never of any use."""
CONVERSIONS: Final[dict[str, tuple[Overload, ...]]] = {
    "bool": _to(t.BOOL, ("bool_to_bool", t.BOOL, _same), ("string_to_bool", t.STRING, _text_to_bool)),
    "bytes": _to(t.BYTES, ("bytes_to_bytes", t.BYTES, _same), ("string_to_bytes", t.STRING, str.encode)),
    "double": _to(
        t.DOUBLE,
        ("double_to_double", t.DOUBLE, _same),
        ("int64_to_double", t.INT, float),
        ("string_to_double", t.STRING, _text_to_float),
        ("uint64_to_double", t.UINT, float),
    ),
    "duration": _to(
        t.DURATION,
        ("duration_to_duration", t.DURATION, _same),
        ("string_to_duration", t.STRING, _text_to_duration),
    ),
    "dyn": _to(t.DYN, ("to_dyn", t.parameter("A"), _same)),
    "int": _to(
        t.INT,
        ("int64_to_int64", t.INT, _same),
        ("double_to_int64", t.DOUBLE, _float_to_int),
        ("duration_to_int64", t.DURATION, lambda value: value.nanos),
        ("string_to_int64", t.STRING, _text_to_int),
        ("timestamp_to_int64", t.TIMESTAMP, lambda value: value.nanos // SECOND),
        ("uint64_to_int64", t.UINT, lambda value: int64(int(value))),
    ),
    "string": _to(
        t.STRING,
        ("string_to_string", t.STRING, _same),
        ("bool_to_string", t.BOOL, _show_bool),
        ("bytes_to_string", t.BYTES, _bytes_to_text),
        ("double_to_string", t.DOUBLE, go_float),
        ("duration_to_string", t.DURATION, str),
        ("int64_to_string", t.INT, str),
        ("timestamp_to_string", t.TIMESTAMP, str),
        ("uint64_to_string", t.UINT, lambda value: str(int(value))),
    ),
    "timestamp": _to(
        t.TIMESTAMP,
        ("timestamp_to_timestamp", t.TIMESTAMP, _same),
        ("int64_to_timestamp", t.INT, lambda value: Timestamp(value * SECOND)),
        ("string_to_timestamp", t.STRING, _text_to_timestamp),
    ),
    "type": (Overload("type", (t.parameter("A"),), t.type_of(t.parameter("A")), _type),),
    "uint": _to(
        t.UINT,
        ("uint64_to_uint64", t.UINT, _same),
        ("double_to_uint64", t.DOUBLE, _float_to_uint),
        ("int64_to_uint64", t.INT, uint64),
        ("string_to_uint64", t.STRING, _text_to_uint),
    ),
}
