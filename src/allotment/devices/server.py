"""Which API server an object is held to: its version, and which feature gates are on.

The defaults are those of ``pkg/features/kube_features.go`` in Kubernetes 1.34 to 1.37, the limits those of
``pkg/apis/resource/types.go``. A field whose gate is off is taken out before the rules are looked at, as the
server does (``dropDisabledFields`` of the kinds' strategies).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

VersionNumber = tuple[int, int]
OLDEST: Final = (1, 34)
NEWEST: Final = (1, 37)
VERSION: Final = re.compile(r"v?1\.[0-9]{1,3}(?:\.[0-9]{1,6})?")


class Gate(StrEnum):
    """A feature gate that decides on fields or rules of devices."""

    ADMIN_ACCESS = "DRAAdminAccess"
    BINDING_CONDITIONS = "DRADeviceBindingConditions"
    COMPATIBILITY_GROUPS = "DRADeviceCompatibilityGroups"
    CONSUMABLE_CAPACITY = "DRAConsumableCapacity"
    DERIVED_ATTRIBUTES = "DRADerivedAttributes"
    DEVICE_STATUS = "DRAResourceClaimDeviceStatus"
    DEVICE_TAINTS = "DRADeviceTaints"
    EXTENDED_RESOURCE = "DRAExtendedResource"
    FRACTIONAL_RANGE = "DRAFractionalCapacityRange"
    LIST_ATTRIBUTES = "DRAListTypeAttributes"
    NODE_ALLOCATABLE = "DRANodeAllocatableResources"
    OPTIONAL_NODE_OPERATIONS = "DRAOptionalNodeOperations"
    PARTITIONABLE_DEVICES = "DRAPartitionableDevices"
    PARTITION_TYPE = "DRAPartitionableDevicesType"
    PRIORITIZED_LIST = "DRAPrioritizedList"


def is_version(text: str) -> bool:
    """Whether this is a version that Kubernetes has or may come to have, such as ``1.36`` or ``v1.36.2``."""
    return VERSION.fullmatch(text) is not None


def outside_words(version: str) -> str | None:
    """What to say of a version whose rules are not known here: as which it is decided; else None."""
    if OLDEST <= _number(version) <= NEWEST:
        return None
    known = f"{OLDEST[0]}.{OLDEST[1]} to {NEWEST[0]}.{NEWEST[1]}"
    nearest = Server.of(version).name
    return f"Kubernetes {version.removeprefix('v')} is not known here, only {known}; decided as {nearest}"


# since which version a gate is there, and since which it is on unless somebody turns it off
GATES: Final[Mapping[Gate, tuple[VersionNumber, VersionNumber | None]]] = {
    Gate.ADMIN_ACCESS: ((1, 32), (1, 34)),
    Gate.BINDING_CONDITIONS: ((1, 34), (1, 36)),
    Gate.COMPATIBILITY_GROUPS: ((1, 37), None),
    Gate.CONSUMABLE_CAPACITY: ((1, 34), (1, 36)),
    Gate.DERIVED_ATTRIBUTES: ((1, 37), None),
    Gate.DEVICE_STATUS: ((1, 32), (1, 33)),
    Gate.DEVICE_TAINTS: ((1, 33), (1, 36)),
    Gate.EXTENDED_RESOURCE: ((1, 34), (1, 36)),
    Gate.FRACTIONAL_RANGE: ((1, 37), None),  # on once a cluster need not go back to 1.36
    Gate.LIST_ATTRIBUTES: ((1, 36), None),
    Gate.NODE_ALLOCATABLE: ((1, 36), None),
    Gate.OPTIONAL_NODE_OPERATIONS: ((1, 37), None),
    Gate.PARTITIONABLE_DEVICES: ((1, 33), (1, 36)),
    Gate.PARTITION_TYPE: ((1, 37), None),
    Gate.PRIORITIZED_LIST: ((1, 33), (1, 34)),
}


@dataclass(frozen=True, slots=True)
class Server:
    """An API server. ``gates`` are those that somebody has turned on or off.

    ``lenient`` stands for a server that is not known: every gate is on, and what only some versions take is
    tolerated, with the words that say so.
    """

    version: VersionNumber = NEWEST
    gates: Mapping[str, bool] = field(default_factory=dict, hash=False)
    lenient: bool = False

    @classmethod
    def of(cls, version: str, gates: Mapping[str, bool] | None = None) -> Server:
        """The server of a version such as ``1.36.2``; older or newer ones are as the nearest known."""
        number = _number(version)
        return cls(min(max(number, OLDEST), NEWEST), gates or {})

    @property
    def name(self) -> str:
        """The version as people write it."""
        return f"{self.version[0]}.{self.version[1]}"

    def has(self, gate: Gate) -> bool:
        """Whether the gate is on."""
        since, on_since = GATES[gate]
        if self.version < since:
            return False
        default = self.lenient or (on_since is not None and self.version >= on_since)
        return self.gates.get(gate, default)

    def is_at_least(self, minor: int) -> bool:
        """Whether the version is 1.``minor`` or newer."""
        return self.version >= (1, minor)


def _number(version: str) -> VersionNumber:
    major, _, rest = version.removeprefix("v").partition(".")
    return int(major), int(rest.partition(".")[0])


NEWEST_SERVER: Final = Server()
ANY_SERVER: Final = Server(lenient=True)
