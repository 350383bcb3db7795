"""The pages of one attempt at a volume: fetched ahead, worked on one at a time, each written before the next.

Everything that a page comes to ends in one of three ways: it has a record; it is refused for good, because
its source cannot be read whatever is done; or it is deferred, because something else went wrong, to the
next attempt. On the last attempt that is allowed what is deferred counts as failed, so that one bad page
does not keep a volume from ever being complete. One thing never does: that the source could not be reached.
It says nothing about the page, and a complete volume is not read again.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from allotment.buckets.bucket import Conflict, ObjectRefused
from allotment.buckets.keys import VolumeKeys
from allotment.errors import WorldError, in_one_line
from allotment.running.endings import UNREACHABLE, PageTimeout
from allotment.running.lease import Lease
from allotment.running.manifest import PageFailure
from allotment.running.measure import Clocked, rounded
from allotment.running.page import Page, PageRefused
from allotment.running.pages import PageWriter, StepFailedError
from allotment.running.records import PageRecord, Refusal, SourceMark
from allotment.running.resume import Resume
from allotment.running.sources.source import Fetched, NotNowError, PageRef, Source
from allotment.running.steps.loading import LabelledStep, in_words
from allotment.running.stream import Arrived, Stream
from allotment.running.surroundings import Surroundings
from allotment.running.verify import Missing, check_remade, check_same_source

REFUSED = "refused"
TOO_SLOW = "page-timeout"
STEP_FAILED = "page-error"
UNREADABLE = "page-unreadable"
STUCK = "page-stuck"

LOG_SECONDS = 1.0
"""Pages that are done faster than this are not all named in the log; each has its record and its event."""

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Reading:
    """One attempt's way through the pages of a volume that is ours."""

    around: Surroundings
    keys: VolumeKeys
    lease: Lease
    source: Source
    resume: Resume
    attempt: int
    last_attempt: bool
    records: dict[str, PageRecord] = field(init=False)
    failures: dict[str, PageFailure] = field(init=False, default_factory=dict)
    clocked: Clocked = field(init=False, default_factory=Clocked)
    _writer: PageWriter = field(init=False)
    _logged: float = field(init=False, default=-math.inf)

    def __post_init__(self) -> None:
        self.records = dict(self.resume.records)
        self._writer = PageWriter(
            self.around.patient(), self.keys, self.lease, self.around.interrupts, self._warn
        )

    def read(self, stuck: Sequence[str] = ()) -> None:
        """Do every page that has no record; ``stuck`` ones, which ended a worker, come last, if at all."""
        todo = [page for page in self.source.pages if page.name not in self.records]
        first = [page for page in todo if page.name not in stuck]
        last = [page for page in todo if page.name in stuck]
        if self.last_attempt:
            for page in last:
                self._fail(page, STUCK, "a worker had to be ended, or crashed, while it was on this page")
        else:
            first += last
        if first:
            self._stream(first, self._page)

    def remake(self, missing: Mapping[str, Missing]) -> None:
        """Make again what has gone missing of pages that were done."""

        def page(arrived: Arrived) -> None:
            self._remake(arrived, missing[arrived.ref.name])

        self._stream([page for page in self.source.pages if page.name in missing], page)

    @property
    def deferred(self) -> dict[str, PageFailure]:
        """Pages that failed for now."""
        return {page: failure for page, failure in self.failures.items() if not failure.final}

    def _stream(self, pages: Sequence[PageRef], work: Callable[[Arrived], None]) -> None:
        around = self.around
        stream = Stream(
            pages,
            self.source.fetch,
            look_ahead=around.assignment.limits.look_ahead,
            monotonic=around.monotonic,
            interrupts=around.interrupts,
            fetchers=self.source.at_once,
        )
        stream.start()
        try:
            self._load()
            for arrived in stream:
                around.interrupts.check()
                self.lease.check()
                work(arrived)
            around.interrupts.check()
        finally:
            stream.close()

    def _load(self) -> tuple[LabelledStep, ...]:
        steps = self.around.steps
        if steps.ready:
            return steps.get()
        self.around.interrupts.begin_wait()
        try:
            loaded = steps.get()
        except Exception:
            self.around.interrupts.check()  # foreign code may make anything of what breaks it off
            raise
        finally:
            self.around.interrupts.end_wait()
        log.info("steps are loaded, in %.1f s", steps.seconds)
        self.around.emit("model.loaded", self.keys.volume, seconds=rounded(steps.seconds))
        return loaded

    def _page(self, arrived: Arrived) -> None:
        """One page: into its record, or into why it has none."""
        ref, fetched = arrived.ref, arrived.fetched
        if fetched is None:
            self._not_fetched(ref, arrived.error)
            return
        refusal = self.resume.refusals.get(ref.name)
        if refusal is not None and refusal.source.sha256 == fetched.sha256:
            self._fail(ref, REFUSED, refusal.reason, final=True)
            return
        began = self.around.monotonic()
        outputs = self._outputs(ref, fetched)
        if outputs is None:
            return
        seconds = self.around.monotonic() - began
        self.clocked.page(seconds, arrived.waited)
        measured: dict[str, Any] = {
            "attempt": self.attempt,
            "seconds": rounded(seconds),
            "wait_seconds": rounded(arrived.waited),
            **self.around.device_memory.page(),
        }
        if fetched.etag:
            measured["etag"] = fetched.etag
        self.records[ref.name] = self._writer.write(ref.name, _mark(ref, fetched), outputs, measured)
        self._done(ref, measured)

    def _outputs(self, ref: PageRef, fetched: Fetched) -> dict[str, bytes] | None:
        """What the steps make of a page, or None when it fails now."""
        page = Page(self.keys.volume, ref.number, ref.name, ref.source, fetched.data, fetched.media_type)
        steps = self._load()
        try:
            return self._writer.run(steps, page, self.resume.leftovers.get(ref.name, ()))
        except PageRefused as refused:
            self._refuse(ref, refused.reason, _mark(ref, fetched))
        except PageTimeout:
            self.around.steps.forget()
            limit = self.around.assignment.limits.page_seconds
            self._fail(ref, TOO_SLOW, f"it took longer than {limit:g} s")
        except StepFailedError as failed:
            self.around.device_memory.crowded()  # a look at who has the memory, while they have it
            log.warning("page %s (%s) failed", ref.name, ref.source, exc_info=failed.__cause__)
            self._fail(ref, STEP_FAILED, str(failed))
        return None

    def _remake(self, arrived: Arrived, missing: Missing) -> None:
        ref, fetched = arrived.ref, arrived.fetched
        record = self.records[ref.name]
        if missing.outputs:
            if fetched is not None:
                check_same_source(record, ref, fetched.sha256)
            outputs = None if fetched is None else self._outputs(ref, fetched)
            if outputs is None:
                self.failures.setdefault(
                    ref.name,
                    PageFailure(UNREADABLE, "its outputs went missing and it could not be read again"),
                )
                return
            check_remade(record, missing, outputs)
            for name in missing.outputs:
                self._writer.write_output(ref.name, name, outputs[name])
        self._writer.write_record(record)
        log.info("page %s was made again: some of it had gone missing", ref.name)

    def _not_fetched(self, ref: PageRef, error: Exception | None) -> None:
        if isinstance(error, PageRefused):
            digest = self.source.digest(ref)
            mark = SourceMark(ref.source, ref.size or 0, digest, ref.label, ref.canvas)
            self._refuse(ref, error.reason, mark)
            return
        if isinstance(error, NotNowError):
            self._fail(ref, UNREACHABLE, str(error))
            return
        if isinstance(error, WorldError) and not isinstance(error, ObjectRefused):
            self._fail(ref, UNREACHABLE, in_one_line(error))
            return
        log.warning("page %s (%s) could not be read", ref.name, ref.source, exc_info=error)
        self._fail(ref, UNREADABLE, in_words(error) if error is not None else "it could not be read")

    def _refuse(self, ref: PageRef, reason: str, source: SourceMark) -> None:
        """Write that a page can never be done as its source stands, unless that is written already."""
        before = self.resume.refusals.get(ref.name)
        if before is None or before.source.sha256 != source.sha256:
            number = 1 if before is None else before.number + 1
            measured = {"attempt": self.attempt}
            refusal = Refusal(ref.name, source, reason, number, measured)
            self.lease.check()
            try:
                self.around.patient().put(self.keys.refusal(ref.name, number), refusal.to_bytes())
            except Conflict:
                log.warning("page %s was refused by somebody else meanwhile", ref.name)
        self._fail(ref, REFUSED, reason, final=True)

    def _done(self, ref: PageRef, measured: Mapping[str, Any]) -> None:
        done, total, now = len(self.records), len(self.source.pages), self.around.monotonic()
        if now >= self._logged + LOG_SECONDS or done == total:
            self._logged = now
            log.info("%d of %d pages done, the last of them %s (%s)", done, total, ref.name, ref.source)
        self.around.emit(
            "page.done",
            self.keys.volume,
            ref.name,
            seconds=measured["seconds"],
            wait_seconds=measured["wait_seconds"],
            pages_done=done,
            pages_total=total,
        )

    def _fail(self, ref: PageRef, reason: str, message: str, *, final: bool = False) -> None:
        final = final or (self.last_attempt and reason != UNREACHABLE)
        self.failures[ref.name] = PageFailure(reason, message, final)
        words = "failed" if final else "failed for now"
        why = message.removeprefix(f"{ref.source}: ")
        log.warning("page %s (%s) %s: %s", ref.name, ref.source, words, why)
        self.around.emit(
            "page.failed",
            self.keys.volume,
            ref.name,
            reason=reason,
            message=f"{ref.source}: {why}",
            permanent=final,
            pages_failed=len(self.failures) - len(self.deferred),
        )

    def _warn(self, page: str, message: str) -> None:
        log.warning("page %s: %s", page, message)
        self.around.emit("warning", self.keys.volume, page, reason="page-differs", message=message)


def _mark(ref: PageRef, fetched: Fetched) -> SourceMark:
    """What a page that was fetched is made of."""
    sizes = (ref.size, fetched.size, len(fetched.data))
    size = next(size for size in sizes if size is not None)
    return SourceMark(ref.source, size, fetched.sha256, ref.label, ref.canvas)
