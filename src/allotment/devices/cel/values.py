"""CEL's values as Python's, and what holds for all of them: type, size, equality, order, lookup.

Numbers, strings, bytes, lists and dicts are Python's own. Two things need care. Python takes ``True`` for 1,
so truth values are kept apart wherever numbers are compared, and as keys they are wrapped. And a version or a
quantity met by something else is not unequal but an error, as upstream.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from typing import Any, Final

from allotment.devices.cel import cel_types as t
from allotment.devices.cel.numbers64 import UInt
from allotment.devices.cel.problems import EvaluationError, no_such_overload
from allotment.devices.cel.times import Duration, Timestamp
from allotment.quantities.kubernetes import Quantity
from allotment.quantities.semver import Semver

Value = Any
"""Any value of CEL; what is allowed where is the checker's matter."""


class OptionalValue:
    """A value that may not be there."""

    __slots__ = ("present", "value")

    def __init__(self, value: Value = None, *, present: bool = True) -> None:
        self.value = value
        self.present = present

    def get(self) -> Value:
        """The value, which must be there."""
        if not self.present:
            raise EvaluationError("optional.none() dereference")
        return self.value


class BoolKey:
    """A truth value as the key of a map, where Python would take it for a number."""

    __slots__ = ("value",)

    def __init__(self, *, value: bool) -> None:
        self.value = value


class Opaque:
    """A value of a library: its type, what it is, and how it is named in errors."""

    __slots__ = ("data", "declared")
    go_name = "opaque"

    def __init__(self, data: Any, declared: t.CelType) -> None:
        self.data = data
        self.declared = declared

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Opaque) and self.declared == other.declared and self.data == other.data

    def __hash__(self) -> int:
        return hash(self.data)


class ComputedQuantity(Quantity):
    """A quantity that ``add`` or ``sub`` has made: upstream cannot compare anything with it by ``==``."""

    __slots__ = ()


NOTHING: Final = OptionalValue(present=False)
MISSING: Final = object()
_KEYS: Final = {True: BoolKey(value=True), False: BoolKey(value=False)}

RUNTIME_TYPES: Final[Mapping[type, t.CelType]] = {
    bool: t.BOOL,
    bytes: t.BYTES,
    float: t.DOUBLE,
    Duration: t.DURATION,
    int: t.INT,
    list: t.list_of(t.DYN),
    tuple: t.list_of(t.DYN),
    range: t.list_of(t.DYN),
    dict: t.map_of(t.DYN, t.DYN),
    type(None): t.NULL,
    OptionalValue: t.optional_of(t.DYN),
    Quantity: t.QUANTITY,
    ComputedQuantity: t.QUANTITY,
    Semver: t.SEMVER,
    str: t.STRING,
    Timestamp: t.TIMESTAMP,
    t.CelType: t.TYPE,
    UInt: t.UINT,
}
_GO_NAMES: Final = {
    "bool": "types.Bool",
    "bytes": "types.Bytes",
    "double": "types.Double",
    "google.protobuf.Duration": "types.Duration",
    "int": "types.Int",
    "null_type": "types.Null",
    "optional_type": "*types.Optional",
    "list": "*types.baseList",
    "map": "*types.baseMap",
    "kubernetes.Quantity": "cel.Quantity",
    "kubernetes.Semver": "cel.Semver",
    "string": "types.String",
    "google.protobuf.Timestamp": "types.Timestamp",
    "type": "*types.Type",
    "uint": "types.Uint",
}
_NUMBERS: Final = frozenset({int, UInt, float})
ORDERED: Final = frozenset({int, UInt, float, str, bytes, bool, Timestamp, Duration})
"""The types whose values have an order."""
_STRICT: Final = (Semver, Quantity)
_LISTS: Final = frozenset({list, tuple, range})
_MAPS: Final[set[type]] = {dict}
_OBJECTS: Final[set[type]] = set()


def runtime_type(value: Value) -> t.CelType:
    """The type of a value as it is met."""
    kind = type(value)
    known = RUNTIME_TYPES.get(kind)
    if known is not None:
        return known
    if kind in _MAPS or kind in _OBJECTS:
        return RUNTIME_TYPES[dict]
    return value.declared if isinstance(value, Opaque) else t.ERROR


def register_map(kind: type) -> None:
    """Lets a kind of dict stand for a map."""
    _MAPS.add(kind)


def register_object(kind: type) -> None:
    """Lets values of a type call themselves maps, though they are asked for fields otherwise."""
    _OBJECTS.add(kind)


def is_map(value: Value) -> bool:
    """Whether a value is a map."""
    return type(value) in _MAPS


def is_list(value: Value) -> bool:
    """Whether a value is a list."""
    return type(value) in _LISTS


def type_name(value: Value) -> str:
    """The name of a value's type, as errors have it."""
    return runtime_type(value).name


def go_name(value: Value) -> str:
    """The name of a value's type in cel-go's source, which some of its errors show."""
    if type(value) is ComputedQuantity:
        return "*cel.Quantity"
    return _GO_NAMES.get(type_name(value), f"*types.{type_name(value)}")


def matches_type(value: Value, wanted: t.CelType) -> bool:
    """Whether a value may be given to a function that declares this type; of lists the first element is
    looked at.
    """
    if wanted.kind in ("dyn", "any", "parameter"):
        return True
    if wanted.kind == "list":
        return is_list(value) and (not value or matches_type(value[0], wanted.parameters[0]))
    if wanted.kind == "map":
        if not is_map(value):
            return False
        key = next(iter(value), MISSING)
        return key is MISSING or (
            matches_type(key_value(key), wanted.parameters[0])
            and matches_type(value[key], wanted.parameters[1])
        )
    return runtime_type(value).name == wanted.name


def size(value: Value) -> int:
    """Characters, bytes, elements or entries."""
    return len(value)


def cost_size(value: Value) -> int:
    """The size that costs are reckoned by: 1 for what has none."""
    kind = type(value)
    if kind is str or kind is bytes or kind in _LISTS or kind in _MAPS:
        return len(value)
    if kind is OptionalValue and value.present:
        return cost_size(value.value)
    return 1


def equal(one: Value, other: Value) -> bool:  # noqa: PLR0911 - one line a kind of value
    """Whether two values are equal; numbers by value whatever their type."""
    kind, other_kind = type(one), type(other)
    if kind in _NUMBERS:
        return other_kind in _NUMBERS and _same_number(one, other)
    if other_kind is ComputedQuantity and isinstance(one, Quantity):
        raise no_such_overload()
    if kind is Opaque and (other_kind is not Opaque or one.declared != other.declared):
        return _unlike(other)
    if kind is other_kind and kind not in _LISTS and kind not in _MAPS and kind is not OptionalValue:
        return bool(one == other)
    if one is None or other is None:
        return False
    if kind in _LISTS:
        return other_kind in _LISTS and len(one) == len(other) and all(map(_equal_within, one, other))
    if kind in _MAPS:
        return other_kind in _MAPS and _same_map(one, other)
    if kind is OptionalValue:
        same = other_kind is OptionalValue and one.present == other.present
        return same and (not one.present or equal(one.value, other.value))
    if isinstance(one, Quantity) and isinstance(other, Quantity):
        return one.nanos == other.nanos
    if isinstance(one, _STRICT):
        raise no_such_overload()
    return False


def _unlike(other: Value) -> bool:
    """Whether a library's value equals something of another type: only nothing at all is simply different."""
    if other is None:
        return False
    raise no_such_overload()


def _equal_within(one: Value, other: Value) -> bool:
    """Equality of elements, where an error does not count as a difference."""
    try:
        return equal(one, other)
    except EvaluationError:
        return True


def unequal(one: Value, other: Value) -> bool:
    """``!=``: what cannot be compared is not equal."""
    return not found_equal(one, other)


def found_equal(one: Value, other: Value) -> bool:
    """Equality in a search, where an error is no find."""
    try:
        return equal(one, other)
    except EvaluationError:
        return False


def _same_number(one: Value, other: Value) -> bool:
    if type(one) is float and type(other) is not float:
        return bool(one == float(other))
    if type(other) is float and type(one) is not float:
        return bool(float(one) == other)
    return bool(one == other)


def _same_map(one: Mapping[Value, Value], other: Mapping[Value, Value]) -> bool:
    if len(one) != len(other):
        return False
    return all(key in other and _equal_within(value, other[key]) for key, value in one.items())


def compare(one: Value, other: Value) -> int:
    """-1, 0 or 1 for two values that have an order."""
    kind, other_kind = type(one), type(other)
    if kind in _NUMBERS:
        if other_kind not in _NUMBERS:
            raise no_such_overload()
        if kind is float or other_kind is float:
            one, other = float(one), float(other)
            if math.isnan(one) or math.isnan(other):
                raise EvaluationError("NaN values cannot be ordered")
    elif kind is not other_kind or kind not in ORDERED:
        raise no_such_overload()
    return int(one > other) - int(one < other)


def ordering(check: Callable[[int, int], bool]) -> Callable[[Value, Value], bool]:
    """A comparison such as ``<`` for values of any type that has an order."""

    def compared(one: Value, other: Value) -> bool:
        return check(compare(one, other), 0)

    return compared


less = ordering(operator.lt)
less_equal = ordering(operator.le)
greater = ordering(operator.gt)
greater_equal = ordering(operator.ge)


def map_key(value: Value) -> Value:
    """A value as the key of a Python dict.

    cel-go takes whatever Go can hash, and fails badly at what it cannot: bytes, lists and maps.
    """
    kind = type(value)
    if kind is bool:
        return _KEYS[value]
    if kind is bytes or kind in _LISTS or kind in _MAPS:
        raise EvaluationError(f"unsupported key type: {type_name(value)}")
    return value


def specified_key(value: Value) -> Value:
    """A value as the key of a Python dict, if the specification allows it as one."""
    if type(value) not in (bool, int, UInt, str):
        raise EvaluationError(f"unsupported key type: {type_name(value)}")
    return map_key(value)


def key_value(key: Value) -> Value:
    """The value that a key of a Python dict stands for."""
    return key.value if type(key) is BoolKey else key


def show(value: Value) -> str:
    """A value within an error's text."""
    if type(value) is bool:
        return "true" if value else "false"
    if type(value) is float:
        return f"{value:g}"
    if type(value) is UInt:
        return str(int(value))
    return str(value)
