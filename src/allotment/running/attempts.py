"""How often a volume was started, how those starts ended, and whether it may be started again.

Three things are told apart. A *failure* was the worker's own: it burns one of ``retries``. A *reclaim* came
from outside (SIGTERM, a killed process, a lost machine: a start without an end): it burns nothing, but
``reclaims`` of them in a row without a new page end the matter too. A *permanent* failure is remembered
until somebody asks for a retry. Each start carries the counts that held before it, so that only the latest
start and its end have to be read, however long the history is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from allotment.buckets.bucket import Bucket, Conflict, KeyMissing
from allotment.buckets.keys import VolumeKeys, parse_attempt
from allotment.buckets.once import PatientBucket
from allotment.errors import AllotmentError
from allotment.pictures.counts import counted
from allotment.running.assignment import Limits
from allotment.running.endings import Ended, PermanentFailureError
from allotment.running.marks import mark_retried
from allotment.running.objects import (
    FORMAT_VERSION,
    MALFORMED,
    damaged,
    dump,
    mapping,
    moment,
    read_object,
    whole,
)

MOST_CONTESTS = 20

START = "start"
RETRY = "retry"


@dataclass(frozen=True, slots=True)
class Attempt:
    """One start of a volume, or a request for a retry; times are Unix seconds. ``ended`` None: reclaimed."""

    number: int
    kind: str = START
    started: float | None = None
    host: str = ""
    log: str = ""
    devices: tuple[str, ...] = ()
    outcome: Ended | None = None
    reason: str = ""
    message: str = ""
    ended: float | None = None


@dataclass(frozen=True, slots=True)
class History:
    """What counts of the attempts so far, since the latest request for a retry.

    ``last`` is the highest number used. ``stuck`` are pages during which the worker itself had to be ended or
    crashed. ``permanent`` is the failure that nothing but a retry undoes.
    """

    last: int = 0
    failures: int = 0
    fruitless: int = 0
    stuck: tuple[str, ...] = ()
    permanent: PermanentFailureError | None = None

    def is_last_allowed(self, limits: Limits) -> bool:
        """Whether the attempt that follows is the last one that may fail."""
        return self.failures >= limits.retries

    def refusal(self, limits: Limits) -> PermanentFailureError | None:
        """Why the volume must not be started again, if so."""
        if self.permanent is not None:
            return self.permanent
        if self.failures > limits.retries:
            return PermanentFailureError(
                "retries-used-up",
                f"it failed {counted(self.failures, 'time')}, and "
                f"{counted(limits.retries, 'retry is', 'retries are')} allowed",
            )
        if self.fruitless >= max(1, limits.reclaims):
            return PermanentFailureError(
                "reclaims-used-up",
                f"it was reclaimed {counted(self.fruitless, 'time')} in a row without finishing a new page",
            )
        return None


def read_history(bucket: PatientBucket, keys: VolumeKeys, *, done: int) -> History:
    """What counts of the attempts so far; ``done`` is how many pages have a record now."""
    found = [parse_attempt(entry.key, keys.attempts) for entry in bucket.list(keys.attempts)]
    numbers = {attempt.number: attempt for attempt in found if attempt is not None and not attempt.end}
    ends = {attempt.number for attempt in found if attempt is not None and attempt.end}
    last = max(numbers, default=0)
    if last == 0:
        return History()
    start = read_object(bucket, keys.attempt(last))
    if start.get("kind") == RETRY:
        return History(last)
    end = read_object(bucket, keys.attempt_end(last)) if last in ends else {}
    try:
        return _after(last, start, end, done)
    except MALFORMED as error:
        raise damaged(keys.attempt(last)) from error


def _after(last: int, start: Mapping[str, Any], end: Mapping[str, Any], done: int) -> History:
    """The history after a start and, if there is one, its end."""
    outcome = Ended(end.get("outcome", Ended.RECLAIMED))
    failures = whole(start["failures"]) + (outcome is Ended.FAILED)
    fruitless = 0 if done > whole(start["done"]) else whole(start["fruitless"])
    if outcome is Ended.RECLAIMED and done <= int(start["done"]):
        fruitless += 1
    stuck = [str(page) for page in start["stuck"]]
    if end.get("stuck") and end["stuck"] not in stuck:
        stuck.append(str(end["stuck"]))
    permanent = None
    if outcome is Ended.PERMANENT:
        permanent = PermanentFailureError(str(end["reason"]), str(end["message"]))
    return History(last, failures, fruitless, tuple(stuck), permanent)


def begin_attempt(
    bucket: PatientBucket, keys: VolumeKeys, history: History, *, done: int, measured: Mapping[str, Any]
) -> int:
    """Write that the volume is started once more; returns the attempt's number."""
    start = {
        "format_version": FORMAT_VERSION,
        "kind": START,
        "done": done,
        "failures": history.failures,
        "fruitless": history.fruitless,
        "stuck": list(history.stuck),
        "measured": dict(measured),
    }
    return _next(bucket, keys, history.last, dump(start))


def end_attempt(
    bucket: PatientBucket,
    keys: VolumeKeys,
    number: int,
    outcome: Ended,
    *,
    reason: str = "",
    message: str = "",
    stuck: str | None = None,
    measured: Mapping[str, Any],
) -> None:
    """Write how an attempt ended, unless somebody has said so already."""
    end: dict[str, Any] = {
        "format_version": FORMAT_VERSION,
        "outcome": outcome,
        "reason": reason,
        "message": message,
        "measured": dict(measured),
    }
    if stuck is not None:
        end["stuck"] = stuck
    try:
        bucket.put(keys.attempt_end(number), dump(end))
    except Conflict:
        return


def mark_retry(
    bucket: Bucket,
    keys: VolumeKeys,
    *,
    by: str,
    now: float,
    sleep: Callable[[float], object] = lambda _seconds: None,
) -> int:
    """Ask for a retry: failures count anew from here. Returns the number of the mark."""
    patient = PatientBucket(bucket, sleep=sleep)
    last = max(_numbers(patient, keys), default=0)
    mark = {"format_version": FORMAT_VERSION, "kind": RETRY, "measured": {"at": now, "by": by}}
    mark_retried(patient, keys, last + 1)
    return _next(patient, keys, last, dump(mark))


def read_attempts(bucket: Bucket, keys: VolumeKeys) -> tuple[Attempt, ...]:
    """Every start of a volume by its number, for people; raises AllotmentError if one is damaged."""
    patient = PatientBucket(bucket, sleep=lambda _: None)
    try:
        attempts = [_read_attempt(patient, keys, number) for number in sorted(_numbers(patient, keys))]
    except PermanentFailureError as damage:
        raise AllotmentError(damage.message) from damage
    return tuple(attempt for attempt in attempts if attempt.kind == START)


def _read_attempt(bucket: PatientBucket, keys: VolumeKeys, number: int) -> Attempt:
    start = read_object(bucket, keys.attempt(number))
    try:
        end = read_object(bucket, keys.attempt_end(number))
    except KeyMissing:
        end = {}
    try:
        measured = mapping(start.get("measured"))
        return Attempt(
            number=number,
            kind=str(start["kind"]),
            started=moment(measured.get("at")),
            host=str(measured.get("host", "")),
            log=str(measured.get("log") or ""),
            devices=tuple(str(device) for device in measured.get("devices", ())),
            outcome=Ended(end["outcome"]) if end else None,
            reason=str(end.get("reason", "")),
            message=str(end.get("message", "")),
            ended=moment(mapping(end.get("measured")).get("at")),
        )
    except MALFORMED as error:
        raise damaged(keys.attempt(number)) from error


def _numbers(bucket: PatientBucket, keys: VolumeKeys) -> set[int]:
    found = (parse_attempt(entry.key, keys.attempts) for entry in bucket.list(keys.attempts))
    return {attempt.number for attempt in found if attempt is not None and not attempt.end}


def _next(bucket: PatientBucket, keys: VolumeKeys, last: int, data: bytes) -> int:
    """Write an object under the next free number."""
    for number in range(last + 1, last + 1 + MOST_CONTESTS):
        try:
            bucket.put(keys.attempt(number), data)
        except Conflict:
            continue
        return number
    raise damaged(keys.attempt(last + 1))
