"""The text of a file, and its lines as an editor counts them.

Facts: libyaml counts every code point, but also ends lines at U+0085, U+2028 and U+2029 where editors do not;
so places are computed here, from the offset of a code point, with the line ends that editors know.
"""

from __future__ import annotations

import os
import re
import stat
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from allotment.errors import Finding, FindingsError, Position

BYTE_ORDER_MARK = "\ufeff"
LINE_END = re.compile(r"\r\n|\r|\n")
ITEM_SIGNS = "\n\r,[{?"
SPLIT_HINT = "split the campaign into several files"
HIDDEN_LINE_ENDS = ("\x85", "\u2028", "\u2029")
OTHER_ENCODINGS = {b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}

LOOK_AT_IT = "look at the file, and at the disk that it lies on"
_UNREADABLE: dict[type[OSError], str] = {
    FileNotFoundError: "is the name right? It counts from this folder, unless it begins with /",
    NotADirectoryError: "is the name right? A part of it is a file, and no folder",
    PermissionError: "look at its permissions",
}


@dataclass(frozen=True, slots=True)
class Limits:
    """What a file may be: larger or deeper than that is no description of work.

    ``items`` bounds its lines, commas and brackets together, and so how many values it can hold.
    """

    bytes: int = 32 * 1024 * 1024
    items: int = 1_000_000
    depth: int = 64


@dataclass(frozen=True)
class Source:
    """A file's text (without a byte order mark) under the name that its user would type."""

    name: str
    text: str

    def position(self, offset: int) -> Position:
        """The line and column, from 1 and in code points, of the code point at ``offset``."""
        line = bisect_right(self._line_starts, offset)
        return Position(self.name, line, offset - self._line_starts[line - 1] + 1)

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(match.end() for match in LINE_END.finditer(self.text))]


def read_source(path: Path, name: str, limits: Limits) -> Source:
    """The file's text, or one clear finding: a pipe, a folder, too large, not UTF-8."""
    return source_of(_read_bytes(path, name, limits), name, limits)


def source_of(data: bytes, name: str, limits: Limits) -> Source:
    """The text of these bytes, or one clear finding."""
    if len(data) > limits.bytes:
        raise _refused(
            Position(name),
            "file-too-large",
            f"the file has more than {limits.bytes:,} bytes, which no description of work needs",
            SPLIT_HINT,
        )
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _not_utf8(data, error.start, name) from None
    source = Source(name, text.removeprefix(BYTE_ORDER_MARK))
    if sum(map(text.count, ITEM_SIGNS)) > limits.items:
        raise _refused(
            Position(name),
            "file-too-large",
            f"the file has more than {limits.items:,} lines and items, which no description of work needs",
            SPLIT_HINT,
        )
    _refuse_hidden_line_ends(source)
    return source


class _NotAFileError(Exception):
    """What was opened is a folder, a pipe or a device."""


def _open_at_once(path: str, flags: int) -> int:
    """Open a regular file; anything else is closed again, and a pipe without a writer is not waited for."""
    descriptor = os.open(path, flags | os.O_NONBLOCK)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise _NotAFileError
    return descriptor


def _read_bytes(path: Path, name: str, limits: Limits) -> bytes:
    """The bytes of a regular file, at most one more than the limit; never waits on a pipe."""
    try:
        with open(path, "rb", opener=_open_at_once) as file:
            return file.read(limits.bytes + 1)
    except _NotAFileError:
        raise _refused(
            Position(name), "not-a-file", "this is no regular file", "put a YAML file in its place"
        ) from None
    except OSError as error:
        reason = (error.strerror or type(error).__name__).lower()
        hint = _UNREADABLE.get(type(error), LOOK_AT_IT)
        raise _refused(
            Position(name), "file-unreadable", f"the file cannot be read: {reason}", hint
        ) from None


def _not_utf8(data: bytes, offset: int, name: str) -> FindingsError:
    """The finding for bytes that are not UTF-8: the offset of the first, and the line that it is on."""
    line_start = max(data.rfind(b"\n", 0, offset), data.rfind(b"\r", 0, offset)) + 1
    before = data[:line_start].decode("utf-8")
    line = 1 + sum(1 for _ in LINE_END.finditer(before))
    column = 1 + len(data[line_start:offset].decode("utf-8").removeprefix(BYTE_ORDER_MARK))
    encoding = OTHER_ENCODINGS.get(data[:2], "another encoding, such as Latin-1")
    return _refused(
        Position(name, line, column),
        "not-utf8",
        f"byte {offset} of the file (0x{data[offset]:02X}) is not UTF-8: it looks like {encoding}",
        "save the file as UTF-8",
    )


def _refuse_hidden_line_ends(source: Source) -> None:
    """Refuse the line ends that YAML has and editors do not show: what follows a comment would be read."""
    found = [offset for mark in HIDDEN_LINE_ENDS if (offset := source.text.find(mark)) >= 0]
    if found:
        offset = min(found)
        raise _refused(
            source.position(offset),
            "hidden-line-end",
            f"the character U+{ord(source.text[offset]):04X} ends a line for YAML, which editors do not show",
            "write an ordinary line end, or a space",
        )


def _refused(position: Position, rule: str, message: str, hint: str) -> FindingsError:
    return FindingsError([Finding(position, rule, message, hint)])
