"""Functions of lists: Kubernetes' own (``sum``, ``isSorted`` ...) and cel-go's lists extension, version 3."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cmp_to_key
from itertools import pairwise
from typing import Final

from allotment.devices.cel import cel_types as t
from allotment.devices.cel import values as v
from allotment.devices.cel.declarations import Library, Overload, member
from allotment.devices.cel.library.operators import RECEIVERS, add
from allotment.devices.cel.macros import SORT_BY
from allotment.devices.cel.numbers64 import UInt
from allotment.devices.cel.problems import EvaluationError, no_such_overload
from allotment.devices.cel.times import Duration

MOST_INCLUDED: Final = 48
"""How many values an attribute may have (ResourceSliceMaxAttributeValuesPerDevice)."""
LONGEST_RANGE: Final = 1_000_000

_COMPARABLE: Final = {
    "int": t.INT,
    "uint": t.UINT,
    "double": t.DOUBLE,
    "bool": t.BOOL,
    "duration": t.DURATION,
    "timestamp": t.TIMESTAMP,
    "string": t.STRING,
    "bytes": t.BYTES,
}
_ZEROS: Final = {"int": 0, "uint": UInt(0), "double": 0.0, "duration": Duration(0)}
_T: Final = t.parameter("T")
_A: Final = t.parameter("A")
_LIST: Final = t.list_of(_T)


def _order(one: v.Value, other: v.Value) -> int | None:
    """Which of two values is larger; None where they cannot be compared, which nobody minds here."""
    try:
        return v.compare(one, other)
    except EvaluationError:
        return None


def _is_sorted(values: Sequence[v.Value]) -> bool:
    return all(_order(one, other) != 1 for one, other in pairwise(values))


def _sum(zero: v.Value) -> Callable[[Sequence[v.Value]], v.Value]:
    def compute(values: Sequence[v.Value]) -> v.Value:
        total = zero
        for value in values:
            total = add(total, value)
        return total

    return compute


def _extreme(name: str, sign: int) -> Callable[[Sequence[v.Value]], v.Value]:
    def compute(values: Sequence[v.Value]) -> v.Value:
        if not values:
            raise EvaluationError(f"{name} called on empty list")
        best = values[0]
        for value in values[1:]:
            if _order(best, value) == -sign:
                best = value
        return best

    return compute


def _index_of(values: Sequence[v.Value], item: v.Value) -> int:
    return next((place for place, value in enumerate(values) if v.found_equal(value, item)), -1)


def _last_index_of(values: Sequence[v.Value], item: v.Value) -> int:
    return next((place for place in range(len(values) - 1, -1, -1) if v.found_equal(values[place], item)), -1)


def _includes(values: v.Value, item: v.Value) -> bool:
    if not v.is_list(values):
        return v.found_equal(values, item)
    return any(v.found_equal(value, item) for value in values)


def _includes_few(values: v.Value, item: v.Value) -> bool:
    """``includes`` for attributes: a list longer than any attribute may be is an error, once it is walked so
    far.
    """
    if not v.is_list(values) or len(values) <= MOST_INCLUDED or _includes(values[:MOST_INCLUDED], item):
        return _includes(values, item)
    raise EvaluationError(
        f"'includes' function cannot be applied to lists longer than {MOST_INCLUDED} values"
    )


def _slice(values: Sequence[v.Value], start: int, end: int) -> list[v.Value]:
    call = f"cannot slice({start}, {end})"
    if start < 0 or end < 0:
        raise EvaluationError(f"{call}, negative indexes not supported")
    if start > end:
        raise EvaluationError(f"{call}, start index must be less than or equal to end index")
    if end > len(values):
        raise EvaluationError(f"{call}, list is length {len(values)}")
    return list(values[start:end])


def _flatten(values: v.Value, depth: int = 1) -> list[v.Value]:
    if not v.is_list(values):
        raise EvaluationError(f"no such overload: {v.type_name(values)}.flatten()")
    if type(depth) is not int:
        raise no_such_overload()
    if depth < 0:
        raise EvaluationError("level must be non-negative")
    result: list[v.Value] = []
    for value in values:
        if v.is_list(value) and depth > 0:
            result.extend(_flatten(value, depth - 1))
        else:
            result.append(value)
    return result


def _sort_by_keys(values: Sequence[v.Value], keys: Sequence[v.Value]) -> list[v.Value]:
    if len(values) != len(keys):
        raise EvaluationError(
            "@sortByAssociatedKeys() expected a list of the same size as the associated keys list, "
            f"but got {len(values)} and {len(keys)} elements respectively"
        )
    if keys and type(keys[0]) not in v.ORDERED:
        raise EvaluationError("list elements must be comparable")
    if len({v.type_name(key) for key in keys}) > 1:
        raise EvaluationError("list elements must have the same type")
    by_key = cmp_to_key(_compare_keys)
    return [value for _, value in sorted(zip(keys, values, strict=True), key=by_key)]


def _compare_keys(one: tuple[v.Value, v.Value], other: tuple[v.Value, v.Value]) -> int:
    return v.compare(one[0], other[0])


def _sort(values: v.Value) -> list[v.Value]:
    if not v.is_list(values):
        raise no_such_overload() if type(values) in RECEIVERS else EvaluationError("no such overload: sort")
    return _sort_by_keys(values, values)


def _range_before(count: int) -> range:
    """As many numbers as there may be: they are not made before they are asked for."""
    return range(count)


def _range(count: int) -> list[int]:
    if count < 0:
        raise EvaluationError(f"lists.range: size must be non-negative, got {count}")
    if count > LONGEST_RANGE:
        raise EvaluationError(f"lists.range: size {count} exceeds maximum allowed ({LONGEST_RANGE})")
    return list(range(count))


def _reverse(values: Sequence[v.Value]) -> list[v.Value]:
    return list(reversed(values))


def _distinct(values: Sequence[v.Value]) -> list[v.Value]:
    result: list[v.Value] = []
    for value in values:
        if not any(v.found_equal(value, other) for other in result):
            result.append(value)
    return result


def _each(suffix: str, result: t.CelType | None, compute: Callable[..., v.Value]) -> tuple[Overload, ...]:
    """A form for lists of every type that has an order."""
    return tuple(
        member(suffix.format(name), (t.list_of(kind),), result or kind, compute)
        for name, kind in _COMPARABLE.items()
    )


KUBERNETES_LISTS: Final = Library(
    {
        "isSorted": _each("list_{0}_is_sorted_bool", t.BOOL, _is_sorted),
        "sum": tuple(
            member(f"list_{name}_sum_{name}", (t.list_of(_COMPARABLE[name]),), _COMPARABLE[name], _sum(zero))
            for name, zero in _ZEROS.items()
        ),
        "max": _each("list_{0}_max_{0}", None, _extreme("max", 1)),
        "min": _each("list_{0}_min_{0}", None, _extreme("min", -1)),
        "indexOf": (member("list_a_index_of_int", (t.list_of(_A), _A), t.INT, _index_of),),
        "lastIndexOf": (member("list_a_last_index_of_int", (t.list_of(_A), _A), t.INT, _last_index_of),),
    }
)
LIST_INCLUDES: Final = Library(
    {"includes": (member("list_includes_dyn_dyn", (t.DYN, t.DYN), t.BOOL, _includes),)}
)
DEVICE_INCLUDES: Final = Library(
    {"includes": (member("dra_includes_dyn_dyn", (t.DYN, t.DYN), t.BOOL, _includes_few),)}
)
RANGES: Final = Library(
    {"lists.range": (Overload("lists_range", (t.INT,), t.list_of(t.INT), _range),)},
)
RANGES_BEFORE_0_28: Final = Library(
    {"lists.range": (Overload("lists_range", (t.INT,), t.list_of(t.INT), _range_before),)},
)
LISTS: Final = Library(
    {
        "slice": (member("list_slice", (_LIST, t.INT, t.INT), _LIST, _slice),),
        "flatten": (
            member("list_flatten", (t.list_of(_LIST),), _LIST, _flatten),
            member("list_flatten_int", (t.list_of(t.DYN), t.INT), t.list_of(t.DYN), _flatten),
        ),
        "sort": tuple(
            member(f"list_{kind.name}_sort", (t.list_of(kind),), t.list_of(kind), _sort)
            for kind in _COMPARABLE.values()
        ),
        "@sortByAssociatedKeys": tuple(
            member(f"list_{kind.name}_sortByAssociatedKeys", (_LIST, t.list_of(kind)), _LIST, _sort_by_keys)
            for kind in _COMPARABLE.values()
        ),
        "reverse": (member("list_reverse", (_LIST,), _LIST, _reverse),),
        "distinct": (member("list_distinct", (_LIST,), _LIST, _distinct),),
    },
    SORT_BY,
    dispatchers={"sort": _sort, "@sortByAssociatedKeys": _sort_by_keys, "flatten": _flatten},
)
