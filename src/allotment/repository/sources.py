"""Where pages come from: what a bare reference stands for, who may be asked, which folders exist."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from allotment.documents.checking import Place, shown
from allotment.errors import Severity, did_you_mean
from allotment.platform.bucket_folders import is_allowed
from allotment.platform.hosts import Hosts, Origin, origin_of
from allotment.platform.model import REF, Platform
from allotment.platform.networks import Networks, network_to_name, read_address
from allotment.repository.folders import ABSENT, ESCAPES, look_on_disk
from allotment.repository.model import (
    FolderSource,
    ImagesSource,
    ManifestSource,
    PrefixSource,
    ReferenceSource,
    Source,
    Volume,
)

SHOWN_MISSING: Final = 20


def source_data(source: Source) -> Mapping[str, Any]:
    """Where a volume's pages are, as the runner is told: ``{kind: where}``.

    A bare reference is what the template makes of it.
    """
    if isinstance(source, FolderSource):
        return {"folder": source.folder}
    if isinstance(source, PrefixSource):
        return {"prefix": source.prefix}
    if isinstance(source, ManifestSource):
        return {"manifest": source.manifest}
    if isinstance(source, ImagesSource):
        return {"images": list(source.images)}
    return {"manifest" if "://" in source.address else "folder": source.address}


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
    """One finding for each host that may not be asked, at the first volume that names it."""
    if not platform.knows_hosts:
        return
    hosts, networks = Hosts(platform.sources.hosts), Networks(platform.sources.private)
    first: dict[Origin, Place] = {}
    count: dict[Origin, int] = {}
    for index, volume in zip(indexes, volumes, strict=True):
        for origin in _origins(volume.source):
            if hosts.admitted(origin) is None or _is_closed(origin, networks):
                if origin not in first:
                    first[origin] = _source_place(volume.source, place / index, origin)
                count[origin] = count.get(origin, 0) + 1
    for origin, at in first.items():
        if hosts.admitted(origin) is None:
            _tell_host(at, origin, hosts, count[origin])
        else:
            at.found("host-not-allowed", *_closed(origin))
    _look_at_buckets(volumes, indexes, platform, place)


def look_at_template(platform: Platform, place: Place) -> None:
    """A finding where the platform's own template leads to a host that it does not name."""
    template = platform.sources.template
    if template is None or "://" not in template or not platform.knows_hosts:
        return
    hosts, origin = Hosts(platform.sources.hosts), origin_of(template.replace(REF, "R1"))
    if hosts.admitted(origin) is None:
        place.found(
            "host-not-allowed",
            f"the platform's template leads to `{shown(str(origin))}`, and its `sources.hosts` does not",
            "have the host named under `sources.hosts` of the platform's file",
        )
    elif _is_closed(origin, Networks(platform.sources.private)):
        place.found("host-not-allowed", *_closed(origin))


def _is_closed(origin: Origin, networks: Networks) -> bool:
    """Whether the host is an address of the network, and one that nothing may connect to."""
    return read_address(origin.host) is not None and not networks.allows(origin.host)


def _closed(origin: Origin) -> tuple[str, str]:
    """What is wrong with such a host, and what to do."""
    network = network_to_name(origin.host)
    return (
        f"`{origin.host}` is an address that is not open to everybody, so no page can come from it",
        f"have its network named under `sources` of the platform's file: `private: [{network}]`",
    )


def _tell_host(at: Place, origin: Origin, hosts: Hosts, count: int) -> None:
    others = f" ({count:,} volumes name it)" if count > 1 else ""
    hint = "have the host named under `sources.hosts` of the platform's file"
    if origin.host in hosts:
        hint = f"it names the host in another way; have `{origin}` named under `sources.hosts`"
    elif hosts.names():
        hint = did_you_mean(origin.host, hosts.names()) or hint
    message = f"the platform does not let pages come from `{shown(str(origin))}`{others}"
    at.found("host-not-allowed", message, hint)


def _look_at_buckets(
    volumes: Sequence[Volume], indexes: Sequence[int], platform: Platform, place: Place
) -> None:
    """A finding for the first volume in a folder of an object store that the platform does not name."""
    refused = [
        (index, volume.source.prefix)
        for index, volume in zip(indexes, volumes, strict=True)
        if isinstance(volume.source, PrefixSource)
        and not is_allowed(volume.source.prefix, platform.sources.buckets)
    ]
    if refused:
        index, prefix = refused[0]
        others = f" (nor those of {len(refused) - 1:,} more volumes)" if len(refused) > 1 else ""
        (place / index / "folder").found(
            "bucket-not-allowed",
            f"the platform does not let pages come from `{shown(prefix)}`{others}",
            "have it, or a folder above it, named under `sources.buckets` of the platform's file",
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


def _origins(source: Source) -> set[Origin]:
    if isinstance(source, ManifestSource):
        return {origin_of(source.manifest)}
    if isinstance(source, ImagesSource):
        return set(map(origin_of, source.images))
    return set()


def _source_place(source: Source, place: Place, origin: Origin) -> Place:
    """Where a volume names a host."""
    if not isinstance(source, ImagesSource):
        return place / "manifest"
    return (
        place / "images" / next(index for index, url in enumerate(source.images) if origin_of(url) == origin)
    )
