from __future__ import annotations

import errno
import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from allotment.buckets.bucket import (
    Bucket,
    BucketRefused,
    BucketUnavailable,
    KeyExists,
    KeyMissing,
    ObjectRefused,
)
from allotment.buckets.faulty import Death, Fault, FaultyBucket, planned, seeded
from allotment.buckets.folder import FolderBucket
from allotment.buckets.memory import MemoryBucket
from allotment.buckets.opening import open_bucket
from allotment.errors import AllotmentError, WorldError


@pytest.fixture(params=["memory", "folder", "faultless"])
def bucket(request: pytest.FixtureRequest, tmp_path: Path) -> Bucket:
    makers: dict[str, Callable[[], Bucket]] = {
        "memory": MemoryBucket,
        "folder": lambda: open_bucket("results", tmp_path),
        "faultless": lambda: FaultyBucket(MemoryBucket(), planned({})),
    }
    return makers[request.param]()


def test_a_key_is_written_once(bucket: Bucket) -> None:
    bucket.create("a/b.txt", b"first")
    with pytest.raises(KeyExists) as caught:
        bucket.create("a/b.txt", b"second")
    assert caught.value.key == "a/b.txt"
    assert bucket.read("a/b.txt") == b"first"


def test_what_is_missing_is_said_to_be(bucket: Bucket) -> None:
    assert not bucket.exists("a/b.txt")
    with pytest.raises(KeyMissing):
        bucket.read("a/b.txt")
    assert list(bucket.list("a/")) == []
    assert bucket.list_folders("a/") == ()


def test_lists_show_keys_sizes_and_folders(bucket: Bucket) -> None:
    for key in ("t/p/1", "t/p/22", "t/q/x/1", "t/top", "u/1"):
        bucket.create(key, key.encode())
    assert sorted(bucket.list("t/p/")) == [("t/p/1", 5), ("t/p/22", 6)]
    assert sorted(entry.key for entry in bucket.list("")) == ["t/p/1", "t/p/22", "t/q/x/1", "t/top", "u/1"]
    assert bucket.list_folders("t/") == ("p", "q")
    assert bucket.list_folders("") == ("t", "u")
    assert bucket.exists("t/top")


def test_many_writers_of_one_key_have_one_winner(bucket: Bucket) -> None:
    winners: list[int] = []
    start = threading.Barrier(8)

    def write(number: int) -> None:
        start.wait()
        try:
            bucket.create("contested", str(number).encode())
        except KeyExists:
            return
        winners.append(number)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(winners) == 1
    assert bucket.read("contested") == str(winners[0]).encode()


@pytest.fixture
def no_nameless_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "O_TMPFILE")


@pytest.mark.usefixtures("no_nameless_files")
def test_a_file_system_without_nameless_files_will_do(tmp_path: Path) -> None:
    bucket = open_bucket("results", tmp_path)
    bucket.create("a/b.txt", b"whole")
    with pytest.raises(KeyExists):
        bucket.create("a/b.txt", b"other")
    assert bucket.read("a/b.txt") == b"whole"
    assert [path.name for path in (tmp_path / "results" / "a").iterdir()] == ["b.txt"]


@pytest.mark.parametrize("number", [errno.EOPNOTSUPP, errno.EISDIR])
def test_nameless_files_are_given_up_where_they_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    opened = os.open

    def refusing(path: str, flags: int, mode: int = 0o777) -> int:
        if flags & os.O_TMPFILE == os.O_TMPFILE:
            raise OSError(number, "no nameless files here")
        return opened(path, flags, mode)

    bucket = open_bucket("results", tmp_path)
    bucket.create("a/first", b"1")
    monkeypatch.setattr(os, "open", refusing)
    bucket.create("a/second", b"2")
    assert bucket.read("a/second") == b"2"


def test_the_half_written_object_of_a_killed_writer_is_not_there(tmp_path: Path) -> None:
    bucket = open_bucket("results", tmp_path)
    (tmp_path / "results" / "a").mkdir()
    (tmp_path / "results" / "a" / ".new-0123").write_bytes(b"hal")
    assert list(bucket.list("a/")) == []
    assert bucket.list_folders("") == ("a",)


@pytest.mark.parametrize("key", ["", "/a", "../a", "a/../b", "a//b", "a/", ".a", "a/.b", "a\0b"])
def test_keys_that_could_leave_or_hide_are_refused(tmp_path: Path, key: str) -> None:
    bucket = open_bucket("results", tmp_path)
    for act in (lambda: bucket.create(key, b""), lambda: bucket.read(key), lambda: bucket.exists(key)):
        with pytest.raises(BucketRefused):
            act()
    assert list(tmp_path.iterdir()) == [tmp_path / "results"]


def test_prefixes_are_folders(tmp_path: Path) -> None:
    with pytest.raises(BucketRefused):
        list(open_bucket("results", tmp_path).list("a"))


@pytest.mark.parametrize(
    ("number", "raised"),
    [
        (errno.ENOSPC, BucketUnavailable),
        (errno.EIO, BucketUnavailable),
        (errno.EROFS, BucketRefused),
        (errno.EACCES, BucketRefused),
    ],
)
def test_failures_that_may_pass_are_told_from_those_that_will_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, raised: type[WorldError]
) -> None:
    def failing(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number), "results/a")

    bucket = open_bucket("results", tmp_path)
    bucket.create("a/first", b"")
    monkeypatch.setattr(os, "link", failing)
    with pytest.raises(raised, match=os.strerror(number)):
        bucket.create("a/second", b"")
    assert not bucket.exists("a/second")


def test_a_bucket_that_cannot_be_made_or_written_says_where(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file")
    with pytest.raises(WorldError, match="taken"):
        open_bucket("taken/results", tmp_path)
    bucket = open_bucket("results", tmp_path)
    (tmp_path / "results" / "a").write_text("a file where a folder should be")
    with pytest.raises(BucketRefused, match="cannot write in the bucket"):
        bucket.create("a/b", b"")


def test_reading_a_bucket_that_is_not_there_makes_nothing(tmp_path: Path) -> None:
    bucket = open_bucket("results", tmp_path, create=False)
    assert list(bucket.list("")) == []
    assert not (tmp_path / "results").exists()


def test_names_of_buckets(tmp_path: Path) -> None:
    open_bucket(f"file://{tmp_path}/by%20address", Path("/nowhere")).create("a", b"1")
    assert (tmp_path / "by address" / "a").read_bytes() == b"1"
    with pytest.raises(AllotmentError, match="s3://"):
        open_bucket("gs://bucket/prefix", tmp_path)


@pytest.mark.parametrize(
    ("fault", "raised", "written"),
    [
        (Fault.FAILS, BucketUnavailable, False),
        (Fault.FAILS_AFTER, BucketUnavailable, True),
        (Fault.ANSWERS_TWICE, KeyExists, True),
        (Fault.DIES, Death, False),
        (Fault.DIES_AFTER, Death, True),
    ],
)
def test_faults_do_what_they_are_called(fault: Fault, raised: type[BaseException], written: bool) -> None:
    inner = MemoryBucket()
    bucket = FaultyBucket(inner, planned({1: fault}))
    bucket.create("before", b"0")
    with pytest.raises(raised):
        bucket.create("key", b"1")
    assert inner.exists("key") is written


def test_the_dead_write_nothing_more() -> None:
    inner = MemoryBucket()
    bucket = FaultyBucket(inner, planned({0: Fault.DIES_AFTER}))
    for key in ("a", "b"):
        with pytest.raises(Death):
            bucket.create(key, b"")
    assert sorted(inner.objects) == ["a"]


def test_a_slow_bucket_is_heard_of_and_a_seed_repeats_its_faults() -> None:
    slow: list[str] = []
    bucket = FaultyBucket(MemoryBucket(), planned({0: Fault.SLOW}), slow=slow.append)
    bucket.create("a", b"")
    assert slow == ["a"]
    plans = [seeded(7, chance=0.5, faults=[Fault.FAILS, Fault.SLOW]) for _ in range(2)]
    first, second = ([plan(n, "read", "k") for n in range(50)] for plan in plans)
    assert first == second
    assert set(first) == {Fault.NONE, Fault.FAILS, Fault.SLOW}


@pytest.mark.parametrize("kind", ["pipe", "folder", "link", "device", "nowhere"])
def test_what_is_no_file_is_refused_and_never_waited_for(tmp_path: Path, kind: str) -> None:
    bucket = open_bucket("results", tmp_path)
    bucket.create("a/good", b"good")
    path = tmp_path / "results" / "a" / "odd"
    targets = {"link": tmp_path / "results" / "a" / "good", "device": Path(os.devnull), "nowhere": Path("x")}
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to(targets[kind])
    for look in (bucket.read, bucket.exists):
        with pytest.raises(ObjectRefused) as caught:
            look("a/odd")
        assert "a/odd" in str(caught.value)
        assert "no file" in str(caught.value)


def test_an_object_larger_than_it_can_be_is_refused(bucket: Bucket) -> None:
    bucket.create("a", b"12345")
    assert bucket.read("a", 5) == b"12345"
    with pytest.raises(ObjectRefused, match="more than 4 bytes"):
        bucket.read("a", 4)


def test_a_link_in_a_list_is_not_followed(tmp_path: Path) -> None:
    bucket = open_bucket("results", tmp_path)
    bucket.create("v/pages/1", b"1")
    (tmp_path / "results" / "v" / "pages" / "self").symlink_to(".")
    (tmp_path / "results" / "v" / "pages" / "lost").symlink_to("nowhere")
    assert sorted(entry.key for entry in bucket.list("v/")) == ["v/pages/1", "v/pages/lost", "v/pages/self"]


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_is_told_with_what_to_do(
    tmp_path: Path, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> int:
        raise OSError(number, os.strerror(number))

    bucket = FolderBucket(tmp_path)
    monkeypatch.setattr(os, "write", full)
    with pytest.raises(
        BucketUnavailable, match=r"the bucket.* nothing more can be written\n  make room there"
    ):
        bucket.create("a", b"data")
