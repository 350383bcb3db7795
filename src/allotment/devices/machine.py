"""This machine as a world: its processors and cards published as ResourceSlices, as drivers on a node do it.

A device is one logical processor that this process may use. The slices say what a scheduler wants to know
of each (core, socket, NUMA node, who shares its core, its share of the node's memory) in one slice per NUMA
node, and the order of the devices is a preference, since an allocator takes the first that fits: node by
node, and a core's second thread only when every core of the node has its first one taken.

Cards come from NVIDIA's library and from the kernel's files, after the processors, under the names that
their vendors' DRA drivers give them.
"""

from __future__ import annotations

import math
import os
import zlib
from collections.abc import Collection, Sequence
from itertools import groupby
from pathlib import Path

from allotment.devices import nvml, sysfs_gpus
from allotment.devices.cgroups import memory_limit, processor_limit
from allotment.devices.found import MOST_IN_SLICE
from allotment.devices.kernel_files import read_meminfo
from allotment.devices.known_classes import CLASSES, CPU_DRIVER
from allotment.devices.nodes import node_name
from allotment.devices.processors import NumaNode, Processor, numa_nodes, online_cpus, processors
from allotment.devices.slices import Capacity, Device, Pool, ResourceSlice
from allotment.devices.world import World

_MEBIBYTE = 1 << 20


def this_machine(
    root: Path = Path("/"), hostname: str | None = None, affinity: Collection[int] | None = None
) -> World:
    """The machine under ``root``; ``affinity`` are the processors that we may use (None: ask the kernel)."""
    node = node_name(hostname)
    allowed = os.sched_getaffinity(0) if affinity is None else affinity
    online = online_cpus(root, allowed)
    nodes = numa_nodes(root, online)
    usable = _within_quota(processors(root, nodes, online.intersection(allowed)), processor_limit(root), node)
    memory, limit = read_meminfo(root, "proc/meminfo"), memory_limit(root)
    left = min((each for each in (memory, limit) if each is not None), default=None)
    part = left / memory if left and memory else 1.0
    cards = nvml.discover(node, root=root) + sysfs_gpus.discover(node, root=root)
    return World(
        slices=(*_slices(node, usable, _memory_shares(nodes, part)), *cards.slices),
        classes={each.name: each for each in CLASSES},
        node=node,
        memory_bytes=left,
        in_use=cards.in_use,
        notes=cards.notes,
    )


def _within_quota(found: Sequence[Processor], quota: float | None, node: str) -> Sequence[Processor]:
    """As many processors as a quota on their time lets us use at once.

    Which ones is free to choose. It goes by the name of the machine: containers that share a machine have
    names of their own, and would else all crowd on the first processors.
    """
    if quota is None or quota >= len(found):
        return found
    start = zlib.crc32(node.encode()) % len(found)
    chosen = {found[(start + place) % len(found)].cpu for place in range(max(1, math.ceil(quota)))}
    return [each for each in found if each.cpu in chosen]


def _memory_shares(nodes: Sequence[NumaNode], part: float) -> dict[int, int]:
    """Mebibytes per processor of each NUMA node that has memory of its own."""
    shares = {node.number: int((node.memory or 0) * part / len(node.cpus)) // _MEBIBYTE for node in nodes}
    return {number: share for number, share in shares.items() if share}


def _slices(node: str, found: Sequence[Processor], shares: dict[int, int]) -> tuple[ResourceSlice, ...]:
    parts = [
        (numa, part, devices[start : start + MOST_IN_SLICE])
        for numa, group in groupby(found, key=lambda processor: processor.numa)
        for devices in [[_device(processor, shares.get(numa)) for processor in group]]
        for part, start in enumerate(range(0, len(devices), MOST_IN_SLICE))
    ]
    return tuple(
        ResourceSlice(
            name=f"{node}-cpu-{numa:04d}-{part:04d}",
            driver=CPU_DRIVER,
            pool=Pool(node, generation=1, resource_slice_count=len(parts)),
            node_name=node,
            devices=tuple(devices),
        )
        for numa, part, devices in parts
    )


def _device(processor: Processor, share: int | None) -> Device:
    return Device(
        name=f"cpu-{processor.cpu}",
        attributes={
            "cpuID": processor.cpu,
            "coreID": processor.core,
            "socketID": processor.socket,
            "numaNodeID": processor.numa,
            "coreList": ",".join(str(sibling) for sibling in processor.siblings),
            "resource.kubernetes.io/numaNode": processor.numa,
        },
        capacity={"memory": Capacity(f"{share}Mi")} if share else {},
    )
