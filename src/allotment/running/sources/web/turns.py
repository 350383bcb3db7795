"""Turns at a host for every process of this user on this machine: so many requests at once, all together.

Each worker is a process of its own, and eight of them that are polite each by itself are eight times as many
as a host was promised. A turn is therefore a locked file (``flock``), one of as many as there may be requests
at once. The kernel lets go of the lock when its process is gone, however it ended, so nothing can be left
behind. Whoever wants a turn passes a door first, one process at a time, which makes the turns fair: who is
done has to queue again. The door also tells until when a host wants to be left alone, for all of them.

The files lie in the machine's shared folder, where the ledger of devices is, in a part that is this user's
alone. Where it cannot be used, a worker keeps its manners by itself, and says so once.
"""

from __future__ import annotations

import fcntl
import hashlib
import logging
import os
import random
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

from allotment.devices.shared_folder import open_folder
from allotment.errors import AllotmentError

REMEDY: Final = "name a folder that this user may write in ALLOT_LEDGER"
LONGEST_PAUSE: Final = 60.0
SHORTEST_LOOK: Final = 0.002
LONGEST_LOOK: Final = 0.05
ALONE: Final = "hosts are asked without regard for other workers of this machine: %s"
_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE: Final = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC

log = logging.getLogger(__name__)


class TooLateError(Exception):
    """No turn came before the time that there was for it."""


@dataclass(slots=True)
class SharedTurns:
    """Turns by files below the machine's shared ``folder``; ``monotonic`` must be one for all processes."""

    folder: Path
    at_once: int
    monotonic: Callable[[], float] = time.monotonic
    sleep: Callable[[float], object] = time.sleep
    chance: Callable[[], float] = random.random
    _complained: bool = field(default=False, init=False)

    @contextmanager
    def turn(self, host: str, deadline: float) -> Iterator[None]:
        """Wait for a turn at the host, and hold it; raises `TooLateError` when there is none in time."""
        slot = -1
        try:
            slot = self._entered(_digest(host), deadline)
        except (OSError, AllotmentError) as error:
            self._complain(error)
        try:
            yield
        finally:
            if slot >= 0:
                _let_go(slot)

    def leave_alone(self, host: str, until: float) -> None:
        """Let nobody have a turn at the host until then, and this cannot be longer than for a minute."""
        try:
            with self._opened(f"{_digest(host)}.door") as door:
                os.pwrite(door, f"{max(until, _pause_in(door)):020.3f}".encode(), 0)
        except (OSError, AllotmentError) as error:
            self._complain(error)

    def _entered(self, digest: str, deadline: float) -> int:
        """The open file of a slot that is ours now."""
        with self._opened(f"{digest}.door") as door:
            self._wait(partial(_is_locked, door), deadline)
            try:
                self._wait(lambda: self.monotonic() >= self._quiet_until(door), deadline)
                taken: list[int] = []
                self._wait(lambda: self._took(digest, taken), deadline)
                return taken[0]
            finally:
                fcntl.flock(door, fcntl.LOCK_UN)

    def _quiet_until(self, door: int) -> float:
        """When the host may be asked; what was written before the machine was started last is void."""
        until = _pause_in(door)
        return until if until <= self.monotonic() + LONGEST_PAUSE else 0.0

    def _took(self, digest: str, taken: list[int]) -> bool:
        """Whether one of the slots could be had; looked for from a random one on."""
        first = int(self.chance() * self.at_once)
        for place in range(self.at_once):
            with self._opened(f"{digest}.{(first + place) % self.at_once}") as slot:
                if _is_locked(slot):
                    taken.append(os.dup(slot))
                    return True
        return False

    def _wait(self, ready: Callable[[], bool], deadline: float) -> None:
        """Look again and again, in growing pauses of random length, until it is so."""
        pause = SHORTEST_LOOK
        while not ready():
            if self.monotonic() >= deadline:
                raise TooLateError
            self.sleep(pause * (0.5 + 0.5 * self.chance()))
            pause = min(pause * 2, LONGEST_LOOK)

    @contextmanager
    def _opened(self, name: str) -> Iterator[int]:
        """A file of this user's part of the folder; both are made where they are not there."""
        folder = self._own_folder()
        try:
            file = os.open(name, _FILE, 0o600, dir_fd=folder)
        finally:
            os.close(folder)
        try:
            yield file
        finally:
            os.close(file)

    def _own_folder(self) -> int:
        own = f"hosts-{os.geteuid()}"
        try:
            folder = os.open(self.folder / own, _FOLDER)
        except FileNotFoundError:
            shared = open_folder(self.folder, remedy=REMEDY)
            try:
                with suppress(FileExistsError):
                    os.mkdir(own, 0o700, dir_fd=shared)
                folder = os.open(own, _FOLDER, dir_fd=shared)
            finally:
                os.close(shared)
        facts = os.fstat(folder)
        if facts.st_uid != os.geteuid() or stat.S_IMODE(facts.st_mode) & 0o022:
            os.close(folder)
            raise PermissionError(f"{self.folder / own} is not this user's alone")
        return folder

    def _complain(self, error: Exception) -> None:
        if not self._complained:
            self._complained = True
            log.warning(ALONE, error)


def _digest(host: str) -> str:
    return hashlib.sha256(host.encode()).hexdigest()[:32]


def _is_locked(file: int) -> bool:
    """Whether the file's lock is ours now."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _let_go(slot: int) -> None:
    fcntl.flock(slot, fcntl.LOCK_UN)  # at once, even where a child that is being started has a copy
    os.close(slot)


def _pause_in(door: int) -> float:
    try:
        return float(os.pread(door, 20, 0) or b"0")
    except ValueError:
        return 0.0
