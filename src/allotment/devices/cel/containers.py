"""Lists and maps: looking things up, and walking over them."""

from __future__ import annotations

from collections.abc import Sequence

from allotment.devices.cel.numbers64 import UInt
from allotment.devices.cel.problems import EvaluationError
from allotment.devices.cel.values import (
    MISSING,
    Value,
    go_name,
    is_list,
    is_map,
    key_value,
    map_key,
    show,
    type_name,
)


def find(container: Value, key: Value) -> Value:
    """What a map or list holds under a key, or MISSING."""
    if is_map(container):
        try:
            return container[map_key(key)]
        except KeyError:
            return MISSING
    if is_list(container):
        index = list_index(key)
        return container[index] if 0 <= index < len(container) else MISSING
    return MISSING


def index(container: Value, key: Value) -> Value:
    """What a map or list holds under a key, which must be there."""
    found = find(container, key)
    if found is not MISSING:
        return found
    problem = "index out of bounds" if is_list(container) else "no such key"
    raise EvaluationError(f"{problem}: {show(key)}")


def list_index(key: Value) -> int:
    """A value as an index of a list."""
    kind = type(key)
    if kind is int or kind is UInt:
        return int(key)
    if kind is float:
        if key.is_integer():
            return int(key)
        raise EvaluationError(f"unsupported index value {show(key)} in list")
    raise EvaluationError(f"unsupported index type '{type_name(key)}' in list")


def elements(value: Value) -> Sequence[Value]:
    """What a walk with one name meets: the elements of a list, the keys of a map."""
    if is_list(value):
        return value  # type: ignore[no-any-return]  # a list: `is_list` has looked
    if is_map(value):
        return [key_value(key) for key in value]
    raise EvaluationError(f"got '{go_name(value)}', expected iterable type")


def met(value: Value, *, pairs: bool) -> list[tuple[Value, ...]]:
    """What a walk meets; ``pairs``: index and element, or key and value."""
    if not pairs:
        return [(element,) for element in elements(value)]
    if is_list(value):
        return list(enumerate(value))
    if is_map(value):
        return [(key_value(key), item) for key, item in value.items()]
    raise EvaluationError(f"unsupported comprehension range type: {go_name(value)}")
