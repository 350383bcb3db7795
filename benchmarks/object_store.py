"""Small pages into an S3 server at 80 % of the rate of obstore alone, against the same server in one run.

Both sides write the same objects in the same order, one after another: of each page its output and its
record. obstore alone does nothing else. The runner runs as it does in a worker but for signals: lease,
attempt, look-ahead, the step, outputs and records with bytes compared where a key is taken, events,
verification by list, manifest, marks. The server is one in memory in a process of its own, which answers two
milliseconds after it was asked, as one in the same room does: what the runner does beside writing costs the
same at any distance, and so counts for more the nearer the server is. It is 10,000 pages a side in all, in
pairs that alternate in who begins, and the median of their ratios counts.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Mapping
from datetime import timedelta
from functools import partial
from pathlib import Path

import obstore
from obstore.store import S3Store

from allotment.buckets.bucket import Bucket
from allotment.buckets.once import FAR_AWAY
from allotment.buckets.opening import open_interruptible
from allotment.events.sinks import ListSink
from allotment.running.assignment import Assignment, StepSpec, VolumeSpec
from allotment.running.holder import this_process
from allotment.running.page import Page
from allotment.running.sources.folder import open_folder
from allotment.running.steps.loading import LabelledStep
from allotment.running.steps_once import StepsOnce
from allotment.running.surroundings import Surroundings
from allotment.running.worker import run_pack
from benchmarks.ratio import Ratio
from tests.buckets.moto_server import KEYS
from tests.buckets.quick_s3 import NAME, quick_s3

PAGES = 2500
PAGE_BYTES = 2000
PAIRS = 4
ANSWER_SECONDS = 0.002
GOAL = 0.8
REGION = "us-east-1"


class Copy:
    """A step that costs next to nothing."""

    def __call__(self, page: Page, earlier: Mapping[str, bytes]) -> Mapping[str, bytes]:
        return {"txt": page.data}


def run(*, pages: int = PAGES, pairs: int = PAIRS) -> list[Ratio]:
    """The median ratio of alternating pairs."""
    with tempfile.TemporaryDirectory() as folder, quick_s3(ANSWER_SECONDS) as endpoint:
        root = Path(folder)
        (root / "scans").mkdir()
        for number in range(1, pages + 1):
            (root / "scans" / f"p{number}.bin").write_bytes(os.urandom(PAGE_BYTES))
        objects = _objects(root, pages)
        _obstore(endpoint, "warm-up", objects[:100])
        ratios, alone = [], []
        for pair in range(pairs):
            runner = partial(_runner, root, endpoint, f"ours-{pair}")
            rival = partial(_obstore, endpoint, f"theirs-{pair}", objects)
            if pair % 2:
                ours, theirs = runner(), rival()
            else:
                theirs, ours = rival(), runner()
            ratios.append(ours / theirs)
            alone.append(pages / theirs)
    shown = ", ".join(f"{ratio:.3f}" for ratio in ratios)
    rate = statistics.median(alone)
    explanation = (
        f"{pairs} times {pages:,} pages of two objects; obstore alone {rate:.0f} pages/s; pairs: {shown}"
    )
    return [
        Ratio("pages into S3, in parts of obstore alone", statistics.median(ratios), 1 / GOAL, explanation)
    ]


def _objects(root: Path, pages: int) -> list[tuple[str, bytes]]:
    """What the runner writes of each page, made of the same bytes; a record has some 400 bytes."""
    objects = []
    for number in range(1, pages + 1):
        data = (root / "scans" / f"p{number}.bin").read_bytes()
        objects += [(f"pages/{number:04d}.copy.txt", data), (f"pages/{number:04d}.json", bytes(400))]
    return objects


def _obstore(endpoint: str, name: str, objects: list[tuple[str, bytes]]) -> float:
    store = S3Store(
        NAME,
        prefix=name,
        endpoint=endpoint,
        region=REGION,
        access_key_id=KEYS["AWS_ACCESS_KEY_ID"],
        secret_access_key=KEYS["AWS_SECRET_ACCESS_KEY"],
        client_options={"allow_http": True},
        retry_config={"max_retries": 0, "retry_timeout": timedelta(seconds=60)},
    )
    began = time.perf_counter()
    for key, data in objects:
        obstore.put(store, key, data, mode="create")
    return time.perf_counter() - began


def _runner(root: Path, endpoint: str, name: str) -> float:
    bucket: Bucket = open_interruptible(
        f"s3://{NAME}/{name}",
        root,
        options={"endpoint": endpoint, "allow_http": True, "region": REGION},
        environ=KEYS,
    )
    assignment = Assignment(
        team="team",
        campaign="campaign",
        pipeline="pipeline",
        recipe="0123456789ab",
        steps=(StepSpec("copy"),),
        indexes=((VolumeSpec("volume", {"folder": "scans"}),),),
        root=str(root),
        bucket=f"s3://{NAME}/{name}",
    )
    around = Surroundings(
        assignment=assignment,
        bucket=bucket,
        steps=StepsOnce(lambda: (LabelledStep("copy", Copy()),), time.monotonic),
        open_source=lambda _where: open_folder(root, "scans", max_pixels=1_000_000),
        holder=this_process("benchmark"),
        sink=ListSink(),
        clock=time.time,
        monotonic=time.monotonic,
        patience=FAR_AWAY,
    )
    began = time.perf_counter()
    code = run_pack(around, assignment.pack(0))
    seconds = time.perf_counter() - began
    if code != 0:
        raise RuntimeError(f"the runner ended with {code}")
    return seconds
