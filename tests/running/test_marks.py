"""Marks never say what the volume itself does not: complete, or failed for good and not asked to go on."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from allotment.buckets.faulty import Death, Fault, FaultyBucket, planned
from allotment.buckets.keys import RecipeKeys
from allotment.buckets.memory import MemoryBucket
from allotment.buckets.once import PatientBucket
from allotment.running.assignment import Limits
from allotment.running.attempts import begin_attempt, end_attempt, mark_retry, read_history
from allotment.running.endings import Ended
from allotment.running.marks import Pages, mark_complete, mark_failed, read_marks
from allotment.running.state import VolumeStatus, volume_state

RECIPE = RecipeKeys("team", "read", "0123456789ab")
LIMITS = Limits(retries=3)
ACTS = st.lists(st.sampled_from(["fail", "fail for good", "retry", "kill"]), max_size=6)


def patient(bucket: MemoryBucket | FaultyBucket) -> PatientBucket:
    return PatientBucket(bucket, sleep=lambda _: None)


def act(bucket: MemoryBucket | FaultyBucket, what: str) -> None:
    keys = RECIPE.volume("v.1")
    if what == "retry":
        mark_retry(bucket, keys, by="somebody", now=0.0)
        return
    history = read_history(patient(bucket), keys, done=0)
    if history.refusal(LIMITS) is not None:
        return
    number = begin_attempt(patient(bucket), keys, history, done=0, measured={})
    if what == "kill":
        return
    ended = Ended.PERMANENT if what == "fail for good" else Ended.FAILED
    end_attempt(patient(bucket), keys, number, ended, reason="torn", message="torn", measured={})
    if ended is Ended.PERMANENT:
        mark_failed(patient(bucket), keys, number)


@given(ACTS, st.integers(0, 40), st.sampled_from([Fault.DIES, Fault.DIES_AFTER]))
def test_marks_are_never_wrong_whoever_is_killed_whenever(acts: list[str], when: int, how: Fault) -> None:
    inner = MemoryBucket()
    bucket = FaultyBucket(inner, planned({when: how}))
    try:
        for what in acts:
            act(bucket, what)
    except Death:
        pass
    state = volume_state(inner, RECIPE.volume("v.1"), LIMITS, now=0.0)
    if "v.1" in read_marks(inner, RECIPE).failed:
        assert state.status is VolumeStatus.FAILED


@given(ACTS)
def test_a_failure_for_good_is_marked_until_a_retry_is_asked_for(acts: list[str]) -> None:
    bucket = MemoryBucket()
    for what in acts:
        act(bucket, what)
    act(bucket, "retry")
    assert read_marks(bucket, RECIPE).failed == frozenset()
    act(bucket, "fail for good")
    assert read_marks(bucket, RECIPE).failed == {"v.1"}


def test_what_is_complete_is_marked_with_its_pages_once() -> None:
    bucket = MemoryBucket()
    for _ in range(2):
        mark_complete(patient(bucket), RECIPE.volume("v.1"), pages=12, failed=3)
    mark_complete(patient(bucket), RECIPE.volume("v"), pages=1, failed=0)
    bucket.create(f"{RECIPE.index}complete/foreign", b"")
    assert read_marks(bucket, RECIPE).complete == {"v.1": Pages(12, 3), "v": Pages(1, 0)}


def test_a_mark_that_cannot_be_written_is_no_failure_of_the_volume() -> None:
    bucket = FaultyBucket(MemoryBucket(), lambda *_: Fault.FAILS)
    mark_complete(patient(bucket), RECIPE.volume("v"), pages=1, failed=0)
