"""Devices that are held: the open files of their locks, which whoever inherits them holds too.

The lock of a file (``flock``) lives in the open file and not in the process: the kernel lets go of it when
the last process that has it open is gone, however that ended.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import TracebackType
from typing import NamedTuple, Self

from allotment.devices.holders import Holder, write_holder
from allotment.devices.slices import DeviceId


class Part(NamedTuple):
    """A share of a device: so many bytes of its memory, of which there are so many."""

    amount: int
    total: int


NO_PARTS: Mapping[DeviceId, Part] = {}


class Hold:
    """Devices that are held, by the open files of their locks.

    Whoever inherits ``fds`` (``subprocess.Popen(pass_fds=hold.fds)``) holds the devices too. They are free
    when the last of those processes is gone, however it ended.
    """

    def __init__(
        self, held: Sequence[tuple[DeviceId, int]], parts: Mapping[DeviceId, Part] = NO_PARTS
    ) -> None:
        self.ids = tuple(device for device, _ in held)
        self._fds = tuple(fd for _, fd in held)
        self._amounts = tuple(parts[device].amount if device in parts else None for device in self.ids)

    @property
    def fds(self) -> tuple[int, ...]:
        """The open files to hand down; none after ``close``."""
        return self._fds

    def describe(self, holder: Holder) -> None:
        """Say anew who holds the devices, for instance once the worker's pid is known."""
        for place, (fd, amount) in enumerate(zip(self._fds, self._amounts, strict=False)):
            write_holder(fd, of_place(holder, place, amount))

    def close(self) -> None:
        """Let go of this process's part: the devices stay taken while an heir of ``fds`` lives."""
        fds, self._fds = self._fds, ()
        for fd in fds:
            os.close(fd)  # never LOCK_UN: that would take the lock from the heirs as well

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def of_place(holder: Holder, place: int, amount: int | None) -> Holder:
    """What is said at one of a hold's devices: memory of the machine is set aside once, at the first."""
    memory = holder.memory_bytes if place == 0 else 0
    return replace(holder, memory_bytes=memory, device_bytes=amount)
