"""What workers measured of themselves, read from the manifests of complete volumes.

A manifest holds what every page took and used, in whichever attempt it was done and on whichever card; pages
that failed are only counted. What cannot be read says nothing: figures are for advice, and one damaged
manifest must not keep anybody from it.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final

from allotment.buckets.bucket import Bucket
from allotment.buckets.keys import NameRefused, RecipeKeys, check_name
from allotment.errors import AllotmentError
from allotment.running.endings import PermanentFailureError
from allotment.running.manifest import MEASURED
from allotment.running.objects import MALFORMED, load, mapping, moment, whole

AT_ONCE: Final = 16
_PEAK: Final = "peak_device_memory_bytes"
_TOLD_BY: Final = "device_memory_told_by"


@dataclass(frozen=True, slots=True)
class PageFigures:
    """One page: seconds in the steps, seconds that it was waited for, and what it used of which card.

    ``card`` is the product name, empty where nobody told; ``peak`` is in bytes.
    """

    seconds: float
    waited: float
    card: str = ""
    peak: int | None = None
    told_by: str = ""


@dataclass(frozen=True, slots=True)
class VolumeFigures:
    """One complete volume. ``peaks`` holds the most of its last attempt, pages and loading, by card.

    ``load`` is how long that attempt's worker on ``host`` had loaded its steps; a worker that does several
    volumes loads once, and says the same of each.
    """

    volume: str
    pages: tuple[PageFigures, ...]
    failed: int = 0
    at: float = 0.0
    peaks: Mapping[str, int] | None = None
    load: float = 0.0
    host: str = ""

    def peak(self, card: str) -> int | None:
        """The most that it used of this kind of card."""
        found = [page.peak for page in self.pages if page.card == card and page.peak is not None]
        found += [amount for name, amount in (self.peaks or {}).items() if name == card]
        return max(found, default=None)


@dataclass(frozen=True, slots=True)
class Figures:
    """What there is of one recipe; ``unread`` are manifests that could not be read."""

    volumes: tuple[VolumeFigures, ...] = ()
    unread: int = 0

    def beside(self, other: Figures | None) -> Figures:
        """These, and those of another pipeline that does the same."""
        if other is None:
            return self
        return Figures((*other.volumes, *self.volumes), other.unread + self.unread)


def read_figures(bucket: Bucket, keys: RecipeKeys, volumes: Collection[str] | None = None) -> Figures:
    """The figures of a recipe's complete volumes, or of those of them that are named."""
    there = [name for name in bucket.list_folders(keys.prefix) if _is_volume(name)]
    wanted = sorted(there if volumes is None else set(there) & set(volumes))
    if not wanted:
        return Figures()
    with ThreadPoolExecutor(min(AT_ONCE, len(wanted))) as pool:
        found = list(pool.map(lambda volume: _read(bucket, keys, volume), wanted))
    complete = tuple(each for each in found if isinstance(each, VolumeFigures))
    return Figures(complete, sum(each is _DAMAGED for each in found))


def recipes_of(bucket: Bucket, team: str, pipeline: str) -> tuple[str, ...]:
    """The recipes under which a pipeline has results."""
    return tuple(bucket.list_folders(f"{check_name(team, 'team')}/{check_name(pipeline, 'pipeline')}/"))


_DAMAGED: Final = object()


def _read(bucket: Bucket, keys: RecipeKeys, volume: str) -> object:
    """A volume's figures; None where it is not complete."""
    key = keys.volume(volume).manifest
    if not bucket.exists(key):
        return None
    try:
        return volume_figures(volume, load(bucket.read(key), key))
    except (PermanentFailureError, AllotmentError, *MALFORMED):
        return _DAMAGED


def volume_figures(volume: str, manifest: Mapping[str, Any]) -> VolumeFigures:
    """What a manifest says; raises one of MALFORMED where it is none."""
    measured = mapping(manifest.get(MEASURED))
    peaks = {str(measured["card"]): whole(measured[_PEAK])} if {"card", _PEAK} <= measured.keys() else {}
    return VolumeFigures(
        volume=volume,
        pages=tuple(_pages(measured)),
        failed=whole(mapping(manifest.get("counts")).get("failed", 0)),
        at=moment(measured.get("at")) or 0.0,
        peaks=peaks,
        load=_seconds(measured.get("load_seconds", 0.0)),
        host=str(measured.get("host") or ""),
    )


def _pages(measured: Mapping[str, Any]) -> Iterator[PageFigures]:
    for page in mapping(measured.get("pages")).values():
        peak = page.get(_PEAK)
        yield PageFigures(
            seconds=_seconds(page["seconds"]),
            waited=_seconds(page.get("wait_seconds", 0.0)),
            card=str(page.get("card") or ""),
            peak=None if peak is None else whole(peak),
            told_by=str(page.get(_TOLD_BY) or ""),
        )


def _seconds(value: Any) -> float:
    seconds = float(value)
    if not math.isfinite(seconds) or seconds < 0:
        raise ValueError("no seconds")
    return seconds


def _is_volume(name: str) -> bool:
    try:
        return check_name(name, "volume") == name and name != "cache"
    except NameRefused:
        return False
