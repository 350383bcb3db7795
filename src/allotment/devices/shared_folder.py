"""A folder that all users of a machine write into, opened so that none of them can be led astray.

Anybody may put a link, a pipe or a file of another name there, so nothing is opened through a link, nothing
is created over what is there, and what is not a plain file of its rightful owner is not touched. Everything
is reached from the open folder, which cannot be exchanged half-way. The folder has the sticky bit: nobody
can remove what is somebody else's. Its own lock (``flock`` on the folder) serialises those who use it.

Facts: ``open(2)``, ``flock(2)``; ``fs.protected_regular`` (Documentation/admin-guide/sysctl/fs.rst) lets
nobody open a stranger's file with O_CREAT in such a folder.
"""

from __future__ import annotations

import errno
import fcntl
import os
import pwd
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from allotment.errors import WorldError

OPEN_TO_ALL = 0o1777
READABLE_BY_ALL = 0o644
_SAFELY = os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | _SAFELY
_WORDS = {
    errno.EACCES: "is closed to you",
    errno.EPERM: "is closed to you",
    errno.ELOOP: "is a link, not a folder of its own",
    errno.ENOTDIR: "is not a folder",
    errno.EROFS: "is on a file system that cannot be written",
    errno.ENOSPC: "is on a file system that is full",
}


def open_folder(path: Path, *, remedy: str) -> int:
    """The folder, opened; it is made, for everybody, when there is none. WorldError when that fails."""
    try:
        try:
            folder = os.open(path, _FOLDER)
        except FileNotFoundError:
            with suppress(FileExistsError):
                _make(path)
            folder = os.open(path, _FOLDER)
    except OSError as error:
        raise _unusable(path, error, remedy) from None
    if not os.access(".", os.R_OK | os.W_OK | os.X_OK, dir_fd=folder):
        os.close(folder)
        raise _unusable(path, PermissionError(errno.EACCES, ""), remedy)
    return folder


def _make(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    mask = os.umask(0)  # or there would be a moment in which the folder is there and closed to others
    try:
        path.mkdir(mode=OPEN_TO_ALL)
    finally:
        os.umask(mask)


def _unusable(path: Path, error: OSError, remedy: str) -> WorldError:
    words = _WORDS.get(error.errno or 0, f"cannot be used: {error.strerror}")
    if path.is_symlink():
        words = _WORDS[errno.ELOOP]
    owner = ""
    with suppress(OSError):
        owner = f"; it belongs to {user_name(path.lstat().st_uid)}"
    return WorldError(f"the folder {words}{owner}", str(path), remedy)


@contextmanager
def locked(
    path: Path,
    folder: int,
    *,
    wait_seconds: float,
    clock: Callable[[], float],
    sleep: Callable[[float], None],
) -> Iterator[bool]:
    """Hold the folder's lock. Yields whether the folder is still the one at ``path``; else open it anew."""
    end = clock() + wait_seconds
    pause = 0.001
    while True:
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
            break
        except BlockingIOError:
            if clock() >= end:
                what = f"somebody has kept the folder locked for {wait_seconds:g} s"
                hint = f"a process that was stopped may hold it: `fuser -v {path}` names it"
                raise WorldError(what, str(path), hint) from None
            sleep(pause)
            pause = min(pause * 2, 0.05)
    try:
        yield _is_at(path, folder)
    finally:
        fcntl.flock(folder, fcntl.LOCK_UN)  # at once, even if a child that is being started has a copy


def _is_at(path: Path, folder: int) -> bool:
    try:
        return os.path.samestat(path.lstat(), os.fstat(folder))
    except FileNotFoundError:
        return False


def open_own(folder: int, name: str) -> int:
    """A file of ours, to read and write, readable by all from the first; under the folder's lock."""
    try:
        fd = os.open(name, os.O_RDWR | _SAFELY, dir_fd=folder)
    except FileNotFoundError:
        return _make_own(folder, name)
    facts = os.fstat(fd)
    if not stat.S_ISREG(facts.st_mode) or facts.st_uid != os.geteuid() or facts.st_nlink != 1:
        os.close(fd)
        raise FileExistsError(errno.EEXIST, "is not the file that we put there", name)
    return fd


def _make_own(folder: int, name: str) -> int:
    new = f".{name}.new"  # it gets its name only once others can read it
    with suppress(FileNotFoundError):
        os.unlink(new, dir_fd=folder)
    fd = os.open(new, os.O_RDWR | os.O_CREAT | os.O_EXCL | _SAFELY, READABLE_BY_ALL, dir_fd=folder)
    try:
        os.fchmod(fd, READABLE_BY_ALL)
        os.rename(new, name, src_dir_fd=folder, dst_dir_fd=folder)
    except OSError:
        os.close(fd)
        raise
    return fd


def open_to_read(folder: int, name: str) -> int | None:
    """Anybody's file, for reading; None when it is no plain file. PermissionError when it is closed."""
    try:
        fd = os.open(name, os.O_RDONLY | _SAFELY, dir_fd=folder)
    except PermissionError:
        raise
    except OSError:
        return None
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        return None
    return fd


def user_name(uid: int) -> str:
    """The user's name, or the number of one who has none here."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)
