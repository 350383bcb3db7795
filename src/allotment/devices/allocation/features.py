"""What an allocator can do, which of its three variants runs, and what each version of Kubernetes turns on.

Upstream has three copies of one algorithm and takes the first that can do all that is asked of it: ``stable``
searches permutations in the order in which slices come, ``incubating`` sorts, searches combinations and knows
shares of devices, ``experimental`` compares lists too. The names of the features are those of
``structured/internal/types.go`` of k8s.io/dynamic-resource-allocation; gates and their defaults are those of
``pkg/features/kube_features.go`` of Kubernetes 1.34 to 1.37. Attributes that a request derives (alpha in
1.37) are not known here, and neither are the features that nodes declare: every node can leave out
operations.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Final


@dataclass(frozen=True, slots=True)
class Features:
    """What the allocator may use."""

    admin_access: bool = False
    prioritized_list: bool = False
    partitionable_devices: bool = False
    device_taints: bool = False
    consumable_capacity: bool = False
    fractional_capacity_range: bool = False
    device_binding_and_status: bool = False
    list_type_attributes: bool = False
    optional_node_operations: bool = False
    compatibility_groups: bool = False

    def covers(self, wanted: Features) -> bool:
        """Whether all that is wanted is here."""
        ours = asdict(self)
        return all(ours[name] for name, on in asdict(wanted).items() if on)


class Variant(StrEnum):
    """Which copy of the algorithm."""

    STABLE = "stable"
    INCUBATING = "incubating"
    EXPERIMENTAL = "experimental"


_STABLE: Final = {
    "admin_access": True,
    "prioritized_list": True,
    "partitionable_devices": True,
    "device_taints": True,
}
_INCUBATING: Final = {
    **_STABLE,
    "consumable_capacity": True,
    "fractional_capacity_range": True,
    "device_binding_and_status": True,
}
SUPPORTED: Final[Mapping[Variant, Features]] = {
    Variant.STABLE: Features(**_STABLE),
    Variant.INCUBATING: Features(**_INCUBATING),
    Variant.EXPERIMENTAL: Features(
        **_INCUBATING, list_type_attributes=True, optional_node_operations=True, compatibility_groups=True
    ),
}


def variant_for(features: Features) -> Variant:
    """The first variant that can do all of it."""
    return next(variant for variant, supported in SUPPORTED.items() if supported.covers(features))


@dataclass(frozen=True, slots=True)
class Gate:
    """A feature gate: the features that it takes part in, and the version from which it is on by default."""

    features: tuple[str, ...]
    on_since: int | None = None
    known_since: int = 34


GATES: Final[Mapping[str, Gate]] = {
    "DRAAdminAccess": Gate(("admin_access",), 34),
    "DRAPrioritizedList": Gate(("prioritized_list",), 34),
    "DRAPartitionableDevices": Gate(("partitionable_devices",), 36),
    "DRADeviceTaints": Gate(("device_taints",), 36),
    "DRAConsumableCapacity": Gate(("consumable_capacity",), 36),
    "DRAFractionalCapacityRange": Gate(("fractional_capacity_range",), 37, 37),
    "DRADeviceBindingConditions": Gate(("device_binding_and_status",), 36),
    "DRAResourceClaimDeviceStatus": Gate(("device_binding_and_status",), 34),
    "DRAListTypeAttributes": Gate(("list_type_attributes",), None, 37),
    "DRAOptionalNodeOperations": Gate(("optional_node_operations",), None, 37),
    "DRADeviceCompatibilityGroups": Gate(("compatibility_groups",), None, 37),
}
"""The plugin of 1.36 knows the gate for lists but does not pass it on: lists are compared from 1.37 on."""


def features_of(minor: int, gates: Mapping[str, bool] | None = None) -> Features:
    """What Kubernetes 1.``minor`` does with these gates set, and the others as they come.

    A feature that takes several gates is on when all of them are.
    """
    chosen = gates or {}
    on: dict[str, bool] = {}
    for name, gate in GATES.items():
        default = gate.on_since is not None and minor >= gate.on_since
        is_on = minor >= gate.known_since and chosen.get(name, default)
        for feature in gate.features:
            on[feature] = on.get(feature, True) and is_on
    return Features(**on)


NEWEST: Final = features_of(37)
