"""Many courses come back in the order of their seeds, in however many processes they are played."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Iterator
from itertools import count

import pytest

from allotment.scheduling.state.state import State
from allotment.simulation.draws import Draws
from allotment.simulation.many import Case, Task, end_after, played
from allotment.simulation.outcome import Outcome
from allotment.simulation.run_times import RunTimes
from allotment.simulation.setting import Scheduler, Setting

CASES = [Case(Setting(Scheduler.SIMPLE, State(), {}), (), RunTimes(), until) for until in (10.0, 20.0)]
TASKS = [Task(case, seed) for case in (0, 1) for seed in range(4)]


def numbered(case: Case, seed: int) -> Outcome:
    """An outcome in which only its seed and chance are told."""
    return Outcome("simple", seed, case.until * Draws(seed).number("any"), (), (), (), ())


def failing(case: Case, seed: int) -> Outcome:
    """A course that fails for one seed."""
    if seed == 3:
        raise LookupError("seed 3")
    return numbered(case, seed)


def interrupted(case: Case, seed: int) -> Outcome:
    """A course that is interrupted as by Ctrl-C."""
    if seed == 3:
        raise KeyboardInterrupt
    return numbered(case, seed)


def where(case: Case, seed: int) -> Outcome:
    """An outcome whose seed is the process that played it."""
    return Outcome("simple", os.getpid(), case.until + seed, (), (), (), ())


def told_end(outcome: Outcome) -> tuple[int, float]:
    """What is read of an outcome."""
    return outcome.seed, outcome.until


def long() -> Iterator[float]:
    """A clock by which each course takes an hour."""
    return (hour * 3600.0 for hour in count())


@pytest.mark.parametrize("processes", [1, 2], ids=["here", "in two processes"])
def test_what_comes_back_does_not_depend_on_the_processes(processes: int) -> None:
    ticks, steps = long(), list[tuple[int, int]]()
    found = played(
        CASES,
        TASKS,
        told_end,
        processes=processes,
        told=lambda done, of: steps.append((done, of)),
        clock=lambda: next(ticks),
        play=numbered,
    )
    assert found == tuple(told_end(numbered(CASES[case], seed)) for case, seed in TASKS)
    assert steps == [(done, len(TASKS)) for done in range(1, len(TASKS) + 1)]
    assert not multiprocessing.active_children()


def test_what_takes_long_is_played_elsewhere_and_the_first_here() -> None:
    ticks = long()
    first, *others = played(CASES, TASKS, told_end, processes=2, clock=lambda: next(ticks), play=where)
    assert first[0] == os.getpid()
    assert os.getpid() not in {process for process, _ in others}


def test_what_is_done_soon_is_played_here() -> None:
    found = played(CASES, TASKS, told_end, processes=2, clock=lambda: 0.0, play=where)
    assert {process for process, _ in found} == {os.getpid()}


@pytest.mark.parametrize(
    ("play", "error"),
    [(failing, LookupError), (interrupted, KeyboardInterrupt)],
    ids=["a fault", "Ctrl-C"],
)
def test_what_goes_wrong_elsewhere_ends_all_of_it(play: object, error: type[BaseException]) -> None:
    ticks = long()
    with pytest.raises(error):
        played(
            CASES,
            TASKS,
            told_end,
            processes=2,
            clock=lambda: next(ticks),
            play=play,  # type: ignore[arg-type] # two functions of one shape
        )
    assert not multiprocessing.active_children()


def test_what_cannot_be_handed_over_is_played_here() -> None:
    ticks = long()
    found = played(
        CASES,
        TASKS,
        lambda outcome: outcome.seed,
        processes=2,
        clock=lambda: next(ticks),
        play=numbered,
    )
    assert found == tuple(seed for _, seed in TASKS)


def test_nothing_to_play_is_nothing() -> None:
    assert played(CASES, [], told_end) == ()


def test_whoever_plays_elsewhere_ends_with_who_started_it() -> None:
    ours, theirs = os.pipe()
    ended: list[int] = []
    watching = threading.Thread(target=end_after, args=(ours, ended.append))
    watching.start()
    assert ended == []
    os.close(theirs)
    watching.join()
    assert ended == [1]
    os.close(ours)
