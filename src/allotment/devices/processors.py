"""The logical processors of this machine: which core, socket and NUMA node each is of.

From the kernel's own description: ``/sys/devices/system/cpu`` and ``/sys/devices/system/node``
(Documentation/admin-guide/cputopology.rst, Documentation/ABI/stable/sysfs-devices-node). A machine that says
nothing about its cores has one core per processor, and one without NUMA is one node.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from allotment.devices.kernel_files import numbered, read_list, read_meminfo, read_number

_CPU = "sys/devices/system/cpu"
_NODE = "sys/devices/system/node"


@dataclass(frozen=True, slots=True)
class Processor:
    """One logical processor. ``siblings`` are all of its core, ``thread`` is its place among the usable."""

    cpu: int
    core: int
    socket: int
    numa: int
    siblings: tuple[int, ...]
    thread: int


@dataclass(frozen=True, slots=True)
class NumaNode:
    """A part of the machine: its processors that are online, and bytes of its memory (None: unknown)."""

    number: int
    cpus: tuple[int, ...]
    memory: int | None


def online_cpus(root: Path, affinity: Collection[int]) -> frozenset[int]:
    """The processors that are switched on; those of the affinity where the machine does not say."""
    online = frozenset(read_list(root, f"{_CPU}/online") or ())
    return online if online.intersection(affinity) else frozenset(affinity)


def numa_nodes(root: Path, online: Collection[int]) -> tuple[NumaNode, ...]:
    """The NUMA nodes that have processors online; processors of no node count to the first."""
    lists = {
        number: read_list(root, f"{_NODE}/{name}/cpulist") or ()
        for number, name in numbered(root, _NODE, "node")
    }
    placed: dict[int, int] = {}
    for number, cpus in lists.items():
        for cpu in cpus:
            placed.setdefault(cpu, number)
    first = min(placed.values(), default=0)
    by_node: dict[int, list[int]] = {}
    for cpu in sorted(online):
        by_node.setdefault(placed.get(cpu, first), []).append(cpu)
    total = read_meminfo(root, "proc/meminfo") if len(by_node) == 1 else None
    return tuple(
        NumaNode(
            number, tuple(cpus), _first_known(total, read_meminfo(root, f"{_NODE}/node{number}/meminfo"))
        )
        for number, cpus in sorted(by_node.items())
    )


def _first_known(*values: int | None) -> int | None:
    return next((value for value in values if value is not None), None)


def processors(root: Path, nodes: Collection[NumaNode], usable: Collection[int]) -> tuple[Processor, ...]:
    """The usable processors by NUMA node, and in each the first threads of all cores before the second."""
    numa = {cpu: node.number for node in nodes for cpu in node.cpus}
    wanted = sorted(cpu for cpu in usable if cpu in numa)
    found: dict[int, Processor] = {}
    for cpu in wanted:
        if cpu not in found:
            found.update(_core_of(root, cpu, numa, frozenset(wanted)))
    ordered = (found[cpu] for cpu in wanted)
    return tuple(sorted(ordered, key=lambda processor: (processor.numa, processor.thread, processor.cpu)))


def _core_of(root: Path, cpu: int, numa: Mapping[int, int], usable: frozenset[int]) -> dict[int, Processor]:
    """All usable processors of the core, read once for all of them."""
    topology = f"{_CPU}/cpu{cpu}/topology"
    listed = read_list(root, f"{topology}/core_cpus_list") or read_list(
        root, f"{topology}/thread_siblings_list"
    )
    siblings = listed if listed and cpu in listed else (cpu,)
    core = read_number(root, f"{topology}/core_id")
    socket = read_number(root, f"{topology}/physical_package_id")
    here = [sibling for sibling in siblings if sibling in usable]
    return {
        sibling: Processor(
            cpu=sibling,
            core=core if core is not None and core >= 0 else siblings[0],
            socket=socket if socket is not None and socket >= 0 else 0,
            numa=numa[sibling],
            siblings=siblings,
            thread=thread,
        )
        for thread, sibling in enumerate(here)
    }
