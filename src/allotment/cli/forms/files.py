"""How a file is named to whoever shows findings: from one folder, however the check was told of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Named:
    """A path as it is shown. ``is_inside`` tells that it is relative to the folder."""

    path: str
    is_inside: bool
    is_file: bool


def named(file: str, folder: Path) -> Named:
    """The file as the folder would name it; one outside of it by its whole path."""
    path = folder / file
    try:
        inside = path.absolute().relative_to(folder.absolute())
    except ValueError:
        return Named(str(path), is_inside=False, is_file=not path.is_dir())
    if ".." in inside.parts:
        return Named(str(path.resolve()), is_inside=False, is_file=not path.is_dir())
    return Named(inside.as_posix(), is_inside=True, is_file=not path.is_dir())
