"""S3 as a bucket: against moto, against servers that fail in every way, and against one that lies."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from allotment.buckets.bucket import (
    Bucket,
    BucketRefused,
    BucketUnavailable,
    KeyExists,
    KeyMissing,
)
from allotment.buckets.object_store import ObjectStoreBucket
from allotment.buckets.once import Patience, PatientBucket, Written
from allotment.buckets.opening import open_bucket
from allotment.buckets.s3 import open_s3
from allotment.errors import AllotmentError
from tests.buckets.fault_proxy import Fault, FaultProxy, seeded
from tests.buckets.moto_server import KEYS, make_bucket
from tests.buckets.tiny_s3 import TinyS3

HERE = Path("/nowhere")
MANY = Patience(tries=40, first=0.0)


def at(
    endpoint: str, name: str = "s3://bucket/some/prefix", **options: str | bool | int
) -> ObjectStoreBucket:
    bucket = open_s3(name, HERE, {"endpoint": endpoint, "allow_http": True, **options}, KEYS)
    bucket._sleep = lambda _seconds: None
    return bucket


@pytest.fixture
def bucket(s3_server: str) -> ObjectStoreBucket:
    name = f"b{uuid.uuid4().hex}"
    make_bucket(s3_server, name)
    return at(s3_server, f"s3://{name}/some/prefix/")


@contextmanager
def failing(plan: object, **objects: bytes) -> Iterator[tuple[ObjectStoreBucket, TinyS3]]:
    store = TinyS3({f"some/prefix/{key}": data for key, data in objects.items()})
    with store.serving() as upstream, FaultProxy(upstream, plan).serving() as endpoint:  # type: ignore[arg-type]
        yield at(endpoint), store


def test_a_key_is_written_once(bucket: Bucket) -> None:
    bucket.create("a/b.txt", b"first")
    with pytest.raises(KeyExists) as caught:
        bucket.create("a/b.txt", b"second")
    assert caught.value.key == "a/b.txt"
    assert bucket.read("a/b.txt") == b"first"
    assert bucket.exists("a/b.txt")


def test_what_is_missing_is_said_to_be(bucket: Bucket) -> None:
    assert not bucket.exists("a/b.txt")
    with pytest.raises(KeyMissing):
        bucket.read("a/b.txt")
    assert list(bucket.list("a/")) == []
    assert bucket.list_folders("a/") == ()


def test_lists_show_keys_sizes_and_folders(bucket: Bucket) -> None:
    for key in ("t/p/1", "t/p/22", "t/q/x/1", "t/top", "u/1"):
        bucket.create(key, key.encode())
    assert list(bucket.list("t/p/")) == [("t/p/1", 5), ("t/p/22", 6)]
    assert [entry.key for entry in bucket.list("")] == ["t/p/1", "t/p/22", "t/q/x/1", "t/top", "u/1"]
    assert bucket.list_folders("t/") == ("p", "q")
    assert bucket.list_folders("") == ("t", "u")


def test_many_writers_of_one_key_have_one_winner(bucket: Bucket) -> None:
    winners: list[int] = []
    start = threading.Barrier(8)

    def write(number: int) -> None:
        start.wait()
        try:
            bucket.create("contested", str(number).encode())
        except (KeyExists, BucketUnavailable):
            return
        winners.append(number)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert bucket.read("contested") == str(winners[0]).encode()
    assert len(winners) == 1


def test_a_large_object_is_one_request_and_create_only(s3_server: str) -> None:
    name = f"b{uuid.uuid4().hex}"
    make_bucket(s3_server, name)
    proxy = FaultProxy(s3_server)
    with proxy.serving() as endpoint:
        bucket = at(endpoint, f"s3://{name}")
        bucket.create("large", bytes(20 << 20))
        with pytest.raises(KeyExists):
            bucket.create("large", bytes(20 << 20))
        assert len(bucket.read("large")) == 20 << 20
    assert proxy.requests == {"PUT": 2, "GET": 1}
    assert not any("upload" in path for path in proxy.paths)


@pytest.mark.parametrize("key", ["", "/a", "../a", "a/../b", "a//b", "a/", "a\0b", "."])
def test_keys_that_are_none_are_refused(key: str) -> None:
    bucket = at("http://127.0.0.1:1")
    for act in (lambda: bucket.create(key, b""), lambda: bucket.read(key), lambda: bucket.exists(key)):
        with pytest.raises(BucketRefused, match="cannot be a key"):
            act()


def test_prefixes_are_folders() -> None:
    with pytest.raises(BucketRefused):
        list(at("http://127.0.0.1:1").list("a"))


@pytest.mark.parametrize(
    ("fault", "written"),
    [
        (Fault.INTERNAL_ERROR, False),
        (Fault.SLOW_DOWN, False),
        (Fault.CUT, False),
        (Fault.CUT_AFTER, True),
        (Fault.ERROR_AFTER, True),
    ],
)
def test_a_create_that_failed_is_told_and_not_repeated(fault: Fault, *, written: bool) -> None:
    with failing(lambda number, *_: fault if number == 0 else Fault.NONE) as (bucket, store):
        with pytest.raises(BucketUnavailable):
            bucket.create("a/k", b"mine")
        assert (store.objects == {"some/prefix/a/k": b"mine"}) is written


@pytest.mark.parametrize("fault", [fault for fault in Fault if fault is not Fault.NONE])
@pytest.mark.parametrize("taken", [False, True])
def test_writing_once_comes_through_every_fault(fault: Fault, *, taken: bool) -> None:
    with failing(lambda number, *_: fault if number < 2 else Fault.NONE) as (bucket, store):
        if taken:
            store.objects["some/prefix/k"] = b"mine"
        patient = PatientBucket(bucket, sleep=lambda _: None)
        assert patient.put("k", b"mine") in set(Written)
        assert store.objects == {"some/prefix/k": b"mine"}


@pytest.mark.parametrize("fault", [fault for fault in Fault if fault is not Fault.NONE])
def test_reads_and_lists_come_through_every_fault(fault: Fault) -> None:
    objects = {f"k{number:04d}": b"x" * 100 for number in range(2500)}
    with failing(lambda number, *_: fault if number % 2 == 0 else Fault.NONE, **objects) as (bucket, _):
        assert bucket.read("k0001") == b"x" * 100
        assert bucket.exists("k0001")
        assert not bucket.exists("k9999")
        assert [entry.key for entry in bucket.list("")] == sorted(objects)


def test_a_long_list_goes_on_where_it_broke_off() -> None:
    objects = {f"k{number:05d}": b"" for number in range(20_000)}
    with failing(seeded(3, 0.4), **objects) as (bucket, store):
        bucket._patience = MANY
        assert [entry.key for entry in bucket.list("")] == sorted(objects)
        assert store.requests["LIST"] < 80


def test_a_bucket_that_stays_away_is_given_up_after_growing_random_pauses() -> None:
    slept: list[float] = []
    with failing(lambda *_: Fault.SLOW_DOWN) as (bucket, store):
        bucket._sleep, bucket._dice = slept.append, lambda: 0.5
        bucket._patience = Patience(tries=4, first=1.0, longest=3.0)
        with pytest.raises(BucketUnavailable, match="slow down"):
            bucket.read("k")
        assert store.count == 0
    assert slept == [0.5, 1.0, 1.5]


def test_a_bucket_is_opened_by_its_address(s3_server: str, tmp_path: Path) -> None:
    name = f"b{uuid.uuid4().hex}"
    make_bucket(s3_server, name)
    options: dict[str, str | bool] = {"endpoint": s3_server, "allow_http": True}
    bucket = open_bucket(f"s3://{name}/here", tmp_path, options=options, environ=KEYS)
    bucket.create("a", b"1")
    assert open_bucket(f"s3://{name}", tmp_path, options=options, environ=KEYS).read("here/a") == b"1"
    with pytest.raises(AllotmentError, match="gs://"):
        open_bucket("gs://bucket", tmp_path)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"endpiont": "https://x"}, "did you mean `endpoint`"),
        ({"secret_access_key": "hush"}, "looks like a secret"),
        ({"endpoint": "https://me:hush@x.example.org"}, "names a user"),
        ({"timeout": "soon"}, "not a duration"),
    ],
)
def test_options_are_held_to_their_table_when_a_bucket_is_opened_too(
    options: dict[str, str | bool], match: str
) -> None:
    with pytest.raises(AllotmentError, match=match) as caught:
        open_bucket("s3://bucket", HERE, options=options, environ=KEYS)
    assert "hush" not in str(caught.value)
