"""Server-side apply: who owns which field, what an apply changes, and when it conflicts.

The rules are those of Kubernetes' "Server-Side Apply" and of structured-merge-diff. An applier owns what it
names; what it named before and names no more goes, unless somebody else owns it. Whoever writes in another
way owns what that changed. Nobody changes what another owns but by force.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from allotment.kubernetes.testing.field_sets import (
    NOTHING,
    FieldSet,
    below,
    field,
    in_order,
    read_fields,
    write_fields,
    written,
)
from allotment.kubernetes.testing.schemas import Schema
from allotment.kubernetes.testing.typed import compare, fields_of, merge, with_named, without

APPLY: Final = "Apply"
UPDATE: Final = "Update"
BEFORE_FIRST_APPLY: Final = "before-first-apply"
_META: Final = field("metadata")
_SERVERS_OWN: Final = frozenset(
    {(field("apiVersion"),), (field("kind"),), (_META,)}
    | {
        (_META, field(name))
        for name in (
            "name",
            "namespace",
            "creationTimestamp",
            "selfLink",
            "uid",
            "clusterName",
            "generation",
            "managedFields",
            "resourceVersion",
        )
    }
)


@dataclass(frozen=True)
class Manager:
    """Who writes, how, and through which door."""

    name: str
    operation: str
    api_version: str
    subresource: str = ""

    @property
    def shown(self) -> str:
        """As a conflict names it."""
        door = f' with subresource "{self.subresource}"' if self.subresource else ""
        return f'"{self.name}"{door}' + (f" using {self.api_version}" if self.operation == UPDATE else "")


@dataclass(frozen=True)
class Entry:
    """What one manager owns, and since when."""

    fields: FieldSet
    time: str = ""


Owners = Mapping[Manager, Entry]


class ConflictsError(Exception):
    """An apply that would change what others own: the fields by their owner."""

    def __init__(self, owned: Mapping[Manager, FieldSet]) -> None:
        super().__init__("conflicts")
        self.owned = owned

    def causes(self) -> Iterator[tuple[str, str]]:
        """The message and the field of every one."""
        for manager, fields in self.owned.items():
            for path in in_order(fields):
                yield f"conflict with {manager.shown}", written(path)

    @property
    def message(self) -> str:
        """All of them in one text."""
        causes = list(self.causes())
        if len(causes) == 1:
            return f"Apply failed with 1 conflict: {causes[0][0]}: {causes[0][1]}"
        paragraphs = []
        for manager, fields in sorted(self.owned.items(), key=lambda each: each[0].shown):
            lines = "".join(f"\n- {written(path)}" for path in in_order(fields))
            paragraphs.append(f"conflicts with {manager.shown}:{lines}")
        return f"Apply failed with {len(causes)} conflicts: " + "\n".join(paragraphs)


def read_owners(metadata: Mapping[str, Any]) -> dict[Manager, Entry]:
    """The owners that an object names."""
    return {
        Manager(
            entry.get("manager", ""),
            entry.get("operation", ""),
            entry.get("apiVersion", ""),
            entry.get("subresource", ""),
        ): Entry(read_fields(entry.get("fieldsV1") or {}), entry.get("time", ""))
        for entry in metadata.get("managedFields") or ()
    }


def write_owners(owners: Owners) -> list[dict[str, Any]]:
    """The owners as an object names them: appliers first, then by time."""
    told = []
    order = sorted(owners.items(), key=lambda each: (each[0].operation, each[1].time, each[0].name))
    for manager, entry in order:
        written_entry: dict[str, Any] = {
            "manager": manager.name,
            "operation": manager.operation,
            "apiVersion": manager.api_version,
        }
        if entry.time:
            written_entry["time"] = entry.time
        written_entry |= {"fieldsType": "FieldsV1", "fieldsV1": write_fields(entry.fields)}
        if manager.subresource:
            written_entry["subresource"] = manager.subresource
        told.append(written_entry)
    return told


def without_owners(value: Mapping[str, Any]) -> dict[str, Any]:
    """The object without its managed fields."""
    metadata = {key: each for key, each in (value.get("metadata") or {}).items() if key != "managedFields"}
    return {**value, "metadata": metadata}


def after_update(
    old: Mapping[str, Any],
    new: Mapping[str, Any],
    owners: Owners,
    manager: Manager,
    schema: Schema,
    *,
    now: str,
    ignored: tuple[str, ...] = (),
) -> dict[Manager, Entry]:
    """The owners after a write that was no apply."""
    changes = compare(without_owners(old), without_owners(new), schema)
    taken = _trimmed(changes.added | changes.modified, ignored)
    kept = {
        each: replace(entry, fields=entry.fields - changes.added - changes.modified - changes.removed)
        for each, entry in owners.items()
    }
    if taken:
        before = kept.get(manager, Entry(NOTHING))
        kept[manager] = Entry(before.fields | taken, now)
    return {each: entry for each, entry in kept.items() if entry.fields}


@dataclass(frozen=True)
class Applied:
    """The object after an apply, its owners, and whether anything but the owners changed."""

    value: dict[str, Any]
    owners: dict[Manager, Entry]
    is_changed: bool


def after_apply(
    live: Mapping[str, Any],
    config: Mapping[str, Any],
    owners: Owners,
    manager: Manager,
    schema: Schema,
    *,
    now: str,
    force: bool,
    ignored: tuple[str, ...] = (),
) -> Applied:
    """What an apply makes of an object; raises `ConflictsError` where it would change what others own."""
    current = without_owners(live)
    if (
        not owners
        and len(current.get("metadata") or {}) > 1
        and (held := _trimmed(fields_of(current, schema), ()))
    ):
        first = Manager(BEFORE_FIRST_APPLY, UPDATE, manager.api_version)
        owners = {first: Entry(held, now)}
    before = owners.get(manager, Entry(NOTHING))
    told = fields_of(config, schema)
    named = _trimmed(told, ignored)
    kept = {**owners, manager: Entry(named, before.time)}
    wanted = merge(current, without_ignored(config, ignored), schema)
    result = _pruned(wanted, before.fields, {**kept, manager: Entry(told)}, schema)
    kept = _others_after(current, result, kept, manager, schema, force=force)
    is_changed = result != current
    if is_changed and manager in kept:
        kept[manager] = replace(kept[manager], time=now)
    return Applied(result, {each: entry for each, entry in kept.items() if entry.fields}, is_changed)


def without_ignored(value: Mapping[str, Any], ignored: tuple[str, ...]) -> dict[str, Any]:
    """The object without the parts that this door does not write."""
    return {key: each for key, each in value.items() if key not in ignored}


def _others_after(
    old: Any, new: Any, owners: Owners, manager: Manager, schema: Schema, *, force: bool
) -> dict[Manager, Entry]:
    changes = compare(old, new, schema)
    changed = _trimmed(changes.added | changes.modified, ())
    conflicts = {
        each: both for each, entry in owners.items() if each != manager and (both := entry.fields & changed)
    }
    if conflicts and not force:
        raise ConflictsError(conflicts)
    return {
        each: entry if each == manager else replace(entry, fields=entry.fields - changed - changes.removed)
        for each, entry in owners.items()
    }


def _pruned(wanted: Any, before: FieldSet, owners: Owners, schema: Schema) -> Any:
    """What was named before and is named by nobody now is taken out; what nobody ever named stays."""
    if not before:
        return wanted
    was = with_named(before, schema)
    first = without(wanted, was, schema)
    everything = with_named(_members(wanted, schema), schema)
    managed = with_named(frozenset().union(*(entry.fields for entry in owners.values())), schema)
    kept = with_named(_members(first, schema), schema) | managed
    second = without(wanted, everything - kept, schema)
    gone = (everything - with_named(_members(second, schema), schema)) & was
    return without(wanted, gone, schema)


def _members(value: Any, schema: Schema) -> FieldSet:
    return fields_of(value, schema)


def _trimmed(fields: FieldSet, ignored: tuple[str, ...]) -> FieldSet:
    for name in ignored:
        fields -= below(fields, field(name))
    return fields - _SERVERS_OWN
