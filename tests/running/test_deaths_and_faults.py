"""Workers that are killed at any moment, and buckets that misbehave: nothing is lost, nothing is doubled."""

from __future__ import annotations

import itertools
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from allotment.buckets.bucket import Bucket, KeyExists
from allotment.buckets.faulty import Death, Fault, FaultyBucket, planned, seeded
from allotment.buckets.memory import MemoryBucket
from tests.running.world import World

PAGES = 4


class WitnessedBucket(MemoryBucket):
    """Counts how often each key was really written."""

    def __init__(self) -> None:
        super().__init__()
        self.written: Counter[str] = Counter()

    def create(self, key: str, data: bytes) -> None:
        super().create(key, data)
        self.written[key] += 1


def undisturbed() -> World:
    world = World()
    world.give("v1", pages=PAGES)
    assert world.run().code == 0
    return world


UNDISTURBED = undisturbed()
OPERATIONS = 60


def new_world() -> World:
    world = World(bucket=WitnessedBucket())
    world.give("v1", pages=PAGES)
    world.limited(reclaims=1000)
    return world


def live(world: World, bucket: Bucket) -> int | None:
    """One worker's life; None when it was killed. The next one finds it dead."""
    holder = f"holder-{next(world.holders) + 1}"
    try:
        return world.run(bucket=bucket).code
    except Death:
        world.dead.add(holder)
        return None


def check_nothing_lost_or_doubled(world: World, deaths: int) -> None:
    assert isinstance(world.bucket, WitnessedBucket)
    assert max(world.bucket.written.values()) == 1
    assert world.outputs() == UNDISTURBED.outputs()
    assert world.manifest() == UNDISTURBED.manifest()
    assert len(world.done) <= PAGES + deaths
    assert set(world.done) == {f"{number:04d}" for number in range(1, PAGES + 1)}


@pytest.mark.parametrize("fault", [Fault.DIES, Fault.DIES_AFTER])
@pytest.mark.parametrize("moment", range(OPERATIONS))
def test_a_worker_killed_at_any_moment_costs_at_most_one_page(moment: int, fault: Fault) -> None:
    world = new_world()
    code = live(world, FaultyBucket(world.bucket, planned({moment: fault})))
    deaths = int(code is None)
    assert live(world, world.bucket) == 0
    check_nothing_lost_or_doubled(world, deaths)
    assert world.attempts() in (["complete"], ["reclaimed"], ["reclaimed", "complete"])


def test_the_moments_reach_from_the_first_operation_to_beyond_the_last() -> None:
    world = new_world()
    bucket = FaultyBucket(world.bucket, planned({}))
    assert live(world, bucket) == 0
    assert 20 < bucket.operations <= OPERATIONS


@given(st.lists(st.tuples(st.integers(0, 40), st.sampled_from([Fault.DIES, Fault.DIES_AFTER])), max_size=12))
@settings(deadline=None)
def test_workers_killed_again_and_again_end_with_the_same_results(
    deaths: list[tuple[int, Fault]],
) -> None:
    world = new_world()
    killed = 0
    for moment, fault in deaths:
        if live(world, FaultyBucket(world.bucket, planned({moment: fault}))) is None:
            killed += 1
    assert live(world, world.bucket) == 0
    check_nothing_lost_or_doubled(world, killed)


FAULTS = [Fault.FAILS, Fault.FAILS_AFTER, Fault.ANSWERS_TWICE, Fault.SLOW]


@given(st.integers(0, 2**32), st.floats(0, 0.6), st.booleans())
@settings(deadline=None)
def test_a_bucket_that_misbehaves_delays_and_never_spoils(seed: int, chance: float, killed: bool) -> None:
    world = new_world()
    world.limited(retries=1000)
    deaths = 0
    for life in itertools.count():
        faults = [*FAULTS, Fault.DIES, Fault.DIES_AFTER] if killed else FAULTS
        plan = seeded(seed + life, chance=chance if life < 40 else 0.0, faults=faults)
        code = live(world, FaultyBucket(world.bucket, plan, slow=lambda _key: world.pass_time(25.0)))
        deaths += code is None
        assert code in {0, 1, None}
        if code == 0:
            break
        world.now += 61.0  # an attempt that could not release its lease lets it run out
    failures = world.attempts().count("failed")
    check_nothing_lost_or_doubled(world, deaths + failures + world.attempts().count("reclaimed"))


def test_passing_failures_are_waited_out_within_one_attempt() -> None:
    world = new_world()
    began = world.now
    plan = planned({number: FAULTS[number % 3] for number in range(0, 40, 2)})
    assert live(world, FaultyBucket(world.bucket, plan)) == 0
    assert world.attempts() == ["complete"]
    assert world.now > began
    check_nothing_lost_or_doubled(world, 0)


def test_a_bucket_that_stays_away_ends_the_attempt_with_one_clear_failure() -> None:
    world = new_world()
    bucket = FaultyBucket(world.bucket, lambda number, *_: Fault.FAILS if number > 12 else Fault.NONE)
    outcome = world.run(bucket=bucket)
    assert (outcome.code, outcome.reason) == (1, "bucket")
    assert "the bucket failed, as planned" in outcome.message
    assert world.sink.kinds().count("volume.retrying") == 1


def test_a_bucket_that_nobody_can_write_is_one_clear_failure() -> None:
    world = new_world()
    outcome = world.run(bucket=FaultyBucket(world.bucket, lambda *_: Fault.FAILS))
    assert (outcome.code, outcome.reason) == (1, "bucket")
    assert not world.done


def test_a_rival_that_writes_first_wins_and_the_loser_stops() -> None:
    world = new_world()

    class Rival(WitnessedBucket):
        def create(self, key: str, data: bytes) -> None:
            if key == world.keys().lease(1):
                super().create(key, data.replace(b"holder-2", b"rival"))
                raise KeyExists("taken", key=key)
            super().create(key, data)

    world.bucket = Rival()
    assert live(world, world.bucket) == 1
    assert world.attempts() == []
    assert world.sink.kinds() == ["volume.held"]
