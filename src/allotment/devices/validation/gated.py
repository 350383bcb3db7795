"""Fields that a server takes out before it looks at the rules: their gate is off, or it does not know them.

From ``dropDisabledFields`` of the strategies in ``pkg/registry/resource`` (Kubernetes 1.34 to 1.37). Nobody
is told by the server: an object is stored without the field, and means something else.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from allotment.devices.server import GATES, NEWEST, Gate, Server, VersionNumber
from allotment.devices.validation.problems import Loc
from allotment.devices.validation.raw import Raw

_ANY: Final = "*"


class Gated(NamedTuple):
    """A field that depends on gates, and the versions that know it; ``*`` is any item or key."""

    path: str
    gates: tuple[Gate, ...]
    since: VersionNumber | None = None
    until: VersionNumber = NEWEST

    @property
    def steps(self) -> tuple[str, ...]:
        """The steps of the path."""
        return tuple(self.path.split("."))

    @property
    def known_since(self) -> VersionNumber:
        """The first version that has the field."""
        return self.since or max(GATES[gate][0] for gate in self.gates)

    def is_known(self, server: Server) -> bool:
        """Whether the server has the field at all."""
        return self.known_since <= server.version <= self.until

    def is_kept(self, server: Server) -> bool:
        """Whether the server keeps the field."""
        return self.is_known(server) and all(server.has(gate) for gate in self.gates)


class Dropped(NamedTuple):
    """A field that the server takes out, and the words that say why."""

    loc: Loc
    text: str
    hint: str


def _slice_fields() -> Iterator[Gated]:
    device = "spec.devices.*"
    yield Gated(f"{device}.taints", (Gate.DEVICE_TAINTS,))
    for key in ("sharedCounters", "perDeviceNodeSelection"):
        yield Gated(f"spec.{key}", (Gate.PARTITIONABLE_DEVICES,))
    for key in ("consumesCounters", "nodeName", "nodeSelector", "allNodes"):
        yield Gated(f"{device}.{key}", (Gate.PARTITIONABLE_DEVICES,))
    for key in ("bindsToNode", "bindingConditions", "bindingFailureConditions"):
        yield Gated(f"{device}.{key}", (Gate.BINDING_CONDITIONS, Gate.DEVICE_STATUS))
    for key in ("allowMultipleAllocations", "capacity.*.requestPolicy"):
        yield Gated(f"{device}.{key}", (Gate.CONSUMABLE_CAPACITY,))
    yield Gated(f"{device}.consumesCounters.*.compatibilityGroups", (Gate.COMPATIBILITY_GROUPS,))
    yield Gated(f"{device}.nodeAllocatableResources", (Gate.NODE_ALLOCATABLE,), since=(1, 37))
    yield Gated(f"{device}.nodeAllocatableResourceMappings", (Gate.NODE_ALLOCATABLE,), until=(1, 36))
    for key in ("bools", "ints", "strings", "versions"):
        yield Gated(f"{device}.attributes.*.{key}", (Gate.LIST_ATTRIBUTES,))
    yield Gated("spec.partitionTypeAttribute", (Gate.PARTITION_TYPE,))
    yield Gated("spec.skipNodeOperations", (Gate.OPTIONAL_NODE_OPERATIONS,))


def _spec_fields(spec: str) -> Iterator[Gated]:
    request = f"{spec}.devices.requests.*"
    yield Gated(f"{request}.firstAvailable", (Gate.PRIORITIZED_LIST,))
    yield Gated(f"{request}.exactly.adminAccess", (Gate.ADMIN_ACCESS,))
    for exact in (f"{request}.exactly", f"{request}.firstAvailable.*"):
        yield Gated(f"{exact}.tolerations", (Gate.DEVICE_TAINTS,))
        yield Gated(f"{exact}.capacity", (Gate.CONSUMABLE_CAPACITY,))
        yield Gated(f"{exact}.derivedAttributes", (Gate.DERIVED_ATTRIBUTES,))
    yield Gated(f"{spec}.devices.constraints.*.distinctAttribute", (Gate.CONSUMABLE_CAPACITY,))


def _status_fields() -> Iterator[Gated]:
    yield Gated("status.devices", (Gate.DEVICE_STATUS,))
    yield Gated("status.devices.*.shareID", (Gate.CONSUMABLE_CAPACITY,))
    result = "status.allocation.devices.results.*"
    yield Gated(f"{result}.adminAccess", (Gate.ADMIN_ACCESS,))
    yield Gated(f"{result}.skipNodeOperations", (Gate.OPTIONAL_NODE_OPERATIONS,))
    for key in ("shareID", "consumedCapacity"):
        yield Gated(f"{result}.{key}", (Gate.CONSUMABLE_CAPACITY,))
    for key in ("bindingConditions", "bindingFailureConditions"):
        yield Gated(f"{result}.{key}", (Gate.BINDING_CONDITIONS,))


FIELDS: Final[Mapping[str, Sequence[Gated]]] = {
    "ResourceSlice": tuple(_slice_fields()),
    "ResourceClaim": (*_spec_fields("spec"), *_status_fields()),
    "ResourceClaimTemplate": tuple(_spec_fields("spec.spec")),
    "DeviceClass": (Gated("spec.extendedResourceName", (Gate.EXTENDED_RESOURCE,)),),
}


def without_gated(kind: str, value: Raw, server: Server) -> tuple[Raw, tuple[Dropped, ...]]:
    """The object as the server keeps it, and what it takes out."""
    if server.lenient:
        return value, ()
    found = [
        Dropped(loc, *_words(field, loc, server))
        for field in FIELDS.get(kind, ())
        if not field.is_kept(server)
        for loc in _places(value, field.steps, ())
    ]
    if not found:
        return value, ()
    kept = copy.deepcopy(dict(value))
    for each in found:
        around: Any = kept
        for step in each.loc[:-1]:
            around = around[step]
        around.pop(each.loc[-1], None)
    return kept, tuple(found)


def _places(value: Any, steps: Sequence[str], loc: Loc) -> Iterator[Loc]:
    if not steps:
        yield loc
        return
    step, rest = steps[0], steps[1:]
    if step != _ANY:
        if isinstance(value, dict) and value.get(step) is not None:
            yield from _places(value[step], rest, (*loc, step))
        return
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, item in pairs:
        yield from _places(item, rest, (*loc, name))


def _words(field: Gated, loc: Loc, server: Server) -> tuple[str, str]:
    name = f"`{loc[-1]}`"
    if not field.is_known(server):
        later = field.known_since > server.version
        number = field.known_since if later else field.until
        words = f"it came with {number[0]}.{number[1]}" if later else f"{number[0]}.{number[1]} was the last"
        return (
            f"Kubernetes {server.name} does not know {name} and takes it out: {words}",
            "take it out, or aim at another version",
        )
    off = ", ".join(gate for gate in field.gates if not server.has(gate))
    return (
        f"Kubernetes {server.name} takes {name} out: the feature gate {off} is off",
        f"turn {off} on in the cluster, or take {name} out",
    )
