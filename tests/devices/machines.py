"""Made-up machines: trees of ``/proc`` and ``/sys`` as kernels write them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

CPU = "sys/devices/system/cpu"
NODE = "sys/devices/system/node"


def write(root: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n", encoding="utf-8")
    return root


def meminfo(gibibytes: int, prefix: str = "") -> str:
    return f"{prefix}MemTotal:       {gibibytes * 1024 * 1024} kB\n{prefix}MemFree:        1234 kB"


def topology(cpu: int, core: int, socket: int, siblings: str) -> dict[str, str]:
    folder = f"{CPU}/cpu{cpu}/topology"
    return {
        f"{folder}/core_id": str(core),
        f"{folder}/physical_package_id": str(socket),
        f"{folder}/core_cpus_list": siblings,
        f"{folder}/thread_siblings_list": siblings,
    }


def server(*, sockets: int, cores: int, threads: int, gibibytes: int) -> dict[str, str]:
    """A server: one NUMA node per socket; Linux numbers all first threads before all second ones."""
    total = sockets * cores
    files = {
        f"{CPU}/online": f"0-{total * threads - 1}",
        "proc/meminfo": meminfo(gibibytes),
        "proc/self/cgroup": "0::/",
    }
    for socket in range(sockets):
        first, last = socket * cores, socket * cores + cores - 1
        spans = [f"{first + total * thread}-{last + total * thread}" for thread in range(threads)]
        files[f"{NODE}/node{socket}/cpulist"] = ",".join(spans)
        files[f"{NODE}/node{socket}/meminfo"] = meminfo(gibibytes // sockets, f"Node {socket} ")
        for core in range(cores):
            cpus = [first + core + total * thread for thread in range(threads)]
            for cpu in cpus:
                files |= topology(cpu, core, socket, ",".join(map(str, cpus)))
    return files
