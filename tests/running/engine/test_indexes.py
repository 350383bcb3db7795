"""The bookkeeping of a campaign's indexes: order, pauses, and that every index is always in exactly one
place."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from allotment.running.engine.indexes import LONGEST_BACK_OFF, Indexes, Phase


def test_indexes_start_in_order_and_a_reclaimed_one_goes_back_to_its_place() -> None:
    indexes = Indexes(5)
    assert indexes.next_waiting(2) == [0, 1]
    indexes.started(0)
    indexes.started(1)
    assert indexes.next_waiting(9) == [2, 3, 4]
    indexes.reclaimed(1)
    assert indexes.next_waiting(2) == [1, 2]


def test_an_index_that_fails_waits_twice_as_long_each_time_up_to_a_minute() -> None:
    indexes = Indexes(1)
    pauses = []
    now = 0.0
    for _ in range(9):
        indexes.started(0)
        pauses.append(indexes.failed_for_now(0, now))
        now += pauses[-1]
        indexes.wake(now - 0.001)
        assert indexes.next_waiting(1) == []
        indexes.wake(now)
        assert indexes.next_waiting(1) == [0]
    assert pauses == [1, 2, 4, 8, 16, 32, LONGEST_BACK_OFF, LONGEST_BACK_OFF, LONGEST_BACK_OFF]


def settle(indexes: Indexes, index: int, what: str, now: float) -> None:
    endings = {"complete": indexes.completed, "fail": indexes.failed, "reclaim": indexes.reclaimed}
    if what in endings:
        endings[what](index)
    elif what == "again":
        indexes.failed_for_now(index, now)
    else:
        indexes.held_elsewhere(index, now)


@given(
    st.integers(1, 12),
    st.lists(st.tuples(st.sampled_from(["complete", "fail", "again", "reclaim", "held"]), st.integers(0, 3))),
)
def test_every_index_is_always_in_one_place(count: int, steps: list[tuple[str, int]]) -> None:
    indexes = Indexes(count)
    now = 0.0
    for what, place in steps:
        now += 0.7
        indexes.wake(now)
        waiting = indexes.next_waiting(count)
        assert waiting == sorted(set(waiting))
        assert len(waiting) == indexes.number(Phase.WAITING)
        assert sum(indexes.number(phase) for phase in Phase) == count
        if not waiting:
            continue
        index = waiting[min(place, len(waiting) - 1)]
        indexes.started(index)
        settle(indexes, index, what, now)
    indexes.wake(math.inf)
    assert indexes.ended == (indexes.number(Phase.WAITING) == 0)
