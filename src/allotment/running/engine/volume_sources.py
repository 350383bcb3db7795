"""Where a volume's pages come from, as a worker is told: ``{kind: where}``; and what it may ask for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from allotment.platform.model import Platform
from allotment.repository.model import (
    FolderSource,
    ImagesSource,
    ManifestSource,
    PrefixSource,
    Volume,
)
from allotment.running.assignment import Network


def source_of(volume: Volume) -> Mapping[str, Any]:
    """The source of a volume for an assignment; a bare reference is what the template makes of it."""
    source = volume.source
    if isinstance(source, FolderSource):
        return {"folder": source.folder}
    if isinstance(source, PrefixSource):
        return {"prefix": source.prefix}
    if isinstance(source, ManifestSource):
        return {"manifest": source.manifest}
    if isinstance(source, ImagesSource):
        return {"images": list(source.images)}
    return {"manifest" if "://" in source.address else "folder": source.address}


def network_of(platform: Platform) -> Network:
    """What a worker may fetch from where: what the platform's file says under ``sources``."""
    sources = platform.sources
    return Network(hosts=sources.hosts, private=sources.private, buckets=sources.buckets)
