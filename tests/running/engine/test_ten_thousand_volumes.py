"""Ten thousand volumes in an object store: `status` and a further `run` ask for some dozens of things."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from allotment.buckets.event_log import BucketSink
from allotment.buckets.keys import RecipeKeys
from allotment.buckets.memory import MemoryBucket
from allotment.buckets.once import PatientBucket
from allotment.cli.opened import open_repository
from allotment.events.event import Event
from allotment.running.attempts import History, begin_attempt, end_attempt
from allotment.running.endings import Ended
from allotment.running.holder import Holder
from allotment.running.lease import Lease, take_lease
from allotment.running.marks import mark_complete, mark_failed
from tests.buckets.moto_server import KEYS
from tests.buckets.tiny_s3 import TinyS3
from tests.running.engine.harness import Repository

VOLUMES, FAILED, RUNNING, TO_COME = 10_000, 300, 8, 500
MOST_REQUESTS = 200


class Filled:
    """A bucket in which a campaign has come a long way, as its engine and workers leave it."""

    def __init__(self, repository: Repository) -> None:
        self.repository = repository
        self.bucket = MemoryBucket()
        self.patient = PatientBucket(self.bucket, sleep=lambda _: None)
        opened, _ = open_repository(repository.root, platform=None, team=None)
        work = opened.work("c")
        self.keys = RecipeKeys(work.team, work.pipeline, work.recipe)
        self.sink = BucketSink(self.bucket, work.team, "c", "engine-1-host", lambda: 0.0)
        self.now = time.time()

    def tell(self, kind: str, volume: str | None, at: float, **data: Any) -> None:
        self.sink.emit(Event(kind, self.now - 90_000 + at, self.keys.team, "c", volume, None, data))

    def complete(self, volume: str, at: float, *, told: bool = True, failed: int = 1) -> None:
        keys = self.keys.volume(volume)
        self.bucket.create(keys.record("0001"), b"{}")
        self.bucket.create(keys.manifest, b'{"counts": {"pages": 12, "done": 11, "failed": 1}}')
        mark_complete(self.patient, keys, pages=12, failed=failed)
        if told:
            self.tell("volume.started", volume, at, pages_total=12, pages_done=0)
            for page in range(1, 12):
                self.tell("page.done", volume, at + page / 12, pages_done=page, pages_total=12)
            self.tell("volume.completed", volume, at + 1, pages_done=11, pages_failed=1)
            self.sink.flush()

    def fail(self, volume: str, at: float) -> None:
        keys = self.keys.volume(volume)
        number = begin_attempt(self.patient, keys, History(), done=0, measured={})
        end_attempt(
            self.patient, keys, number, Ended.PERMANENT, reason="torn", message="it is torn", measured={}
        )
        mark_failed(self.patient, keys, number)
        self.tell("volume.started", volume, at, pages_total=12, pages_done=0)
        self.tell("volume.failed", volume, at + 1, reason="torn", message="it is torn")
        self.sink.flush()

    def hold(self, volume: str) -> None:
        keys = self.keys.volume(volume)
        holder = Holder("far-away", "another", "boot", 1, 1, "")
        lease = take_lease(self.patient, keys, holder, clock=lambda: self.now + 3600, is_dead=lambda _: False)
        assert isinstance(lease, Lease)
        begin_attempt(self.patient, keys, History(), done=0, measured={})
        self.bucket.create(keys.record("0001"), b"{}")


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    repository = Repository(tmp_path, volumes=1, variables=KEYS).write()
    repository.campaign("c", range(VOLUMES))
    return repository


def served(repository: Repository, bucket: MemoryBucket, *words: str) -> tuple[TinyS3, str, int]:
    """A command over the bucket; the server with its counts, what was printed, and the exit code."""
    store = TinyS3({f"here/{key}": data for key, data in bucket.objects.items()})
    with store.serving() as endpoint:
        options = f"{{endpoint: '{endpoint}', allow_http: true}}"
        platform = f"engine: local\nbucket: s3://bucket/here\nbucket_options: {options}\n"
        (repository.root / "platform.yaml").write_text(platform)
        ended = repository.allot(*words)
    assert "Traceback" not in ended.stderr
    return store, ended.stdout, ended.returncode


@pytest.mark.parametrize("told", [True, False])
def test_status(repository: Repository, *, told: bool) -> None:
    filled = Filled(repository)
    filled.tell("campaign.started", None, 0.0, volumes=VOLUMES)
    volumes = [f"v{number}" for number in range(VOLUMES - TO_COME)]
    for number, volume in enumerate(volumes[: FAILED if told else 0]):
        filled.fail(volume, float(number))
    for number, volume in enumerate(volumes[FAILED:-RUNNING]):
        filled.complete(volume, float(number), told=told)
    for volume in volumes[-RUNNING:]:
        filled.hold(volume)
    store, printed, _ = served(repository, filled.bucket, "status", "-o", "json")
    (campaign,) = json.loads(printed)["campaigns"]
    states = [volume["state"] for volume in campaign["volumes"]]
    complete = VOLUMES - TO_COME - FAILED - RUNNING
    assert states.count("complete") == complete
    assert states.count("running") == RUNNING
    assert states.count("failed") == (FAILED if told else 0)
    assert campaign["volumes_total"] == VOLUMES
    assert campaign["pages_done"] == complete * 11 + RUNNING
    assert campaign["pages_failed"] == complete
    assert store.count < MOST_REQUESTS, store.requests


def test_a_further_run_of_what_is_complete(repository: Repository) -> None:
    filled = Filled(repository)
    for number in range(VOLUMES):
        filled.complete(f"v{number}", float(number), told=False)
    store, printed, code = served(repository, filled.bucket, "run", "c", "--plain")
    assert f"nothing left to do, {VOLUMES:,} volumes complete" in printed
    assert code == 0
    assert store.count < MOST_REQUESTS, store.requests


@pytest.mark.parametrize("words", [(), ("-o", "json")])
def test_results(repository: Repository, words: tuple[str, ...]) -> None:
    filled = Filled(repository)
    for number in range(VOLUMES - TO_COME):
        filled.complete(f"v{number}", float(number), told=False, failed=0 if words else 1)
        filled.bucket.create(f"{filled.keys.volume(f'v{number}').pages}0001.tallying.txt", b"text")
    store, printed, code = served(repository, filled.bucket, "results", "c", *words)
    assert code == 0
    if words:
        volumes = json.loads(printed)["volumes"]
        assert len(volumes) == VOLUMES - TO_COME
        assert all(volume["pages_done"] == 1 and len(volume["outputs"]) == 1 for volume in volumes)
    else:
        assert printed.count(" complete: 11 pages in ") == VOLUMES - TO_COME
        assert f"{TO_COME} volumes not begun yet" in printed
        assert "of each page: tallying.txt" in printed
    assert store.count < MOST_REQUESTS, store.requests


def test_results_of_a_few_volumes(repository: Repository) -> None:
    filled = Filled(repository)
    for number in range(VOLUMES):
        filled.complete(f"v{number}", float(number), told=False)
        filled.bucket.create(f"{filled.keys.volume(f'v{number}').pages}0001.tallying.txt", b"text")
    store, printed, _ = served(repository, filled.bucket, "results", "c", "v7", "v8", "--text")
    assert printed.count("text") == 2
    assert store.count < MOST_REQUESTS, store.requests
