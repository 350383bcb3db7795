"""A bucket that says nothing does not keep anybody who does not want to wait any longer."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator

import pytest

from allotment.buckets.apart import ApartBucket, in_parallel
from allotment.buckets.bucket import Bucket, BucketUnavailable, Entry, KeyExists, KeyMissing
from allotment.buckets.memory import MemoryBucket

OPERATIONS: dict[str, Callable[[Bucket], object]] = {
    "create": lambda bucket: bucket.create("a/b", b"x"),
    "read": lambda bucket: bucket.read("a/b"),
    "exists": lambda bucket: bucket.exists("a/b"),
    "list": lambda bucket: list(bucket.list("a/")),
    "list_folders": lambda bucket: bucket.list_folders("a/"),
}


class Silent:
    """A bucket that does not answer before it is let go; ``begun`` holds one more each time it is asked."""

    where = "s3://silent"

    def __init__(self) -> None:
        self.begun = threading.Semaphore(0)
        self.let_go = threading.Event()

    def _wait(self) -> None:
        self.begun.release()
        self.let_go.wait(30)

    def create(self, key: str, data: bytes) -> None:
        self._wait()

    def read(self, key: str, most: int | None = None) -> bytes:
        self._wait()
        return b"late"

    def exists(self, key: str) -> bool:
        self._wait()
        return True

    def list(self, prefix: str) -> Iterator[Entry]:
        self._wait()
        yield Entry("a/b", 1)

    def list_folders(self, prefix: str) -> tuple[str, ...]:
        self._wait()
        return ("b",)


@pytest.fixture
def silent() -> Iterator[Silent]:
    bucket = Silent()
    yield bucket
    bucket.let_go.set()


def test_it_is_the_bucket_that_it_asks() -> None:
    inner = MemoryBucket()
    apart = ApartBucket(inner)
    apart.create("a/b", b"x")
    with pytest.raises(KeyExists):
        apart.create("a/b", b"y")
    with pytest.raises(KeyMissing):
        apart.read("a/c")
    assert apart.read("a/b") == b"x"
    assert apart.exists("a/b")
    assert list(apart.list("a/")) == [Entry("a/b", 1)]
    assert apart.list_folders("") == ("a",)


def test_several_threads_ask_at_once(silent: Silent) -> None:
    apart = ApartBucket(silent)
    threads = [threading.Thread(target=apart.read, args=("a",)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for _ in threads:
        assert silent.begun.acquire(timeout=10)
    silent.let_go.set()
    for thread in threads:
        thread.join()


@pytest.mark.parametrize("operation", OPERATIONS)
def test_when_it_is_enough_an_operation_is_given_up_and_the_next_one_sooner(
    silent: Silent, operation: str
) -> None:
    ticks = iter(range(1000))
    apart = ApartBucket(silent, lambda: True, 3.0, lambda: float(next(ticks)))
    act = OPERATIONS[operation]
    began = 0
    for _ in range(2):
        began = next(ticks)
        with pytest.raises(BucketUnavailable, match=r"s3://silent/a.*was not waited for any longer"):
            act(apart)
    assert next(ticks) - began < 5
    silent.let_go.set()
    act(apart)


@pytest.mark.parametrize("operation", OPERATIONS)
def test_what_a_signal_raises_comes_through_at_once(silent: Silent, operation: str) -> None:
    apart = ApartBucket(silent)

    def press() -> None:
        assert silent.begun.acquire(timeout=10)
        signal.raise_signal(signal.SIGINT)

    thread = threading.Thread(target=press)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        OPERATIONS[operation](apart)
    thread.join()


def test_ctrl_c_says_what_was_waited_for(silent: Silent) -> None:
    ticks = iter((0.0, 12.0))

    def press() -> None:
        assert silent.begun.acquire(timeout=10)
        signal.raise_signal(signal.SIGINT)

    thread = threading.Thread(target=press)
    thread.start()
    with pytest.raises(KeyboardInterrupt, match=r"s3://silent had not answered for 12 s"):
        ApartBucket(silent, monotonic=lambda: next(ticks)).read("a")
    thread.join()


def test_several_things_are_done_at_once_and_answered_in_order(silent: Silent) -> None:
    silent.let_go.set()
    assert list(in_parallel(lambda number: number * 2, range(20), 3)) == list(range(0, 40, 2))
    assert list(in_parallel(silent.exists, [], 3)) == []

    def fail(number: int) -> int:
        if number == 4:
            raise KeyMissing("nothing is there", key="4")
        return number

    answers = in_parallel(fail, range(20), 3)
    assert [next(answers) for _ in range(4)] == [0, 1, 2, 3]
    with pytest.raises(KeyMissing):
        next(answers)


def test_ctrl_c_breaks_into_several_things_at_once(silent: Silent) -> None:
    def press() -> None:
        for _ in range(3):
            assert silent.begun.acquire(timeout=10)
        signal.raise_signal(signal.SIGINT)

    thread = threading.Thread(target=press)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        list(in_parallel(silent.exists, ["a", "b", "c", "d"], 3))
    thread.join()
