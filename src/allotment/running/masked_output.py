"""What a worker prints, without its secrets, whoever prints it: a pipe, and a small process that reads it.

Steps are foreign code, and so are the programs that they start: they write to the open files 1 and 2
directly. Where a worker has secrets, these two are a pipe. A process in a session of its own passes on what
comes out of it, with every value masked, and ends when nobody is left who could write. It holds back only
what may be the beginning of a value.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

READ_SIZE = 1 << 16
DRAIN_SECONDS = 2.0
LOOK_SECONDS = 0.01
OUTPUTS = (1, 2)


@dataclass(slots=True)
class MaskedPipe:
    """Bytes in, bytes out, with ``values`` (bytes, the longest first) replaced by ``mask``."""

    values: Sequence[bytes]
    mask: bytes
    _held: bytes = b""

    def pass_on(self, data: bytes) -> bytes:
        """What may be shown by now."""
        data = self._held + data
        cut = self._safe(data)
        self._held = data[cut:]
        return self._masked(data[:cut])

    def end(self) -> bytes:
        """What was held back, when nothing more comes."""
        left, self._held = self._held, b""
        return self._masked(left)

    def _safe(self, data: bytes) -> int:
        """How much of the data can be judged: what follows may be the beginning of a value."""
        longest = min(len(data), max(map(len, self.values), default=1) - 1)
        begun = (size for size in range(longest, 0, -1) if self._begins(data[-size:]))
        cut = len(data) - next(begun, 0)
        while (earlier := min((self._around(data, value, cut) for value in self.values), default=cut)) < cut:
            cut = earlier
        return cut

    def _begins(self, end: bytes) -> bool:
        return any(len(value) > len(end) and value.startswith(end) for value in self.values)

    @staticmethod
    def _around(data: bytes, value: bytes, cut: int) -> int:
        """Where a value begins that the cut would go through, else the cut."""
        found = data.find(value, max(0, cut - len(value) + 1), cut + len(value) - 1)
        return found if 0 <= found < cut else cut

    def _masked(self, data: bytes) -> bytes:
        for value in self.values:
            data = data.replace(value, self.mask)
        return data


def mask_output(values: Sequence[bytes], mask: bytes) -> Callable[[], None]:
    """Mask what this process and those below it print from now on; returns what waits for the last of it.

    Called before anything else is started, in a process with one thread.
    """
    if not values:
        return lambda: None
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.setsid()
            kept = {reading, *OUTPUTS}
            for number in _open_files() - kept:
                with suppress(OSError):
                    os.close(number)
            _pass_all(reading, MaskedPipe(values, mask))
        finally:
            os._exit(0)
    os.close(reading)
    for number in OUTPUTS:
        os.dup2(writing, number)
    os.close(writing)
    return lambda: _drained(pid)


def _pass_all(reading: int, pipe: MaskedPipe) -> None:
    while data := os.read(reading, READ_SIZE):
        _write(pipe.pass_on(data))
    _write(pipe.end())


def _write(data: bytes) -> None:
    while data:
        data = data[os.write(OUTPUTS[1], data) :]


def _drained(pid: int) -> None:
    """Let go of the pipe, and wait a moment for the process that reads it."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    for number in OUTPUTS:
        os.dup2(nothing, number)
    os.close(nothing)
    until = time.monotonic() + DRAIN_SECONDS
    with suppress(ChildProcessError):
        while os.waitpid(pid, os.WNOHANG) == (0, 0) and time.monotonic() < until:
            time.sleep(LOOK_SECONDS)


def _open_files() -> set[int]:
    folder = "/proc/self/fd" if os.path.isdir("/proc/self/fd") else "/dev/fd"  # noqa: PTH112 - it is small
    return {int(name) for name in os.listdir(folder)}  # noqa: PTH208 - as above
