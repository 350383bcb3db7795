"""Writes the starter repository into a folder, and never over anything that is there."""

from __future__ import annotations

import itertools
import os
import shlex
import zlib
from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path, PurePosixPath

from allotment.errors import UsageError, WorldError
from allotment.starter.typeset import typeset

DOT = "dot-"
TRUTH = "truth"
SCANS = "scans"
MAY_BE_THERE = {".git"}
NAME = "my-archive"


def write_starter(target: Path) -> tuple[PurePosixPath, ...]:
    """Write the starter repository into an empty folder, made if need be; returns the files, sorted."""
    _refuse_what_is_there(target)
    written = []
    try:
        for name, content in starter_files():
            path = target / name
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("xb") as file:
                file.write(content)
            written.append(name)
    except OSError as error:
        raise WorldError(
            f"the starter repository could not be written: {error.strerror or error}",
            str(error.filename or target),
            f"make room or another folder, remove what was written into {target}, and try again",
        ) from error
    return tuple(sorted(written))


def starter_files() -> Iterator[tuple[PurePosixPath, bytes]]:
    """Every file of the starter repository with its content; the pages are typeset on the way."""
    for name, file in _stored(files("allotment.starter").joinpath("repository"), PurePosixPath()):
        content = file.read_bytes()
        yield name, content
        if name.parts[0] == TRUTH:
            page = PurePosixPath(SCANS, *name.parts[1:]).with_suffix(".png")
            yield page, typeset(content.decode(), seed=zlib.crc32(str(page).encode()))


def _stored(folder: Traversable, place: PurePosixPath) -> Iterator[tuple[PurePosixPath, Traversable]]:
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        name = place / (f".{entry.name.removeprefix(DOT)}" if entry.name.startswith(DOT) else entry.name)
        if entry.is_dir():
            yield from _stored(entry, name)
        else:
            yield name, entry


def _refuse_what_is_there(target: Path) -> None:
    """A folder with anything in it is somebody's; only an empty one, or one fresh from git, will do."""
    if target.is_symlink() and not target.exists():
        raise UsageError("this is a link that leads nowhere", str(target), "name another folder")
    if not target.exists():
        return
    if not target.is_dir():
        raise UsageError("there is a file of that name", str(target), "name a folder that is new or empty")
    there = sorted(entry.name for entry in target.iterdir() if entry.name not in MAY_BE_THERE)
    if there:
        others = f" and {len(there) - 1} more" if len(there) > 1 else ""
        raise UsageError(
            f"the folder is not empty (it has {there[0]}{others}), and nothing is ever overwritten",
            str(target),
            f"name a folder that is new or empty, such as: allot init {shlex.quote(str(_free(target)))}",
        )


def _free(target: Path) -> Path:
    """A name inside the folder that nothing has yet."""
    numbered = (f"{NAME}-{number}" for number in itertools.count(2))
    names = itertools.chain((NAME,), numbered)
    return next(target / name for name in names if not os.path.lexists(target / name))
