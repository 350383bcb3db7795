"""What a look for cards on this machine has found: slices, what is in use, and what to tell a person.

Memory in use changes by the second, so that it is no part of a slice; it stands beside the devices. A note is
one sentence about cards that are there and offer nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from allotment.devices.slices import Device, DeviceId, Pool, ResourceSlice

MOST_IN_SLICE = 128  # devices of one slice, by the API
MOST_WITH_TAINTS = 64  # the same, when one of them is tainted


@dataclass(frozen=True, slots=True)
class Found:
    """Cards of this machine. ``in_use`` is bytes of device memory, by device, where it can be told."""

    slices: tuple[ResourceSlice, ...] = ()
    in_use: Mapping[DeviceId, int] = field(default_factory=dict, hash=False)
    notes: tuple[str, ...] = ()

    def __add__(self, other: Found) -> Found:
        return Found(
            (*self.slices, *other.slices), {**self.in_use, **other.in_use}, (*self.notes, *other.notes)
        )


NOTHING = Found()


def slices_of(driver: str, node: str, devices: Sequence[Device]) -> tuple[ResourceSlice, ...]:
    """Devices of one driver on this node as the slices of one pool, as few as the API allows."""
    most = MOST_WITH_TAINTS if any(device.taints for device in devices) else MOST_IN_SLICE
    parts = [tuple(devices[start : start + most]) for start in range(0, len(devices), most)]
    return tuple(
        ResourceSlice(
            name=f"{node}-{driver}-{number:04d}",
            driver=driver,
            pool=Pool(node, generation=1, resource_slice_count=len(parts)),
            node_name=node,
            devices=part,
        )
        for number, part in enumerate(parts)
    )
