"""How often a volume may be started, and how it stands for who looks on."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allotment.buckets.memory import MemoryBucket
from allotment.buckets.once import PatientBucket
from allotment.running.assignment import Limits
from allotment.running.attempts import (
    History,
    begin_attempt,
    end_attempt,
    mark_retry,
    read_attempts,
    read_history,
)
from allotment.running.endings import Ended, PermanentFailureError
from allotment.running.holder import Holder
from allotment.running.lease import take_lease
from allotment.running.state import VolumeState, VolumeStatus, volume_state
from tests.running.world import RECIPE, World

KEYS = RECIPE.volume("v1")
LIMITS = Limits(retries=2, reclaims=3)

RECLAIMED = None
"""A start without an end."""


def told(steps: Sequence[tuple[Ended | None, int] | str]) -> tuple[MemoryBucket, int]:
    """A bucket after attempts, each with its ending and how many new pages it did; `retry` asks for one."""
    objects, done = MemoryBucket(), 0
    bucket = PatientBucket(objects, sleep=lambda _: None)
    for step in steps:
        if isinstance(step, str):
            mark_retry(objects, KEYS, by="somebody", now=1.0)
            continue
        ended, pages = step
        history = read_history(bucket, KEYS, done=done)
        number = begin_attempt(bucket, KEYS, history, done=done, measured={"at": 1.0, "host": "here"})
        for page in range(done + 1, done + pages + 1):
            objects.create(KEYS.record(f"{page:04d}"), b"{}")
        done += pages
        if ended is not None:
            end_attempt(bucket, KEYS, number, ended, reason="why", message="so", measured={"at": 2.0})
    return objects, done


def history(steps: Sequence[tuple[Ended | None, int] | str]) -> History:
    objects, done = told(steps)
    return read_history(PatientBucket(objects, sleep=lambda _: None), KEYS, done=done)


FAILED, PERMANENT, TOLD = Ended.FAILED, Ended.PERMANENT, Ended.RECLAIMED


@pytest.mark.parametrize(
    ("steps", "failures", "fruitless"),
    [
        ([], 0, 0),
        ([(FAILED, 0)], 1, 0),
        ([(FAILED, 1), (FAILED, 0)], 2, 0),
        ([(RECLAIMED, 0)], 0, 1),
        ([(TOLD, 0), (RECLAIMED, 0)], 0, 2),
        ([(RECLAIMED, 1)], 0, 0),
        ([(RECLAIMED, 0), (RECLAIMED, 1), (RECLAIMED, 0)], 0, 1),
        ([(RECLAIMED, 0), (FAILED, 0), (RECLAIMED, 0)], 1, 2),
        ([(FAILED, 0), (RECLAIMED, 0), "retry"], 0, 0),
        ([(FAILED, 0), "retry", (FAILED, 0)], 1, 0),
    ],
)
def test_failures_and_reclaims_are_counted_apart(
    steps: Sequence[tuple[Ended | None, int] | str], failures: int, fruitless: int
) -> None:
    found = history(steps)
    assert (found.failures, found.fruitless) == (failures, fruitless)
    assert found.last == len(steps)


@pytest.mark.parametrize(
    ("steps", "reason"),
    [
        ([(FAILED, 0)] * 2, None),
        ([(FAILED, 0)] * 3, "retries-used-up"),
        ([(FAILED, 0)] * 3 + ["retry"], None),
        ([(RECLAIMED, 0)] * 2, None),
        ([(RECLAIMED, 0)] * 3, "reclaims-used-up"),
        ([(RECLAIMED, 0)] * 2 + [(RECLAIMED, 1)], None),
        ([(PERMANENT, 0)], "why"),
        ([(PERMANENT, 0), "retry"], None),
    ],
)
def test_whether_a_volume_may_be_started_again(
    steps: Sequence[tuple[Ended | None, int] | str], reason: str | None
) -> None:
    refusal = history(steps).refusal(LIMITS)
    assert (refusal.reason if refusal else None) == reason
    objects, _ = told(steps)
    state = volume_state(objects, KEYS, LIMITS, now=0.0)
    assert (state.status is VolumeStatus.FAILED) == (reason is not None)
    assert state.reason == (reason or "")


@given(st.lists(st.tuples(st.sampled_from([FAILED, TOLD, RECLAIMED]), st.integers(0, 2)), max_size=12))
def test_counts_are_those_of_the_whole_history(steps: list[tuple[Ended | None, int]]) -> None:
    found = history(steps)
    assert found.failures == sum(ended is FAILED for ended, _ in steps)
    fruitless = 0
    for ended, pages in steps:
        fruitless = 0 if pages else fruitless + (ended is not FAILED)
    assert found.fruitless == fruitless


def test_zero_retries_allow_one_attempt_and_zero_reclaims_too() -> None:
    limits = Limits(retries=0, reclaims=0)
    assert history([]).refusal(limits) is None
    assert history([]).is_last_allowed(limits)
    assert history([(FAILED, 0)]).refusal(limits) is not None
    assert history([(RECLAIMED, 0)]).refusal(limits) is not None


def test_attempts_can_be_looked_at() -> None:
    objects, _ = told([(FAILED, 1), "retry", (RECLAIMED, 0)])
    first, second = read_attempts(objects, KEYS)
    assert (first.number, first.outcome, first.reason, first.started, first.ended) == (
        1,
        FAILED,
        "why",
        1.0,
        2.0,
    )
    assert (second.number, second.outcome, second.host) == (3, None, "here")


def test_an_end_is_written_once() -> None:
    objects, _ = told([(FAILED, 0)])
    bucket = PatientBucket(objects, sleep=lambda _: None)
    end_attempt(bucket, KEYS, 1, Ended.COMPLETE, measured={})
    assert read_attempts(objects, KEYS)[0].outcome is FAILED


def test_two_who_begin_at_once_have_two_numbers() -> None:
    objects, _ = told([])
    bucket = PatientBucket(objects, sleep=lambda _: None)
    numbers = [
        begin_attempt(bucket, KEYS, History(), done=0, measured={"at": float(number)}) for number in range(2)
    ]
    assert numbers == [1, 2]


@pytest.mark.parametrize("garbage", [b"", b'{"format_version":1,"kind":"start"}'])
def test_a_damaged_attempt_is_refused_with_its_key(garbage: bytes) -> None:
    objects = MemoryBucket({KEYS.attempt(1): garbage})
    with pytest.raises(PermanentFailureError, match="attempts/1"):
        read_history(PatientBucket(objects, sleep=lambda _: None), KEYS, done=0)
    state = volume_state(objects, KEYS, LIMITS, now=0.0)
    assert (state.status, state.reason) == (VolumeStatus.FAILED, "bucket-damaged")


def state(world: World) -> VolumeState:
    return volume_state(
        world.bucket,
        KEYS,
        world.assignment.limits,
        now=world.now,
        dead=lambda holder: holder.id in world.dead,
    )


def test_a_volume_that_nobody_has_started_is_new() -> None:
    assert state(World()) == VolumeState(VolumeStatus.NEW)


def test_a_complete_volume_is_complete() -> None:
    world = World()
    world.run()
    assert state(world).status is VolumeStatus.COMPLETE


def test_a_volume_in_the_middle_shows_its_pages_and_its_holder() -> None:
    world = World()
    objects, _ = told([(RECLAIMED, 0)])
    world.bucket.objects |= objects.objects
    for key in (
        KEYS.record("0001"),
        KEYS.output("0001", "a.txt"),
        KEYS.refusal("0002"),
        KEYS.refusal("0001"),
    ):
        world.bucket.create(key, b"{}")
    patient = PatientBucket(world.bucket, sleep=lambda _: None)
    take_lease(patient, KEYS, Holder("somebody"), clock=lambda: world.now, is_dead=lambda _: False)
    found = state(world)
    assert (found.status, found.pages_done, found.pages_refused) == (VolumeStatus.PARTIAL, 1, 1)
    assert found.held_by == Holder("somebody")
    world.dead.add("somebody")
    assert state(world).held_by is None


def test_looking_writes_nothing() -> None:
    world = World()
    world.run(step=lambda page, earlier: {"txt": None})
    before = dict(world.bucket.objects)
    state(world)
    assert world.bucket.objects == before
