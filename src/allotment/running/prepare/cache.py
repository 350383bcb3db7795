"""What a preparation made, in the bucket: parts by their digest, and a marker written last that names them.

Parts are called after their own bytes, so that a preparation that was killed half-way leaves nothing that
could be wrong, only parts that the next one need not write again, and so that two that make different files
never want one key. The marker is created once: whose marker is there has prepared, and everybody reads that.
Files are cut into parts of a bounded size, since an object is written and read as a whole.
"""

from __future__ import annotations

import hashlib
import logging
import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from allotment.buckets.bucket import Conflict, KeyMissing
from allotment.buckets.keys import CacheKeys
from allotment.buckets.once import PatientBucket
from allotment.running.endings import PermanentFailureError, VolumeFailedError
from allotment.running.objects import FORMAT_VERSION, damaged, dump, load

PART_BYTES = 32 * 1024 * 1024
MOST_FILES = 100_000

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class MadeFile:
    """A file by its path below the folder: its parts' digests in order, its size, whether it is a program."""

    path: str
    size: int
    parts: tuple[str, ...]
    executable: bool = False


@dataclass(frozen=True, slots=True)
class Made:
    """All that a preparation made."""

    files: tuple[MadeFile, ...]

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(file.size for file in self.files)

    @property
    def digest(self) -> str:
        """Twelve digits that name exactly these files."""
        return hashlib.sha256(dump({"files": [_written(file) for file in self.files]})).hexdigest()[:12]


def read_made(bucket: PatientBucket, keys: CacheKeys) -> Made | None:
    """What is in the bucket for a recipe, or nothing when nobody has prepared it yet."""
    try:
        value = load(bucket.read(keys.marker), keys.marker)
    except KeyMissing:
        return None
    try:
        return Made(tuple(_file(entry) for entry in value["files"]))
    except (KeyError, TypeError, ValueError) as error:
        raise damaged(keys.marker) from error


def store(bucket: PatientBucket, keys: CacheKeys, folder: Path, *, measured: Mapping[str, Any]) -> Made:
    """Put a folder's files into the bucket, the marker last; returns what counts, which may be another's."""
    _refuse_no_folder(folder)
    there = {entry.key for entry in bucket.list(keys.parts)}
    files = []
    for path in _files_of(folder):
        parts, size = [], 0
        for data in _parts_of(path):
            digest = hashlib.sha256(data).hexdigest()
            key = keys.part(digest)
            if key not in there:
                bucket.put(key, data)
                there.add(key)
            parts.append(digest)
            size += len(data)
        executable = bool(path.stat().st_mode & stat.S_IXUSR)
        files.append(MadeFile(path.relative_to(folder).as_posix(), size, tuple(parts), executable))
    made = Made(tuple(files))
    marker = {"files": [_written(file) for file in files], "format_version": FORMAT_VERSION}
    try:
        bucket.put(keys.marker, dump({**marker, "measured": dict(measured)}))
    except Conflict:
        return read_made(bucket, keys) or made
    return made


def fetch(bucket: PatientBucket, keys: CacheKeys, made: Made, folder: Path) -> None:
    """Write the files into an empty folder, each looked at by its digest."""
    for file in made.files:
        path = folder / _safe(file.path, keys)
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as output:
            for digest in file.parts:
                data = _part(bucket, keys, digest)
                output.write(data)
        path.chmod(0o555 if file.executable else 0o444)


def _part(bucket: PatientBucket, keys: CacheKeys, digest: str) -> bytes:
    try:
        data = bucket.read(keys.part(digest))
    except KeyMissing as error:
        raise VolumeFailedError(
            "cache-missing", "a part of what `prepare` made is gone from the bucket"
        ) from error
    if hashlib.sha256(data).hexdigest() != digest:
        raise damaged(keys.part(digest))
    return data


def _files_of(folder: Path) -> Iterator[Path]:
    """Every file below the folder, in order; links count as what they lead to, if that is in the folder."""
    inside, count = os.path.realpath(folder), 0
    for place, folders, names in os.walk(folder):
        folders.sort()
        if not folders and not names and place != str(folder):
            log.warning("prepare left an empty folder, which is not kept: %s", os.path.relpath(place, folder))
        for name in [*folders, *sorted(names)]:
            path = Path(place) / name
            real = os.path.realpath(path)
            if path.is_symlink() and not real.startswith(f"{inside}{os.sep}"):
                raise PermanentFailureError(
                    "prepare-escapes", f"prepare left a link that leads out of its folder: {name!r:.200}"
                )
            if name in folders:
                _refuse_linked_folder(path)
                continue
            if not path.is_file():
                raise PermanentFailureError(
                    "prepare-odd", f"prepare left {name!r:.200}, which is no plain file"
                )
            count += 1
            if count > MOST_FILES:
                raise PermanentFailureError("prepare-many", f"prepare left more than {MOST_FILES:,} files")
            yield path


def _refuse_no_folder(folder: Path) -> None:
    """Refuse what is no folder any more, which would count as one without files, or as somebody else's."""
    if folder.is_symlink():
        message = "prepare put a link in the place of the folder that it was to fill"
        raise PermanentFailureError("prepare-escapes", message)
    if not folder.is_dir():
        message = "prepare took away the folder that it was to fill; it is to leave files in it"
        raise PermanentFailureError("prepare-odd", message)


def _refuse_linked_folder(path: Path) -> None:
    if path.is_symlink():
        raise PermanentFailureError("prepare-odd", f"prepare left {path.name!r:.200}, a link to a folder")


def _parts_of(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while data := file.read(PART_BYTES):
            yield data


def _written(file: MadeFile) -> dict[str, Any]:
    return {
        "executable": file.executable,
        "parts": list(file.parts),
        "path": file.path,
        "size": file.size,
    }


def _file(value: Mapping[str, Any]) -> MadeFile:
    parts = tuple(str(part) for part in value["parts"])
    return MadeFile(str(value["path"]), int(value["size"]), parts, bool(value["executable"]))


def _safe(path: str, keys: CacheKeys) -> PurePosixPath:
    """A path that stays below its folder, whoever wrote the marker."""
    parts = path.split("/")
    if not path or "\0" in path or any(part in {"", ".", ".."} for part in parts):
        raise damaged(keys.marker)
    return PurePosixPath(path)
