"""A complete volume, looked at again: its pages, which of them failed, whether its folder has changed since.

A complete volume is never read again: its manifest holds. Whoever changes the scans afterwards, or gives the
volume's name to another folder, should hear that the results are not of those pages.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from allotment.buckets.bucket import Bucket
from allotment.buckets.keys import RecipeKeys, VolumeKeys
from allotment.errors import AllotmentError
from allotment.running.endings import PermanentFailureError
from allotment.running.engine.work import Work
from allotment.running.objects import load
from allotment.running.sources.folder import file_sizes

PAGE_OF_FILE = re.compile(r"#\d+$")


@dataclass(frozen=True, slots=True)
class PageFault:
    """A page that could not be read: its name, its file or address, and why, as a code and in words."""

    page: str
    source: str
    message: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Completed:
    """What a manifest says. ``change`` says how the folder differs by now, or nothing."""

    pages_done: int = 0
    pages_total: int = 0
    faults: tuple[PageFault, ...] = ()
    change: str = ""

    @property
    def counts(self) -> dict[str, int]:
        """Its pages, as the event of its completion has them."""
        return {
            "pages_done": self.pages_done,
            "pages_total": self.pages_total,
            "pages_failed": len(self.faults),
        }


def completed_volume(bucket: Bucket, work: Work, volume: str) -> Completed:
    """A complete volume of this work, looked at again."""
    keys = RecipeKeys(work.team, work.pipeline, work.recipe).volume(volume)
    return read_completed(bucket, keys, work.root, work.folders.get(volume))


def read_completed(bucket: Bucket, keys: VolumeKeys, root: Path, folder: str | None) -> Completed:
    """What the manifest of a complete volume says, beside its folder as it is now.

    A manifest that cannot be read says nothing, and a folder that is gone has not changed.
    """
    try:
        manifest = load(bucket.read(keys.manifest), keys.manifest)
        pages = [page for page in manifest["pages"] if isinstance(page, dict)]
        messages = (manifest.get("measured") or {}).get("failures") or {}
        faults = tuple(
            PageFault(
                str(page["page"]),
                _source(page),
                str(messages.get(page["page"], page["failed"])).removeprefix(f"{_source(page)}: "),
                str(page["failed"]),
            )
            for page in pages
            if "failed" in page
        )
        recorded = {_source(page): int(page["source"]["size"]) for page in pages if "size" in page["source"]}
    except (AllotmentError, PermanentFailureError, KeyError, TypeError, ValueError, AttributeError):
        return Completed()
    return Completed(len(pages) - len(faults), len(pages), faults, _change(recorded, root, folder))


def _source(page: Mapping[str, Any]) -> str:
    return str(page["source"]["name"])


def _change(recorded: Mapping[str, int], root: Path, folder: str | None) -> str:
    if folder is None:
        return ""
    try:
        here = file_sizes(root, folder)
    except PermanentFailureError:
        return ""
    known = {name if name in here else PAGE_OF_FILE.sub("", name): size for name, size in recorded.items()}
    counts = {
        "new": len(here.keys() - known.keys()),
        "changed": sum(known[name] != here[name] for name in known.keys() & here.keys()),
        "gone": len(known.keys() - here.keys()),
    }
    if not any(counts.values()):
        return ""
    told = ", ".join(f"{number} {what}" for what, number in counts.items() if number)
    return (
        f"its folder {folder} has other files now than when it was read ({told}); its results stay as they "
        "are: give the pages to a volume with a new id to have them read"
    )
