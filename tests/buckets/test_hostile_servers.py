"""Servers that lie, drip, go round in circles or are no object store: the right answer, and in time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from allotment.buckets.bodies import read_body
from allotment.buckets.bucket import BucketRefused, BucketUnavailable, Conflict, KeyMissing, ObjectRefused
from allotment.buckets.listing import within
from allotment.buckets.memory import MemoryBucket
from allotment.buckets.object_store import ObjectStoreBucket
from allotment.buckets.once import NO_PATIENCE, PatientBucket
from allotment.buckets.s3 import open_s3
from tests.buckets.moto_server import KEYS
from tests.buckets.tiny_s3 import MODIFIED, MODIFIED_ISO, Handler, Server, TinyS3

Answer = Callable[[Handler], None]


@contextmanager
def served(answer: Answer, name: str = "s3://bucket/p") -> Iterator[ObjectStoreBucket]:
    class Requests(Handler):
        def do_GET(self) -> None:
            answer(self)

        do_HEAD = do_GET

    with Server(Requests).serving() as endpoint:
        yield opened(endpoint, name)


def opened(endpoint: str, name: str = "s3://bucket/p") -> ObjectStoreBucket:
    bucket = open_s3(name, Path("/nowhere"), {"endpoint": endpoint, "allow_http": True, "timeout": 1}, KEYS)
    bucket._patience = NO_PATIENCE
    return bucket


def is_list(request: Handler) -> bool:
    return "list-type" in request.path


def listed(*keys: str, more: bool = False) -> bytes:
    shown = "".join(
        f"<Contents><Key>{key}</Key><LastModified>{MODIFIED_ISO}</LastModified><ETag>x</ETag>"
        "<Size>1</Size></Contents>"
        for key in keys
    )
    token = "<NextContinuationToken>same</NextContinuationToken>" if more else ""
    truncated = f"<IsTruncated>{str(more).lower()}</IsTruncated>"
    return f"<ListBucketResult>{truncated}{token}{shown}</ListBucketResult>".encode()


def body(claimed: int, parts: Iterator[bytes], request: Handler) -> None:
    request.send_response(200)
    for name, value in {"content-length": str(claimed), "etag": '"x"', "last-modified": MODIFIED}.items():
        request.send_header(name, value)
    request.end_headers()
    request.close_connection = True
    for part in parts:
        request.wfile.write(part)
        request.wfile.flush()


def dripping() -> Iterator[bytes]:
    for _ in range(40):
        yield b" "
        time.sleep(0.1)


@pytest.mark.parametrize("claimed", [10**13, (5 << 30) + 1])
def test_a_length_that_no_object_has_reserves_nothing(claimed: int) -> None:
    with served(partial(body, claimed, iter([b"x"]))) as bucket:
        with pytest.raises(ObjectRefused, match="more than 5368709120 bytes"):
            bucket.read("a")


def test_a_body_larger_than_the_object_can_be_is_refused() -> None:
    with served(partial(body, 200, iter([b"x" * 200]))) as bucket:
        with pytest.raises(ObjectRefused, match="more than 100 bytes"):
            bucket.read("a", 100)


def test_a_body_that_drips_is_given_up_after_the_time_limit() -> None:
    with served(partial(body, 100_000, dripping())) as bucket:
        began = time.monotonic()
        with pytest.raises(BucketUnavailable, match=r"it came too slowly: \d+ of 100,000 bytes in 1 s"):
            bucket.read("a")
        assert time.monotonic() - began < 3


def test_a_large_body_may_take_longer_than_the_time_limit(store: TinyS3) -> None:
    times = iter([0.0, *(float(second) for second in range(1, 10_000))])
    with store.serving() as endpoint:
        short = opened(endpoint)._reach.short
        data, tagged = read_body(
            short, "large", "here", most=1 << 30, seconds=100_000.0, clock=lambda: next(times)
        )
    assert (len(data), tagged) == (3_000_000, True)


@pytest.fixture
def store() -> TinyS3:
    return TinyS3({"p/large": bytes(3_000_000)})


def test_a_list_that_gives_the_same_key_for_ever_is_refused() -> None:
    with served(lambda request: request.answer(200, listed("p/t/aaa.json", more=True))) as bucket:
        with pytest.raises(BucketRefused, match="gives the same keys again"):
            list(bucket.list("t/"))


@pytest.mark.parametrize("act", [lambda b: list(b.list("t/")), lambda b: b.list_folders("t/")])
def test_a_list_of_nothing_that_never_ends_is_given_up(
    act: Callable[[ObjectStoreBucket], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("allotment.buckets.object_store.TIMEOUTS_OF_A_LIST", 1)
    with served(lambda request: request.answer(200, listed(more=True))) as bucket:
        with pytest.raises(BucketUnavailable, match="did not come to an end in time"):
            act(bucket)


def test_what_does_not_come_in_time_is_not_waited_for() -> None:
    with pytest.raises(BucketUnavailable, match="here: its list"):
        within(0.05, lambda: time.sleep(0.5), "here")


@pytest.mark.parametrize(
    "act",
    [
        lambda b: list(b.list("t/")),
        lambda b: b.list_folders("t/"),
        lambda b: b.exists("t/x"),
        lambda b: b.read("t/x"),
    ],
)
def test_a_page_of_the_web_is_no_empty_bucket(act: Callable[[ObjectStoreBucket], object]) -> None:
    with served(lambda request: request.answer(200, b"<html>welcome</html>")) as bucket:
        with pytest.raises(BucketRefused, match="s3://bucket/p: the endpoint is no object store"):
            act(bucket)


def test_an_empty_bucket_is_asked_once_whether_it_is_one() -> None:
    store = TinyS3()
    with store.serving() as endpoint:
        bucket = opened(endpoint)
        assert [list(bucket.list("a/")), list(bucket.list("b/")), bucket.list_folders("")] == [[], [], ()]
    assert store.requests == {"LIST": 3, "HEAD": 1}


@pytest.mark.parametrize("foreign", ["{}/x", "{}../x", "{}./x", "{}w/b//x", "{}w/../x", "{}w/z//"])
def test_a_foreign_key_is_passed_over_and_said_once(foreign: str, caplog: pytest.LogCaptureFixture) -> None:
    ours = ["e/c/0.jsonl", "e/c/v/1.jsonl", "e/c/w/a.jsonl", "e/c/w/c.jsonl", "e/c/x/1.jsonl"]
    keys = [*ours, "e/other.txt", "d/1"]
    store = TinyS3(dict.fromkeys([*(f"p/{key}" for key in keys), foreign.format("p/e/c/")], b"1"))
    with store.serving() as at:
        bucket = opened(at)
        for _ in range(2):
            assert [entry.key for entry in bucket.list("e/c/")] == ours
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "a key that is none of ours is passed over" in caplog.text


@pytest.mark.parametrize("foreign", ["p/e/c//x", "p/e/c/../x", "p/e/c/w//x"])
def test_folders_are_found_beside_a_foreign_key(foreign: str) -> None:
    keys = ["p/e/c/0.jsonl", "p/e/c/v/1", "p/e/c/v/2", "p/e/c/w/3", "p/e/c/w0", "p/e/c/w0z/1", "p/e/d/1"]
    with TinyS3(dict.fromkeys([*keys, foreign], b"1")).serving() as endpoint:
        assert opened(endpoint).list_folders("e/c/") == ("v", "w", "w0z")


def test_a_foreign_key_that_cannot_be_gone_around_is_named() -> None:
    with TinyS3({"p/e/a\nb": b"", "p/e/0": b""}).serving() as endpoint:
        with pytest.raises(BucketRefused, match=r"can be no path stands in the way: 'p/e/a\\nb'"):
            list(opened(endpoint).list("e/"))


def test_folder_marks_and_keys_that_were_not_asked_for_are_left_out() -> None:
    def answer(request: Handler) -> None:
        assert parse_qs(urlsplit(request.path).query)["prefix"] == ["p/e/"]
        request.answer(200, listed("p/e/", "p/e/a.json", "p/e/a/", "p/e/a/1", "p/z/1"))

    with served(answer) as bucket:
        assert [entry.key for entry in bucket.list("e/")] == ["e/a.json", "e/a/1"]


def test_a_key_taken_by_something_far_larger_is_a_conflict() -> None:
    bucket = PatientBucket(MemoryBucket({"k": bytes(100)}), sleep=lambda _: None)
    with pytest.raises(Conflict, match="other bytes are there"):
        bucket.put("k", b"mine")


@pytest.mark.parametrize("mark", ["p/e/a.json", "p/e/a/"])
def test_a_list_that_goes_on_with_what_it_gave_is_refused(mark: str) -> None:
    with served(lambda request: request.answer(200, listed("p/e/a.json", mark, more=True))) as bucket:
        with pytest.raises(BucketRefused, match="gives the same keys again"):
            list(bucket.list("e/"))


def test_a_missing_object_is_no_lie() -> None:
    with TinyS3().serving() as endpoint, pytest.raises(KeyMissing):
        opened(endpoint).read("a")


def test_a_list_of_keys_that_were_not_asked_for_is_refused(caplog: pytest.LogCaptureFixture) -> None:
    with served(lambda request: request.answer(200, listed("../../etc/x"))) as bucket:
        with pytest.raises(BucketRefused, match="its list gives keys that were not asked for"):
            list(bucket.list("e/"))
    assert not caplog.records


def test_a_write_that_a_page_of_the_web_answers_is_refused_for_good() -> None:
    class Requests(Handler):
        def do_PUT(self) -> None:
            self.body()
            self.answer(200, b"<html>thank you</html>")

    with Server(Requests).serving() as endpoint:
        with pytest.raises(BucketRefused, match="the endpoint is no object store"):
            opened(endpoint).create("a", b"x")
