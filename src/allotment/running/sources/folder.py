"""Pages from a folder of the repository: every file in it is a page, and a file of several pages is several.

Files are taken in the order in which a person counts them (``p2`` before ``p10``). What a folder holds beside
its pages is left out: hidden files, what desktops leave behind, folders. Nothing is read from outside the
folder, whatever a link in it says, and nothing that is no regular file is opened.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from allotment.running.endings import PermanentFailureError
from allotment.running.page import page_name
from allotment.running.sources.source import Fetched, PageRef

NO_PAGES = frozenset({"thumbs.db", "desktop.ini", "ehthumbs.db"})
BLOCK = 1 << 20

_DIGITS = re.compile(r"(\d+)")


class SourceChangedError(Exception):
    """A file is not the one any more that was listed when the volume was begun."""


@dataclass(frozen=True, slots=True)
class _File:
    """A file of the folder: where it really is, and the page within it, from 0."""

    path: Path
    index: int


@dataclass(frozen=True)
class FolderSource:
    """The pages of a folder, as they were when it was opened."""

    pages: Sequence[PageRef]
    max_pixels: int
    _files: Sequence[_File] = field(repr=False)
    at_once: int = 4

    def fetch(self, page: PageRef) -> Fetched:
        """The page's bytes; a page of a TIFF or a PDF comes as PNG."""
        from allotment.running.images import read_page

        file = self._files[page.number - 1]
        _check_unchanged(file.path, page)
        data, media_type = read_page(file.path, file.index, self.max_pixels)
        return Fetched(data, media_type, hashlib.sha256(data).hexdigest())

    def digest(self, page: PageRef) -> str:
        """The digest of the page's whole file."""
        file = self._files[page.number - 1]
        digest = hashlib.sha256()
        with file.path.open("rb") as opened:
            while block := opened.read(BLOCK):
                digest.update(block)
        return digest.hexdigest()


def open_folder(root: Path, folder: str, *, max_pixels: int) -> FolderSource:
    """The pages of a folder below ``root``; raises `PermanentFailureError` when there can be none."""
    base = _inside(root, folder)
    pages: list[PageRef] = []
    files: list[_File] = []
    for path, shown, size in _listed(base, folder):
        count, several = _count(path)
        for index in range(count):
            number = len(pages) + 1
            source = f"{shown}#{index + 1}" if several else shown
            pages.append(PageRef(number, page_name(number), source, size))
            files.append(_File(path, index))
    if not pages:
        raise PermanentFailureError("source-empty", _no_pages(base, folder))
    return FolderSource(tuple(pages), max_pixels, tuple(files))


def file_sizes(root: Path, folder: str) -> dict[str, int]:
    """The files that could hold pages, by their names for people, with their sizes in bytes."""
    return {shown: size for _, shown, size in _listed(_inside(root, folder), folder)}


def natural_order(name: str) -> tuple[tuple[tuple[int, str], ...], str]:
    """A key that sorts names as people count: numbers by their value, letters whatever their case."""
    parts = _DIGITS.split(name.casefold())
    key = tuple((int(part), "") if place % 2 else (0, part) for place, part in enumerate(parts))
    return key, name


def _inside(root: Path, folder: str) -> Path:
    """The folder itself, which must lie below the root whatever links are on the way."""
    base = root.resolve()
    try:
        found = (base / folder).resolve(strict=True)
    except FileNotFoundError:
        raise PermanentFailureError("source-missing", f"there is no folder {folder} in {base}") from None
    except (OSError, ValueError) as error:
        raise PermanentFailureError(
            "source-missing", f"the folder {folder} cannot be opened: {error}"
        ) from None
    if Path(folder).is_absolute() or not found.is_relative_to(base):
        raise PermanentFailureError(
            "source-outside", f"the folder {folder} leads out of the repository {base}"
        )
    if not found.is_dir():
        raise PermanentFailureError("source-missing", f"{folder} is a file, and a volume needs a folder")
    return found


def _no_pages(base: Path, folder: str) -> str:
    inner = sorted(entry.name for entry in base.iterdir() if entry.is_dir())
    beside = f" (its folder {inner[0]!r} is not looked into)" if inner else ""
    return f"the folder {folder} has no file that could be a page{beside}"


def _listed(base: Path, folder: str) -> Iterator[tuple[Path, str, int]]:
    """Each file that could hold pages, in order: where it is, its name for people, its size."""
    try:
        with os.scandir(base) as entries:
            found = [(entry.name, entry.is_symlink()) for entry in entries if could_be_a_page(entry.name)]
    except PermissionError:
        raise PermanentFailureError("source-missing", f"the folder {folder} may not be read") from None
    for name, is_link in sorted(found, key=lambda entry: natural_order(entry[0])):
        shown = os.fsencode(name).decode("utf-8", "backslashreplace")
        path = _followed(base, base / name, f"{folder}/{shown}") if is_link else base / name
        about = path.stat()
        if stat.S_ISREG(about.st_mode):
            yield path, shown, about.st_size


def could_be_a_page(name: str) -> bool:
    """Whether a file's name is not one of what desktops leave beside pages."""
    return not name.startswith(".") and name.casefold() not in NO_PAGES


def _followed(base: Path, link: Path, shown: str) -> Path:
    """Where a link leads, which must be within the folder."""
    try:
        path = link.resolve(strict=True)
    except (OSError, RuntimeError):
        raise PermanentFailureError("source-missing", f"{shown} is a link that leads to nothing") from None
    if not path.is_relative_to(base):
        raise PermanentFailureError("source-outside", f"{shown} is a link that leads out of the folder")
    return path


def _count(path: Path) -> tuple[int, bool]:
    """How many pages a file holds, and whether its pages are named one by one."""
    from allotment.running.images import count_pages

    try:
        count = count_pages(path)
    except PermissionError:  # the page will fail, and say so
        count = 1
    return count, count > 1 or path.suffix.casefold() == ".pdf"


def _check_unchanged(path: Path, page: PageRef) -> None:
    """Refuse a file that is another one now: it may have become a pipe, a link, or a longer file."""
    found = path.lstat()
    if not stat.S_ISREG(found.st_mode) or found.st_size != page.size:
        raise SourceChangedError(f"the file {page.source} was changed while the volume was being read")
