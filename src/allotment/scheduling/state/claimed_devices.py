"""Devices of nodes and the claims on them, as far as a scheduler that counts them must know.

One ``DeviceOfNode`` is one device of a ResourceSlice; ``classes`` are the DeviceClasses whose selectors let
it through. A ``Claim`` is a ResourceClaim with one ``exactly`` request.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class DeviceOfNode:
    """A device that a node has; the driver's name says whether it counts as a GPU."""

    node: str
    driver: str
    pool: str
    name: str
    classes: frozenset[str] = frozenset()

    @property
    def key(self) -> str:
        """Unique in the cluster."""
        return f"{self.driver}/{self.pool}/{self.name}"


@dataclass(frozen=True, slots=True)
class Allocation:
    """What a claim was given: devices (their keys), and the node they are on."""

    node: str
    devices: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Claim:
    """A ResourceClaim. ``template`` says that it was made from one, for one pod.

    ``extended`` is the extended resource that it stands for, where a pod asked for one that a device class
    answers to instead of naming a claim.
    """

    name: str
    device_class: str
    count: int = 1
    labels: Mapping[str, str] = field(default_factory=dict, hash=False)
    template: bool = False
    extended: str | None = None
    allocation: Allocation | None = None
    reserved_for: tuple[str, ...] = ()


def is_gpu(name: str) -> bool:
    """Whether a device class or driver of this name is of GPUs: KAI goes by the name."""
    return "gpu" in name.lower()
