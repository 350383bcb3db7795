"""Nodes, as far as devices care: a name and labels, and the selectors by which slices say whom they serve.

The operators and their meaning are those of ``core/v1`` node selectors: terms are alternatives, the
requirements of a term hold together, a term without requirements matches nothing.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

READY: Final = "Ready"
"""The condition of a node whose kubelet is there and well."""


@dataclass(frozen=True, slots=True)
class Node:
    """A machine that runs pods. ``this_machine`` has one, and it carries no labels.

    ``allocatable`` are quantities by resource (none told: unbounded), ``taints`` are as the API has them,
    ``ready`` is what its condition says (nothing: it is), and ``metadata`` is what the object's metadata says
    beside name and labels.
    """

    name: str
    labels: Mapping[str, str] = field(default_factory=dict, hash=False)
    allocatable: Mapping[str, str] = field(default_factory=dict, hash=False)
    taints: tuple[Mapping[str, Any], ...] = field(default=(), hash=False)
    unschedulable: bool = False
    metadata: Mapping[str, Any] = field(default_factory=dict, hash=False)
    ready: bool = True

    def to_dict(self) -> dict[str, Any]:
        """The node as an API object."""
        labels = {"labels": dict(self.labels)} if self.labels else {}
        spec: dict[str, Any] = {"taints": [dict(taint) for taint in self.taints]} if self.taints else {}
        if self.unschedulable:
            spec["unschedulable"] = True
        status: dict[str, Any] = {"allocatable": dict(self.allocatable)} if self.allocatable else {}
        if not self.ready:
            status["conditions"] = [{"type": READY, "status": "False"}]
        parts = {"spec": spec, "status": status}
        return {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": self.name, **labels, **self.metadata},
            **{key: part for key, part in parts.items() if part},
        }


@dataclass(frozen=True, slots=True)
class Requirement:
    """One condition on a label (or, under ``match_fields``, on the node's name)."""

    key: str
    operator: str
    values: tuple[str, ...] = ()

    def matches(self, value: str | None) -> bool:
        """Whether a label of this value, or its absence (None), meets the condition."""
        match self.operator:
            case "In":
                return value is not None and value in self.values
            case "NotIn":
                return value is None or value not in self.values
            case "Exists":
                return value is not None
            case "DoesNotExist":
                return value is None
            case "Gt" | "Lt":
                return self._compares(value)
            case _:
                return False

    def _compares(self, value: str | None) -> bool:
        try:
            left, right = int(value or ""), int(self.values[0])
        except (ValueError, IndexError):
            return False
        return left > right if self.operator == "Gt" else left < right

    def to_dict(self) -> dict[str, Any]:
        """The requirement as the API has it."""
        values = {"values": list(self.values)} if self.values else {}
        return {"key": self.key, "operator": self.operator, **values}


@dataclass(frozen=True, slots=True)
class NodeSelectorTerm:
    """Requirements that hold together: on labels, and on fields (only ``metadata.name`` exists)."""

    match_expressions: tuple[Requirement, ...] = ()
    match_fields: tuple[Requirement, ...] = ()

    def matches(self, node: Node) -> bool:
        """Whether the node meets every requirement; no requirement, no match."""
        if not (self.match_expressions or self.match_fields):
            return False
        labels = all(need.matches(node.labels.get(need.key)) for need in self.match_expressions)
        fields = all(need.key == "metadata.name" and need.matches(node.name) for need in self.match_fields)
        return labels and fields

    def to_dict(self) -> dict[str, Any]:
        """The term as the API has it."""
        parts = {"matchExpressions": self.match_expressions, "matchFields": self.match_fields}
        return {key: [need.to_dict() for need in needs] for key, needs in parts.items() if needs}


@dataclass(frozen=True, slots=True)
class NodeSelector:
    """Alternatives: a node is selected when any term matches it."""

    terms: tuple[NodeSelectorTerm, ...]

    def matches(self, node: Node) -> bool:
        """Whether any term matches the node."""
        return any(term.matches(node) for term in self.terms)

    def to_dict(self) -> dict[str, Any]:
        """The selector as the API has it."""
        return {"nodeSelectorTerms": [term.to_dict() for term in self.terms]}


def node_name(hostname: str | None = None) -> str:
    """A host's name (None: this one's) as a node is named: lower case letters, digits, dots and hyphens."""
    host = socket.gethostname() if hostname is None else hostname
    labels = (re.sub(r"[^a-z0-9]+", "-", label).strip("-")[:63] for label in host.lower().split("."))
    return ".".join(label for label in labels if label) or "localhost"
