"""``math.greatest``, ``math.ceil``, ``math.bitAnd`` and their kin: cel-go's math extension, version 2.

Kubernetes does not have it. Shifts and masks work on 64 bits; whole numbers that leave them are errors.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import product
from typing import Final

from allotment.devices.cel import cel_types as t
from allotment.devices.cel import values as v
from allotment.devices.cel.building import MacroBuilder, MacroError
from allotment.devices.cel.declarations import Implementation, Library, Overload
from allotment.devices.cel.macros import ANY_NUMBER, Macro
from allotment.devices.cel.numbers64 import UINT_MAX, UInt, int64
from allotment.devices.cel.problems import EvaluationError, no_such_overload
from allotment.devices.cel.syntax import Expr, Ident, ListExpr, Literal, MapExpr, StructExpr

_BITS: Final = 64
_TYPES: Final = {"double": t.DOUBLE, "int": t.INT, "uint": t.UINT}
_PYTHON: Final = frozenset({int, UInt, float})


def _extreme(name: str, sign: int) -> tuple[dict[str, tuple[Overload, ...]], dict[str, Implementation]]:
    """``math.@min`` and ``math.@max``: of one number, of two, of a list."""

    def better(one: v.Value, other: v.Value) -> v.Value:
        return other if v.compare(one, other) == -sign else one

    def of_list(values: v.Value) -> v.Value:
        if not v.is_list(values) or any(type(value) not in _PYTHON for value in values):
            raise no_such_overload()
        if not values:
            raise EvaluationError(f"math.@{name}(list) argument must not be empty")
        best = values[0]
        for value in values[1:]:
            best = better(best, value)
        return best

    def dispatch(*values: v.Value) -> v.Value:
        if len(values) == 1 and type(values[0]) not in _PYTHON:
            return of_list(values[0])
        return of_list(list(values))

    single = tuple(
        Overload(f"math_@{name}_{kind}", (wanted,), wanted, lambda value: value)
        for kind, wanted in _TYPES.items()
    )
    pairs = tuple(
        Overload(
            f"math_@{name}_{one}_{other}",
            (_TYPES[one], _TYPES[other]),
            _TYPES[one] if one == other else t.DYN,
            better,
        )
        for one, other in product(_TYPES, repeat=2)
    )
    lists = tuple(
        Overload(f"math_@{name}_list_{kind}", (t.list_of(wanted),), wanted, of_list)
        for kind, wanted in _TYPES.items()
    )
    return {f"math.@{name}": (*single, *pairs, *lists)}, {f"math.@{name}": dispatch}


def _is_number(node: Expr) -> bool:
    """Whether a node may be a number: of constants it is seen, of calls it is not."""
    if isinstance(node, Literal):
        return type(node.value) in _PYTHON
    return not isinstance(node, ListExpr | MapExpr | StructExpr)


def _of_numbers(function: str, shown: str) -> Macro:
    def expand(make: MacroBuilder, target: Expr, arguments: tuple[Expr, ...]) -> Expr | None:
        if not isinstance(target, Ident) or target.name != "math":
            return None
        if not arguments:
            raise MacroError(target.offset, f"{shown}() requires at least one argument")
        if len(arguments) == 1 and not _is_number(arguments[0]):
            (only,) = arguments
            if not (isinstance(only, ListExpr) and only.elements and all(map(_is_number, only.elements))):
                raise MacroError(only.offset, f"{shown}() invalid single argument value")
            return make.call(function, only)
        for argument in arguments:
            if not _is_number(argument):
                raise MacroError(argument.offset, f"{shown}() simple literal arguments must be numeric")
        return make.call(function, *(arguments if len(arguments) <= 2 else (make.list(*arguments),)))

    return expand


def _rounded(value: float) -> float:
    """To the nearest whole number, halves away from zero."""
    if not math.isfinite(value):
        return value
    return math.copysign(math.floor(abs(value) + 0.5), value) if abs(value) < 2**52 else value


def _whole(compute: Callable[[float], float]) -> Callable[[float], float]:
    return lambda value: math.copysign(float(compute(value)), value) if math.isfinite(value) else value


def _absolute(value: int) -> int:
    return int64(abs(value))


def _sign(value: v.Value) -> v.Value:
    if type(value) is float:
        return value if math.isnan(value) or value == 0 else math.copysign(1.0, value)
    sign = (value > 0) - (value < 0)
    return UInt(sign) if type(value) is UInt else sign


def _root(value: float | int) -> float:
    return math.sqrt(value) if not value < 0 else math.nan


def _signed(bits: int) -> int:
    bits &= UINT_MAX
    return bits - 2**_BITS if bits >> (_BITS - 1) else bits


def _unsigned(bits: int) -> UInt:
    return UInt(bits & UINT_MAX)


def _shift(amount: int, wanted: str) -> int:
    if amount < 0:
        raise EvaluationError(f"math.bitShift{wanted}() negative offset: {amount}")
    return min(amount, _BITS)


def _left(value: int, amount: int) -> int:
    return int(value) << _shift(amount, "Left")


def _right(value: int, amount: int) -> int:
    return (int(value) & UINT_MAX) >> _shift(amount, "Right")


def _floats(name: str, compute: Callable[[float], v.Value], result: t.CelType) -> tuple[Overload, ...]:
    return (Overload(f"math_{name}_double", (t.DOUBLE,), result, compute),)


def _bits(name: str, second: Sequence[t.CelType | None], compute: Callable[..., int]) -> tuple[Overload, ...]:
    """A form for signed and one for unsigned numbers; ``second``: the other argument, None: as the first."""
    forms = []
    for (kind, wanted), made in zip((("int", t.INT), ("uint", t.UINT)), (_signed, _unsigned), strict=True):
        others = tuple(other or wanted for other in second)
        suffix = "_".join([kind, *(other.name for other in others)]) if others else f"{kind}_{kind}"
        forms.append(Overload(f"math_{name}_{suffix}", (wanted, *others), wanted, _made(made, compute)))
    return tuple(forms)


def _made(made: Callable[[int], int], compute: Callable[..., int]) -> Callable[..., int]:
    return lambda *values: made(compute(*map(int, values)))


_LEAST, _LEAST_OF_ANY = _extreme("min", -1)
_GREATEST, _GREATEST_OF_ANY = _extreme("max", 1)
MATHEMATICS: Final = Library(
    {
        **_LEAST,
        **_GREATEST,
        "math.ceil": _floats("ceil", _whole(math.ceil), t.DOUBLE),
        "math.floor": _floats("floor", _whole(math.floor), t.DOUBLE),
        "math.round": _floats("round", _rounded, t.DOUBLE),
        "math.trunc": _floats("trunc", _whole(math.trunc), t.DOUBLE),
        "math.isInf": _floats("isInf", math.isinf, t.BOOL),
        "math.isNaN": _floats("isNaN", math.isnan, t.BOOL),
        "math.isFinite": _floats("isFinite", math.isfinite, t.BOOL),
        "math.abs": (
            Overload("math_abs_double", (t.DOUBLE,), t.DOUBLE, abs),
            Overload("math_abs_int", (t.INT,), t.INT, _absolute),
            Overload("math_abs_uint", (t.UINT,), t.UINT, lambda value: value),
        ),
        "math.sign": tuple(
            Overload(f"math_sign_{kind}", (wanted,), wanted, _sign) for kind, wanted in _TYPES.items()
        ),
        "math.sqrt": tuple(
            Overload(f"math_sqrt_{kind}", (wanted,), t.DOUBLE, _root) for kind, wanted in _TYPES.items()
        ),
        "math.bitAnd": _bits("bitAnd", (None,), lambda one, other: one & other),
        "math.bitOr": _bits("bitOr", (None,), lambda one, other: one | other),
        "math.bitXor": _bits("bitXor", (None,), lambda one, other: one ^ other),
        "math.bitNot": _bits("bitNot", (), lambda one: ~one),
        "math.bitShiftLeft": _bits("bitShiftLeft", (t.INT,), _left),
        "math.bitShiftRight": _bits("bitShiftRight", (t.INT,), _right),
    },
    {
        ("least", ANY_NUMBER, True): _of_numbers("math.@min", "math.least"),
        ("greatest", ANY_NUMBER, True): _of_numbers("math.@max", "math.greatest"),
    },
    dispatchers={**_LEAST_OF_ANY, **_GREATEST_OF_ANY},
)
