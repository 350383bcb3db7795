"""Where pages come from: what a bare reference stands for, which hosts may be asked, which folders exist."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from allotment.documents.checking import Place, shown
from allotment.errors import Severity, did_you_mean
from allotment.platform.addresses import host_of
from allotment.platform.model import REF, Platform
from allotment.repository.folders import ABSENT, ESCAPES, look_on_disk
from allotment.repository.model import (
    FolderSource,
    ImagesSource,
    ManifestSource,
    ReferenceSource,
    Source,
    Volume,
)

SHOWN_MISSING: Final = 20


def reference_source(platform: Platform) -> Callable[[str], Source] | None:
    """What makes a source of a bare reference, if the platform has a template for it."""
    template = platform.sources.template
    if template is None:
        return None
    if "://" in template:
        return lambda reference: ReferenceSource(reference, template)
    return lambda reference: FolderSource(template.replace(REF, reference))


def look_at_hosts(
    volumes: Sequence[Volume], indexes: Sequence[int], platform: Platform, place: Place
) -> None:
    """One finding for each host that the platform does not name, at the first volume that names it."""
    if "sources" in platform.unread:
        return
    allowed = {host.lower() for host in platform.sources.hosts}
    first: dict[str, Place] = {}
    count: dict[str, int] = {}
    for index, volume in zip(indexes, volumes, strict=True):
        for host in _hosts(volume.source) - allowed:
            first.setdefault(host, _source_place(volume.source, place / index, host))
            count[host] = count.get(host, 0) + 1
    for host, at in first.items():
        others = f" ({count[host]:,} volumes name it)" if count[host] > 1 else ""
        hint = did_you_mean(host, allowed) if allowed else ""
        at.found(
            "host-not-allowed",
            f"the platform does not let pages come from `{shown(host)}`{others}",
            hint or "have the host named under `sources.hosts` of the platform's file",
        )


def look_at_folders(folders: Sequence[str], indexes: Sequence[int], root: Path, place: Place) -> None:
    """Findings about folders on the disk: ones that lead out are errors, missing ones warnings."""
    missing: list[tuple[Place, str]] = []
    for seen in look_on_disk(root, folders):
        at, folder = place / indexes[seen.index] / "folder", folders[seen.index]
        if seen.kind == ABSENT:
            missing.append((at, folder))
        elif seen.kind == ESCAPES:
            message = f"`{shown(folder)}` leads out of the repository by a link"
            at.found("folder-escapes", message, "put the pages inside the repository")
        else:
            at.found(
                "not-a-folder", f"`{shown(folder)}` is no folder", "name the folder that holds the pages"
            )
    _tell_missing(missing, len(folders))


def _tell_missing(missing: Sequence[tuple[Place, str]], of: int) -> None:
    """A warning for each folder that is not there, or one for all of them when they are many."""
    if len(missing) > SHOWN_MISSING:
        place, folder = missing[0]
        message = f"{len(missing):,} of {of:,} folders are not here, the first of them `{shown(folder)}`"
        hint = "a run fails those volumes"
        place.found("missing-folder", message, hint, severity=Severity.WARNING)
        return
    for place, folder in missing:
        message = f"there is no folder `{shown(folder)}` in the repository"
        place.found("missing-folder", message, "a run fails this volume", severity=Severity.WARNING)


def _hosts(source: Source) -> set[str]:
    if isinstance(source, ManifestSource):
        return {host_of(source.manifest)}
    if isinstance(source, ImagesSource):
        return set(map(host_of, source.images))
    return set()


def _source_place(source: Source, place: Place, host: str) -> Place:
    """Where a volume names a host."""
    if not isinstance(source, ImagesSource):
        return place / "manifest"
    return place / "images" / next(index for index, url in enumerate(source.images) if host_of(url) == host)
