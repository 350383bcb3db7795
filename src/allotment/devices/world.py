"""A world: the slices, classes and nodes that an allocator looks at, as one frozen value.

This machine is such a world, and so is a cluster's snapshot or a fleet that somebody only describes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from allotment.devices.claim_objects import ResourceClaim, ResourceClaimTemplate
from allotment.devices.classes import DeviceClass
from allotment.devices.nodes import Node
from allotment.devices.server import NEWEST_SERVER, Server
from allotment.devices.slices import Device, DeviceId, ResourceSlice
from allotment.devices.taint_rules import DeviceTaintRule


@dataclass(frozen=True, slots=True)
class World:
    """What is published. ``node`` is the machine that we are on, ``memory_bytes`` its memory (None: unknown).

    ``nodes`` holds labels where they are known; a node that is not in it has none. ``in_use`` is bytes of
    device memory in use, where that can be told; ``notes`` are sentences about cards that offer nothing.
    A cluster's world has claims, templates and taint rules too. ``server`` is the Kubernetes that
    decides in it; ``tolerations`` are those that queues of the cluster put into pods of ours.
    """

    slices: tuple[ResourceSlice, ...]
    classes: Mapping[str, DeviceClass] = field(hash=False)
    node: str
    memory_bytes: int | None = None
    nodes: Mapping[str, Node] = field(default_factory=dict, hash=False)
    in_use: Mapping[DeviceId, int] = field(default_factory=dict, hash=False, compare=False)
    notes: tuple[str, ...] = ()
    claims: tuple[ResourceClaim, ...] = ()
    templates: tuple[ResourceClaimTemplate, ...] = ()
    taint_rules: tuple[DeviceTaintRule, ...] = ()
    server: Server = NEWEST_SERVER
    tolerations: tuple[Mapping[str, Any], ...] = field(default=(), hash=False)

    def devices(self) -> Iterator[tuple[DeviceId, Device]]:
        """Every published device, slice by slice, in the order of the slices."""
        for published in self.slices:
            for device in published.devices:
                yield published.device_id(device), device

    def held(self) -> dict[DeviceId, ResourceClaim]:
        """The devices that claims of this world hold whole."""
        return {device: claim for claim in self.claims for device in claim.whole_devices}

    def node_named(self, name: str) -> Node:
        """The node of this name, with the labels that are known."""
        return self.nodes.get(name) or Node(name)
