"""Patches that are no apply: JSON merge patch (RFC 7396), JSON patch (RFC 6902), and strategic merge patch.

A strategic merge patch goes by the marks of the schema (``x-kubernetes-patch-strategy`` and ``-merge-
key``), with the directives ``$patch``, ``$retainKeys``, ``$deleteFromPrimitiveList`` and
``$setElementOrder`` of Kubernetes.
"""

from __future__ import annotations

import copy
from typing import Any

from allotment.kubernetes.testing.schemas import Schema

_ORDER = "$setElementOrder/"
_REMOVE = "$deleteFromPrimitiveList/"


class PatchError(Exception):
    """A patch that cannot be laid over the object."""


def merge_patch(old: Any, new: Any) -> Any:
    """The object with a merge patch laid over it: null takes a field out."""
    if not isinstance(new, dict):
        return copy.deepcopy(new)
    merged = dict(old) if isinstance(old, dict) else {}
    for key, value in new.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = merge_patch(merged.get(key), value)
    return merged


def json_patch(old: Any, operations: list[dict[str, Any]]) -> Any:
    """The object after every operation, or none of them."""
    value = copy.deepcopy(old)
    for operation in operations:
        value = _operate(value, operation)
    return value


def strategic_patch(old: dict[str, Any], new: dict[str, Any], schema: Schema) -> dict[str, Any]:
    """The object with a strategic merge patch laid over it."""
    directive = new.get("$patch")
    if directive == "replace":
        return {key: value for key, value in new.items() if key != "$patch"}
    if directive == "delete":
        return {}
    merged = dict(old)
    if (kept := new.get("$retainKeys")) is not None:
        merged = {key: value for key, value in merged.items() if key in kept}
    for key, value in new.items():
        if key.startswith(_REMOVE):
            name = key.removeprefix(_REMOVE)
            merged[name] = [item for item in merged.get(name) or () if item not in value]
        elif key.startswith("$"):
            continue
        elif value is None:
            merged.pop(key, None)
        else:
            below = schema.field(key)
            merged[key] = value if below is None else _strategic(merged.get(key), value, below)
    for key, value in new.items():
        if key.startswith(_ORDER):
            _put_in_order(merged, key.removeprefix(_ORDER), value, schema)
    return merged


def _strategic(old: Any, new: Any, schema: Schema) -> Any:
    if isinstance(new, dict):
        return strategic_patch(old if isinstance(old, dict) else {}, new, schema)
    merges = "merge" in str(schema.raw.get("x-kubernetes-patch-strategy", "")).split(",")
    if not isinstance(new, list) or not merges or not isinstance(old, list):
        return [item for item in new if not _is_directive(item)] if isinstance(new, list) else new
    key = schema.raw.get("x-kubernetes-patch-merge-key")
    if key is None:
        return [*old, *(item for item in new if item not in old)]
    return _strategic_list(old, new, key, schema)


def _strategic_list(old: list[Any], new: list[Any], key: str, schema: Schema) -> list[Any]:
    if any(item == {"$patch": "replace"} for item in new):
        return [item for item in new if not _is_directive(item)]
    known = {each.get(key): each for each in old}
    patched: list[Any] = []
    gone = set()
    for item in new:
        if key not in item:
            raise PatchError(f"map: {_go_map(item)} does not contain declared merge key: {key}")
        name = item[key]
        if item.get("$patch") == "delete":
            gone.add(name)
        else:
            patched.append(strategic_patch(known[name], item, schema.element) if name in known else item)
    named = {item[key] for item in patched} | gone
    rest = [each for each in old if each.get(key) not in named]
    return _interleaved(patched, rest, [each.get(key) for each in old], key)


def _interleaved(patched: list[Any], rest: list[Any], order: list[Any], key: str) -> list[Any]:
    """The items of the patch in its order, and the others where they stood among them."""
    merged: list[Any] = []
    left, right = list(patched), list(rest)
    while left and right:
        name = left[0][key]
        is_later = name in order and order.index(right[0][key]) < order.index(name)
        merged.append((right if is_later else left).pop(0))
    return [*merged, *left, *right]


def _put_in_order(merged: dict[str, Any], name: str, order: list[Any], schema: Schema) -> None:
    below = schema.field(name)
    key = None if below is None else below.raw.get("x-kubernetes-patch-merge-key")
    wanted = [item[key] if key else item for item in order]
    items = merged.get(name) or []
    rank = {value: place for place, value in enumerate(wanted)}
    merged[name] = sorted(items, key=lambda item: rank.get(item[key] if key else item, len(rank)))


def _is_directive(item: Any) -> bool:
    return isinstance(item, dict) and "$patch" in item


def _go_map(item: dict[str, Any]) -> str:
    return "map[" + " ".join(f"{key}:{value}" for key, value in sorted(item.items())) + "]"


def _operate(value: Any, operation: dict[str, Any]) -> Any:
    try:
        steps = _steps(operation["path"])
        match operation["op"]:
            case "add":
                return _put(value, steps, operation["value"], is_new=True)
            case "replace":
                return _put(value, steps, operation["value"], is_new=False)
            case "remove":
                return _take(value, steps)
            case "test" if _at(value, steps) == operation.get("value"):
                return value
            case "copy":
                return _put(value, steps, copy.deepcopy(_at(value, _steps(operation["from"]))), is_new=True)
            case "move":
                moved = _at(value, _steps(operation["from"]))
                return _put(_take(value, _steps(operation["from"])), steps, moved, is_new=True)
    except (KeyError, IndexError, ValueError, TypeError) as error:
        raise PatchError(f"{operation} cannot be done") from error
    raise PatchError(f"{operation} cannot be done")


def _steps(pointer: str) -> list[str]:
    return [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]


def _at(value: Any, steps: list[str]) -> Any:
    for step in steps:
        value = value[int(step)] if isinstance(value, list) else value[step]
    return value


def _put(value: Any, steps: list[str], new: Any, *, is_new: bool) -> Any:
    if not steps:
        return new
    place, last = _at(value, steps[:-1]), steps[-1]
    if isinstance(place, dict):
        place[last] = new
    elif is_new:
        place.insert(len(place) if last == "-" else _within(int(last), len(place)), new)
    else:
        place[int(last)] = new
    return value


def _take(value: Any, steps: list[str]) -> Any:
    place = _at(value, steps[:-1])
    del place[int(steps[-1]) if isinstance(place, list) else steps[-1]]
    return value


def _within(place: int, length: int) -> int:
    if place > length:
        raise IndexError(place)
    return place
