"""CEL's own operators and functions, with cel-go's overload ids.

Arithmetic and comparison of known types are plain Python; of values that may be anything they are decided by
the values, and what does not fit together is ``no such overload``.
"""

from __future__ import annotations

import operator
from typing import Final

from allotment.devices.cel import cel_types as t
from allotment.devices.cel import values as v
from allotment.devices.cel.declarations import Implementation, Library, Overload, member
from allotment.devices.cel.library.conversions import CONVERSIONS
from allotment.devices.cel.library.messages import WELL_KNOWN
from allotment.devices.cel.library.moments import MOMENTS
from allotment.devices.cel.library.operators import (
    OPERATORS,
    add,
    divide,
    in_list,
    in_map,
    is_in,
    modulo,
    multiply,
    negate,
    subtract,
)
from allotment.devices.cel.macros import STANDARD
from allotment.devices.cel.problems import EvaluationError, no_such_overload
from allotment.devices.cel.regex import RegexError, compile_regex

_A: Final = t.parameter("A")
_B: Final = t.parameter("B")
_LIST: Final = t.list_of(_A)
_MAP: Final = t.map_of(_A, _B)

_COMPARED: Final = {
    "bool": t.BOOL,
    "int64": t.INT,
    "uint64": t.UINT,
    "double": t.DOUBLE,
    "string": t.STRING,
    "bytes": t.BYTES,
    "timestamp": t.TIMESTAMP,
    "duration": t.DURATION,
}
_CROSSED: Final = tuple(
    (one, other)
    for one in ("int64", "double", "uint64")
    for other in ("double", "int64", "uint64")
    if one != other
)


def _comparisons(
    name: str, quick: Implementation, careful: Implementation, *, crossed: bool
) -> tuple[Overload, ...]:
    """``<`` and its kin: alike types, and, since 1.28, numbers of different types."""
    alike = tuple(
        Overload(f"{name}_{suffix}", (kind, kind), t.BOOL, careful if kind is t.DOUBLE else quick)
        for suffix, kind in _COMPARED.items()
    )
    mixed = tuple(
        Overload(f"{name}_{one}_{other}", (_COMPARED[one], _COMPARED[other]), t.BOOL, careful)
        for one, other in _CROSSED
    )
    return alike + mixed if crossed else alike


def _arithmetic(name: str, compute: Implementation, *suffixes: str) -> tuple[Overload, ...]:
    return tuple(
        Overload(f"{name}_{suffix}", (kind, kind), kind, compute) for suffix, kind in _numbers(suffixes)
    )


def _numbers(suffixes: tuple[str, ...]) -> list[tuple[str, t.CelType]]:
    return [(suffix, _COMPARED.get(suffix, _LIST)) for suffix in suffixes]


def matches(text: str, pattern: str) -> bool:
    """Whether a pattern matches anywhere in a text."""
    if type(text) is not str or type(pattern) is not str:
        raise no_such_overload()
    try:
        return compile_regex(pattern).matches(text)
    except RegexError as error:
        raise EvaluationError(str(error)) from error


def contains(text: str, part: str) -> bool:
    """Whether a text holds another."""
    return part in text


def starts_with(text: str, part: str) -> bool:
    """Whether a text begins with another."""
    return text.startswith(part)


def ends_with(text: str, part: str) -> bool:
    """Whether a text ends with another."""
    return text.endswith(part)


def _of_texts(compute: Implementation) -> Implementation:
    def dispatch(text: v.Value, part: v.Value) -> v.Value:
        if type(text) is str and type(part) is str:
            return compute(text, part)
        raise no_such_overload()

    return dispatch


def _size(value: v.Value) -> int:
    if type(value) in (str, bytes) or v.is_list(value) or v.is_map(value):
        return v.size(value)
    raise EvaluationError("no such overload: size")


def _negated(value: v.Value) -> bool:
    if type(value) is not bool:
        raise no_such_overload()
    return not value


_SIZED: Final = {"bytes": t.BYTES, "list": _LIST, "map": _MAP, "string": t.STRING}
_TEXTS: Final = (t.STRING, t.STRING)


def standard_library(*, crossed: bool) -> Library:
    """CEL's standard library; ``crossed``: numbers of different types may be compared."""
    functions: dict[str, tuple[Overload, ...]] = {
        "_?_:_": (Overload("conditional", (t.BOOL, _A, _A), _A),),
        "_&&_": (Overload("logical_and", (t.BOOL, t.BOOL), t.BOOL),),
        "_||_": (Overload("logical_or", (t.BOOL, t.BOOL), t.BOOL),),
        "!_": (Overload("logical_not", (t.BOOL,), t.BOOL, operator.not_),),
        "@not_strictly_false": (Overload("not_strictly_false", (t.BOOL,), t.BOOL),),
        "_==_": (Overload("equals", (_A, _A), t.BOOL, v.equal),),
        "_!=_": (Overload("not_equals", (_A, _A), t.BOOL, v.unequal),),
        "_+_": (
            *_arithmetic("add", add, "bytes", "double"),
            Overload("add_duration_duration", (t.DURATION, t.DURATION), t.DURATION, add),
            Overload("add_duration_timestamp", (t.DURATION, t.TIMESTAMP), t.TIMESTAMP, add),
            Overload("add_timestamp_duration", (t.TIMESTAMP, t.DURATION), t.TIMESTAMP, add),
            *_arithmetic("add", add, "int64", "list", "string", "uint64"),
        ),
        "_-_": (
            *_arithmetic("subtract", subtract, "double"),
            Overload("subtract_duration_duration", (t.DURATION, t.DURATION), t.DURATION, subtract),
            *_arithmetic("subtract", subtract, "int64"),
            Overload("subtract_timestamp_duration", (t.TIMESTAMP, t.DURATION), t.TIMESTAMP, subtract),
            Overload("subtract_timestamp_timestamp", (t.TIMESTAMP, t.TIMESTAMP), t.DURATION, subtract),
            *_arithmetic("subtract", subtract, "uint64"),
        ),
        "_*_": _arithmetic("multiply", multiply, "double", "int64", "uint64"),
        "_/_": _arithmetic("divide", divide, "double", "int64", "uint64"),
        "_%_": _arithmetic("modulo", modulo, "int64", "uint64"),
        "-_": tuple(
            Overload(f"negate_{name}", (kind,), kind, negate) for name, kind in _numbers(("double", "int64"))
        ),
        "_<_": _comparisons("less", operator.lt, v.less, crossed=crossed),
        "_<=_": _comparisons("less_equals", operator.le, v.less_equal, crossed=crossed),
        "_>_": _comparisons("greater", operator.gt, v.greater, crossed=crossed),
        "_>=_": _comparisons("greater_equals", operator.ge, v.greater_equal, crossed=crossed),
        "_[_]": (
            Overload("index_list", (_LIST, t.INT), _A),
            Overload("index_map", (_MAP, _A), _B),
        ),
        "@in": (
            Overload("in_list", (_A, _LIST), t.BOOL, in_list),
            Overload("in_map", (_A, _MAP), t.BOOL, in_map),
        ),
        "size": (
            *(Overload(f"size_{name}", (kind,), t.INT, _size) for name, kind in _SIZED.items()),
            *(member(f"{name}_size", (kind,), t.INT, _size) for name, kind in _SIZED.items()),
        ),
        "contains": (member("contains_string", _TEXTS, t.BOOL, contains),),
        "endsWith": (member("ends_with_string", _TEXTS, t.BOOL, ends_with),),
        "startsWith": (member("starts_with_string", _TEXTS, t.BOOL, starts_with),),
        "matches": (
            Overload("matches", _TEXTS, t.BOOL, matches),
            member("matches_string", _TEXTS, t.BOOL, matches),
        ),
        **CONVERSIONS,
        **MOMENTS,
    }
    return Library(functions, STANDARD, _NAMES, _DISPATCHERS, WELL_KNOWN.constants)


_DISPATCHERS: Final[dict[str, Implementation]] = {
    **OPERATORS,
    "!_": _negated,
    "contains": _of_texts(contains),
    "startsWith": _of_texts(starts_with),
    "endsWith": _of_texts(ends_with),
    "@in": is_in,
    "size": _size,
    "matches": matches,
}
_NAMES: Final = {
    "bool": t.BOOL,
    "bytes": t.BYTES,
    "double": t.DOUBLE,
    **WELL_KNOWN.names,
    "int": t.INT,
    "list": t.list_of(t.DYN),
    "map": t.map_of(t.DYN, t.DYN),
    "null_type": t.NULL,
    "string": t.STRING,
    "type": t.TYPE,
    "uint": t.UINT,
}
