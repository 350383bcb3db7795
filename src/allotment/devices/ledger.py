"""The device ledger: who on this machine uses which device, so that two engines never use one at once.

A device is held by a locked file (``flock``), and the lock lives in an open file that the holder's children
inherit. The kernel lets go of it when the last process that has it open is gone: whoever is killed, and
however, a device is taken exactly as long as somebody who uses it is alive. Nothing has to be cleaned up,
and nothing on disk can be stale: what a file says about its holder counts only while the lock is held. To
take devices, the whole ledger is locked for a moment, around reading, deciding and taking.

A device may also be held in shares, each with a lock of its own and so much of the device's memory. Shares
are together never more than the device has, and nobody holds it whole meanwhile, nor a share while somebody
holds it whole.

Each user has lock files of their own, for others to read (``lock_names``). A login manager that clears a
user's shared memory at logout (systemd's ``RemoveIPC``) thus removes no lock that somebody else holds.

The ledger is an agreement between those who use it and no wall between people: whoever wants to can use a
device without asking, or lock the ledger for others. It covers one machine, or one container's
``/dev/shm``: containers that share devices must share the folder too (``ALLOT_LEDGER``).
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from copy import copy
from dataclasses import dataclass, field
from pathlib import Path

from allotment.devices.hold import NO_PARTS, Hold, Part, of_place
from allotment.devices.holders import LONGEST, Holder, read_holder
from allotment.devices.lock_names import LockNames
from allotment.devices.nodes import node_name
from allotment.devices.shared_folder import locked, open_folder, open_own, open_to_read, user_name
from allotment.devices.slices import DeviceId
from allotment.errors import WorldError

__all__ = ["DevicesTakenError", "Hold", "Holder", "Ledger", "LedgerView", "Part", "default_folder"]

_REMEDY = "its owner can open it to all (`chmod 1777 FOLDER`); or name a folder for everybody in ALLOT_LEDGER"


@dataclass(eq=False)
class DevicesTakenError(WorldError):
    """Devices were to be taken that somebody holds."""

    ids: tuple[DeviceId, ...] = field(default=(), kw_only=True)


def default_folder(environ: Mapping[str, str], shared_memory: Path = Path("/dev/shm")) -> Path:  # noqa: S108
    """ALLOT_LEDGER, else ``allotment`` in the machine's shared memory (a restart empties it), else in tmp."""
    named = environ.get("ALLOT_LEDGER")
    if named:
        return Path(named)
    if shared_memory.is_dir() and os.access(shared_memory, os.W_OK | os.X_OK):
        return shared_memory / "allotment"
    import tempfile

    return Path(tempfile.gettempdir()) / "allotment"


class LedgerView:
    """The ledger while it is locked: nobody else takes a device between reading and taking."""

    def __init__(self, path: Path, folder: int, names: LockNames) -> None:
        self._path = path
        self._folder = folder
        self._names = names
        self._taken: dict[DeviceId, Holder] | None = None
        self._shares: dict[DeviceId, dict[tuple[int, int], Holder]] | None = None

    @property
    def folder(self) -> int:
        """The ledger's folder, open."""
        return self._folder

    def taken(self) -> Mapping[DeviceId, Holder]:
        """Every device that somebody holds whole, this process included."""
        if self._taken is None:
            locks = ((name, *lock) for name in self._listed() if (lock := self._names.read(name)) is not None)
            holders = ((device, self._holder(name, uid)) for name, device, uid in locks)
            self._taken = {device: holder for device, holder in holders if holder is not None}
        return self._taken

    def shares(self) -> Mapping[DeviceId, tuple[Holder, ...]]:
        """Who holds shares of which device."""
        return {device: tuple(holders.values()) for device, holders in self._shared().items()}

    def _shared(self) -> dict[DeviceId, dict[tuple[int, int], Holder]]:
        """The holders of shares, by user and number."""
        if self._shares is None:
            self._shares = {}
            for name in self._listed():
                lock = self._names.read_share(name)
                holder = None if lock is None else self._holder(name, lock[1])
                if lock is not None and holder is not None:
                    self._shares.setdefault(lock[0], {})[lock[1:]] = holder
        return self._shares

    def _listed(self) -> list[str]:
        return sorted(os.listdir(self._folder))  # noqa: PTH208 - it is a folder that is open

    def _holder(self, name: str, uid: int) -> Holder | None:
        try:
            fd = open_to_read(self._folder, name)
        except PermissionError:  # whether it is locked cannot be told, so it counts as held
            return Holder(user=user_name(uid))
        if fd is None:
            return None
        try:
            fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return read_holder(os.pread(fd, LONGEST, 0), user=user_name(os.fstat(fd).st_uid))
        finally:
            os.close(fd)
        return None

    def memory_held(self) -> int:
        """Bytes of memory that the holders of devices have set aside."""
        sharing = (holder for holders in self.shares().values() for holder in holders)
        return sum(holder.memory_bytes for holder in (*self.taken().values(), *sharing))

    def take(
        self, ids: Sequence[DeviceId], holder: Holder, parts: Mapping[DeviceId, Part] = NO_PARTS
    ) -> Hold:
        """Take all of the devices or none, those in ``parts`` as shares, the others whole.

        ``DevicesTakenError`` (a WorldError) when one is held already, or has too little left.
        """
        if len(set(ids)) < len(ids):
            raise ValueError("a device cannot be taken twice at once")
        self._refuse(tuple(device for device in ids if not self._is_free(device, parts.get(device))))
        with ExitStack() as undo:
            undo.callback(self._forget)
            held = []
            for device in ids:
                number = self._next_share(device) if device in parts else None
                fd = self._open(device, number)
                undo.callback(os.close, fd)
                try:
                    fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    self._refuse((device,))
                held.append((device, fd))
                self._note(device, number, of_place(holder, len(held) - 1, _amount(parts.get(device))))
            hold = Hold(held, parts)
            self._write(hold, holder)
            undo.pop_all()
        return hold

    def _forget(self) -> None:
        self._taken = self._shares = None

    def _is_free(self, device: DeviceId, part: Part | None) -> bool:
        shares = self.shares().get(device, ())
        if device in self.taken():
            return False
        if part is None:
            return not shares
        given = sum(part.total if each.device_bytes is None else each.device_bytes for each in shares)
        return 0 < part.amount <= part.total - given

    def _next_share(self, device: DeviceId) -> int:
        """The lowest number of a share of this user's that is free."""
        own = {number for uid, number in self._shared().get(device, {}) if uid == os.geteuid()}
        return next(number for number in range(len(own) + 1) if number not in own)

    def _note(self, device: DeviceId, number: int | None, holder: Holder) -> None:
        if number is None:
            self._taken = {**self.taken(), device: holder}
        else:
            self._shared().setdefault(device, {})[os.geteuid(), number] = holder

    def _open(self, device: DeviceId, number: int | None) -> int:
        name = self._names.name_of(device, os.geteuid(), number)
        try:
            return open_own(self._folder, name)
        except OSError as error:
            raise self._broken(name, error) from None

    def _write(self, hold: Hold, holder: Holder) -> None:
        try:
            hold.describe(holder)
        except OSError as error:
            raise self._broken(str(hold.ids[0]), error) from None

    def _broken(self, name: str, error: OSError) -> WorldError:
        remedy = "remove that file if it is yours, or name another folder in ALLOT_LEDGER"
        return WorldError(
            f"the device's lock file cannot be used: {error.strerror}", str(self._path / name), remedy
        )

    def _refuse(self, ids: tuple[DeviceId, ...]) -> None:
        if ids:
            names = ", ".join(str(device) for device in ids)
            raise DevicesTakenError(
                f"already in use: {names}", str(self._path), "`allot devices` says by whom", ids=ids
            )


class Ledger:
    """A folder of lock files; ``Ledger()`` is this machine's: ALLOT_LEDGER, /dev/shm/allotment, else tmp.

    ``node`` is what this machine's own pools are called (None: after the host).
    """

    def __init__(
        self,
        folder: Path | None = None,
        *,
        node: str | None = None,
        wait_seconds: float = 10.0,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.folder = folder if folder is not None else default_folder(os.environ)
        self._names = LockNames(node_name() if node is None else node)
        self._wait_seconds = wait_seconds
        self._clock = clock
        self._sleep = sleep

    def unless(self, enough: Callable[[], bool]) -> Ledger:
        """The same ledger, whose lock is not waited for any more once ``enough`` says so: a WorldError."""
        same = copy(self)

        def pause(seconds: float) -> None:
            if enough():
                raise WorldError("somebody has the folder locked, and it is not waited for", str(self.folder))
            self._sleep(seconds)

        same._sleep = pause
        return same

    @contextmanager
    def locked(self) -> Iterator[LedgerView]:
        """Lock the ledger, briefly: read, decide, take. One that cannot be used is one clear WorldError."""
        while True:
            folder = open_folder(self.folder, remedy=_REMEDY)
            try:
                waiting = {"wait_seconds": self._wait_seconds}
                with locked(
                    self.folder, folder, clock=self._clock, sleep=self._sleep, **waiting
                ) as is_current:
                    if is_current:  # else it was removed while we waited for it
                        yield LedgerView(self.folder, folder, self._names)
                        return
            finally:
                os.close(folder)

    def holders(self) -> Mapping[DeviceId, Holder]:
        """Who holds what whole right now, for showing; empty when no ledger was ever made."""
        return self.state()[0]

    def state(self) -> tuple[Mapping[DeviceId, Holder], Mapping[DeviceId, tuple[Holder, ...]]]:
        """Who holds what whole, and who holds shares of what, for showing."""
        with suppress(FileNotFoundError):
            self.folder.lstat()
            with self.locked() as view:
                return view.taken(), view.shares()
        return {}, {}


def _amount(part: Part | None) -> int | None:
    return None if part is None else part.amount
