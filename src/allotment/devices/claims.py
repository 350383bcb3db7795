"""Claims: what a pod asks of devices, and what it was given.

A claim has requests; a request asks for devices exactly, or names alternatives of which the first that fits
is taken. The shapes are ``ResourceClaim.spec`` and ``.status.allocation`` of ``resource.k8s.io/v1``; mode and
count are always written out, as the API server would fill them in.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from allotment.devices.classes import OpaqueConfig, selectors_to_list
from allotment.devices.nodes import NodeSelector
from allotment.devices.slices import API_VERSION, DeviceId, Taint

MOST_DEVICES = 32  # results of one claim, and requests of one claim
MOST_ALTERNATIVES = 8  # subrequests of one request


class AllocationMode(StrEnum):
    """How many devices a request wants: a number, or every one that there is."""

    EXACT_COUNT = "ExactCount"
    ALL = "All"


@dataclass(frozen=True, slots=True)
class Toleration:
    """Which taints a request puts up with; an empty key or effect stands for any."""

    key: str = ""
    operator: str = "Equal"
    value: str = ""
    effect: str = ""
    toleration_seconds: int | None = None

    def covers(self, taint: Taint) -> bool:
        """Whether the taint is put up with."""
        return (
            self.effect in {"", taint.effect}
            and self.key in {"", taint.key}
            and (self.operator == "Exists" or (self.operator in {"", "Equal"} and self.value == taint.value))
        )

    def to_dict(self) -> dict[str, Any]:
        """The toleration as the API has it."""
        fields = {"key": self.key, "operator": self.operator, "value": self.value, "effect": self.effect}
        said: dict[str, Any] = {key: value for key, value in fields.items() if value}
        if self.toleration_seconds is not None:
            said["tolerationSeconds"] = self.toleration_seconds
        return said


@dataclass(frozen=True, slots=True)
class DerivedAttribute:
    """An attribute that a request works out for each device by a CEL expression (KEP 6080)."""

    name: str
    expression: str

    def to_dict(self) -> dict[str, Any]:
        """The attribute as the API has it."""
        return {"name": self.name, "expression": self.expression}


@dataclass(frozen=True, slots=True)
class ExactRequest:
    """So many devices of a class that pass all selectors.

    A selector that is no CEL expression, of a version newer than this, is an empty text; a mode that is not
    known stays the word that was said.
    """

    device_class: str
    selectors: tuple[str, ...] = ()
    count: int = 1
    mode: AllocationMode | str = AllocationMode.EXACT_COUNT
    tolerations: tuple[Toleration, ...] = ()
    capacity: Mapping[str, str] = field(default_factory=dict, hash=False)
    admin_access: bool | None = None
    derived_attributes: tuple[DerivedAttribute, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The request as the API has it under ``exactly``."""
        said: dict[str, Any] = {"deviceClassName": self.device_class}
        if self.selectors:
            said["selectors"] = selectors_to_list(self.selectors)
        said["allocationMode"] = str(self.mode)
        if self.mode is AllocationMode.EXACT_COUNT:
            said["count"] = self.count
        if self.admin_access is not None:
            said["adminAccess"] = self.admin_access
        if self.tolerations:
            said["tolerations"] = [toleration.to_dict() for toleration in self.tolerations]
        if self.capacity:
            said["capacity"] = {"requests": dict(self.capacity)}
        if self.derived_attributes:
            said["derivedAttributes"] = [derived.to_dict() for derived in self.derived_attributes]
        return said


@dataclass(frozen=True, slots=True)
class SubRequest:
    """One alternative of a request, under a name of its own."""

    name: str
    exactly: ExactRequest

    def to_dict(self) -> dict[str, Any]:
        """The alternative as the API has it: flat, without ``exactly``."""
        return {"name": self.name, **self.exactly.to_dict()}


@dataclass(frozen=True, slots=True)
class Request:
    """One request: ``exactly`` this, or the first of ``first_available`` that fits. One of the two is set."""

    name: str
    exactly: ExactRequest | None = None
    first_available: tuple[SubRequest, ...] = ()

    def __post_init__(self) -> None:
        if (self.exactly is None) == (not self.first_available):
            raise ValueError("exactly one of `exactly` or `firstAvailable` is required")

    @property
    def alternatives(self) -> tuple[SubRequest, ...]:
        """What would do, in order; an exact request is the only alternative, under the request's name."""
        return self.first_available if self.exactly is None else (SubRequest(self.name, self.exactly),)

    def to_dict(self) -> dict[str, Any]:
        """The request as the API has it."""
        if self.exactly is not None:
            return {"name": self.name, "exactly": self.exactly.to_dict()}
        return {"name": self.name, "firstAvailable": [sub.to_dict() for sub in self.first_available]}


@dataclass(frozen=True, slots=True)
class Constraint:
    """What the devices of some requests (none named: all) have in common, or must differ in."""

    requests: tuple[str, ...] = ()
    match_attribute: str | None = None
    distinct_attribute: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """The constraint as the API has it."""
        said: dict[str, Any] = {"requests": list(self.requests)} if self.requests else {}
        if self.match_attribute is not None:
            said["matchAttribute"] = self.match_attribute
        if self.distinct_attribute is not None:
            said["distinctAttribute"] = self.distinct_attribute
        return said


@dataclass(frozen=True, slots=True)
class ClaimSpec:
    """Everything that one pod asks for at once: it gets all of it on one node, or nothing."""

    requests: tuple[Request, ...] = ()
    constraints: tuple[Constraint, ...] = ()
    config: tuple[OpaqueConfig, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The spec of a claim as the API has it."""
        parts = {
            "requests": [request.to_dict() for request in self.requests],
            "constraints": [constraint.to_dict() for constraint in self.constraints],
            "config": [config.to_dict() for config in self.config],
        }
        return {"devices": {key: part for key, part in parts.items() if part}}

    def to_template(self, name: str) -> dict[str, Any]:
        """A ResourceClaimTemplate: each pod that names it gets a claim of its own."""
        return {
            "apiVersion": API_VERSION,
            "kind": "ResourceClaimTemplate",
            "metadata": {"name": name},
            "spec": {"spec": self.to_dict()},
        }


@dataclass(frozen=True, slots=True)
class AllocatedDevice:
    """One device that was given, and for which request: ``name``, or ``name/alternative``.

    ``share_id`` and ``consumed_capacity`` are there for a device that several claims may hold: which share of
    it this is, and how much of each of its capacities.
    """

    request: str
    id: DeviceId
    admin_access: bool | None = None
    tolerations: tuple[Toleration, ...] = ()
    binding_conditions: tuple[str, ...] = ()
    binding_failure_conditions: tuple[str, ...] = ()
    share_id: str | None = None
    consumed_capacity: Mapping[str, str] = field(default_factory=dict, hash=False)
    skip_node_operations: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The result as the API has it."""
        more: dict[str, Any] = {
            "adminAccess": self.admin_access,
            "tolerations": [toleration.to_dict() for toleration in self.tolerations],
            "bindingConditions": list(self.binding_conditions),
            "bindingFailureConditions": list(self.binding_failure_conditions),
            "shareID": self.share_id,
            "consumedCapacity": dict(self.consumed_capacity),
            "skipNodeOperations": list(self.skip_node_operations),
        }
        return {
            "request": self.request,
            "driver": self.id.driver,
            "pool": self.id.pool,
            "device": self.id.device,
            **{key: value for key, value in more.items() if value not in (None, [], {})},
        }


class ConfigSource(StrEnum):
    """Who wrote a configuration: an administrator, into the class, or a user, into the claim."""

    FROM_CLASS = "FromClass"
    FROM_CLAIM = "FromClaim"


@dataclass(frozen=True, slots=True)
class AllocatedConfig:
    """A configuration that a driver gets with the devices, for the requests that it names (none: all)."""

    source: ConfigSource
    config: OpaqueConfig

    def to_dict(self) -> dict[str, Any]:
        """The configuration as the API has it."""
        return {"source": str(self.source), **self.config.to_dict()}


@dataclass(frozen=True, slots=True)
class Allocation:
    """What a claim was given, in the order in which it was found, and where that can be used.

    ``node_selector`` tells the nodes from which all of the devices can be reached; None: every node.
    """

    results: tuple[AllocatedDevice, ...] = ()
    config: tuple[AllocatedConfig, ...] = ()
    node_selector: NodeSelector | None = None
    allocation_timestamp: str | None = None

    @property
    def ids(self) -> tuple[DeviceId, ...]:
        """The devices, in that order."""
        return tuple(result.id for result in self.results)

    def to_dict(self) -> dict[str, Any]:
        """``status.allocation`` as the API has it."""
        said: dict[str, Any] = {"devices": {"results": [result.to_dict() for result in self.results]}}
        if self.config:
            said["devices"]["config"] = [config.to_dict() for config in self.config]
        if self.node_selector is not None:
            said["nodeSelector"] = self.node_selector.to_dict()
        if self.allocation_timestamp is not None:
            said["allocationTimestamp"] = self.allocation_timestamp
        return said
