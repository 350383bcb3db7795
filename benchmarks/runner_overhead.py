"""The runner within 2 % of a bare loop over the same step and pages: 1,000 pages of 20 ms each.

Both sides read the same files and hand them to the same step. The bare loop forgets what the step made; the
runner runs as it does in a worker: lease, attempt, look-ahead, signals and timers, outputs and records in a
bucket, a log, events into a pipe, verification, manifest. The bucket is a folder in memory where there is
one, so that the runner is measured and not the disk. The pairs alternate in who begins, and the median of
their ratios counts, so that a machine that is busy for a while harms neither side.
"""

from __future__ import annotations

import hashlib
import logging
import os
import signal
import statistics
import subprocess
import tempfile
import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from allotment.buckets.opening import open_bucket
from allotment.events.sinks import PipeSink
from allotment.running.assignment import Assignment, StepSpec, VolumeSpec
from allotment.running.board import Board
from allotment.running.holder import this_process
from allotment.running.interrupts import SignalInterrupts
from allotment.running.page import Page, page_name
from allotment.running.renewing import renewed
from allotment.running.sources.source import open_source
from allotment.running.steps.loading import LabelledStep
from allotment.running.steps_once import StepsOnce
from allotment.running.surroundings import Surroundings
from allotment.running.worker import run_pack
from benchmarks.ratio import Ratio

PAGES = 1000
PAGE_SECONDS = 0.020
PAGE_BYTES = 20_000
PAIRS = 5
BUDGET = 1.02
MEMORY = Path("/dev/shm")


def twenty(page: Page, _earlier: Mapping[str, bytes]) -> Mapping[str, bytes]:
    """A step that waits for its device, 20 ms a page: as long whatever else this machine does."""
    time.sleep(PAGE_SECONDS)
    return {"txt": hashlib.sha256(page.data).hexdigest().encode()}


def run(*, pages: int = PAGES, pairs: int = PAIRS) -> list[Ratio]:
    """The median ratio of alternating pairs."""
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as folder:
        root = Path(folder)
        (root / "scans").mkdir()
        for number in range(1, pages + 1):
            (root / "scans" / f"p{number}.bin").write_bytes(os.urandom(PAGE_BYTES))
        ratios, bare_seconds = [], []
        for pair in range(pairs):
            runner = partial(_runner, root, f"results-{pair}")
            bare = partial(_bare, root, pages)
            if pair % 2:
                ours, theirs = runner(), bare()
            else:
                theirs, ours = bare(), runner()
            ratios.append(ours / theirs)
            bare_seconds.append(theirs)
    each = statistics.median(bare_seconds) / pages * 1000
    shown = ", ".join(f"{ratio:.4f}" for ratio in ratios)
    explanation = f"{pages} pages of {each:.1f} ms; pairs: {shown}"
    return [Ratio("the runner, in parts of a bare loop", statistics.median(ratios), BUDGET, explanation)]


def _bare(root: Path, pages: int) -> float:
    began = time.perf_counter()
    for number in range(1, pages + 1):
        name = f"p{number}.bin"
        data = (root / "scans" / name).read_bytes()
        twenty(Page("volume", number, page_name(number), name, data), {})
    return time.perf_counter() - began


def _runner(root: Path, results: str) -> float:
    assignment = Assignment(
        team="team",
        campaign="campaign",
        pipeline="pipeline",
        recipe="0123456789ab",
        steps=(StepSpec("twenty"),),
        indexes=((VolumeSpec("volume", {"folder": "scans"}),),),
        root=str(root),
        bucket=results,
    )
    board = Board()
    handlers = {
        number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGALRM, signal.SIGINT)
    }
    interrupts = SignalInterrupts(
        page_seconds=assignment.limits.page_seconds,
        grace_seconds=assignment.limits.grace_seconds,
        deadline=time.monotonic() + 3600,
        board=board,
    )
    engine = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    assert engine.stdin is not None
    log = logging.FileHandler(root / f"{results}.log")
    logger = logging.getLogger("allotment")
    logger.addHandler(log)
    logger.setLevel(logging.INFO)
    logger.propagate = False
    began = time.perf_counter()
    interrupts.install()
    try:
        around = Surroundings(
            assignment=assignment,
            bucket=open_bucket(results, root),
            steps=StepsOnce(lambda: (LabelledStep("twenty", twenty),), time.monotonic),
            open_source=partial(open_source, root=root, max_pixels=1_000_000),
            holder=this_process("benchmark"),
            sink=PipeSink(engine.stdin.fileno()),
            clock=time.time,
            monotonic=time.monotonic,
            interrupts=interrupts,
            keep_renewed=renewed,
            notice=board,
        )
        code = run_pack(around, assignment.pack(0))
        seconds = time.perf_counter() - began
    finally:
        interrupts.close()
        for number, handler in handlers.items():
            signal.signal(number, handler)
        logger.removeHandler(log)
        log.close()
        engine.stdin.close()
        engine.wait()
    if code != 0:
        raise RuntimeError(f"the runner ended with {code}")
    return seconds
