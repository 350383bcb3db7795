"""Processes below a worker, as Linux shows them: who is there, whose they are, and how to end them.

Sources: prctl(2) (``PR_SET_PDEATHSIG``, ``PR_SET_CHILD_SUBREAPER``), proc(5) (``/proc/<pid>/stat``). A child
subreaper becomes the parent of every orphan below it, so that nothing below a worker can slip away by forking
twice. Nothing large is imported here: the guardian and the supervisor live on it.
"""

from __future__ import annotations

import contextlib
import ctypes
import itertools
import os
import signal
import sys
import time
from collections.abc import Callable, Collection, Iterator
from typing import NamedTuple

PAUSE_SECONDS = 0.005
UNKILLABLE_SECONDS = 3.0
PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36


class Process(NamedTuple):
    """One process: zombies have the state ``Z``."""

    pid: int
    parent: int
    group: int
    state: str


def die_with_parent(parent: int) -> None:
    """Have this process killed when the thread that started it ends; at once if ``parent`` is gone."""
    _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)


def hear_of_parents_end() -> None:
    """Have SIGHUP sent to this process when the thread that started it ends."""
    _prctl(PR_SET_PDEATHSIG, signal.SIGHUP)


def heard_within(signals: Collection[int], seconds: float) -> int | None:
    """The signal, of blocked ones, that comes within so many seconds.

    To a process that was stopped for longer than that, Python may hand anything at all (CPython up to 3.11
    returns what it has not filled), or fail; both mean that none came.
    """
    try:
        heard = signal.sigtimedwait(signals, seconds)
    except OSError:
        return None
    return heard.si_signo if heard is not None and heard.si_signo in signals else None


def adopt_orphans() -> None:
    """Become the parent of every process below this one whose own parent ends."""
    _prctl(PR_SET_CHILD_SUBREAPER, 1)


def end_all(
    wanted: Callable[[Process], bool], *, pauses: Iterator[float], sleep: Callable[[float], object]
) -> bool:
    """Kill every process that is wanted, and those that become so, until none is left or the pauses are over.

    Zombies that are children of this process are reaped on the way; others are as good as gone. Returns
    whether none is left.
    """
    for pause in pauses:
        found = [process for process in processes() if wanted(process)]
        if not any(_end(process) for process in found):
            return True
        sleep(pause)
    return False


def end_below(ancestor: int, *, pauses: Iterator[float]) -> bool:
    """Kill everything that descends from a process, until nothing is left; returns whether that came.

    The process must adopt orphans, so that whatever breaks loose from its parent is still found below it;
    neither sessions nor environments matter.
    """
    for pause in pauses:
        left = [_end(process) for process in descendants(ancestor)]
        if not any(left):
            return True
        time.sleep(pause)
    return False


def for_a_moment() -> Iterator[float]:
    """Pauses of a few seconds in all, for the end of what has been killed."""
    return itertools.repeat(PAUSE_SECONDS, int(UNKILLABLE_SECONDS / PAUSE_SECONDS))


def descendants(ancestor: int) -> list[Process]:
    """Everything that descends from a process now, nearest first."""
    children: dict[int, list[Process]] = {}
    for process in processes():
        children.setdefault(process.parent, []).append(process)
    found = children.pop(ancestor, [])
    for process in found:
        found += children.pop(process.pid, ())
    return found


def _end(process: Process) -> bool:
    """Kill one process; returns whether it may still be there."""
    if process.state in {"Z", "X"}:
        with contextlib.suppress(ChildProcessError):
            return os.waitpid(process.pid, os.WNOHANG)[0] == process.pid
        return False
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(process.pid, signal.SIGKILL)
    return True


def has_mark(pid: int, mark: bytes) -> bool:
    """Whether a process was started with this entry in its environment."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:  # noqa: PTH123 - pathlib is not needed in the guardian
            return mark in file.read().split(b"\0")
    except OSError:
        return False


def processes() -> Iterator[Process]:
    """Every process that can be seen."""
    try:
        names = os.listdir("/proc")  # noqa: PTH208 - as above
    except OSError:
        return
    for name in names:
        process = _process(name) if name.isdigit() else None
        if process is not None:
            yield process


def parent_of(pid: int) -> int | None:
    """The process that started another one; None when that one cannot be seen."""
    process = _process(str(pid))
    return None if process is None else process.parent


def _process(name: str) -> Process | None:
    try:
        with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as file:  # noqa: PTH123 - as above
            fields = file.read().rpartition(")")[2].split()
    except OSError:
        return None
    return Process(int(name), int(fields[1]), int(fields[2]), fields[0]) if len(fields) > 2 else None


def _prctl(option: int, value: int) -> None:
    """Ask the kernel, where it is Linux; elsewhere the guardian's pipe alone has to do."""
    if sys.platform != "linux":
        return
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(option, ctypes.c_ulong(value), 0, 0, 0) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"prctl({option}): {os.strerror(number)}")
