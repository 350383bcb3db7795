"""One attempt at a volume that is ours: begun, worked on, verified, finished, and its end written down.

Whatever stops it becomes one of four endings. A failure on the last attempt that is allowed is one for
good. Who is killed writes nothing here; that is how a start without an end comes to be a reclaim.
"""

from __future__ import annotations

import logging
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any

from allotment.buckets.bucket import BucketGivenUp, ObjectRefused
from allotment.buckets.keys import VolumeKeys
from allotment.buckets.once import NO_PATIENCE
from allotment.errors import WorldError, in_one_line
from allotment.running.assignment import VolumeSpec
from allotment.running.attempts import History, begin_attempt, end_attempt
from allotment.running.endings import (
    EXIT_FAILED,
    UNREACHABLE,
    CrowdedOutError,
    DeadlinePassed,
    Ended,
    Outcome,
    PermanentFailureError,
    Stopped,
    VolumeFailedError,
)
from allotment.running.lease import Lease, LeaseLostError
from allotment.running.manifest import build_manifest, write_manifest
from allotment.running.marks import mark_complete, mark_failed
from allotment.running.measure import peak_memory, rounded
from allotment.running.reading import Reading
from allotment.running.resume import Resume, check_source
from allotment.running.share_guard import at_fault, check_crowding
from allotment.running.steps.loading import in_words
from allotment.running.surroundings import Surroundings
from allotment.running.telling import Teller
from allotment.running.verify import find_missing

MOST_REMAKES = 2
BUCKET_FAILED = {False: (Ended.FAILED, "bucket"), True: (Ended.PERMANENT, "bucket-damaged")}

_ENDED = {PermanentFailureError: Ended.PERMANENT, CrowdedOutError: Ended.RECLAIMED}

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Attempting:
    """One attempt, from its beginning to its end."""

    around: Surroundings
    volume: VolumeSpec
    keys: VolumeKeys
    lease: Lease
    history: History
    resume: Resume
    number: int = 0
    _at: float = field(init=False)
    _monotonic: float = field(init=False)
    _reading: Reading | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self._at = self.around.clock()
        self._monotonic = self.around.monotonic()

    def run(self) -> Outcome:
        """Do it; raises `LeaseLostError` when the volume is not ours any more, with nothing more written."""
        self._begin()
        try:
            self._work()
        except LeaseLostError:
            raise
        except (Exception, Stopped, DeadlinePassed) as error:  # noqa: BLE001 - every end is told
            ended, why = how_ended(error, self.around)
            return self._end(ended, why)
        return self._end(Ended.COMPLETE, None)

    @property
    def _last(self) -> bool:
        return self.history.is_last_allowed(self.around.assignment.limits)

    def _begin(self) -> None:
        around, worker = self.around, self.around.assignment.worker
        done = len(self.resume.records)
        measured = {
            "at": self._at,
            "campaign": around.assignment.campaign,
            "devices": list(worker.devices),
            "host": around.holder.host,
            "log": worker.log,
            "pid": around.holder.pid,
        }
        self.lease.check()
        self.number = begin_attempt(around.patient(), self.keys, self.history, done=done, measured=measured)
        around.notice.begin_volume(self._about(last=self._last))

    def _about(self, *, last: bool, why: VolumeFailedError | None = None) -> dict[str, Any]:
        """The attempt for whoever may have to write its end; ``why`` when that is all that is left."""
        about = {
            "volume": self.volume.id,
            "attempt": self.number,
            "last": last,
            "at": self._at,
            "holder": self.around.holder.id,
        }
        return about if why is None else {**about, "reason": why.reason, "message": why.message}

    def _work(self) -> None:
        """The pages, the verification, the manifest."""
        around = self.around
        teller, done = Teller(around, self.volume.id), len(self.resume.records)
        around.interrupts.begin_wait()
        try:
            source = around.open_source(self.volume.source)
        except Exception:
            teller.started(self.number, total=None, done=done)
            raise
        finally:
            around.interrupts.end_wait()
        teller.started(self.number, total=len(source.pages), done=done)
        check_source(self.resume.records.values(), source.pages)
        reading = Reading(around, self.keys, self.lease, source, self.resume, self.number, self._last)
        self._reading = reading
        reading.read(self.history.stuck)
        self._verify(reading)
        check_crowding(around.device_memory, reading.failures)
        _check_failures(reading)
        manifest = build_manifest(
            around.assignment,
            self.volume.id,
            source.pages,
            reading.records,
            reading.failures,
            measured=self._measured(),
        )
        self.lease.check()
        write_manifest(around.patient(), self.keys, manifest)
        mark_complete(around.patient(), self.keys, pages=len(source.pages), failed=len(reading.failures))

    def _verify(self, reading: Reading) -> None:
        """See that everything recorded is there; make again what is not."""
        bucket = self.around.patient()
        for _ in range(MOST_REMAKES):
            missing = find_missing(bucket, self.keys, reading.records)
            if not missing:
                return
            log.warning("of %d pages something is not in the bucket; it is made again", len(missing))
            reading.remake(missing)
        if find_missing(bucket, self.keys, reading.records):
            raise VolumeFailedError("outputs-missing", "outputs of its pages go missing from the bucket")

    def _end(self, ended: Ended, why: VolumeFailedError | None) -> Outcome:
        """Write how it ended, if the bucket takes it now, and say so."""
        around, limits = self.around, self.around.assignment.limits
        if ended is Ended.FAILED and self._last and why is not None:
            ended = Ended.PERMANENT
            why = VolumeFailedError(why.reason, f"{why.message}; this was the last attempt that is allowed")
        unwritten = False
        try:
            self.lease.check()
            end_attempt(
                around.patient(NO_PATIENCE if ended is Ended.RECLAIMED else None),
                self.keys,
                self.number,
                ended,
                reason=why.reason if why else "",
                message=why.message if why else "",
                measured=self._measured(),
            )
            if ended is Ended.PERMANENT:
                mark_failed(around.patient(), self.keys, self.number)
        except (WorldError, Stopped, DeadlinePassed) as error:
            log.warning("how the attempt ended could not be written: %s", error)
            unwritten = isinstance(error, WorldError)
        if unwritten and why is not None and ended is not Ended.RECLAIMED:
            around.notice.begin_volume(self._about(last=ended is Ended.PERMANENT, why=why))
        else:
            around.notice.end_volume()
        teller = Teller(around, self.volume.id)
        if why is None:
            reading = self._reading
            total = len(reading.source.pages) if reading else 0
            failed = len(reading.failures) if reading else 0
            return teller.complete(total=total, failed=failed, seconds=around.monotonic() - self._monotonic)
        if ended is Ended.RECLAIMED:
            reclaimed = teller.reclaimed(why, self.number)
            return replace(reclaimed, code=EXIT_FAILED) if isinstance(why, CrowdedOutError) else reclaimed
        return teller.failed(
            why,
            permanent=ended is Ended.PERMANENT,
            attempt=self.number,
            failures=self.history.failures + 1,
            retries=limits.retries,
        )

    def _measured(self) -> dict[str, Any]:
        around = self.around
        seconds = around.monotonic() - self._monotonic
        measured: dict[str, Any] = {
            "at": around.clock(),
            "attempt": self.number,
            "campaign": around.assignment.campaign,
            "devices": list(around.assignment.worker.devices),
            "host": around.holder.host,
            "load_seconds": rounded(around.steps.seconds),
            "peak_memory_bytes": peak_memory(),
            **around.device_memory.measured(),
            "seconds": rounded(seconds),
            "started": self._at,
        }
        if self._reading is not None:
            clocked = self._reading.clocked
            measured |= {
                "pages_done": clocked.pages,
                "pages_per_second": rounded(clocked.pages / seconds) if seconds > 0 else 0.0,
                "step_seconds": rounded(clocked.step_seconds),
                "wait_seconds": rounded(clocked.wait_seconds),
            }
        return measured


def how_ended(error: BaseException, around: Surroundings) -> tuple[Ended, VolumeFailedError]:
    """What an exception means for an attempt."""
    error = at_fault(error, around.device_memory)
    if isinstance(error, VolumeFailedError):
        return _ENDED.get(type(error), Ended.FAILED), error
    given_up = isinstance(error, BucketGivenUp) and around.interrupts.told_to_end()
    if isinstance(error, Stopped) or given_up:
        return Ended.RECLAIMED, VolumeFailedError("stopped", "it was told to end; what is done stays done")
    if isinstance(error, DeadlinePassed):
        limit = around.assignment.limits.max_seconds or 0
        return Ended.FAILED, VolumeFailedError("deadline", f"its worker took longer than {limit:g} s")
    if isinstance(error, WorldError):
        ended, reason = BUCKET_FAILED[isinstance(error, ObjectRefused)]
        return ended, VolumeFailedError(reason, in_one_line(error))
    log.error("unexpected trouble", exc_info=error)
    return Ended.FAILED, VolumeFailedError("error", in_words(error))


def _check_failures(reading: Reading) -> None:
    """Whether the failures of pages let the volume be complete."""
    deferred = reading.deferred
    unreached = [failure for _, failure in sorted(deferred.items()) if failure.reason == UNREACHABLE]
    if unreached:
        more = f" (and {len(unreached) - 1:,} more of its pages)" if len(unreached) > 1 else ""
        message = f"its source could not be reached: {unreached[0].message}{more}"
        raise VolumeFailedError(UNREACHABLE, message)
    if deferred:
        page, failure = min(deferred.items())
        reason = Counter(one.reason for one in deferred.values()).most_common(1)[0][0]
        pages = "a page" if len(deferred) == 1 else f"{len(deferred)} pages"
        raise VolumeFailedError(reason, f"{pages} failed for now, page {page}: {failure.message}")
    if reading.failures and not reading.records:
        page, failure = min(reading.failures.items())
        raise PermanentFailureError("all-pages-failed", f"every page failed, page {page}: {failure.message}")
