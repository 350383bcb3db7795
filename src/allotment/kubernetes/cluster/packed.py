"""The bytes of a snapshot's file, unpacked where they are packed: gzip, or a zip with one JSON file in it.

What is unpacked is bounded: a small file can stand for more than any machine holds.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from pathlib import Path
from typing import Final

from allotment.documents import Limits
from allotment.errors import AllotmentError, WorldError

LIMITS: Final = Limits(bytes=1024 * 1024 * 1024, items=50_000_000)
"""What the objects of a cluster may take: ten thousand nodes with all their pods."""

TIMES: Final = 200
LEAST: Final = 64 * 1024 * 1024
"""Objects of clusters, which are much alike, are packed to a thirtieth; a thousandth is something else."""

KAI_FILE: Final = "snapshot.json"
_ZIP: Final = b"PK\x03\x04"
_GZIP: Final = b"\x1f\x8b"
_WINDOW: Final = 31  # of zlib: a gzip header, and the largest window


def snapshot_bytes(path: Path, limits: Limits = LIMITS) -> bytes:
    """What a file holds, unpacked."""
    try:
        with path.open("rb") as file:
            data = file.read(limits.bytes + 1)
    except OSError as error:
        raise WorldError(f"the snapshot cannot be read: {error.strerror}", where=str(path)) from None
    return unpacked(data, str(path), limits)


def unpacked(data: bytes, name: str, limits: Limits = LIMITS) -> bytes:
    """The bytes as they are, or what is packed in them."""
    if data.startswith(_GZIP):
        return _from_gzip(data, name, limits)
    return _from_zip(data, name, limits) if data.startswith(_ZIP) else data


def _from_gzip(data: bytes, name: str, limits: Limits) -> bytes:
    most = _most(len(data), limits)
    reader = zlib.decompressobj(wbits=_WINDOW)
    try:
        found = reader.decompress(data, most + 1)
    except zlib.error as error:
        raise _broken(name, "gzip", str(error)) from None
    if not reader.eof and len(found) <= most:
        raise _broken(name, "gzip", "it ends in the middle")
    return _bounded(found, name, most)


def _from_zip(data: bytes, name: str, limits: Limits) -> bytes:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = archive.namelist()
            chosen = KAI_FILE if KAI_FILE in names else _only_json(names, name)
            with archive.open(chosen) as file:
                most = _most(len(data), limits)
                return _bounded(file.read(most + 1), name, most)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise _broken(name, "zip", str(error)) from None


def _only_json(names: list[str], name: str) -> str:
    found = [each for each in names if each.endswith((".json", ".yaml", ".yml"))]
    if len(found) == 1:
        return found[0]
    held = ", ".join(f"`{each}`" for each in names[:5]) or "nothing"
    raise AllotmentError(
        f"the archive holds no `{KAI_FILE}`, but {held}",
        where=name,
        remedy="give the file that KAI's `/get-snapshot` answered with, as it is",
    )


def _most(packed: int, limits: Limits) -> int:
    return min(limits.bytes, max(LEAST, TIMES * packed))


def _bounded(found: bytes, name: str, most: int) -> bytes:
    if len(found) <= most:
        return found
    raise AllotmentError(
        f"unpacked, the snapshot has more than {most:,} bytes", where=name, remedy="look what it is"
    )


def _broken(name: str, form: str, why: str) -> AllotmentError:
    return AllotmentError(
        f"the {form} file cannot be unpacked: {why}", where=name, remedy="fetch it again: it may be cut short"
    )
