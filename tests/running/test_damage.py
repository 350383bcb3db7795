"""Damaged objects in the bucket: one clear failure that names the object, whatever is in it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from allotment.buckets.bucket import BucketUnavailable
from allotment.buckets.memory import MemoryBucket
from allotment.buckets.once import PatientBucket
from allotment.buckets.opening import open_bucket
from allotment.errors import AllotmentError
from allotment.running.aftermath import close_unwritten
from allotment.running.assignment import Limits, VolumeSpec
from allotment.running.attempts import read_attempts, read_history
from allotment.running.board import Board
from allotment.running.endings import PermanentFailureError
from allotment.running.lease import newest_lease
from allotment.running.manifest import read_counts
from allotment.running.page import Page
from allotment.running.records import read_record, read_refusal
from allotment.running.state import VolumeStatus, volume_state
from allotment.running.volume import VolumeRun
from tests.running.world import RECIPE, World

KEYS = RECIPE.volume("v1")
START = {"format_version": 1, "kind": "start", "done": 0, "failures": 0, "fruitless": 0, "stuck": []}
RECORD: dict[str, Any] = {
    "format_version": 1,
    "page": "0001",
    "source": {"name": "a", "size": 1},
    "outputs": {},
}
HOLDER = {"id": "a", "host": "h", "boot_id": "b", "pid": 1, "start_time": 1, "pid_namespace": "n"}
LEASE = {"format_version": 1, "holder": HOLDER, "expires": 1.0, "released": False}
OF_ANYTHING = [b"", b"{", b"[" * 100_000, b"[]", b"\xff", b'{"format_version":1}', b'{"format_version":2}']


def without_sleep(bucket: MemoryBucket) -> PatientBucket:
    return PatientBucket(bucket, sleep=lambda _: None)


def with_changes(value: dict[str, Any], *changes: dict[str, Any]) -> list[bytes]:
    return [json.dumps({**value, **change}).encode() for change in changes]


DAMAGES: list[tuple[str, list[bytes], Callable[[MemoryBucket, str], object]]] = [
    (
        KEYS.attempt(1),
        with_changes(START, {"done": float("inf")}, {"failures": "1"}, {"fruitless": -1}, {"stuck": 7}),
        lambda bucket, _: read_history(without_sleep(bucket), KEYS, done=0),
    ),
    (
        KEYS.lease(1),
        with_changes(LEASE, {"expires": float("inf")}, {"expires": []}, {"holder": [1]}, {"holder": {}}),
        lambda bucket, _: newest_lease(without_sleep(bucket), KEYS),
    ),
    (
        KEYS.record("0001"),
        with_changes(
            RECORD,
            {"page": "../../x"},
            {"page": "0002"},
            {"source": []},
            {"source": {"name": "a", "size": 1e999}},
            {"outputs": [1]},
            {"outputs": {"../x": {"size": 1, "sha256": ""}}},
            {"measured": [1]},
        ),
        lambda bucket, key: read_record(bucket.read(key), key),
    ),
    (
        KEYS.refusal("0001"),
        with_changes({**RECORD, "refused": "no"}, {"page": "../../x"}, {"source": 5}),
        lambda bucket, key: read_refusal(bucket.read(key), key, 1),
    ),
    (
        KEYS.manifest,
        with_changes({"format_version": 1}, {"counts": [1]}, {"counts": {"pages": "x"}}, {"counts": 1e999}),
        lambda bucket, _: read_counts(without_sleep(bucket), KEYS),
    ),
]


@pytest.mark.parametrize(
    ("key", "data", "read"),
    [
        (key, data, read)
        for key, own, read in DAMAGES
        for data in [*own, *OF_ANYTHING]
        if (key, data) != (KEYS.manifest, b'{"format_version":1}')
    ],
)
def test_a_damaged_object_is_named(
    key: str, data: bytes, read: Callable[[MemoryBucket, str], object]
) -> None:
    with pytest.raises(PermanentFailureError) as caught:
        read(MemoryBucket({key: data}), key)
    assert caught.value.reason == "bucket-damaged"
    assert key in caught.value.message


@pytest.mark.parametrize(
    "objects",
    [
        *({KEYS.attempt(1): data} for data in [*OF_ANYTHING, *with_changes(START, {"measured": [1]})]),
        *({KEYS.attempt(1): data} for data in with_changes(START, {"measured": {"at": [], "devices": 1}})),
        {
            KEYS.attempt(1): json.dumps(START).encode(),
            KEYS.attempt_end(1): b'{"format_version":1,"outcome":[]}',
        },
    ],
)
def test_who_looks_at_attempts_hears_which_is_damaged(objects: dict[str, bytes]) -> None:
    with pytest.raises(AllotmentError, match="attempts/1"):
        read_attempts(MemoryBucket(objects), KEYS)


@pytest.mark.parametrize("garbage", OF_ANYTHING)
@pytest.mark.parametrize("key", [KEYS.attempt(1), KEYS.lease(1)])
def test_a_volume_with_a_damaged_object_has_failed_and_says_so(key: str, garbage: bytes) -> None:
    state = volume_state(MemoryBucket({key: garbage}), KEYS, Limits(), now=0.0)
    assert state.status is VolumeStatus.FAILED
    assert key in state.message


@pytest.mark.parametrize("key", [KEYS.manifest, KEYS.attempt(1), KEYS.lease(1)])
def test_a_volume_with_a_pipe_in_place_of_an_object_has_failed(tmp_path: Path, key: str) -> None:
    path = tmp_path / "results" / key
    path.parent.mkdir(parents=True)
    os.mkfifo(path)
    state = volume_state(open_bucket("results", tmp_path), KEYS, Limits(), now=0.0)
    assert state.status is VolumeStatus.FAILED
    assert str(path) in state.message
    world = World()
    outcome = world.run(bucket=open_bucket("results", tmp_path))
    assert (outcome.code, outcome.reason) == (13, "bucket-damaged")


def test_a_lease_that_holds_for_days_keeps_nobody_away() -> None:
    world = World()
    lease = {**LEASE, "expires": world.now + 1e9}
    world.bucket.create(KEYS.lease(1), json.dumps(lease).encode())
    assert world.run().code == 0


class Endless(MemoryBucket):
    """A bucket that takes no end of an attempt."""

    def create(self, key: str, data: bytes) -> None:
        if key.endswith(".end.json"):
            raise BucketUnavailable("the bucket failed to write: Too many open files", key)
        super().create(key, data)


def test_an_end_that_the_worker_could_not_write_is_written_for_it(tmp_path: Path) -> None:
    world, board, bucket = World(), Board(), Endless()

    def step(page: Page, earlier: Mapping[str, bytes]) -> Mapping[str, bytes]:
        raise OSError(24, "Too many open files")

    around = replace(world.around(bucket=bucket, step=step), notice=board)
    assert VolumeRun(around, VolumeSpec("v1", {"files": "v1"})).run().code == 1
    about = board.volume
    assert about is not None
    folder = open_bucket("results", tmp_path)
    close_unwritten(replace(world.assignment, root=str(tmp_path), bucket="results"), about)
    end = json.loads(folder.read(KEYS.attempt_end(1)))
    assert (end["outcome"], end["reason"]) == ("failed", "page-error")
    assert "Too many open files" in end["message"]
