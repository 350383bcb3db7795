from __future__ import annotations

from allotment.buckets.event_log import BucketSink, read_events
from allotment.buckets.faulty import Fault, FaultyBucket, planned
from allotment.buckets.memory import MemoryBucket
from allotment.events.event import Event


def event(time: float) -> Event:
    return Event("page.done", time, "team", "letters", "v")


def test_events_of_several_writers_come_back_in_order_of_time() -> None:
    bucket = MemoryBucket()
    first = BucketSink(bucket, "team", "letters", "one", lambda: 0.0)
    second = BucketSink(bucket, "team", "letters", "two", lambda: 0.0)
    for time in (1.0, 3.0):
        first.emit(event(time))
    second.emit(event(2.0))
    assert read_events(bucket, "team", "letters") == []
    first.flush()
    second.flush()
    first.flush()
    assert [entry.time for entry in read_events(bucket, "team", "letters")] == [1.0, 2.0, 3.0]
    assert sorted(bucket.objects) == [
        "team/events/letters/one-00000000.jsonl",
        "team/events/letters/two-00000000.jsonl",
    ]


def test_a_batch_is_written_when_its_time_has_come() -> None:
    bucket, now = MemoryBucket(), [0.0]
    sink = BucketSink(bucket, "team", "letters", "one", lambda: now[0], every=10)
    sink.emit(event(1.0))
    assert not bucket.objects
    now[0] = 10.0
    sink.emit(event(2.0))
    assert len(bucket.objects) == 1


def test_a_failing_bucket_loses_no_event_and_stops_nobody() -> None:
    inner = MemoryBucket()
    faults = {0: Fault.FAILS, 1: Fault.FAILS_AFTER}
    sink = BucketSink(FaultyBucket(inner, planned(faults)), "team", "letters", "one", lambda: 0.0)
    for time in (1.0, 2.0, 3.0):
        sink.emit(event(time))
        sink.flush()
    sink.flush()
    assert {entry.time for entry in read_events(inner, "team", "letters")} == {1.0, 2.0, 3.0}
