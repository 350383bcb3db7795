"""The working process: an assignment's pack of volumes, one after another, with the steps loaded once.

All of a pack are tried whatever becomes of the others. The process ends with the code that asks for the
most: told to end, then a failure that another start may mend, then one that none will.
"""

from __future__ import annotations

import logging
import os
import secrets
import sys
import time
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path

from allotment.buckets.bucket import Bucket
from allotment.buckets.event_log import BucketSink
from allotment.buckets.keys import RecipeKeys
from allotment.buckets.once import FAR_AWAY, Patience, PatientBucket
from allotment.buckets.opening import is_address, open_interruptible
from allotment.errors import AllotmentError, in_one_line
from allotment.events.sinks import PipeSink, Sink
from allotment.running.assignment import Assignment, VolumeSpec
from allotment.running.board import Board
from allotment.running.device_memory import device_memory
from allotment.running.endings import (
    EXIT_COMPLETE,
    EXIT_FAILED,
    EXIT_PERMANENT,
    EXIT_TERMINATED,
    DeadlinePassed,
    Stopped,
)
from allotment.running.holder import this_process
from allotment.running.interrupts import SignalInterrupts
from allotment.running.limits import bucket_grace
from allotment.running.logs import where
from allotment.running.masking import MaskingSink
from allotment.running.prepare.machine import bring, cache_folder
from allotment.running.renewing import renewed
from allotment.running.sources.source import open_source
from allotment.running.steps import StepContext
from allotment.running.steps.loading import LabelledStep, load_steps
from allotment.running.steps_once import StepsOnce
from allotment.running.surroundings import Surroundings
from allotment.running.volume import VolumeRun

GRAVITY = (EXIT_COMPLETE, EXIT_PERMANENT, EXIT_FAILED, EXIT_TERMINATED)

log = logging.getLogger(__name__)


def work(
    assignment: Assignment, pack: tuple[VolumeSpec, ...], board: Board, workdir: Path, deadline: float | None
) -> int:
    """Work on a pack in this process; returns the exit code."""
    limits = assignment.limits
    interrupts = SignalInterrupts(
        page_seconds=limits.page_seconds, grace_seconds=limits.grace_seconds, deadline=deadline, board=board
    )
    interrupts.install()
    try:
        return _work(assignment, pack, board, workdir, interrupts)
    except Stopped:
        return EXIT_TERMINATED
    except DeadlinePassed:
        log.warning("the worker's own deadline has passed")
        return EXIT_FAILED
    except AllotmentError as error:
        log.warning("this worker cannot work: %s", in_one_line(error))
        return EXIT_TERMINATED if interrupts.told_to_end() else EXIT_FAILED
    except OSError as error:
        log.warning("this worker cannot work here: %s", error)
        return EXIT_FAILED
    finally:
        interrupts.close()


def run_pack(around: Surroundings, volumes: Iterable[VolumeSpec]) -> int:
    """Each volume in turn; returns the gravest of their exit codes."""
    codes = [EXIT_COMPLETE]
    for volume in volumes:
        try:
            around.interrupts.check()
        except Stopped:
            codes.append(EXIT_TERMINATED)
            break
        except DeadlinePassed:
            log.warning("volume %s and those after it are not begun: the deadline has passed", volume.id)
            codes.append(EXIT_FAILED)
            break
        where.volume = volume.id
        codes.append(VolumeRun(around, volume).run().code)
        around.sink.flush()
        if codes[-1] == EXIT_TERMINATED:
            break
    return max(codes, key=GRAVITY.index)


def _load(
    assignment: Assignment, context: StepContext, bucket: Bucket, interrupts: SignalInterrupts
) -> tuple[LabelledStep, ...]:
    """The steps, with what was prepared for them on this machine."""
    if assignment.prepare is not None:
        keys = RecipeKeys(assignment.team, assignment.pipeline, assignment.recipe)
        patience = FAR_AWAY if is_address(assignment.bucket) else Patience()
        patient = PatientBucket(bucket, sleep=interrupts.sleep, patience=patience)
        context = replace(context, cache=bring(patient, keys, cache_folder(os.environ)))
    return load_steps(assignment.steps, context)


def _work(
    assignment: Assignment,
    pack: tuple[VolumeSpec, ...],
    board: Board,
    workdir: Path,
    interrupts: SignalInterrupts,
) -> int:
    root = Path(assignment.root)
    os.chdir(root)
    sys.path.append(str(root))
    worker, limits = assignment.worker, assignment.limits
    bucket = open_interruptible(
        assignment.bucket,
        root,
        options=assignment.bucket_options,
        enough=interrupts.told_to_end,
        moment=bucket_grace(limits.grace_seconds),
    )
    holder = this_process(secrets.token_hex(8))
    context = StepContext(
        threads=worker.threads,
        devices=worker.devices,
        workdir=workdir,
        max_pixels=limits.max_pixels,
        page_seconds=limits.page_seconds,
    )
    sink: Sink
    if worker.events_fd is not None:
        sink = PipeSink(worker.events_fd)
    else:
        sink = BucketSink(bucket, assignment.team, assignment.campaign, f"worker-{holder.id}", time.time)
    sink = MaskingSink(sink)
    with device_memory(os.environ, os.getpid(), share=worker.device_share) as memory:
        around = Surroundings(
            assignment=assignment,
            bucket=bucket,
            steps=StepsOnce(partial(_load, assignment, context, bucket, interrupts), time.monotonic),
            open_source=partial(
                open_source,
                root=root,
                max_pixels=limits.max_pixels,
                network=assignment.network,
                bucket_options=assignment.bucket_options,
            ),
            holder=holder,
            sink=sink,
            clock=time.time,
            monotonic=time.monotonic,
            interrupts=interrupts,
            pause=interrupts.pause,
            keep_renewed=renewed,
            notice=board,
            patience=FAR_AWAY if is_address(assignment.bucket) else Patience(),
            device_memory=memory,
        )
        try:
            return run_pack(around, pack)
        finally:
            sink.flush()
