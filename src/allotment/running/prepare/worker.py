"""The process that prepares a recipe: without a device, under the same supervisor as one that reads pages.

    lease -> prepared already? -> an empty folder -> the preparation -> parts -> marker -> release -> fetch

It ends with the exit codes of a worker: 0 prepared, 13 it can never work, 143 told to end, 1 everything else,
somebody else's holding of it included. The lease keeps two machines from doing the same work at once; should
they do it all the same, the first marker counts.
"""

from __future__ import annotations

import logging
import os
import secrets
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from allotment.buckets.bucket import Bucket
from allotment.buckets.keys import RecipeKeys
from allotment.buckets.once import FAR_AWAY, Patience, PatientBucket
from allotment.buckets.opening import is_address, open_interruptible
from allotment.errors import AllotmentError, in_one_line
from allotment.events.event import Event
from allotment.events.sinks import NoSink, PipeSink, Sink
from allotment.running.assignment import Assignment
from allotment.running.board import Board
from allotment.running.endings import (
    EXIT_COMPLETE,
    EXIT_FAILED,
    EXIT_PERMANENT,
    EXIT_TERMINATED,
    DeadlinePassed,
    PermanentFailureError,
    Stopped,
    VolumeFailedError,
)
from allotment.running.holder import Holder, is_dead, this_process
from allotment.running.interrupts import Interrupts, SignalInterrupts
from allotment.running.lease import Held, Lease, LeaseLostError, take_lease
from allotment.running.limits import bucket_grace
from allotment.running.masking import MaskingSink
from allotment.running.measure import rounded
from allotment.running.prepare import PrepareContext
from allotment.running.prepare.cache import read_made, store
from allotment.running.prepare.loading import do_prepare
from allotment.running.prepare.machine import bring, cache_folder
from allotment.running.renewing import renewed

log = logging.getLogger(__name__)

DEFAULT_PATIENCE = Patience()

Act = Callable[[PrepareContext], None]


@dataclass(frozen=True, slots=True)
class Preparing:
    """One preparation, with everything around it passed in; ``act`` fills a folder."""

    assignment: Assignment
    bucket: Bucket
    sink: Sink
    holder: Holder
    cache: Path
    workdir: Path
    act: Act
    clock: Callable[[], float]
    monotonic: Callable[[], float]
    interrupts: Interrupts
    is_dead: Callable[[Holder], bool] = is_dead
    keep_renewed: Callable[[Lease], AbstractContextManager[None]] = renewed
    patience: Patience = DEFAULT_PATIENCE

    def run(self) -> int:
        """Do it; returns the exit code."""
        began = self.monotonic()
        try:
            self.interrupts.begin_wait()
            code = self._run(began)
            self.interrupts.end_wait()
            return code
        except Stopped:
            return EXIT_TERMINATED
        except DeadlinePassed:
            limit = self.assignment.limits.max_seconds or 0
            return self._failed(VolumeFailedError("deadline", f"prepare took longer than {limit:g} s"))
        except VolumeFailedError as error:
            return self._failed(error)
        except AllotmentError as error:
            if self.interrupts.told_to_end():
                log.warning("told to end: %s", in_one_line(error))
                return EXIT_TERMINATED
            return self._failed(VolumeFailedError("bucket", in_one_line(error)))

    def _run(self, began: float) -> int:
        assignment = self.assignment
        keys = RecipeKeys(assignment.team, assignment.pipeline, assignment.recipe)
        bucket = PatientBucket(self.bucket, sleep=self.interrupts.sleep, patience=self.patience)
        self._emit("prepare.started", pid=self.holder.pid)
        if read_made(bucket, keys.prepared) is None:
            lease = take_lease(bucket, keys.prepared, self.holder, clock=self.clock, is_dead=self.is_dead)
            if isinstance(lease, Held):
                message = f"{lease.holder} prepares it"
                log.info("the recipe is left alone: %s", message)
                self._emit("prepare.held", message=message)
                return EXIT_FAILED
            try:
                with self.keep_renewed(lease):
                    self._make(bucket, keys, lease, began)
            finally:
                with suppress(AllotmentError, LeaseLostError):
                    lease.release()
        folder = bring(bucket, keys, self.cache)
        seconds = rounded(self.monotonic() - began)
        log.info("the recipe %s is prepared: %s", keys.recipe, folder)
        self._emit("prepare.completed", seconds=seconds)
        return EXIT_COMPLETE

    def _make(self, bucket: PatientBucket, keys: RecipeKeys, lease: Lease, began: float) -> None:
        """Fill a folder, and put it into the bucket."""
        if read_made(bucket, keys.prepared) is not None:
            return
        folder, scratch = self.workdir / "prepared", self.workdir / "scratch"
        folder.mkdir()
        scratch.mkdir()
        threads = self.assignment.worker.threads
        try:
            self.act(PrepareContext(folder=folder, workdir=scratch, threads=threads))
        except VolumeFailedError:
            self.interrupts.check()  # foreign code may make anything of what breaks it off
            raise
        measured = {
            "at": self.clock(),
            "host": self.holder.host,
            "seconds": rounded(self.monotonic() - began),
        }
        with suppress(LeaseLostError):  # if somebody has taken it over, the first marker counts
            lease.check()
        made = store(bucket, keys.prepared, folder, measured=measured)
        log.info("prepared %d files, %d bytes", len(made.files), made.size)

    def _failed(self, why: VolumeFailedError) -> int:
        permanent = isinstance(why, PermanentFailureError)
        log.error("the recipe could not be prepared%s: %s", "" if permanent else " for now", why.message)
        kind = "prepare.failed" if permanent else "prepare.retrying"
        self._emit(kind, reason=why.reason, message=why.message)
        return EXIT_PERMANENT if permanent else EXIT_FAILED

    def _emit(self, kind: str, **data: Any) -> None:
        event = Event(kind, self.clock(), self.assignment.team, self.assignment.campaign, None, None, data)
        self.sink.emit(event)


def prepare(
    assignment: Assignment,
    board: Board,
    workdir: Path,
    deadline: float | None,
    environ: Mapping[str, str] = os.environ,
) -> int:
    """Prepare an assignment's recipe in this process; returns the exit code."""
    call = assignment.prepare
    if call is None:
        log.info("the pipeline has nothing to prepare")
        return EXIT_COMPLETE
    limits, root = assignment.limits, Path(assignment.root)
    interrupts = SignalInterrupts(
        page_seconds=None, grace_seconds=limits.grace_seconds, deadline=deadline, board=board
    )
    interrupts.install()
    os.chdir(root)
    sys.path.insert(0, str(root))
    events = assignment.worker.events_fd
    try:
        return Preparing(
            assignment=assignment,
            bucket=open_interruptible(
                assignment.bucket,
                root,
                options=assignment.bucket_options,
                enough=interrupts.told_to_end,
                moment=bucket_grace(limits.grace_seconds),
            ),
            sink=NoSink() if events is None else MaskingSink(PipeSink(events)),
            holder=this_process(secrets.token_hex(8)),
            cache=cache_folder(environ),
            workdir=workdir,
            act=lambda context: do_prepare(call, context),
            clock=time.time,
            monotonic=time.monotonic,
            interrupts=interrupts,
            patience=FAR_AWAY if is_address(assignment.bucket) else DEFAULT_PATIENCE,
        ).run()
    finally:
        interrupts.close()
