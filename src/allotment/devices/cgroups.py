"""What this process's control groups leave it of the machine: memory, and processor time.

A container on a large machine sees all of it and may use a small part; whoever starts a worker per core
that it sees is stopped by the kernel. Every group from ours up to the root may set a limit, and the least
one holds. Facts: ``Documentation/admin-guide/cgroup-v2.rst`` (``memory.max``, ``cpu.max``), and of version
1 ``memory.limit_in_bytes``, ``cpu.cfs_quota_us`` and ``cpu.cfs_period_us``.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from allotment.devices.kernel_files import number, read_number, read_text

_MOUNT = "sys/fs/cgroup"
_NO_LIMIT = 1 << 60  # version 1 writes "no limit" as a number that no machine has


def memory_limit(root: Path) -> int | None:
    """Bytes that our groups may use; None without a limit."""
    second = (read_number(root, f"{group}/memory.max") for group in _groups(root, ""))
    first = (read_number(root, f"{group}/memory.limit_in_bytes") for group in _groups(root, "memory"))
    return min(
        (limit for limit in (*second, *first) if limit is not None and 0 < limit < _NO_LIMIT), default=None
    )


def processor_limit(root: Path) -> float | None:
    """Processors' worth of time that our groups may use; None without a limit."""
    second = (_quota(*(read_text(root, f"{group}/cpu.max") or "").split()) for group in _groups(root, ""))
    first = (
        _quota(
            read_text(root, f"{group}/cpu.cfs_quota_us") or "",
            read_text(root, f"{group}/cpu.cfs_period_us") or "",
        )
        for group in _groups(root, "cpu")
    )
    return min((limit for limit in (*second, *first) if limit is not None), default=None)


def _quota(quota: str = "", period: str = "", *_: str) -> float | None:
    share, of = number(quota), number(period)
    return share / of if share and of and share > 0 and of > 0 else None


def _groups(root: Path, controller: str) -> Iterator[str]:
    """Our group and those above it, as folders; the controller's name is empty for version 2."""
    for line in (read_text(root, "proc/self/cgroup") or "").splitlines():
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if controller not in controllers.split(","):
            continue
        mount = f"{_MOUNT}/{controllers}" if controller else _MOUNT
        for at in (mount, f"{_MOUNT}/{controller}"):
            parts = [part for part in path.split("/") if part not in {"", ".", ".."}]
            for end in range(len(parts), -1, -1):
                yield "/".join([at, *parts[:end]])
