from __future__ import annotations

import pytest

from allotment.buckets.bucket import Bucket
from allotment.buckets.event_log import BucketSink, read_events
from allotment.buckets.faulty import Fault, FaultyBucket, planned, seeded
from allotment.buckets.memory import MemoryBucket
from allotment.events.event import Event
from allotment.events.model import CampaignReader


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


def done(time: float, volume: str, pages: int) -> Event:
    return Event("page.done", time, "team", "letters", volume, f"{pages:04d}", {"pages_done": pages})


def long_log(bucket: Bucket, objects: int) -> list[Event]:
    sink = BucketSink(bucket, "team", "letters", "node-00000001", lambda: 0.0)
    events = []
    for number in range(objects):
        events.append(done(float(number), f"v{number % 7}", number // 7 + 1))
        if number % 100 == 0:
            events.append(Event("volume.started", float(number), "team", "letters", f"v{number % 7}"))
        for event in events[-2 if number % 100 == 0 else -1 :]:
            sink.emit(event)
        sink.flush()
    return events


def test_a_long_log_is_read_by_few_objects_and_tells_the_same() -> None:
    inner = MemoryBucket()
    events = long_log(inner, 5000)
    counting = FaultyBucket(inner, planned({}))
    read = read_events(counting, "team", "letters")
    assert counting.operations < 3 * 32
    whole, brief = CampaignReader("letters"), CampaignReader("letters")
    for event in events:
        whole.add(event)
    for event in read:
        brief.add(event)
    assert brief.view(5000.0) == whole.view(5000.0)


@pytest.mark.parametrize("seed", range(5))
def test_a_long_log_into_a_failing_bucket_loses_nothing_that_matters(seed: int) -> None:
    inner = MemoryBucket()
    faults = [Fault.FAILS, Fault.FAILS_AFTER, Fault.ANSWERS_TWICE]
    events = long_log(FaultyBucket(inner, seeded(seed, chance=0.2, faults=faults)), 700)
    whole, brief = CampaignReader("letters"), CampaignReader("letters")
    for event in events[:-40]:
        whole.add(event)
    last = events[-41].time
    for event in read_events(inner, "team", "letters"):
        if event.time <= last:
            brief.add(event)
    assert brief.view(700.0).volumes == whole.view(700.0).volumes
