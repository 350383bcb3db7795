"""The process that outlives a worker: it sees to it that nothing that a step has started does.

Forked before anything large is imported, in a session of its own, so that no signal meant for the worker's
group reaches it. It waits for the end of a pipe that only the supervisor holds. If the supervisor ends in
good order it says so; else it was killed, and the guardian kills what is left: the worker's process group,
and whatever has left the group but still carries the worker's mark in its environment. It keeps the
inherited locks of devices open until then, so that no device is free while anything may still use it.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
import signal
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from allotment.running.processes import end_all, end_group, has_mark

MARK = "ALLOT_WORKER"
DONE = b"done\n"


@dataclass(frozen=True, slots=True)
class Guardian:
    """The guardian as its supervisor knows it."""

    pid: int
    pipe: int

    def tell_group(self, group: int) -> None:
        """Say which process group is the worker's."""
        with contextlib.suppress(OSError):
            os.write(self.pipe, f"group {group}\n".encode())

    def dismiss(self) -> None:
        """Say that everything has ended in good order, and wait for the guardian's end."""
        with contextlib.suppress(OSError):
            os.write(self.pipe, DONE)
        os.close(self.pipe)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self.pid, 0)


def post_guardian(mark: str, keep: Iterable[int], workdir: str) -> Guardian:
    """Fork the guardian; ``keep`` are the open files that it holds on to."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid:
        os.close(reading)
        return Guardian(pid, writing)
    try:
        _alone(reading, keep)
        _guard(reading, f"{MARK}={mark}".encode(), workdir)
    finally:
        os._exit(0)


def open_files() -> tuple[int, ...]:
    """The numbers of this process's open files."""
    folder = "/proc/self/fd" if sys.platform == "linux" else "/dev/fd"
    return tuple(int(name) for name in os.listdir(folder))  # noqa: PTH208 - pathlib is not needed here


def _alone(reading: int, keep: Iterable[int]) -> None:
    """Leave the worker's session, and let go of everything but what is to be kept."""
    os.setsid()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGPIPE):
        signal.signal(number, signal.SIG_IGN)
    nothing = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nothing, standard)
    kept = {0, 1, 2, reading, *keep}
    for descriptor in open_files():
        if descriptor not in kept:
            with contextlib.suppress(OSError):
                os.close(descriptor)


def _guard(reading: int, mark: bytes, workdir: str) -> None:
    """Wait for the supervisor's end, and clean up after it unless it has done so itself."""
    told = b""
    while part := os.read(reading, 4096):
        told += part
    if told.endswith(DONE):
        return
    groups = {int(line.split()[1]) for line in told.splitlines() if line.startswith(b"group ")}
    for group in groups:
        end_group(group)
    end_all(
        lambda process: process.group in groups or has_mark(process.pid, mark),
        pauses=_pauses(),
        sleep=time.sleep,
    )
    shutil.rmtree(workdir, ignore_errors=True)


def _pauses() -> Iterator[float]:
    """Short ones at first; without end, for what cannot be killed yet still uses its devices."""
    return itertools.chain(itertools.repeat(0.01, 500), itertools.repeat(1.0))
