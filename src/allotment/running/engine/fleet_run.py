"""One fleet while the engine runs it: which replicas are up, which pause before they are started again.

A replica that ends by itself, well or not, is started again after a pause that doubles each time (1 s, 2 s,
4 s … at most 60 s) and is forgotten once a replica has been up for a minute. Bookkeeping alone: no clock, no
process is touched here.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from allotment.running.endings import EXIT_COMPLETE
from allotment.running.engine.indexes import FIRST_BACK_OFF, LONGEST_BACK_OFF
from allotment.running.engine.program import Program
from allotment.running.engine.worker import Worker
from allotment.scheduling.local import FleetQueue, Replica, Wait

STEADY_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class ReplicaEnd:
    """How a replica ended: a short ``reason``, and the pause before it is started again (None: it is not)."""

    reason: str
    message: str
    pause: float | None = None


@dataclass(slots=True)
class FleetRun:
    """A fleet's state in this engine. Times are seconds of one clock."""

    program: Program
    arrival: int
    up: dict[int, Worker] = field(default_factory=dict)
    given_back: set[int] = field(default_factory=set)
    paused: dict[int, float] = field(default_factory=dict)
    failures: Counter[int] = field(default_factory=Counter)
    restarts: int = 0
    halted: str | None = None
    never: bool = False
    told: bool = False
    wait: Wait | None = None

    @property
    def workers(self) -> tuple[Worker, ...]:
        """Its processes that are there."""
        return tuple(self.up.values())

    @property
    def resting(self) -> bool:
        """Whether nothing of it is up and nothing will be."""
        return self.halted is not None and not self.up

    @property
    def failed(self) -> bool:
        """Whether this machine can never have it; else it does not fail: what ends is started again."""
        return self.never

    def queue(self, now: float) -> FleetQueue | None:
        """The fleet as the scheduler sees it."""
        if self.halted is not None:
            return None
        self.paused = {number: until for number, until in self.paused.items() if until > now}
        program = self.program
        free = (number for number in range(program.most) if number not in self.up)
        return FleetQueue(
            name=program.name,
            lane_value=program.lane_value,
            arrival=self.arrival,
            min=program.least,
            max=program.most,
            up=tuple(
                Replica(number, worker.allocation.ids, worker.asked_to_end is not None)
                for number, worker in sorted(self.up.items())
            ),
            ready=[number for number in free if number not in self.paused],
            claim=program.claim,
            memory_bytes=program.memory_bytes,
            paused=len(self.paused),
            preemptible=program.lends,
        )

    def give_back(self, number: int, now: float) -> None:
        """Tell a replica to end, for somebody else."""
        self.given_back.add(number)
        self.up[number].ask_to_end(now)

    def ended(self, number: int, code: int, now: float) -> ReplicaEnd:
        """A replica has ended."""
        worker = self.up.pop(number)
        if number in self.given_back:
            self.given_back.discard(number)
            return ReplicaEnd("given-back", "its devices were asked back for others")
        if self.halted is not None:
            return ReplicaEnd("stopped", self.halted)
        if now - worker.started >= STEADY_SECONDS:
            self.failures[number] = 0
        self.failures[number] += 1
        self.restarts += 1
        pause = min(FIRST_BACK_OFF * 2.0 ** min(self.failures[number] - 1, 10), LONGEST_BACK_OFF)
        self.paused[number] = now + pause
        reason = "ended" if code == EXIT_COMPLETE else "failed"
        return ReplicaEnd(reason, worker.last_words(2) or f"it ended with exit code {code}", pause)
