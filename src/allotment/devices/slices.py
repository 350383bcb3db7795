"""ResourceSlices: how a driver publishes the devices of a pool.

A scheduler can only reason about what is published, so every field of the API is kept, those included that
this version does not act on. Names, meanings and limits are those of ``ResourceSlice.spec`` in
``resource.k8s.io/v1`` (Kubernetes 1.34 to 1.37). Quantities stay the text that was published: what is
compared is parsed where it is compared, and nothing is lost on the way through.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

from allotment.devices.nodes import NodeSelector

API_VERSION = "resource.k8s.io/v1"


class DeviceId(NamedTuple):
    """The full name of a device: unique in a cluster, ordered by driver, then pool, then device."""

    driver: str
    pool: str
    device: str

    def __str__(self) -> str:
        return f"{self.driver}/{self.pool}/{self.device}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """``driver/pool/device`` back into its parts; a pool's name may hold slashes itself."""
        driver, _, rest = text.partition("/")
        pool, _, device = rest.rpartition("/")
        if not (driver and pool and device):
            raise ValueError(f"`{text}` is no device: it should read driver/pool/device")
        return cls(driver, pool, device)


@dataclass(frozen=True, slots=True, order=True)
class Version:
    """An attribute of type version: text in the form of semver.org 2.0.0, kept apart from plain strings."""

    text: str

    def __str__(self) -> str:
        return self.text


type_names: Mapping[type, str] = {bool: "bool", int: "int", str: "string", Version: "version"}
Scalar = bool | int | str | Version
AttributeValue = Scalar | tuple[Scalar, ...]


@dataclass(frozen=True, slots=True)
class ValidRange:
    """What a request for a share of a capacity is rounded to: from ``min`` in steps up to ``max``."""

    min: str
    max: str | None = None
    step: str | None = None


@dataclass(frozen=True, slots=True)
class RequestPolicy:
    """How shares of a capacity may be asked for; only for devices that several claims may hold."""

    default: str | None = None
    valid_values: tuple[str, ...] = ()
    valid_range: ValidRange | None = None

    def to_dict(self) -> dict[str, Any]:
        """The policy as the API has it."""
        span = self.valid_range
        return _present(
            default=self.default,
            validValues=list(self.valid_values),
            validRange=_present(min=span.min, max=span.max, step=span.step) if span else None,
        )


@dataclass(frozen=True, slots=True)
class Capacity:
    """How much a device has of something: a Kubernetes quantity, as published."""

    value: str
    request_policy: RequestPolicy | None = None

    def to_dict(self) -> dict[str, Any]:
        """The capacity as the API has it."""
        policy = self.request_policy
        return _present(value=self.value, requestPolicy=policy.to_dict() if policy else None)


@dataclass(frozen=True, slots=True)
class CounterConsumption:
    """What a device takes from a counter set when it is given out: quantities by counter."""

    counter_set: str
    counters: Mapping[str, str] = field(hash=False)
    compatibility_groups: tuple[str, ...] = ()
    other: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def to_dict(self) -> dict[str, Any]:
        """The consumption as the API has it."""
        groups = {"compatibilityGroups": list(self.compatibility_groups)} if self.compatibility_groups else {}
        return {"counterSet": self.counter_set, "counters": _values(self.counters), **groups, **self.other}


@dataclass(frozen=True, slots=True)
class CounterSet:
    """What the devices of a pool share, such as the memory slices of one card: quantities by counter."""

    name: str
    counters: Mapping[str, str] = field(hash=False)

    def to_dict(self) -> dict[str, Any]:
        """The set as the API has it."""
        return {"name": self.name, "counters": _values(self.counters)}


@dataclass(frozen=True, slots=True)
class Taint:
    """Why a device should not be used; ``NoSchedule`` and ``NoExecute`` ask for a toleration."""

    key: str
    effect: str
    value: str = ""
    time_added: str | None = None

    @property
    def blocks(self) -> bool:
        """Whether a claim needs a toleration to get the device; unknown effects do nothing, as upstream."""
        return self.effect in {"NoSchedule", "NoExecute"}

    def to_dict(self) -> dict[str, Any]:
        """The taint as the API has it."""
        return _present(key=self.key, value=self.value, effect=self.effect, timeAdded=self.time_added)


@dataclass(frozen=True, slots=True)
class Device:
    """One device: a name that is unique in its pool, what it is (attributes), and how much it has (capacity).

    The keys of ``attributes`` and ``capacity`` are as published; one without a domain is the driver's.
    ``other`` holds fields that no version of the API known here has, as they were read.
    """

    name: str
    attributes: Mapping[str, AttributeValue] = field(default_factory=dict, hash=False)
    capacity: Mapping[str, Capacity] = field(default_factory=dict, hash=False)
    consumes_counters: tuple[CounterConsumption, ...] = ()
    taints: tuple[Taint, ...] = ()
    node_name: str | None = None
    node_selector: NodeSelector | None = None
    all_nodes: bool = False
    binds_to_node: bool = False
    binding_conditions: tuple[str, ...] = ()
    binding_failure_conditions: tuple[str, ...] = ()
    allow_multiple_allocations: bool = False
    node_allocatable: Mapping[str, Any] = field(default_factory=dict, hash=False)
    other: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def to_dict(self) -> dict[str, Any]:
        """The device as the API has it."""
        return _present(
            name=self.name,
            attributes={key: attribute_to_dict(value) for key, value in self.attributes.items()},
            capacity={key: value.to_dict() for key, value in self.capacity.items()},
            consumesCounters=[consumption.to_dict() for consumption in self.consumes_counters],
            nodeName=self.node_name,
            nodeSelector=self.node_selector.to_dict() if self.node_selector else None,
            allNodes=self.all_nodes,
            taints=[taint.to_dict() for taint in self.taints],
            bindsToNode=self.binds_to_node,
            bindingConditions=list(self.binding_conditions),
            bindingFailureConditions=list(self.binding_failure_conditions),
            allowMultipleAllocations=self.allow_multiple_allocations,
            nodeAllocatableResources=dict(self.node_allocatable),
            **self.other,
        )


@dataclass(frozen=True, slots=True)
class Pool:
    """Which pool a slice is part of: the newest generation counts, once all of its slices are there."""

    name: str
    generation: int = 1
    resource_slice_count: int = 1

    def to_dict(self) -> dict[str, Any]:
        """The pool as the API has it."""
        return {
            "name": self.name,
            "generation": self.generation,
            "resourceSliceCount": self.resource_slice_count,
        }


@dataclass(frozen=True, slots=True)
class ResourceSlice:
    """Some of a pool's devices, or its counter sets, and the nodes from which they can be reached.

    Exactly one of ``node_name``, ``node_selector``, ``all_nodes`` and ``per_device_node_selection`` is set.
    ``metadata`` is what the object's metadata says beside its name, ``other`` what its spec says that no
    version of the API known here has.
    """

    name: str
    driver: str
    pool: Pool
    node_name: str | None = None
    node_selector: NodeSelector | None = None
    all_nodes: bool = False
    per_device_node_selection: bool = False
    devices: tuple[Device, ...] = ()
    shared_counters: tuple[CounterSet, ...] = ()
    partition_type_attribute: str | None = None
    skip_node_operations: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict, hash=False)
    other: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def device_id(self, device: Device) -> DeviceId:
        """The full name of one of this slice's devices."""
        return DeviceId(self.driver, self.pool.name, device.name)

    def to_dict(self) -> dict[str, Any]:
        """The slice as an API object."""
        spec = _present(
            driver=self.driver,
            pool=self.pool.to_dict(),
            nodeName=self.node_name,
            nodeSelector=self.node_selector.to_dict() if self.node_selector else None,
            allNodes=self.all_nodes,
            perDeviceNodeSelection=self.per_device_node_selection,
            devices=[device.to_dict() for device in self.devices],
            sharedCounters=[counters.to_dict() for counters in self.shared_counters],
            partitionTypeAttribute=self.partition_type_attribute,
            skipNodeOperations=list(self.skip_node_operations),
            **self.other,
        )
        return {
            "apiVersion": API_VERSION,
            "kind": "ResourceSlice",
            "metadata": {"name": self.name, **self.metadata},
            "spec": spec,
        }


def attribute_to_dict(value: AttributeValue) -> dict[str, Any]:
    """An attribute under the key of its type: ``{"int": 3}``; lists (alpha in 1.36) under the plural."""
    if isinstance(value, tuple):
        if not value:
            raise ValueError("a list attribute has at least one value")
        return {f"{type_names[type(value[0])]}s": [_plain(item) for item in value]}
    return {type_names[type(value)]: _plain(value)}


def _plain(value: Scalar) -> bool | int | str:
    return value.text if isinstance(value, Version) else value


def _values(counters: Mapping[str, str]) -> dict[str, dict[str, str]]:
    return {name: {"value": value} for name, value in counters.items()}


def _present(**fields: Any) -> dict[str, Any]:
    """The fields that say something: the API leaves out what is unset, false or empty."""
    return {key: value for key, value in fields.items() if value not in (None, False, "", [], {})}
