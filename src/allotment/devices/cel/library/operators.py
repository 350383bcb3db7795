"""Arithmetic and membership for values of any type: what does not fit together is ``no such overload``."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Final

from allotment.devices.cel import values as v
from allotment.devices.cel.numbers64 import UInt, int64, quotient, remainder, uint64
from allotment.devices.cel.problems import EvaluationError, no_such_overload
from allotment.devices.cel.times import Duration, Timestamp

LONGEST_LIST: Final = 1_000_000
"""Lists that are doubled again and again cost upstream next to nothing; here they would fill the memory."""
_JOINED: Final = frozenset({str, bytes, float})


def add(one: v.Value, other: v.Value) -> v.Value:
    """``+``: sums, and one behind the other for texts, bytes and lists."""
    kind, other_kind = type(one), type(other)
    if kind is int and other_kind is int:
        return int64(one + other)
    if kind is other_kind and kind in _JOINED:
        return one + other
    if kind is UInt and other_kind is UInt:
        return uint64(int(one) + int(other))
    if v.is_list(one) and v.is_list(other):
        if len(one) + len(other) > LONGEST_LIST:
            raise EvaluationError("operation cancelled: actual cost limit exceeded")
        return [*one, *other]
    if isinstance(one, Timestamp | Duration) and isinstance(other, Timestamp | Duration):
        return _later(one, other)
    raise no_such_overload()


def _later(one: Timestamp | Duration, other: Timestamp | Duration) -> Timestamp | Duration:
    total = one.nanos + other.nanos
    if isinstance(one, Duration) and isinstance(other, Duration):
        return Duration(total)
    if isinstance(one, Timestamp) and isinstance(other, Timestamp):
        raise no_such_overload()
    return Timestamp(total)


def subtract(one: v.Value, other: v.Value) -> v.Value:
    """``-``."""
    kind, other_kind = type(one), type(other)
    if kind is int and other_kind is int:
        return int64(one - other)
    if kind is float and other_kind is float:
        return one - other
    if kind is UInt and other_kind is UInt:
        return uint64(int(one) - int(other))
    if isinstance(one, Duration) and isinstance(other, Duration):
        return Duration(one.nanos - other.nanos)
    if isinstance(one, Timestamp) and isinstance(other, Timestamp):
        return Duration(one.nanos - other.nanos)
    if isinstance(one, Timestamp) and isinstance(other, Duration):
        return Timestamp(one.nanos - other.nanos)
    raise no_such_overload()


def multiply(one: v.Value, other: v.Value) -> v.Value:
    """``*``."""
    kind, other_kind = type(one), type(other)
    if kind is int and other_kind is int:
        return int64(one * other)
    if kind is float and other_kind is float:
        return one * other
    if kind is UInt and other_kind is UInt:
        return uint64(int(one) * int(other))
    raise no_such_overload()


def divide(one: v.Value, other: v.Value) -> v.Value:
    """``/``: toward zero for whole numbers."""
    kind, other_kind = type(one), type(other)
    if kind is int and other_kind is int:
        return int64(quotient(one, other))
    if kind is float and other_kind is float:
        return _float_quotient(one, other)
    if kind is UInt and other_kind is UInt:
        return uint64(quotient(int(one), int(other)))
    raise no_such_overload()


def _float_quotient(one: float, other: float) -> float:
    if other != 0 or math.isnan(one):
        return one / other if other != 0 else one
    if one == 0:
        return math.nan
    return math.copysign(math.inf, one) * math.copysign(1.0, other)


def modulo(one: v.Value, other: v.Value) -> v.Value:
    """``%``: with the sign of the dividend."""
    kind, other_kind = type(one), type(other)
    if kind is int and other_kind is int:
        if other == -1 and one == -(2**63):
            raise EvaluationError("integer overflow")
        return remainder(one, other)
    if kind is UInt and other_kind is UInt:
        return uint64(remainder(int(one), int(other)))
    raise no_such_overload()


def negate(one: v.Value) -> v.Value:
    """``-`` before a number."""
    if type(one) is int:
        return int64(-one)
    if type(one) is float:
        return -one
    raise no_such_overload()


_NUMBERS: Final = frozenset({int, UInt, float})
_TAKERS: Final[Mapping[str, tuple[Callable[..., v.Value], frozenset[type]]]] = {
    "_+_": (add, _NUMBERS | {str, bytes, list, tuple, Timestamp, Duration}),
    "_-_": (subtract, _NUMBERS | {Timestamp, Duration}),
    "_*_": (multiply, _NUMBERS),
    "_/_": (divide, _NUMBERS),
    "_%_": (modulo, frozenset({int, UInt})),
    "-_": (negate, frozenset({int, float, bool})),
    "_<_": (v.less, v.ORDERED),
    "_<=_": (v.less_equal, v.ORDERED),
    "_>_": (v.greater, v.ORDERED),
    "_>=_": (v.greater_equal, v.ORDERED),
}
RECEIVERS: Final = frozenset({str, Timestamp, Duration})
"""Types whose values are asked themselves for a function that is not declared for them, in vain."""


def _dispatcher(name: str, compute: Callable[..., v.Value], kinds: frozenset[type]) -> Callable[..., v.Value]:
    """An operator for values of any type; one that knows no such operator is named in the error."""

    def dispatch(*values: v.Value) -> v.Value:
        kind = type(values[0])
        if kind in kinds:
            return compute(*values)
        raise no_such_overload() if kind in RECEIVERS else EvaluationError(f"no such overload: {name}")

    return dispatch


OPERATORS: Final = {name: _dispatcher(name, *taker) for name, taker in _TAKERS.items()}


def in_list(item: v.Value, container: v.Value) -> bool:
    """Whether a list holds a value equal to this one."""
    return any(v.found_equal(item, element) for element in container)


def in_map(item: v.Value, container: v.Value) -> bool:
    """Whether a map has this key; domains that a device does not name are not there."""
    try:
        return v.map_key(item) in container
    except EvaluationError:
        return False


def is_in(item: v.Value, container: v.Value) -> bool:
    """``in``."""
    if v.is_list(container):
        return in_list(item, container)
    if v.is_map(container):
        return in_map(item, container)
    raise no_such_overload()
