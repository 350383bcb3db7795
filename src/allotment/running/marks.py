"""Marks: empty objects whose names alone say how volumes stand, so that one list tells of ten thousand.

Whether a volume is complete is said by its manifest, and whether it may be started again by its attempts; a
mark is only a quick way to know both. It is written after what it speaks of (that a retry is asked for:
before), so that a mark that is there is never wrong, and one that is missing, after a kill or in a bucket of
an older version, only means that the volume itself is looked at.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field

from allotment.buckets.bucket import Bucket
from allotment.buckets.keys import RecipeKeys, VolumeKeys, parse_mark
from allotment.buckets.once import PatientBucket
from allotment.errors import AllotmentError

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Pages:
    """The pages of a complete volume, and how many of them failed."""

    total: int
    failed: int


@dataclass(frozen=True, slots=True)
class Marks:
    """What the marks of one recipe say: volumes that are complete, and such that failed for good."""

    complete: Mapping[str, Pages] = field(default_factory=dict)
    failed: frozenset[str] = frozenset()


def mark_complete(bucket: PatientBucket, keys: VolumeKeys, *, pages: int, failed: int) -> None:
    """Note that a volume has its manifest; it is no harm if that cannot be noted."""
    _mark(bucket, keys.complete_mark(pages, failed))


def mark_failed(bucket: PatientBucket, keys: VolumeKeys, attempt: int) -> None:
    """Note that an attempt has ended for good; it is no harm if that cannot be noted."""
    _mark(bucket, keys.failed_mark(attempt))


def mark_retried(bucket: PatientBucket, keys: VolumeKeys, number: int) -> None:
    """Note that a retry will be asked for under this number; raises when it cannot be noted."""
    bucket.put(keys.retried_mark(number), b"")


def read_marks(bucket: Bucket, keys: RecipeKeys) -> Marks:
    """What the marks of a recipe say, by one list."""
    complete: dict[str, Pages] = {}
    failed: dict[str, int] = {}
    retried: dict[str, int] = {}
    for entry in bucket.list(keys.index):
        mark = parse_mark(entry.key, keys.index)
        if mark is None:
            continue
        if mark.kind == "complete":
            complete[mark.volume] = Pages(mark.number, mark.failed)
        else:
            newest = failed if mark.kind == "failed" else retried
            newest[mark.volume] = max(mark.number, newest.get(mark.volume, 0))
    still = (volume for volume, number in failed.items() if number > retried.get(volume, 0))
    return Marks(complete, frozenset(still))


def _mark(bucket: PatientBucket, key: str) -> None:
    try:
        bucket.put(key, b"")
    except AllotmentError as error:
        log.info("a mark was not written, and the volume will be looked at instead: %s", error)
