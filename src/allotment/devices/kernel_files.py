"""Small files of ``/proc`` and ``/sys``, read under a root that tests can choose, and never an error.

Machines leave files out, containers hide them, old kernels write them differently. Whoever reads here asks
for what there is and has a sensible answer for what there is not.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

_LONGEST = 65_536  # bytes of a file, and numbers of a list: more is not a file of this kind


def read_text(root: Path, path: str) -> str | None:
    """The file's text without the space around it; None when it cannot be read."""
    try:
        fd = os.open(f"{root}/{path}", os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except (OSError, ValueError):
        return None
    try:
        return os.read(fd, _LONGEST).decode("ascii", "replace").strip()
    except OSError:
        return None
    finally:
        os.close(fd)


def read_number(root: Path, path: str) -> int | None:
    """The file's whole number, which may be negative; None when it does not hold one."""
    return number(read_text(root, path) or "")


def read_list(root: Path, path: str) -> tuple[int, ...] | None:
    """The file's list of numbers, sorted; None when it cannot be read."""
    text = read_text(root, path)
    return None if text is None else parse_list(text)


def number(text: str) -> int | None:
    """A whole number in plain digits, or None."""
    digits = text.removeprefix("-")
    return int(text) if digits.isascii() and digits.isdigit() and len(digits) < 20 else None


def parse_list(text: str) -> tuple[int, ...]:
    """The kernel's list format, such as ``0-3,8,10-11``; parts that are none are passed over."""
    found: set[int] = set()
    for part in text.split(","):
        first, _, last = part.strip().partition("-")
        start, end = number(first), number(last or first)
        if start is not None and end is not None and 0 <= start <= end < _LONGEST:
            found.update(range(start, end + 1))
    return tuple(sorted(found))


def read_meminfo(root: Path, path: str) -> int | None:
    """Bytes after ``MemTotal:``, on ``/proc/meminfo`` and on a NUMA node's own."""
    for line in (read_text(root, path) or "").splitlines():
        _, label, rest = line.partition("MemTotal:")
        kilobytes = number(rest.split()[0]) if label and rest.split() else None
        if kilobytes is not None and kilobytes >= 0:
            return kilobytes * 1024
    return None


def numbered(root: Path, path: str, prefix: str) -> Iterator[tuple[int, str]]:
    """Entries such as ``node0`` and ``node1`` of a folder, with their numbers, in order."""
    try:
        names = os.listdir(f"{root}/{path}")  # noqa: PTH208 - hundreds of entries, and names are all we want
    except OSError:
        return
    pairs = ((number(name.removeprefix(prefix)), name) for name in names if name.startswith(prefix))
    yield from sorted((count, name) for count, name in pairs if count is not None and count >= 0)
