"""What rendering gives: objects as plain values, what was given up, and what an administrator has to set.

Objects are in the order in which they may be created, then by namespace and name, so that two renderings of
the same files are the same bytes. Notes say what a scheduler cannot express, and which version could. A
setting is a part of somebody's configuration: it is printed in comments and never applied.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

Object = Mapping[str, Any]

KINDS: Final = (
    "Namespace",
    "PriorityClass",
    "WorkloadPriorityClass",
    "DeviceClass",
    "Topology",
    "ResourceFlavor",
    "Cohort",
    "ClusterQueue",
    "Queue",
    "ValidatingAdmissionPolicy",
    "ValidatingAdmissionPolicyBinding",
    "ServiceAccount",
    "ClusterRole",
    "ClusterRoleBinding",
    "Role",
    "RoleBinding",
    "LocalQueue",
    "ConfigMap",
    "ResourceClaimTemplate",
    "ResourceClaim",
    "Service",
    "Workload",
    "PodGroup",
    "Deployment",
    "Job",
)


@dataclass(frozen=True, slots=True, order=True)
class Note:
    """Something that is not as it was written: about what, what became of it, and what would do it."""

    about: str
    text: str
    remedy: str = ""
    kind: Literal["note", "warning"] = "note"

    def __str__(self) -> str:
        return f"{self.about}: {self.text}" + (f" ({self.remedy})" if self.remedy else "")


@dataclass(frozen=True, slots=True)
class Setting:
    """A part of a configuration that is not ours: whose it is, where it belongs, and the value."""

    title: str
    value: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Rendered:
    """Objects, notes and settings. Rendered things are added up and sorted once, at the end."""

    objects: tuple[Object, ...] = ()
    notes: tuple[Note, ...] = ()
    settings: tuple[Setting, ...] = ()

    def sorted(self) -> Rendered:
        """The same in the one order; a note that is said twice is said once."""
        notes = tuple(dict.fromkeys(sorted(self.notes)))
        return Rendered(tuple(sorted(self.objects, key=_place)), notes, self.settings)


def together(parts: Iterable[Rendered]) -> Rendered:
    """All parts as one."""
    found = list(parts)
    return Rendered(
        tuple(each for part in found for each in part.objects),
        tuple(each for part in found for each in part.notes),
        tuple(each for part in found for each in part.settings),
    )


def _place(value: Object) -> tuple[int, str, str, str]:
    metadata = value["metadata"]
    return (
        KINDS.index(value["kind"]),
        metadata.get("namespace", ""),
        metadata["name"],
        value["apiVersion"],
    )
