"""The device ledger: who on this machine uses which device, so that two engines never use one at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from allotment.devices.slices import DeviceId


@dataclass(frozen=True, slots=True)
class Holder:
    """Who holds a device, for people to read. What could not be read is None (0 for the memory).

    ``memory_bytes`` is what this device's part of a hold sets aside: of a hold of several devices the first
    one carries all of it, so that the sum over all devices is what is set aside on the machine.
    """

    pid: int | None = None
    user: str | None = None
    campaign: str | None = None
    volume: str | None = None
    memory_bytes: int = 0
    since: float = 0.0


class Hold:
    """Devices that are held, by the open files of their locks.

    Whoever inherits ``fds`` (``subprocess.Popen(pass_fds=hold.fds)``) holds the devices too. They are free
    when the last of those processes is gone, however it ended.
    """

    @property
    def ids(self) -> tuple[DeviceId, ...]:
        """The devices, in the order in which they were taken."""
        raise NotImplementedError

    @property
    def fds(self) -> tuple[int, ...]:
        """The open files to hand down; none after ``close``."""
        raise NotImplementedError

    def describe(self, holder: Holder) -> None:
        """Say anew who holds the devices, for instance once the worker's pid is known."""
        raise NotImplementedError

    def close(self) -> None:
        """Let go of this process's part: the devices stay taken while an heir of ``fds`` lives."""
        raise NotImplementedError


class LedgerView:
    """The ledger while it is locked: nobody else takes a device between reading and taking."""

    def taken(self) -> Mapping[DeviceId, Holder]:
        """Every device that somebody holds, this process included."""
        raise NotImplementedError

    def memory_held(self) -> int:
        """Bytes of memory that the holders of devices have set aside."""
        raise NotImplementedError

    def take(self, ids: Sequence[DeviceId], holder: Holder) -> Hold:
        """Take all of the devices or none; ``DevicesTaken`` (a WorldError) when one is held already."""
        raise NotImplementedError


class Ledger:
    """A folder of lock files; ``Ledger()`` is this machine's: ALLOT_LEDGER, /dev/shm/allotment, else tmp."""

    def __init__(self, folder: Path | None = None) -> None:
        raise NotImplementedError

    @contextmanager
    def locked(self) -> Iterator[LedgerView]:
        """Lock the ledger, briefly: read, decide, take. One that cannot be used is one clear WorldError."""
        raise NotImplementedError

    def holders(self) -> Mapping[DeviceId, Holder]:
        """Who holds what right now, for showing; empty when no ledger was ever made."""
        raise NotImplementedError
