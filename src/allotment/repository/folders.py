"""Folders of pages on the disk: they stay inside the repository, wherever links lead.

What a folder may be called is looked at before (`allotment.platform.paths`); a link may still lead out. A
campaign may name very many folders, so the disk is asked once for each folder that holds them.
"""

from __future__ import annotations

import os
import stat
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from allotment.platform.paths import is_within

MANY: Final = 64

ABSENT, FOLDER, OTHER, ESCAPES = "absent", "folder", "other", "escapes"


@dataclass(frozen=True, slots=True)
class OnDisk:
    """What a folder of a campaign is on the disk, by its place among them, where it is no plain folder."""

    index: int
    kind: str


def look_on_disk(root: Path, folders: Sequence[str]) -> Iterator[OnDisk]:
    """What stands where folders are named, for each that is no folder inside the repository."""
    inside = os.path.realpath(root)
    by_parent: dict[str, list[int]] = defaultdict(list)
    for index, folder in enumerate(folders):
        by_parent[folder.rpartition("/")[0]].append(index)
    for parent, indexes in by_parent.items():
        names = [folders[index].rpartition("/")[2] for index in indexes]
        kinds = _kinds(inside, f"{inside}/{parent}", names)
        for index, kind in zip(indexes, kinds, strict=True):
            if kind != FOLDER:
                yield OnDisk(index, kind)


def _kinds(inside: str, parent: str, names: Sequence[str]) -> Iterator[str]:
    """What each name is, in one folder."""
    real = os.path.realpath(parent)
    if not is_within(real, inside):
        return (ESCAPES for _ in names)
    try:
        entries = _listed(real) if len(names) > MANY else None
    except OSError:
        return (ABSENT for _ in names)
    return (_kind(inside, real, name, entries) for name in names)


def _listed(folder: str) -> dict[str, str]:
    """The kinds of everything in a folder; links are left to be followed."""
    with os.scandir(folder) as entries:
        return {entry.name: _kind_of_entry(entry) for entry in entries}


def _kind_of_entry(entry: os.DirEntry[str]) -> str:
    if entry.is_symlink():
        return ESCAPES
    return FOLDER if entry.is_dir(follow_symlinks=False) else OTHER


def _kind(inside: str, parent: str, name: str, entries: dict[str, str] | None) -> str:
    if entries is not None and entries.get(name, ABSENT) != ESCAPES:
        return entries.get(name, ABSENT)
    path = f"{parent}/{name}"
    try:
        mode = os.lstat(path).st_mode
    except OSError:
        return ABSENT
    if not stat.S_ISLNK(mode):
        return FOLDER if stat.S_ISDIR(mode) else OTHER
    real = Path(path).resolve()
    if not is_within(str(real), inside):
        return ESCAPES
    return FOLDER if real.is_dir() else ABSENT
