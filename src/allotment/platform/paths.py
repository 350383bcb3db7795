"""Folders by their text: inside the repository, whatever they are called."""

from __future__ import annotations

import os
from typing import Final

from allotment.documents.checking import Place, shown

INSIDE: Final = "name a folder of the repository, such as scans/letters-3"
LONGEST_PART: Final = 255


def look_folder(text: str, place: Place) -> None:
    """Refuse a folder that is not plainly inside the repository."""
    parts = text.removesuffix("/").split("/")
    if "://" in text:
        place.refuse("bad-folder", "a folder of pages lies in the repository, not at an address", INSIDE)
    if text.startswith("/"):
        place.refuse("folder-escapes", f"`{shown(text)}` is an absolute path, outside the repository", INSIDE)
    if ".." in parts:
        place.refuse("folder-escapes", f"`{shown(text)}` leads out of its folder by `..`", INSIDE)
    if "" in parts or "." in parts:
        place.refuse("bad-folder", f"`{shown(text)}` has an empty part, or a `.`", INSIDE)
    if "\\" in text:
        place.refuse(
            "bad-folder", f"`{shown(text)}` has a backslash, which separates nothing here", "write `/`"
        )
    if not text.isprintable():
        place.refuse("bad-folder", f"`{place.name}` has a character that does not print", "rename the folder")
    if any(len(os.fsencode(part)) > LONGEST_PART for part in parts):
        place.refuse("bad-folder", f"`{shown(text)}` has a part that no disk can hold", "shorten it")


def is_within(path: str, folder: str) -> bool:
    """Whether a path without links is a folder, or lies in it."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")
