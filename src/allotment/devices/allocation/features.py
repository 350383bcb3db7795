"""What an allocator can do, which of its three variants runs, and what each version of Kubernetes turns on.

Upstream has three copies of one algorithm and takes the first that can do all that is asked of it: ``stable``
searches permutations in the order in which slices come, ``incubating`` sorts, searches combinations and knows
shares of devices, ``experimental`` compares lists too. The names of the features are those of
``structured/internal/types.go`` of k8s.io/dynamic-resource-allocation. Attributes that a request derives
(alpha in 1.37) are not known here, and neither are the features that nodes declare: every node can leave out
operations.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Final

from allotment.devices.server import Gate, Server


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


_GATES: Final[Mapping[str, tuple[Gate, ...]]] = {
    "admin_access": (Gate.ADMIN_ACCESS,),
    "prioritized_list": (Gate.PRIORITIZED_LIST,),
    "partitionable_devices": (Gate.PARTITIONABLE_DEVICES,),
    "device_taints": (Gate.DEVICE_TAINTS,),
    "consumable_capacity": (Gate.CONSUMABLE_CAPACITY,),
    "fractional_capacity_range": (Gate.FRACTIONAL_RANGE,),
    "device_binding_and_status": (Gate.BINDING_CONDITIONS, Gate.DEVICE_STATUS),
    "list_type_attributes": (Gate.LIST_ATTRIBUTES,),
    "optional_node_operations": (Gate.OPTIONAL_NODE_OPERATIONS,),
    "compatibility_groups": (Gate.COMPATIBILITY_GROUPS,),
}
_PASSED_ON: Final[Mapping[str, int]] = {"list_type_attributes": 37}
"""The plugin of 1.36 knows the gate for lists but does not pass it on: lists are compared from 1.37 on."""


def features_of(server: Server) -> Features:
    """What the scheduler of this version does with these gates: a feature of several takes all of them."""
    return Features(
        **{
            feature: all(server.has(gate) for gate in gates)
            and server.is_at_least(_PASSED_ON.get(feature, 0))
            for feature, gates in _GATES.items()
        }
    )


NEWEST: Final = features_of(Server())
