"""Objects under a schema: the fields they hold, what of them changed, two merged into one, fields taken out.

The rules are those of structured-merge-diff: a struct's field is owned with what is in it, a map of free keys
key by key, a list as a whole unless its schema makes it a set or a mapping by keys.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from allotment.kubernetes.testing.field_sets import (
    NOTHING,
    FieldSet,
    Path,
    is_field,
    item_of_map,
    item_of_set,
)
from allotment.kubernetes.testing.field_sets import field as field_step
from allotment.kubernetes.testing.schemas import Schema


class _Absent:
    """What stands where there is nothing; null is something."""


ABSENT: Final = _Absent()


@dataclass(frozen=True)
class Changes:
    """What differs between two objects."""

    added: FieldSet = NOTHING
    modified: FieldSet = NOTHING
    removed: FieldSet = NOTHING


@dataclass
class _Notes:
    added: set[Path] = field(default_factory=set)
    modified: set[Path] = field(default_factory=set)
    removed: set[Path] = field(default_factory=set)


def is_granular(value: Any, schema: Schema) -> bool:
    """Whether what is inside a value has owners of its own."""
    if isinstance(value, dict):
        return (schema.is_map or schema.is_open) and not schema.is_atomic
    return isinstance(value, list) and schema.is_list and not schema.is_atomic


def step_of(item: Any, schema: Schema) -> str:
    """The step that leads to an item of a list."""
    if not schema.keys:
        return item_of_set(item)
    keys = item if isinstance(item, dict) else {}
    return item_of_map({key: keys.get(key, schema.key_default(key)) for key in schema.keys})


def children(value: Any, schema: Schema) -> Iterator[tuple[str, Any, Schema]]:
    """What is directly inside a value: the step, the value and its schema."""
    if isinstance(value, dict):
        for name, inner in value.items():
            below = schema.field(name)
            if below is not None:
                yield field_step(name), inner, below
    elif isinstance(value, list):
        for item in value:
            yield step_of(item, schema), item, schema.element


def fields_of(value: Any, schema: Schema) -> FieldSet:
    """The fields that an applied object names."""
    return frozenset(_fields(value, schema, ()))


def _fields(value: Any, schema: Schema, path: Path) -> Iterator[Path]:
    if not is_granular(value, schema):
        yield path
        return
    for step, inner, below in children(value, schema):
        is_named = is_field(step) and step[2:] in schema.fields
        inside = (*path, step)
        if not is_named or inner is None or inner == {}:
            yield inside
        yield from _fields(inner, below, inside)


def with_named(fields: FieldSet, schema: Schema) -> FieldSet:
    """A set, and the named fields that lead to its members."""
    above = {path[:length] for path in fields for length in range(1, len(path))}
    return fields | {path for path in above if _is_named(path, schema)}


def _is_named(path: Path, schema: Schema) -> bool:
    node: Schema | None = schema
    for step in path[:-1]:
        node = _down(node, step)
    return node is not None and is_field(path[-1]) and path[-1][2:] in node.fields


def _down(schema: Schema | None, step: str) -> Schema | None:
    if schema is None:
        return None
    return schema.field(step[2:]) if is_field(step) else schema.element


def compare(old: Any, new: Any, schema: Schema) -> Changes:
    """What was added, changed and removed on the way from one object to the other."""
    notes = _Notes()
    _compare(old, new, schema, (), notes)
    return Changes(frozenset(notes.added), frozenset(notes.modified), frozenset(notes.removed))


def _compare(old: Any, new: Any, schema: Schema, path: Path, notes: _Notes) -> None:
    old_is, new_is = is_granular(old, schema), is_granular(new, schema)
    if (old_is and old) or (new_is and new):
        before = {step: (inner, below) for step, inner, below in children(old, schema)} if old_is else {}
        after = {step: (inner, below) for step, inner, below in children(new, schema)} if new_is else {}
        for step in {**before, **after}:
            below = (after.get(step) or before[step])[1]
            there, here = before.get(step, (ABSENT,))[0], after.get(step, (ABSENT,))[0]
            _compare(there, here, below, (*path, step), notes)
    elif old is not ABSENT and new is not ABSENT and old != new:
        notes.modified.add(path)
    if old is ABSENT and new is not ABSENT:
        notes.added.add(path)
    elif new is ABSENT and old is not ABSENT:
        notes.removed.add(path)


def merge(old: Any, new: Any, schema: Schema) -> Any:
    """The one object with the other laid over it."""
    if new is ABSENT:
        return old
    if old is ABSENT or old is None or not is_granular(new, schema) or not is_granular(old, schema):
        return new
    if isinstance(new, dict):
        return _merge_maps(old, new, schema)
    return _merge_lists(old, new, schema)


def _merge_maps(old: Mapping[str, Any], new: Mapping[str, Any], schema: Schema) -> dict[str, Any]:
    merged = dict(old)
    for name, inner in new.items():
        below = schema.field(name)
        merged[name] = inner if below is None else merge(old.get(name, ABSENT), inner, below)
    return merged


def _merge_lists(old: list[Any], new: list[Any], schema: Schema) -> list[Any]:
    """The items in the order of both lists; where they differ, that of the applied one."""
    old_steps, new_steps = [step_of(item, schema) for item in old], [step_of(item, schema) for item in new]
    there, here = dict(zip(old_steps, old, strict=True)), dict(zip(new_steps, new, strict=True))
    shared = [step for step in new_steps if step in there]
    merged: list[Any] = []
    left, right, done = 0, 0, set[str]()
    while left < len(old) or right < len(new):
        if left < len(old) and right < len(new):
            step = old_steps[left]
            if step == new_steps[right]:
                merged.append(merge(old[left], new[right], schema.element))
                done.add(step)
                shared = [each for each in shared if each != step]
                left, right = left + 1, right + 1
                continue
            if step in here and shared and shared[0] != step:
                left += 1
                continue
        if left < len(old):
            step = old_steps[left]
            if step not in here:
                merged.append(old[left])
                left += 1
                continue
            if step in done:
                left += 1
        if right < len(new):
            step = new_steps[right]
            merged.append(merge(there.get(step, ABSENT), here[step], schema.element))
            done.add(step)
            shared = [each for each in shared if each != step]
            right += 1
    return merged


def without(value: Any, fields: FieldSet, schema: Schema) -> Any:
    """The object without the fields of a set and all that is in them."""
    if not fields or not is_granular(value, schema):
        return value
    gone = {path[0] for path in fields if len(path) == 1}
    deeper: dict[str, set[Path]] = {}
    for path in fields:
        if len(path) > 1:
            deeper.setdefault(path[0], set()).add(path[1:])
    if isinstance(value, list):
        kept = [(step_of(item, schema), item) for item in value]
        return [
            without(item, frozenset(deeper.get(step, ())), schema.element)
            for step, item in kept
            if step not in gone
        ]
    kept_fields: dict[str, Any] = {}
    for name, inner in value.items():
        step, below = field_step(name), schema.field(name)
        if step in gone:
            continue
        inside = frozenset(deeper.get(step, ()))
        kept_fields[name] = inner if below is None else without(inner, inside, below)
    return kept_fields
