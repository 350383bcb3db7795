"""The body of an answer, as much of it as is allowed: counted as it comes, whatever its headers promise.

A promised length is believed only where it is bad news. What is compressed is unpacked piece by piece and
never beyond the limit, so that a small answer cannot become a large one (RFC 9110: Content-Length,
Content-Encoding).
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import Protocol

from allotment.running.sources.web.errors import (
    REFUSED,
    TOO_LARGE,
    UNREADABLE,
    UnreachableError,
    WebRefusedError,
)

BLOCK = 1 << 16
MIB = 1 << 20
PACKED = frozenset({"gzip", "x-gzip", "deflate"})
EITHER_FORMAT = 32 + zlib.MAX_WBITS


class Readable(Protocol):
    """An answer whose body comes in pieces."""

    def read1(self, amt: int, decode_content: bool) -> bytes:  # noqa: FBT001 - the library's own names
        """What is there of the body, waiting for at least a byte of it; nothing at its end."""


def read_body(answer: Readable, headers: Mapping[str, str], most_bytes: int) -> bytes:
    """The whole body; raises `WebRefusedError` when it is too large, `UnreachableError` when it is cut."""
    encoding = headers.get("content-encoding", "").strip().lower()
    if encoding not in {"", "identity", *PACKED}:
        raise WebRefusedError(REFUSED, f"it comes packed as `{encoding:.40}`, which was not asked for")
    promised = _promised(headers)
    if promised is not None and promised > most_bytes:
        raise too_large(most_bytes)
    unpacker = zlib.decompressobj(EITHER_FORMAT) if encoding in PACKED else None
    body, came = bytearray(), 0
    while piece := answer.read1(BLOCK, decode_content=False):
        came += len(piece)
        body += piece if unpacker is None else _unpacked(unpacker, piece, most_bytes + 1 - len(body))
        if came > most_bytes or len(body) > most_bytes:
            raise too_large(most_bytes)
    if not came and promised is None and not headers.get("transfer-encoding", ""):
        raise UnreachableError("it was cut short before anything of it came")
    if promised is not None and came != promised:
        raise UnreachableError(f"it was cut short: {promised} bytes were promised, and {came} came")
    if unpacker is not None and came and not unpacker.eof:
        raise UnreachableError("it was cut short: what is packed in it does not end")
    return bytes(body)


def too_large(most_bytes: int) -> WebRefusedError:
    """The refusal of a body that is larger than is allowed."""
    most = f"{most_bytes / MIB:g} MiB" if most_bytes >= MIB else f"{most_bytes} bytes"
    return WebRefusedError(TOO_LARGE, f"it is larger than {most}, which is the most that is taken")


def _promised(headers: Mapping[str, str]) -> int | None:
    """The length that the headers promise, where it counts."""
    text = headers.get("content-length", "").strip()
    plain = text.isascii() and text.isdigit() and len(text) < 20
    return int(text) if plain and not headers.get("transfer-encoding", "") else None


def _unpacked(unpacker: zlib._Decompress, piece: bytes, most: int) -> bytes:
    if unpacker.eof:
        raise WebRefusedError(UNREADABLE, "there is something behind the end of what is packed in it")
    try:
        return unpacker.decompress(piece, most)
    except zlib.error:
        raise WebRefusedError(UNREADABLE, "what is packed in it is damaged") from None
