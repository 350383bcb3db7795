"""What is said of an attempt whose worker could not say it: it hung, it crashed, it ran out of memory.

Left alone, such an attempt would count as reclaimed and be repeated for a long time. The guardian knows
better, and writes the end: a failure, with the page that was in flight, which later attempts take last and
the last one leaves out. Runs in the guardian when nothing else is left to do. A bucket that does not answer
holds it up for a minute at most, and for less once it is told to end: signals are blocked here, and wait.
"""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from allotment.buckets.keys import RecipeKeys, VolumeKeys
from allotment.buckets.once import Patience, PatientBucket
from allotment.buckets.opening import open_interruptible
from allotment.errors import AllotmentError
from allotment.events.event import Event
from allotment.events.sinks import PipeSink
from allotment.running.assignment import Assignment
from allotment.running.attempts import end_attempt
from allotment.running.endings import EXIT_FAILED, EXIT_PERMANENT, Ended, VolumeFailedError
from allotment.running.lease import release_of
from allotment.running.limits import bucket_grace
from allotment.running.marks import mark_failed
from allotment.running.page import page_name
from allotment.running.watching import Death

PATIENCE = Patience(tries=3)
LONGEST_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class _Enough:
    """Whether the bucket has had its time (monotonic), or somebody wants the end."""

    until: float

    def __call__(self) -> bool:
        return signal.SIGTERM in signal.sigpending() or time.monotonic() >= self.until


def close_attempt(
    assignment: Assignment, about: Mapping[str, Any], death: Death, how: str, page: int | None
) -> int:
    """Write how the attempt under way ended, and say so; returns the exit code."""
    keys = RecipeKeys(assignment.team, assignment.pipeline, assignment.recipe).volume(str(about["volume"]))
    if death in {Death.KILLED, Death.CROWDED_OUT}:
        _tell(assignment, about, "volume.reclaimed", how or "its worker was killed")
        _write(assignment, keys, about, None, None)
        return EXIT_FAILED
    why, last = _why(assignment, death, how, page), bool(about["last"])
    if last:
        why = VolumeFailedError(why.reason, f"{why.message}; this was the last attempt that is allowed")
    kind = "volume.failed" if last else "volume.retrying"
    _tell(assignment, about, kind, why.message, reason=why.reason)
    _write(assignment, keys, about, why, page)
    several = any(len(pack) > 1 for pack in assignment.indexes)
    return EXIT_PERMANENT if last and not several else EXIT_FAILED


def close_unwritten(assignment: Assignment, about: Mapping[str, Any]) -> None:
    """Write an end that the working process knew and could not write: it may have had no open file left."""
    keys = RecipeKeys(assignment.team, assignment.pipeline, assignment.recipe).volume(str(about["volume"]))
    _write(assignment, keys, about, VolumeFailedError(str(about["reason"]), str(about["message"])), None)


def _write(
    assignment: Assignment,
    keys: VolumeKeys,
    about: Mapping[str, Any],
    why: VolumeFailedError | None,
    page: int | None,
) -> None:
    """Write the end, if it was a failure, and let go of the volume."""
    try:
        bucket = PatientBucket(
            open_interruptible(
                assignment.bucket,
                Path(assignment.root),
                options=assignment.bucket_options,
                enough=_Enough(time.monotonic() + LONGEST_SECONDS),
                moment=bucket_grace(assignment.limits.grace_seconds),
            ),
            sleep=time.sleep,
            patience=PATIENCE,
        )
        if why is not None:
            end_attempt(
                bucket,
                keys,
                int(about["attempt"]),
                Ended.PERMANENT if about["last"] else Ended.FAILED,
                reason=why.reason,
                message=why.message,
                stuck=None if page is None else page_name(page),
                measured={"at": time.time(), "attempt": about["attempt"], "started": about["at"]},
            )
            if about["last"]:
                mark_failed(bucket, keys, int(about["attempt"]))
        release_of(bucket, keys, str(about["holder"]), clock=time.time)
    except (AllotmentError, VolumeFailedError) as error:
        _print(f"how the attempt ended could not be written: {error}")


def _why(assignment: Assignment, death: Death, how: str, page: int | None) -> VolumeFailedError:
    limits = assignment.limits
    at = "" if page is None else f" on page {page_name(page)}"
    words = {
        Death.STUCK: f"a step hung{at}, longer than {limits.page_seconds or 0:g} s, and could not be stopped",
        Death.OVERDUE: f"its worker took longer than {limits.max_seconds or 0:g} s and hung{at}",
        Death.CRASHED: f"its worker crashed{at}: {how}",
        Death.OVER_SHARE: f"its worker was ended{at}: {how}",
        Death.OUT_OF_MEMORY: f"its worker was killed for want of memory{at}",
    }
    return VolumeFailedError(str(death), words[death])


def _tell(assignment: Assignment, about: Mapping[str, Any], kind: str, message: str, **data: Any) -> None:
    """Say how it ended, in the log and to the engine."""
    _print(f"volume {about['volume']}: {message}")
    if assignment.worker.events_fd is None:
        return
    told = {"message": message, "attempt": about["attempt"], **data}
    sink = PipeSink(assignment.worker.events_fd)
    sink.break_line()
    sink.emit(
        Event(kind, time.time(), assignment.team, assignment.campaign, str(about["volume"]), None, told)
    )


def _print(message: str) -> None:
    print(f"{time.strftime('%Y-%m-%d %H:%M:%S')} error {message}", file=sys.stderr, flush=True)  # noqa: T201
