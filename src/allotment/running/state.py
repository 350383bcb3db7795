"""How a volume stands in the bucket, for who starts workers and who looks on: cheap, and by lists alone.

A complete volume costs one look at its manifest, one that nobody has started yet costs a list that finds
nothing. Nothing here writes, and nothing disturbs a worker.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from allotment.buckets.bucket import Bucket, ObjectRefused
from allotment.buckets.keys import VolumeKeys, parse_record, parse_refusal
from allotment.buckets.once import PatientBucket
from allotment.errors import in_one_line
from allotment.running.assignment import Limits
from allotment.running.attempts import read_history
from allotment.running.endings import PermanentFailureError
from allotment.running.holder import Holder, is_dead
from allotment.running.lease import in_force, newest_lease


class VolumeStatus(StrEnum):
    """Where a volume stands in the bucket."""

    NEW = "new"
    PARTIAL = "partial"
    FAILED = "failed"
    COMPLETE = "complete"


@dataclass(frozen=True, slots=True)
class VolumeState:
    """One volume: its status, pages with a record and refused ones, and why it failed.

    ``held_by`` is somebody who works on it now. Of a complete volume no more is looked up than that it is.
    """

    status: VolumeStatus
    pages_done: int = 0
    pages_refused: int = 0
    reason: str = ""
    message: str = ""
    held_by: Holder | None = None


def volume_state(
    bucket: Bucket,
    keys: VolumeKeys,
    limits: Limits,
    *,
    now: float,
    dead: Callable[[Holder], bool] = is_dead,
    sleep: Callable[[float], object] = lambda _seconds: None,
) -> VolumeState:
    """How the volume stands now (Unix seconds)."""
    patient = PatientBucket(bucket, sleep=sleep)
    done = refused = 0
    try:
        if patient.exists(keys.manifest):
            return VolumeState(VolumeStatus.COMPLETE)
        done, refused = count_pages(patient, keys)
        _, held = newest_lease(patient, keys)
        history = read_history(patient, keys, done=done)
    except PermanentFailureError as damage:
        return VolumeState(VolumeStatus.FAILED, done, refused, damage.reason, damage.message)
    except ObjectRefused as damage:
        return VolumeState(VolumeStatus.FAILED, done, refused, "bucket-damaged", in_one_line(damage))
    holder = held.holder if held is not None and in_force(held, now, dead) else None
    refusal = history.refusal(limits)
    if refusal is not None and holder is None:
        return VolumeState(VolumeStatus.FAILED, done, refused, refusal.reason, refusal.message)
    status = VolumeStatus.PARTIAL if history.last or done else VolumeStatus.NEW
    return VolumeState(status, done, refused, held_by=holder)


def count_pages(bucket: PatientBucket, keys: VolumeKeys) -> tuple[int, int]:
    """How many pages have a record, and how many others are refused."""
    done, refused = set(), set()
    for entry in bucket.list(keys.pages):
        if (page := parse_record(entry.key, keys.pages)) is not None:
            done.add(page)
        elif (refusal := parse_refusal(entry.key, keys.pages)) is not None:
            refused.add(refusal[0])
    return len(done), len(refused - done)
