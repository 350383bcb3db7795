"""Who owns which fields of a live object, and the part of it that one manager owns.

Facts: Kubernetes, "Server-Side Apply": an entry of ``metadata.managedFields`` names fields by a tree whose
steps are ``f:NAME`` (a member), ``k:{…}`` (the item of a list with these keys), ``v:…`` (a value of a set)
and ``.`` (the thing itself). An empty tree is a value as a whole. A manager that applied an object before and
leaves out a field that nobody else owns takes that field away, so whoever applies a part of an object has to
know which part was theirs.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from allotment.kubernetes.kinds import Object

APPLY: Final = "Apply"
MANAGER: Final = "allotment"
"""Who creates objects, and owns what is rendered."""
WINDOW: Final = "allotment-window"
"""Who moves the width of campaigns."""
PAUSE: Final = "allotment-pause"
"""Who pauses and resumes campaigns."""
RECORD: Final = "allotment-record"
"""Who writes down what became of a Job."""

Fields = Mapping[str, Any]
_ITSELF: Final = "."


def applied_fields(live: Object, manager: str = MANAGER) -> Fields:
    """What a manager applied, as a tree; empty where it never did."""
    for entry in _entries(live):
        if entry.get("manager") == manager and entry.get("operation") == APPLY:
            found: Fields = entry.get("fieldsV1") or {}
            return found
    return {}


def owners_of(live: Object, *path: str) -> tuple[str, ...]:
    """The managers that own a member, however they wrote: ``owners_of(job, "spec", "parallelism")``."""
    found = []
    for entry in _entries(live):
        node: Any = entry.get("fieldsV1") or {}
        for name in path:
            node = node.get(f"f:{name}") if isinstance(node, Mapping) else None
        if node is not None:
            found.append(str(entry.get("manager", "")))
    return tuple(dict.fromkeys(found))


def owned_part(live: Object, manager: str = MANAGER) -> dict[str, Any]:
    """The part of a live object that a manager applied, as it would apply it again without a change."""
    part = _taken(live, applied_fields(live, manager))
    metadata = {key: live["metadata"][key] for key in ("name", "namespace") if key in live["metadata"]}
    said = {"apiVersion": live["apiVersion"], "kind": live["kind"]}
    return {**said, **part, "metadata": {**metadata, **part.get("metadata", {})}}


def _entries(live: Object) -> Sequence[Mapping[str, Any]]:
    found: Sequence[Mapping[str, Any]] = live["metadata"].get("managedFields") or ()
    return found


def steps(fields: Fields) -> Iterator[tuple[str, str, Any]]:
    """The steps of a tree: their sort (``f``, ``k``, ``v``), what they name, and what is below."""
    for step, below in fields.items():
        if step != _ITSELF:
            sort, _, name = step.partition(":")
            yield sort, name, below


def item_of(items: Sequence[Any], keys: str) -> Any:
    """The item of a list that has these keys, or None."""
    wanted = json.loads(keys)
    for item in items:
        if isinstance(item, Mapping) and all(item.get(key) == value for key, value in wanted.items()):
            return item
    return None


def _taken(value: Any, fields: Fields) -> Any:
    if not any(step != _ITSELF for step in fields):
        return {} if isinstance(value, Mapping) and fields else value
    if isinstance(value, Mapping):
        named = {name: below for sort, name, below in steps(fields) if sort == "f" and name in value}
        return {name: _taken(each, named[name]) for name, each in value.items() if name in named}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return list(_items(value, fields))
    return value


def _items(items: Sequence[Any], fields: Fields) -> Iterator[Any]:
    """The items of a list that the tree names, in the list's order; what identifies an item is part of it."""
    found = [(item_of(items, name), below, name) for sort, name, below in steps(fields) if sort == "k"]
    values = [json.loads(name) for sort, name, _ in steps(fields) if sort == "v"]
    for item in items:
        for same, below, name in found:
            if same is item:
                part = _taken(item, below)
                yield {**json.loads(name), **part} if isinstance(part, Mapping) else part
        if not isinstance(item, Mapping) and item in values:
            yield item
