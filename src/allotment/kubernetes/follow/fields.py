"""Fields of API objects that may not be there: every look is safe, and nothing is taken for granted.

A snapshot may hold objects of other versions, objects that a controller has not filled yet, and objects that
somebody has cut down before sending them. What is absent, or of another type than it should be, is empty.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from allotment.kubernetes.kinds import Object

NOTHING: Final[Mapping[str, Any]] = {}


def at(value: Any, *path: str) -> Any:
    """What lies at the path, or None."""
    for key in path:
        if not isinstance(value, Mapping):
            return None
        value = value.get(key)
    return value


def mapping(value: Any, *path: str) -> Mapping[str, Any]:
    """The mapping at the path, or an empty one."""
    found = at(value, *path)
    return found if isinstance(found, Mapping) else NOTHING


def items(value: Any, *path: str) -> tuple[Mapping[str, Any], ...]:
    """The mappings of the list at the path."""
    found = at(value, *path)
    return tuple(each for each in found if isinstance(each, Mapping)) if isinstance(found, list) else ()


def text(value: Any, *path: str) -> str:
    """The text at the path, or an empty one."""
    found = at(value, *path)
    return found if isinstance(found, str) else ""


def number(value: Any, *path: str) -> int | None:
    """The whole number at the path, also where it is written as a text, or None."""
    found = at(value, *path)
    if isinstance(found, bool):
        return None
    if isinstance(found, int):
        return found
    return int(found) if isinstance(found, str) and found.isdecimal() and len(found) < 19 else None


def count(value: Any, *path: str) -> int:
    """The whole number at the path, or 0."""
    return max(0, number(value, *path) or 0)


def is_true(value: Any, *path: str) -> bool:
    """Whether `true` stands at the path."""
    return at(value, *path) is True


def name(value: Any) -> str:
    """The object's name."""
    return text(value, "metadata", "name")


def namespace(value: Any) -> str:
    """The object's namespace; empty for an object of the cluster."""
    return text(value, "metadata", "namespace")


def uid(value: Any) -> str:
    """The object's uid."""
    return text(value, "metadata", "uid")


def label(value: Any, key: str) -> str:
    """A label of the object."""
    return text(value, "metadata", "labels", key)


def annotation(value: Any, key: str) -> str:
    """An annotation of the object."""
    return text(value, "metadata", "annotations", key)


def owners(value: Any) -> tuple[Mapping[str, Any], ...]:
    """Who owns the object."""
    return items(value, "metadata", "ownerReferences")


def moment(value: Any, *path: str) -> float | None:
    """The time at the path as Unix seconds, or None."""
    found = at(value, *path)
    if not isinstance(found, str):
        return None
    try:
        read = datetime.fromisoformat(found)
        return read.timestamp() if read.tzinfo is not None else None
    except (ValueError, OverflowError, OSError):
        return None


def created(value: Any) -> float | None:
    """When the object was created."""
    return moment(value, "metadata", "creationTimestamp")


def is_ending(value: Any) -> bool:
    """Whether the object is being deleted."""
    return bool(text(value, "metadata", "deletionTimestamp"))


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition of an object: ``QuotaReserved=False``, why, and since when."""

    type: str
    status: str
    reason: str
    message: str
    since: float | None = None

    @property
    def holds(self) -> bool:
        """Whether it is true."""
        return self.status == "True"

    @property
    def words(self) -> str:
        """As it is shown: ``False, WaitingForQuota: …``."""
        reason = f", {self.reason}" if self.reason else ""
        return f"{self.status or 'Unknown'}{reason}" + (f": {self.message}" if self.message else "")


def conditions(value: Any, place: str = "conditions") -> tuple[Condition, ...]:
    """The conditions of an object's status."""
    return tuple(
        Condition(
            text(each, "type"),
            text(each, "status"),
            text(each, "reason"),
            text(each, "message"),
            moment(each, "lastTransitionTime"),
        )
        for each in items(value, "status", place)
    )


def condition(value: Any, kind: str) -> Condition | None:
    """The condition of that type."""
    return next((each for each in conditions(value) if each.type == kind), None)


def holds(value: Any, kind: str) -> bool:
    """Whether the condition of that type is true."""
    found = condition(value, kind)
    return found is not None and found.holds


def is_false(value: Any, kind: str) -> Condition | None:
    """The condition of that type where it is false."""
    found = condition(value, kind)
    return found if found is not None and found.status == "False" else None


def shown(value: Object) -> str:
    """An object as a person looks for it: ``Workload archive/job-letters-1a2b3``."""
    place = f"{namespace(value)}/" if namespace(value) else ""
    return f"{text(value, 'kind') or 'object'} {place}{name(value) or '(without a name)'}"
