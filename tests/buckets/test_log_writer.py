"""Events written in the background: whoever tells them never waits, and what is lost is counted."""

from __future__ import annotations

import threading
import time

import pytest

from allotment.buckets.event_log import BucketSink, read_events
from allotment.buckets.log_writer import LogWriter
from allotment.buckets.memory import MemoryBucket
from allotment.events.event import Event
from allotment.events.sinks import ListSink


class Hanging(MemoryBucket):
    """A bucket that takes its time until it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.go = threading.Event()
        self.asked = threading.Event()

    def create(self, key: str, data: bytes) -> None:
        self.asked.set()
        self.go.wait(30)
        super().create(key, data)


def event(moment: float) -> Event:
    return Event("page.done", moment, "team", "letters", "v")


def test_everything_told_is_written_in_its_order() -> None:
    bucket, writer = MemoryBucket(), LogWriter()
    sink = writer.sink(BucketSink(bucket, "team", "letters", "one", lambda: 0.0))
    for moment in range(100):
        sink.emit(event(moment))
        sink.flush()
    assert writer.close() == 0
    assert [each.time for each in read_events(bucket, "team", "letters")] == list(range(100))


def test_nobody_waits_for_a_bucket_that_hangs() -> None:
    bucket, writer = Hanging(), LogWriter(most=10)
    sink = writer.sink(BucketSink(bucket, "team", "letters", "one", lambda: 0.0))
    sink.emit(event(0))
    began = time.monotonic()
    sink.flush()
    assert bucket.asked.wait(5)
    for moment in range(1, 100):
        sink.emit(event(moment))
        sink.flush()
    assert time.monotonic() - began < 1.0
    bucket.go.set()
    assert writer.close() == 89
    assert [each.time for each in read_events(bucket, "team", "letters")] == list(range(11))


@pytest.mark.parametrize(("hurried", "most"), [(True, 0.5), (False, 2.0)])
def test_the_end_waits_as_long_as_it_may(
    caplog: pytest.LogCaptureFixture, *, hurried: bool, most: float
) -> None:
    bucket, writer = Hanging(), LogWriter()
    sink = writer.sink(BucketSink(bucket, "team", "letters", "one", lambda: 0.0))
    sink.emit(event(0))
    sink.flush()
    assert bucket.asked.wait(5)
    sink.emit(event(1))
    began = time.monotonic()
    assert writer.close(lambda: hurried, longest=0.6, moment=0.1) == 1
    assert time.monotonic() - began < most
    assert "1 events were lost: the bucket took too long" in caplog.text
    bucket.go.set()


def test_several_sinks_share_one_thread() -> None:
    first, second, writer = ListSink(), ListSink(), LogWriter()
    sinks = [writer.sink(first), writer.sink(second)]
    before = threading.active_count()
    for moment in range(10):
        sinks[moment % 2].emit(event(moment))
        sinks[moment % 2].flush()
    assert threading.active_count() <= before + 1
    assert writer.close() == 0
    assert [len(first.events), len(second.events)] == [5, 5]


def test_a_writer_that_was_told_nothing_ends_at_once() -> None:
    assert LogWriter().close() == 0
