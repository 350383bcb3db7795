from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allotment.buckets.bucket import BucketUnavailable, Conflict, KeyExists
from allotment.buckets.faulty import Fault, FaultyBucket, planned
from allotment.buckets.memory import MemoryBucket
from allotment.buckets.once import Patience, PatientBucket, Written, put_once

FAULTS = [Fault.NONE, Fault.FAILS, Fault.FAILS_AFTER, Fault.ANSWERS_TWICE, Fault.SLOW]
PATIENCE = Patience(tries=4, first=1.0, longest=3.0)


def never(seconds: float) -> None:
    pytest.fail(f"waited {seconds} s")


def test_writing_the_same_twice_is_fine_and_other_bytes_are_a_conflict() -> None:
    bucket = MemoryBucket()
    assert put_once(bucket, "k", b"1", sleep=never) is Written.CREATED
    assert put_once(bucket, "k", b"1", sleep=never) is Written.SAME
    with pytest.raises(Conflict) as caught:
        put_once(bucket, "k", b"2", sleep=never)
    assert caught.value.key == "k"


@given(st.lists(st.sampled_from(FAULTS), max_size=6), st.booleans())
def test_a_misbehaving_bucket_ends_with_the_bytes_once_or_a_clear_failure(
    faults: list[Fault], taken: bool
) -> None:
    inner = MemoryBucket({"k": b"other"} if taken else {})
    slept: list[float] = []
    bucket = PatientBucket(
        FaultyBucket(inner, planned(dict(enumerate(faults)))), sleep=slept.append, patience=PATIENCE
    )
    try:
        bucket.put("k", b"mine")
    except Conflict:
        assert taken
    except BucketUnavailable:
        assert sum(fault is not Fault.NONE for fault in faults) >= PATIENCE.tries
    else:
        assert not taken
        assert inner.objects["k"] == b"mine"
    assert inner.objects.get("k") in ({b"other"} if taken else {None, b"mine"})
    assert len(slept) < PATIENCE.tries


def test_patience_pauses_for_a_random_part_of_longer_and_longer_times_and_then_gives_up() -> None:
    slept: list[float] = []
    rolled = iter((1.0, 0.5, 0.0))
    bucket = PatientBucket(
        FaultyBucket(MemoryBucket(), lambda *_: Fault.FAILS),
        sleep=slept.append,
        patience=PATIENCE,
        dice=lambda: next(rolled),
    )
    with pytest.raises(BucketUnavailable):
        bucket.read("k")
    assert slept == [1.0, 1.0, 0.0]


def test_a_taken_key_is_no_reason_to_wait() -> None:
    class Liar(MemoryBucket):
        def create(self, key: str, data: bytes) -> None:
            raise KeyExists("taken", key=key)

    with pytest.raises(BucketUnavailable, match="both"):
        put_once(Liar(), "k", b"", sleep=lambda _: None)


def test_reads_and_lists_are_tried_again() -> None:
    inner = MemoryBucket({"a/k": b"1"})
    faults = dict.fromkeys((0, 2, 4, 6), Fault.FAILS)
    bucket = PatientBucket(FaultyBucket(inner, planned(faults)), sleep=lambda _: None)
    assert bucket.read("a/k") == b"1"
    assert bucket.exists("a/k")
    assert bucket.list("a/") == (("a/k", 1),)
    assert bucket.list_folders("") == ("a",)
