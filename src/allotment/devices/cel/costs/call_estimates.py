"""What calls are estimated to cost, by function and form: Kubernetes' rules first, then cel-go's."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

from allotment.devices.cel import cel_types as t
from allotment.devices.cel.costs.ranges import (
    LIST_COST,
    MOST,
    ONE,
    REGEX_FACTOR,
    STRING_FACTOR,
    UNKNOWN,
    Estimate,
    Range,
    exactly,
)
from allotment.devices.cel.costs.unit_calls import UNIT_CALLS
from allotment.devices.cel.library.lists import MOST_INCLUDED
from allotment.devices.cel.syntax import Expr, Literal

_LONGEST_FORMAT_PATTERN: Final = 128
_LONGEST_FORMAT_NAME: Final = 64
_INCLUDES: Final = "list_includes_dyn_dyn"


class Argument(NamedTuple):
    """What is known of an argument: its node, type and size, and the size of its elements if it is a list."""

    node: Expr
    type: t.CelType
    size: Range | None
    element: Range | None

    @property
    def likely(self) -> Range:
        """The size, or any size."""
        return UNKNOWN if self.size is None else self.size


Rule = Callable[[Argument | None, Sequence[Argument], str], Estimate | None]


def _fixed(cost: int) -> Rule:
    return lambda _target, _arguments, _overload: Estimate(exactly(cost))


def _walk(target: Argument | None, _arguments: Sequence[Argument], overload: str) -> Estimate | None:
    """One comparison an element, more where elements are texts."""
    if target is None:
        return None
    if not target.type.parameters:
        return Estimate(target.likely.scaled(1 if overload == _INCLUDES else STRING_FACTOR))
    each = ONE
    if target.type.parameters[0].kind in ("string", "bytes"):
        each = each.plus((target.element or UNKNOWN).scaled(STRING_FACTOR))
    return Estimate(target.likely.times(each))


def _includes(target: Argument | None, arguments: Sequence[Argument], overload: str) -> Estimate | None:
    if overload == _INCLUDES:
        return _walk(target, arguments, overload)
    return None if target is None else Estimate(Range(0, MOST_INCLUDED))


def _read_first(factor: float = STRING_FACTOR, *, sized: bool = False) -> Rule:
    """The first argument is read once."""

    def rule(_target: Argument | None, arguments: Sequence[Argument], _overload: str) -> Estimate | None:
        if not arguments:
            return None
        size = arguments[0].likely
        return Estimate(size.scaled(factor), size if sized else None)

    return rule


def _transform(target: Argument | None, _arguments: Sequence[Argument], _overload: str) -> Estimate | None:
    return None if target is None else Estimate(target.likely.scaled(STRING_FACTOR), target.likely)


def _replace(target: Argument | None, arguments: Sequence[Argument], _overload: str) -> Estimate | None:
    """A text read and written; how long it gets depends on what is replaced by what."""
    if target is None or len(arguments) < 2:
        return None
    size, old, new = target.likely, arguments[0].likely, arguments[1].likely
    if old.low == 0:
        most, kept_most = min(MOST, size.high + 1), size.high
    elif new.high <= old.low:
        most, kept_most = 0, size.high
    else:
        most, kept_most = math.ceil(float(size.high) / float(old.low)), 0
    if old.high == 0:
        least, kept_least = min(MOST, size.low + 1), size.low
    elif old.high <= new.low:
        least, kept_least = 0, size.low
    else:
        least, kept_least = math.ceil(float(size.low) / float(old.high)), 0
    result = Range(least, most).times(new).plus(Range(kept_least, kept_most))
    return Estimate(size.scaled(2 * STRING_FACTOR), result)


def _split(target: Argument | None, arguments: Sequence[Argument], _overload: str) -> Estimate | None:
    if target is None:
        return None
    most = target.likely.high
    if len(arguments) > 1:
        limit = arguments[1].node
        if isinstance(limit, Literal) and type(limit.value) is int:
            most = limit.value % 2**64
    return Estimate(target.likely.scaled(2 * STRING_FACTOR), Range(0, most))


def _join(target: Argument | None, arguments: Sequence[Argument], _overload: str) -> Estimate | None:
    if target is None:
        return None
    size = Range(0, 0)
    if target.type.parameters:
        size = target.likely.times(target.element or UNKNOWN)
    if arguments:
        between = Range(max(0, target.likely.low - 1), max(0, target.likely.high - 1))
        size = size.plus(arguments[0].likely.times(between))
    return Estimate(size.scaled(STRING_FACTOR), size)


def _find(target: Argument | None, arguments: Sequence[Argument], _overload: str) -> Estimate | None:
    if target is None or not arguments:
        return None
    reading = target.likely.plus(ONE).scaled(STRING_FACTOR)
    pattern = arguments[0].likely.scaled(REGEX_FACTOR)
    return Estimate(reading.times(pattern), Range(0, target.likely.high))


def _ip(target: Argument | None, arguments: Sequence[Argument], overload: str) -> Estimate | None:
    return Estimate(ONE) if overload == "cidr_ip" else _read_first()(target, arguments, overload)


def _contains_ip(_target: Argument | None, arguments: Sequence[Argument], overload: str) -> Estimate | None:
    if not arguments:
        return None
    cost = Range(8, 32).scaled(STRING_FACTOR)
    if overload == "cidr_contains_ip_string":
        cost = cost.plus(arguments[0].likely.scaled(STRING_FACTOR))
    return Estimate(cost)


def _contains_cidr(_target: Argument | None, arguments: Sequence[Argument], overload: str) -> Estimate | None:
    if not arguments:
        return None
    cost = Range(8, 32).scaled(STRING_FACTOR).plus(Range(4, 16).scaled(STRING_FACTOR)).plus(ONE)
    if overload == "cidr_contains_cidr_string":
        cost = cost.plus(arguments[0].likely.scaled(STRING_FACTOR))
    return Estimate(cost)


def _validate(_target: Argument | None, arguments: Sequence[Argument], _overload: str) -> Estimate | None:
    if not arguments:
        return None
    return Estimate(arguments[0].likely.scaled(STRING_FACTOR).scaled(_LONGEST_FORMAT_PATTERN * REGEX_FACTOR))


def _equals(_target: Argument | None, arguments: Sequence[Argument], _overload: str) -> Estimate | None:
    """Kubernetes' own types are compared at a fixed cost."""
    if len(arguments) != 2 or arguments[0].type != arguments[1].type:
        return None
    name = arguments[0].type.name
    if name in ("kubernetes.Quantity", "kubernetes.Semver", "net.IP", "net.CIDR"):
        return Estimate(ONE)
    if name == "kubernetes.NamedFormat":
        return Estimate(Range(1, _LONGEST_FORMAT_NAME).scaled(STRING_FACTOR))
    if name == "kubernetes.URL":
        other = arguments[1].size
        return Estimate(Range(1, 1 if other is None else other.high).scaled(STRING_FACTOR))
    return None


_UNIT: Final = _fixed(1)
KUBERNETES: Final[Mapping[str, Rule]] = {
    **dict.fromkeys(("isSorted", "sum", "max", "min", "indexOf", "lastIndexOf"), _walk),
    "includes": _includes,
    "url": _read_first(sized=True),
    **dict.fromkeys(("lowerAscii", "upperAscii", "substring", "trim"), _transform),
    "replace": _replace,
    "split": _split,
    "join": _join,
    **dict.fromkeys(("find", "findAll"), _find),
    **dict.fromkeys(
        ("cidr", "isIP", "isCIDR", "quantity", "isQuantity", "semver", "isSemver"), _read_first()
    ),
    "ip": _ip,
    "ip.isCanonical": _read_first(2 * STRING_FACTOR),
    **dict.fromkeys(
        [
            *UNIT_CALLS,
            "serviceAccount",
            "path",
            "group",
            "resource",
            "subresource",
            "namespace",
            "name",
            "allowed",
            "reason",
            "error",
            "errored",
        ],
        _UNIT,
    ),
    "containsIP": _contains_ip,
    "containsCIDR": _contains_cidr,
    "validate": _validate,
    "_==_": _equals,
}


def _list_call(factor: float, size: Range) -> Estimate:
    """A call that makes a list."""
    return Estimate(size.scaled(factor).plus(ONE).plus(exactly(LIST_COST)), size)


def _known_count(argument: Argument, otherwise: int) -> int:
    value = argument.node.value if isinstance(argument.node, Literal) else None
    return max(0, value) if type(value) is int else otherwise


def _slice(target: Argument | None, arguments: Sequence[Argument], _overload: str) -> Estimate | None:
    if target is None or len(arguments) != 2:
        return None
    start = _known_count(arguments[0], 0)
    end = _known_count(arguments[1], target.likely.high)
    return _list_call(1, exactly((end - start) % 2**64))


def _range(_target: Argument | None, arguments: Sequence[Argument], _overload: str) -> Estimate | None:
    return _list_call(1, exactly(_known_count(arguments[0], MOST)))


def _reverse(target: Argument | None, _arguments: Sequence[Argument], _overload: str) -> Estimate | None:
    return None if target is None else _list_call(1, target.likely)


def _flatten(target: Argument | None, arguments: Sequence[Argument], _overload: str) -> Estimate | None:
    if target is None:
        return None
    return _list_call(float(_known_count(arguments[0], MOST)) if arguments else 1.0, target.likely)


def _squared(argument: Argument | None, factor: float) -> Estimate | None:
    return None if argument is None else _list_call(factor, argument.likely.times(argument.likely))


def _distinct(target: Argument | None, _arguments: Sequence[Argument], _overload: str) -> Estimate | None:
    return _squared(target, 2.0)


def _sort(target: Argument | None, arguments: Sequence[Argument], overload: str) -> Estimate | None:
    texts = overload.startswith(("list_string_", "list_bytes_"))
    return _squared(arguments[0] if arguments else target, 2.0 + STRING_FACTOR if texts else 2.0)


def _sets(factor: int) -> Rule:
    def rule(_target: Argument | None, arguments: Sequence[Argument], _overload: str) -> Estimate | None:
        one, other = arguments
        return Estimate(one.likely.times(other.likely).scaled(factor).plus(ONE))

    return rule


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
BY_OVERLOAD: Final[Mapping[str, Rule]] = {
    "list_slice": _slice,
    "list_flatten": _flatten,
    "list_flatten_int": _flatten,
    "lists_range": _range,
    "list_reverse": _reverse,
    "list_distinct": _distinct,
    **{f"list_{name}_{what}": _sort for name in _SORTED for what in ("sort", "sortByAssociatedKeys")},
    "list_sets_contains_list": _sets(1),
    "list_sets_intersects_list": _sets(1),
    "list_sets_equivalent_list": _sets(2),
}
