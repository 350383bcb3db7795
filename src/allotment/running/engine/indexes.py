"""Which indexes of one campaign wait, run, pause or are done: bookkeeping without a clock or a process.

An index is a volume, or a pack of small ones, as in a Kubernetes Indexed Job. Indexes start in order; one
that was reclaimed goes back to its place, one that failed for now waits longer each time (1 s, 2 s, 4 s …
at most 60 s) and no less than is asked for, one that another engine holds is looked at again after a short
while. Whether a failure is final is not decided here: the worker counts failures in the bucket and says so
with exit code 13.
"""

from __future__ import annotations

import heapq
from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum

FIRST_BACK_OFF = 1.0
LONGEST_BACK_OFF = 60.0
LOOK_AGAIN = 1.0


class Phase(StrEnum):
    """Where an index stands for this engine."""

    WAITING = "waiting"
    RUNNING = "running"
    PAUSED = "paused"
    COMPLETE = "complete"
    FAILED = "failed"


@dataclass(slots=True)
class Indexes:
    """The indexes of one campaign, ``0 … count - 1``, all waiting at first. Times are seconds of one
    clock."""

    count: int
    _phases: list[Phase] = field(init=False)
    _queue: list[int] = field(init=False)
    _queued: bytearray = field(init=False)
    _paused: list[tuple[float, int]] = field(init=False, default_factory=list)
    _failures: Counter[int] = field(init=False, default_factory=Counter)
    _tally: Counter[Phase] = field(init=False)

    def __post_init__(self) -> None:
        self._phases = [Phase.WAITING] * self.count
        self._queue = list(range(self.count))
        self._queued = bytearray(b"\x01") * self.count
        self._tally = Counter({Phase.WAITING: self.count})

    def number(self, phase: Phase) -> int:
        """How many indexes are in a phase."""
        return self._tally[phase]

    @property
    def ended(self) -> bool:
        """Whether nothing is left to do or to wait for."""
        return self._tally[Phase.COMPLETE] + self._tally[Phase.FAILED] == self.count

    def next_waiting(self, most: int) -> list[int]:
        """The first indexes that may start now, in order, at most so many."""
        first: list[int] = []
        while self._queue and len(first) < most:
            index = heapq.heappop(self._queue)
            self._queued[index] = False
            if self._phases[index] is Phase.WAITING:
                first.append(index)
        for index in first:
            self._enqueue(index)
        return first

    def wake(self, now: float) -> None:
        """Let the indexes whose pause is over wait again."""
        while self._paused and self._paused[0][0] <= now:
            _, index = heapq.heappop(self._paused)
            self._move(index, Phase.WAITING)

    def started(self, index: int) -> None:
        """A worker runs this index."""
        self._move(index, Phase.RUNNING)

    def completed(self, index: int) -> None:
        """All its volumes are complete."""
        self._move(index, Phase.COMPLETE)

    def failed(self, index: int) -> None:
        """It will not be tried again in this run."""
        self._move(index, Phase.FAILED)

    def reclaimed(self, index: int) -> None:
        """It was interrupted: it waits again, at its old place."""
        self._move(index, Phase.WAITING)

    def failed_for_now(self, index: int, now: float, at_least: float = 0.0) -> float:
        """It failed and will be tried again; returns the pause in seconds, twice as long each time."""
        self._failures[index] += 1
        pause = max(at_least, min(FIRST_BACK_OFF * 2.0 ** (self._failures[index] - 1), LONGEST_BACK_OFF))
        self._pause(index, now + pause)
        return pause

    def held_elsewhere(self, index: int, now: float) -> None:
        """Another engine has a volume of it: look again in a while."""
        self._pause(index, now + LOOK_AGAIN)

    def _pause(self, index: int, until: float) -> None:
        self._move(index, Phase.PAUSED)
        heapq.heappush(self._paused, (until, index))

    def _enqueue(self, index: int) -> None:
        if not self._queued[index]:
            self._queued[index] = True
            heapq.heappush(self._queue, index)

    def _move(self, index: int, phase: Phase) -> None:
        self._tally[self._phases[index]] -= 1
        self._tally[phase] += 1
        self._phases[index] = phase
        if phase is Phase.WAITING:
            self._enqueue(index)
