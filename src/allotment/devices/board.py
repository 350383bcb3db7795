"""A board beside the device ledger: what each engine of the machine says of itself, for the others to read.

A notice is a file of one engine's, which keeps it locked (``flock``) for as long as it lives, as devices are
held in the ledger: a killed engine's notice counts for nothing from that moment on, and nothing has to be
cleaned up. Notices are written and read while the ledger is locked, so that what they say goes together with
who holds what. The lock is not inherited: workers that outlive their engine ask for nothing.

Another user wrote what a notice says: it is read with care, and what makes no sense is no notice.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

from allotment.devices.ledger import LedgerView
from allotment.devices.shared_folder import open_own, open_to_read, user_name
from allotment.errors import WorldError

_SUFFIX: Final = ".notice"
LONGEST: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Notice:
    """What an engine says: who it is, whose it is, and its words."""

    engine: str
    user: str
    said: Mapping[str, Any] = field(hash=False)


@dataclass(slots=True)
class Post:
    """An engine's own notice. ``engine`` is its id: letters, digits and ``-``."""

    engine: str
    _fd: int | None = None
    _last: bytes = b""

    @property
    def name(self) -> str:
        """The file's name."""
        return f"{self.engine}@{os.geteuid()}{_SUFFIX}"

    def write(self, view: LedgerView, said: Mapping[str, Any]) -> None:
        """Say this from now on, while the ledger is locked."""
        line = json.dumps(said, separators=(",", ":")).encode() + b"\n"
        try:
            fd = self._opened(view.folder)
            if line != self._last:
                if os.pwrite(fd, line, 0) < len(line):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                os.ftruncate(fd, len(line))
                self._last = line
        except OSError as error:
            raise WorldError(
                f"what this engine asks for cannot be said to others: {error.strerror}",
                self.name,
                "remove that file from the ledger's folder, or name another folder in ALLOT_LEDGER",
            ) from None

    def close(self) -> None:
        """Say nothing any more."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def remove(self, view: LedgerView) -> None:
        """Say nothing any more, and take the file away, while the ledger is locked."""
        self.close()
        with suppress(OSError):
            os.unlink(self.name, dir_fd=view.folder)

    def _opened(self, folder: int) -> int:
        """The file, locked; opened anew when somebody has removed it or its folder."""
        if self._fd is not None and _is_in(folder, self.name, self._fd):
            return self._fd
        self.close()
        self._last = b""
        fd = open_own(folder, self.name)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(fd)
            raise
        self._fd = fd
        return fd


def _is_in(folder: int, name: str, fd: int) -> bool:
    with suppress(FileNotFoundError):
        return os.path.samestat(os.stat(name, dir_fd=folder, follow_symlinks=False), os.fstat(fd))
    return False


def notices(view: LedgerView, *, tidy: bool = False) -> tuple[Notice, ...]:
    """What living engines say, by their ids; with ``tidy``, this user's dead notices are taken away."""
    found = []
    for name in sorted(os.listdir(view.folder)):  # noqa: PTH208 - it is a folder that is open
        engine, _, uid = name.removesuffix(_SUFFIX).rpartition("@")
        if not name.endswith(_SUFFIX) or not uid.isdecimal() or not _is_id(engine):
            continue
        notice = _read(view.folder, name, engine)
        if notice is not None:
            found.append(notice)
        elif tidy and int(uid) == os.geteuid() and _is_dead(view.folder, name):
            with suppress(OSError):
                os.unlink(name, dir_fd=view.folder)
    return tuple(found)


def _is_id(engine: str) -> bool:
    return engine.isascii() and engine.replace("-", "").isalnum()


def _read(folder: int, name: str, engine: str) -> Notice | None:
    """The notice of a living engine; None where nobody holds it, or it makes no sense."""
    try:
        fd = open_to_read(folder, name)
    except PermissionError:
        return None
    if fd is None:
        return None
    try:
        if not _is_locked(fd):
            return None
        said = json.loads(os.pread(fd, LONGEST, 0))
        return Notice(engine, user_name(os.fstat(fd).st_uid), said) if isinstance(said, dict) else None
    except (ValueError, RecursionError):
        return None
    finally:
        os.close(fd)


def _is_dead(folder: int, name: str) -> bool:
    try:
        fd = open_to_read(folder, name)
    except PermissionError:
        return False
    if fd is None:
        return False
    try:
        return not _is_locked(fd)
    finally:
        os.close(fd)


def _is_locked(fd: int) -> bool:
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    return False
