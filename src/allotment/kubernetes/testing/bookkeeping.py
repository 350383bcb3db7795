"""What a write does to metadata: owners, what the server wrote before, whether anything is left."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from allotment.kubernetes.testing import ownership, preparing
from allotment.kubernetes.testing.bodies import Place
from allotment.kubernetes.testing.resources import Resource

Object = dict[str, Any]


def is_gone(value: Mapping[str, Any]) -> bool:
    """Whether nothing holds an object that is being deleted; a namespace is held by its controller."""
    metadata = value["metadata"]
    is_held = metadata.get("finalizers") or (value.get("spec") or {}).get("finalizers")
    is_going = "deletionTimestamp" in metadata and not is_held
    return is_going and metadata.get("deletionGracePeriodSeconds", 0) == 0


def main_part(resource: Resource, value: Object, old: Object) -> Object:
    """A changed object with the status that the main door does not write."""
    return preparing.kept_status(value, old) if resource.has_status else value


def ignored_parts(place: Place) -> tuple[str, ...]:
    """The parts of an object that an apply through this door does not write."""
    if not place.resource.has_status:
        return ()
    if not place.subresource:
        return ("status",)
    rest = (*place.resource.empty, "spec")
    return tuple(name for name in dict.fromkeys(rest) if name != "status")


def with_server_metadata(value: Object, old: Object) -> Object:
    """What a body leaves out of what the server wrote is as it was."""
    had, metadata = old["metadata"], dict(value["metadata"])
    for name in ("uid", "creationTimestamp", "namespace", "name"):
        if not metadata.get(name) and name in had:
            metadata[name] = had[name]
    for name in ("deletionTimestamp", "deletionGracePeriodSeconds", "generation"):
        metadata.pop(name, None)
        if name in had:
            metadata[name] = had[name]
    metadata["creationTimestamp"] = had["creationTimestamp"]
    return {**value, "metadata": metadata}


def with_owners(value: Object, owners: ownership.Owners) -> Object:
    """The object with the owners that it names."""
    metadata = {key: each for key, each in value["metadata"].items() if key != "managedFields"}
    metadata.pop("resourceVersion", None)
    if version := value["metadata"].get("resourceVersion"):
        metadata["resourceVersion"] = version
    if owners:
        metadata["managedFields"] = ownership.write_owners(owners)
    return {**value, "metadata": metadata}


def same_owners(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    """Whether the owners are the same, whatever the time."""
    before, after = (ownership.read_owners(each["metadata"]) for each in (old, new))
    return {key: each.fields for key, each in before.items()} == {
        key: each.fields for key, each in after.items()
    }


def warned_of(resource: Resource, value: Object) -> list[str]:
    """What is warned of in a new object that is taken."""
    name = value["metadata"].get("name", "")
    if resource.kind not in {"Job", "Pod"} or "." not in name:
        return []
    text = (
        "this is used in Pod names and hostnames, which can result in surprising behavior; "
        "a DNS label is recommended"
    )
    return [f"metadata.name: {text}: [must not contain dots]"]
