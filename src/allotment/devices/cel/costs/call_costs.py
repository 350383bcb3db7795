"""What calls did cost, from the values that they met: Kubernetes' rules first, then cel-go's."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from allotment.devices.cel import values as v
from allotment.devices.cel.costs.ranges import LIST_COST, REGEX_FACTOR, STRING_FACTOR
from allotment.devices.cel.costs.unit_calls import UNIT_CALLS
from allotment.devices.cel.library.network import address_size
from allotment.devices.cel.values import Opaque, Value
from allotment.quantities.kubernetes import Quantity
from allotment.quantities.semver import Semver

Rule = Callable[[Sequence[Value], Value, str], int | None]
_FIXED_EQUALITY: Final = (Quantity, Semver, Opaque)


def size_of(value: Value) -> int:
    """The size that a value counts for."""
    if isinstance(value, Opaque):
        size = address_size(value)
        return 1 if size is None else size
    return v.cost_size(value)


def _plain_size(value: Value) -> int:
    """The size, without looking into optionals, as Kubernetes' own rules have it."""
    return 1 if type(value) is v.OptionalValue else size_of(value)


def _ceil(number: float) -> int:
    return math.ceil(number)


def _traversal(value: Value) -> int:
    if type(value) in (str, bytes):
        length = len(value.encode()) if type(value) is str else len(value)
        return int(length * STRING_FACTOR)
    if v.is_list(value):
        return sum(map(_traversal, value))
    if v.is_map(value):
        return sum(_traversal(v.key_value(key)) + _traversal(item) for key, item in value.items())
    return 1


def _walk(arguments: Sequence[Value], _result: Value, _overload: str) -> int:
    return _traversal(arguments[0])


def _read_first(factor: float) -> Rule:
    return lambda arguments, _result, _overload: _ceil(_plain_size(arguments[0]) * factor)


def _join(_arguments: Sequence[Value], result: Value, _overload: str) -> int:
    return _ceil(_plain_size(result) * 2 * STRING_FACTOR)


def _find(arguments: Sequence[Value], _result: Value, _overload: str) -> int:
    return _ceil((1 + _plain_size(arguments[0])) * STRING_FACTOR) * _ceil(
        _plain_size(arguments[1]) * REGEX_FACTOR
    )


def _ip(arguments: Sequence[Value], _result: Value, overload: str) -> int:
    return 1 if overload == "cidr_ip" else _ceil(_plain_size(arguments[0]) * STRING_FACTOR)


def _contains_ip(arguments: Sequence[Value], _result: Value, overload: str) -> int:
    cost = _ceil(2 * _plain_size(arguments[0]) * STRING_FACTOR)
    return cost + (
        _ceil(_plain_size(arguments[1]) * STRING_FACTOR) if overload == "cidr_contains_ip_string" else 0
    )


def _contains_cidr(arguments: Sequence[Value], _result: Value, overload: str) -> int:
    own = _plain_size(arguments[0])
    cost = _ceil(2 * own * STRING_FACTOR) + _ceil(own * STRING_FACTOR) + 1
    return cost + (
        _ceil(_plain_size(arguments[1]) * STRING_FACTOR) if overload == "cidr_contains_cidr_string" else 0
    )


def _validate(arguments: Sequence[Value], _result: Value, _overload: str) -> int | None:
    if not isinstance(arguments[0], Opaque):
        return None
    pattern = _ceil(arguments[0].data.pattern_size * REGEX_FACTOR)
    return _ceil((1 + _plain_size(arguments[1])) * STRING_FACTOR) * pattern


def _equals(arguments: Sequence[Value], _result: Value, _overload: str) -> int | None:
    return 1 if isinstance(arguments[0], _FIXED_EQUALITY) else None


def _unit(_arguments: Sequence[Value], _result: Value, _overload: str) -> int:
    return 1


_KUBERNETES: Final[Mapping[str, Rule]] = {
    **dict.fromkeys(("isSorted", "sum", "max", "min", "indexOf", "lastIndexOf"), _walk),
    **dict.fromkeys(
        [
            "url",
            "lowerAscii",
            "upperAscii",
            "substring",
            "trim",
            "cidr",
            "isIP",
            "isCIDR",
            "quantity",
            "isQuantity",
            "semver",
            "isSemver",
        ],
        _read_first(STRING_FACTOR),
    ),
    **dict.fromkeys(("replace", "split", "ip.isCanonical"), _read_first(2 * STRING_FACTOR)),
    "join": _join,
    **dict.fromkeys(("find", "findAll"), _find),
    "ip": _ip,
    "containsIP": _contains_ip,
    "containsCIDR": _contains_cidr,
    "validate": _validate,
    **dict.fromkeys(UNIT_CALLS, _unit),
    "_==_": _equals,
}


def _made_list(factor: float, size: int) -> int:
    return int(size * (1.0 if factor < 0 else factor)) + 1 + LIST_COST


def _result_size(_arguments: Sequence[Value], result: Value, _overload: str) -> int:
    return _made_list(1, size_of(result))


def _flatten(arguments: Sequence[Value], _result: Value, _overload: str) -> int:
    depth = arguments[1] if len(arguments) == 2 and type(arguments[1]) is int else 1
    return _made_list(depth, size_of(arguments[0]))


def _flatten_before(arguments: Sequence[Value], _result: Value, _overload: str) -> int:
    """A depth below zero went around the end of 64 bits."""
    return (int(size_of(arguments[0]) * float(arguments[1])) + 1 + LIST_COST) % 2**64


def _self_compared(place: int) -> Rule:
    def rule(arguments: Sequence[Value], _result: Value, _overload: str) -> int | None:
        values = arguments[place]
        if not v.is_list(values):
            return None
        texts = bool(values) and type(values[0]) in (str, bytes)
        return _made_list(2.0 + STRING_FACTOR if texts else 2.0, len(values) ** 2)

    return rule


def _sets(factor: int) -> Rule:
    return lambda arguments, _result, _overload: 1 + size_of(arguments[0]) * size_of(arguments[1]) * factor


_SORTED: Final = (
    "int",
    "uint",
    "double",
    "bool",
    "google.protobuf.Duration",
    "google.protobuf.Timestamp",
    "string",
    "bytes",
)
_BY_OVERLOAD: Final[Mapping[str, Rule]] = {
    "list_includes_dyn_dyn": _walk,
    "list_slice": _result_size,
    "list_flatten": _flatten,
    "list_flatten_int": _flatten,
    "list_flatten_int_before": _flatten_before,
    "lists_range": _result_size,
    "list_reverse": _result_size,
    "list_distinct": _self_compared(0),
    **{f"list_{name}_sort": _self_compared(0) for name in _SORTED},
    **{f"list_{name}_sortByAssociatedKeys": _self_compared(1) for name in _SORTED},
    "list_sets_contains_list": _sets(1),
    "list_sets_intersects_list": _sets(1),
    "list_sets_equivalent_list": _sets(2),
}


def _first_read(arguments: Sequence[Value], _result: Value, _overload: str) -> int:
    return _ceil(size_of(arguments[0]) * STRING_FACTOR)


def _second_read(arguments: Sequence[Value], _result: Value, _overload: str) -> int:
    return _ceil(size_of(arguments[1]) * STRING_FACTOR)


def _in_list(arguments: Sequence[Value], _result: Value, _overload: str) -> int:
    return size_of(arguments[1])


def compared(arguments: Sequence[Value], _result: Value, _overload: str) -> int:
    """Two values held against each other: by the shorter."""
    return _ceil(min(size_of(arguments[0]), size_of(arguments[1])) * STRING_FACTOR)


def _added(arguments: Sequence[Value], _result: Value, _overload: str) -> int:
    return _ceil((size_of(arguments[0]) + size_of(arguments[1])) * STRING_FACTOR)


def _matched(arguments: Sequence[Value], _result: Value, _overload: str) -> int:
    return _ceil((1 + size_of(arguments[0])) * STRING_FACTOR) * _ceil(size_of(arguments[1]) * REGEX_FACTOR)


def _contained(arguments: Sequence[Value], _result: Value, _overload: str) -> int:
    return _ceil(size_of(arguments[0]) * STRING_FACTOR) * _ceil(size_of(arguments[1]) * STRING_FACTOR)


_STANDARD: Final[Mapping[str, Rule]] = {
    **dict.fromkeys(
        (
            "starts_with_string_before",
            "ends_with_string_before",
            "string_to_bytes",
            "bytes_to_string",
            "strings_quote",
            "string_format",
        ),
        _first_read,
    ),
    **dict.fromkeys(("starts_with_string", "ends_with_string"), _second_read),
    "in_list": _in_list,
    **{
        f"{name}_{kind}": compared
        for name in ("less", "greater", "less_equals", "greater_equals")
        for kind in ("string", "bytes")
    },
    "equals": compared,
    "not_equals": compared,
    "add_string": _added,
    "add_bytes": _added,
    **dict.fromkeys(("matches", "matches_string"), _matched),
    "contains_string": _contained,
}


_READ_ALONG: Final = (0, 28)
"""Since then the beginning or the end of a text costs by the part that is looked for, as was estimated, and
``matches(text, pattern)`` as much as ``text.matches(pattern)``.
"""


def renamed(overload: str, cel_go: tuple[int, int]) -> str:
    """The form that a form is reckoned as: some versions of cel-go reckon otherwise."""
    before = {"starts_with_string", "ends_with_string", "list_flatten_int", "matches"}
    return f"{overload}_before" if overload in before and cel_go < _READ_ALONG else overload


def call_cost(function: str, overload: str, arguments: Sequence[Value], result: Value) -> int:
    """What a call did cost; errors among its values count for one."""
    for rules, key in ((_BY_OVERLOAD, overload), (_KUBERNETES, function), (_STANDARD, overload)):
        rule = rules.get(key)
        cost = rule(arguments, result, overload) if rule else None
        if cost is not None:
            return cost
    return 1
