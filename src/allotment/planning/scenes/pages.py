"""How many pages a volume has, as far as that can be told without a network.

Addresses of images are counted where they are listed, files where a folder is at hand; what a manifest or a
prefix elsewhere holds only the bucket knows, once the volume is complete.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping

from allotment.planning.figures import Figures
from allotment.planning.scenes.values import Known
from allotment.repository.model import ImagesSource, Volume
from allotment.repository.sources import source_data

UNKNOWN = 0


def pages_of(volume: Volume, known: Known) -> int:
    """The pages of a volume, or UNKNOWN."""
    if isinstance(volume.source, ImagesSource):
        return len(volume.source.images)
    return known.pages.get(where_of(volume), UNKNOWN)


def where_of(volume: Volume) -> str:
    """Where its pages are, as one text: ``folder:scans/letters-3``."""
    if isinstance(volume.source, ImagesSource):
        return f"images:{len(volume.source.images)}"
    ((kind, where),) = source_data(volume.source).items()
    return f"{kind}:{where}" if isinstance(where, str) else f"{kind}:{json.dumps(where)}"


def counts_of(figures: Iterable[Figures]) -> tuple[int, ...]:
    """How many pages the complete volumes had, sorted."""
    return tuple(sorted(_counts(figures)))


def _counts(figures: Iterable[Figures]) -> Iterator[int]:
    for each in figures:
        for volume in each.volumes:
            if volume.pages:
                yield len(volume.pages) + volume.failed


def counted(known: Known, volumes: Iterable[Volume]) -> Mapping[bool, int]:
    """How many volumes have a known number of pages, and how many have not."""
    found = {True: 0, False: 0}
    for volume in volumes:
        found[pages_of(volume, known) != UNKNOWN] += 1
    return found
