"""Many courses of the same things under seeds of their own, on as many processors as there are.

What comes back does not depend on how many processes play, nor on which is done first. Processes are
started afresh (``spawn``), so that nothing of this one is carried along but what is handed over; where they
cannot be had, or are not worth their start, everything is played here.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing.connection import wait
from typing import Any, Final, Generic, NamedTuple, TypeVar

from allotment.simulation.draws import Draws
from allotment.simulation.outcome import Outcome
from allotment.simulation.run_times import RunTimes
from allotment.simulation.setting import Setting
from allotment.simulation.simulate import simulate
from allotment.simulation.work import Work

T = TypeVar("T")
Told = Callable[[int, int], None]
START_SECONDS: Final = 1.5
"""What starting processes costs, about; what takes no longer than this is played here."""


@dataclass(frozen=True, slots=True)
class Case:
    """What is played: a setting, its works, how long pages take, and until when."""

    setting: Setting
    works: tuple[Work, ...]
    run_times: RunTimes
    until: float


class Task(NamedTuple):
    """One course: which of the cases, and its seed."""

    case: int
    seed: int


Play = Callable[[Case, int], Outcome]
Read = Callable[[Outcome], T]


def course(case: Case, seed: int) -> Outcome:
    """The course of a case under a seed."""
    return simulate(case.setting, case.works, case.run_times, Draws(seed), case.until)


def untold(_done: int, _of: int) -> None:
    """Tell nobody how far it is."""


def played(
    cases: Sequence[Case],
    tasks: Sequence[Task],
    read: Read[T] | Sequence[Read[T]],
    *,
    processes: int | None = None,
    told: Told = untold,
    clock: Callable[[], float] = time.perf_counter,
    play: Play = course,
    seconds: float | None = None,
) -> tuple[T, ...]:
    """What was read from each course, in the order of the tasks; ``read`` may be another one for each case.

    ``processes`` is the most at once (None: as many as this one may use processors). They are started if
    they have something to do for longer than that takes: ``seconds`` is how long a course is known to take
    about; None: the first is played here, and tells.
    """
    if not tasks:
        return ()
    reads = tuple(read) if isinstance(read, Sequence) else (read,) * len(cases)
    playing = _Playing(cases, tasks, reads, play, told)
    if seconds is None:
        begun = clock()
        playing.here(0)
        seconds = clock() - begun
    left = len(tasks) - len(playing.found)
    most = min(_processors() if processes is None else processes, left)
    if most > 1 and seconds * left > START_SECONDS:
        playing.elsewhere(most)
    for place in range(len(tasks)):
        playing.here(place)
    return tuple(playing.found[place] for place in range(len(tasks)))


class _Playing(Generic[T]):
    """Tasks while they are played, and what was found until now, by their place."""

    def __init__(
        self,
        cases: Sequence[Case],
        tasks: Sequence[Task],
        reads: tuple[Read[T], ...],
        play: Play,
        told: Told,
    ) -> None:
        self.found: dict[int, T] = {}
        self._cases = tuple(cases)
        self._tasks = tasks
        self._reads = reads
        self._play = play
        self._told = told

    def here(self, place: int) -> None:
        """Play a task in this process, if it is not played yet."""
        if place not in self.found:
            task = self._tasks[place]
            self._keep(place, self._reads[task.case](self._play(self._cases[task.case], task.seed)))

    def elsewhere(self, most: int) -> None:
        """Play the tasks in so many processes; what they cannot play stays to be played here."""
        try:
            handed = pickle.dumps((self._cases, self._reads, self._play))
        except (pickle.PicklingError, TypeError, AttributeError):
            return
        others = set(multiprocessing.active_children())
        pool = ProcessPoolExecutor(most, multiprocessing.get_context("spawn"), _begin, (handed,))
        try:
            waiting = {
                pool.submit(_one, task): place
                for place, task in enumerate(self._tasks)
                if place not in self.found
            }
            for future in as_completed(waiting):
                self._keep(waiting[future], future.result())
        except (BrokenProcessPool, OSError):
            return
        except BaseException:
            for child in set(multiprocessing.active_children()) - others:
                child.terminate()
            raise
        finally:
            pool.shutdown(wait=True, cancel_futures=True)

    def _keep(self, place: int, value: T) -> None:
        self.found[place] = value
        self._told(len(self.found), len(self._tasks))


_HANDED: list[tuple[tuple[Case, ...], tuple[Read[Any], ...], Play]] = []


def _begin(handed: bytes) -> None:
    """In a new process: take what is handed over, leave Ctrl-C to whoever started us, and end with them."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=end_after, args=(parent.sentinel,), name="parent", daemon=True).start()
    _HANDED[:] = [pickle.loads(handed)]  # noqa: S301 - it is from the process that started this one


def end_after(sentinel: int, end: Callable[[int], object] = os._exit) -> None:
    """End as soon as another process has, which may have been killed and have told nobody."""
    wait([sentinel])
    end(1)


def _one(task: Task) -> Any:
    cases, reads, play = _HANDED[0]
    return reads[task.case](play(cases[task.case], task.seed))


def _processors() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
