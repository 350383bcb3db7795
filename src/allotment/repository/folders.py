"""Folders of pages on the disk: they stay inside the repository, wherever links lead.

What a folder may be called is looked at before (`allotment.platform.paths`); a link may still lead out. A
campaign may name very many folders, so the disk is asked once for each folder that holds them.
"""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Sequence
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


def look_on_disk(root: Path, folders: Sequence[str]) -> list[OnDisk]:
    """What stands where folders are named, for each that is no folder inside the repository."""
    inside = os.path.realpath(root)
    parents = Counter(folder.rpartition("/")[0] for folder in folders)
    real = {parent: os.path.realpath(f"{inside}/{parent}") for parent in parents}
    plain: set[str] = set()
    for parent, count in parents.items():
        if count > MANY and is_within(real[parent], inside):
            plain |= _plain_folders(real[parent], f"{parent}/" if parent else "")
    if plain.issuperset(folders):
        return []
    found = []
    for index, folder in enumerate(folders):
        if folder not in plain:
            parent, _, name = folder.rpartition("/")
            kind = _kind(inside, real[parent], name)
            if kind != FOLDER:
                found.append(OnDisk(index, kind))
    return found


def _plain_folders(parent: str, prefix: str) -> set[str]:
    """The folders in a folder that are no links, with a prefix before their names."""
    try:
        with os.scandir(parent) as entries:
            return {prefix + entry.name for entry in entries if entry.is_dir(follow_symlinks=False)}
    except OSError:
        return set()


def _kind(inside: str, parent: str, name: str) -> str:
    """What a name is, in a folder without links."""
    path = f"{parent}/{name}"
    try:
        is_link = stat.S_ISLNK(os.lstat(path).st_mode)
        real = os.path.realpath(path) if is_link else path
        if not is_within(real, inside):
            return ESCAPES
        return FOLDER if stat.S_ISDIR(Path(real).stat().st_mode) else OTHER
    except OSError:
        return ABSENT if is_within(parent, inside) else ESCAPES
