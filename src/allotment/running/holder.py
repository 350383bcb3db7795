"""Who holds a volume, and whether that process still lives: told apart by boot, pid and start time.

Linux gives a boot an id (`/proc/sys/kernel/random/boot_id`) and a process a start time in ticks (field 22 of
`/proc/<pid>/stat`, proc(5)), which together name a process for good. Both sides must be in one pid namespace
for a pid to mean the same to them; where that cannot be said, nothing is said about the holder's life. A
system may hide other users' processes from `/proc` (``hidepid``); a signal of number 0 still finds them.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

PROC = Path("/proc")


@dataclass(frozen=True, slots=True)
class Holder:
    """A process for good; ``id`` is made anew by every worker."""

    id: str
    host: str = ""
    boot_id: str = ""
    pid: int = 0
    start_time: int = 0
    pid_namespace: str = ""

    def to_json(self) -> dict[str, Any]:
        """The holder as part of a lease."""
        return asdict(self)

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host}" if self.pid else self.id


def read_holder(value: Mapping[str, Any]) -> Holder:
    """The holder that a lease names; raises KeyError, TypeError or ValueError for what is none."""
    return Holder(
        id=str(value["id"]),
        host=str(value["host"]),
        boot_id=str(value["boot_id"]),
        pid=int(value["pid"]),
        start_time=int(value["start_time"]),
        pid_namespace=str(value["pid_namespace"]),
    )


def this_process(id_: str) -> Holder:
    """This process as a holder."""
    return Holder(
        id=id_,
        host=socket.gethostname(),
        boot_id=_boot_id(),
        pid=os.getpid(),
        start_time=_start_time(os.getpid()) or 0,
        pid_namespace=_pid_namespace(),
    )


def is_dead(holder: Holder) -> bool:
    """Whether the holder is known to be dead: same boot, same pid namespace, and no such process any more."""
    if not holder.boot_id or holder.boot_id != _boot_id():
        return False
    if not holder.pid_namespace or holder.pid_namespace != _pid_namespace():
        return False
    if _start_time(holder.pid) == holder.start_time:
        return False
    return not _hidden(holder.pid)


def _boot_id() -> str:
    try:
        return (PROC / "sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return ""


def _pid_namespace() -> str:
    try:
        return str((PROC / "self/ns/pid").readlink())
    except OSError:
        return ""


def _hidden(pid: int) -> bool:
    """Whether there is such a process, but not one that we may look at."""
    try:
        os.kill(pid, 0)
    except PermissionError:
        return _start_time(pid) is None and not (PROC / str(pid)).exists()
    except (ProcessLookupError, OverflowError):
        return False
    return False


def _start_time(pid: int) -> int | None:
    """When a process was started, in ticks since boot, or None when it is gone (a zombie is)."""
    try:
        stat = (PROC / str(pid) / "stat").read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return None
    fields = stat.rpartition(")")[2].split()
    state, start = fields[0], int(fields[19])
    return None if state in {"Z", "X"} else start
