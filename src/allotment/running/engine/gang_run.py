"""One gang while the engine runs it: it waits, it runs whole, and it ends together.

A worker that ends well leaves the others to it; one that does not ends them all, for they would wait for it
for ever. A gang keeps no record of its own in the bucket: what its program has done is the program's matter,
and the next run starts it anew. Bookkeeping alone: no clock, no process is touched here.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from allotment.running.endings import EXIT_COMPLETE
from allotment.running.engine.program import Program
from allotment.running.engine.worker import Worker
from allotment.scheduling.local import GangQueue, Wait


@dataclass(slots=True)
class GangRun:
    """A gang's state in this engine; ``size`` is how many workers it was started with."""

    program: Program
    arrival: int
    up: dict[int, Worker] = field(default_factory=dict)
    size: int = 0
    halted: str | None = None
    failure: str | None = None
    never: bool = False
    told: bool = False
    wait: Wait | None = None
    restarts: int = 0

    @property
    def workers(self) -> tuple[Worker, ...]:
        """Its processes that are there."""
        return tuple(self.up.values())

    @property
    def resting(self) -> bool:
        """Whether nothing of it is up and nothing will be."""
        return not self.up and (self.size > 0 or self.halted is not None)

    @property
    def failed(self) -> bool:
        """Whether one of its workers failed, or this machine can never have it."""
        return self.never or self.failure is not None

    @property
    def complete(self) -> bool:
        """Whether all of its workers have ended well."""
        return self.size > 0 and not self.up and not self.failed and self.halted is None

    def queue(self, _now: float) -> GangQueue | None:
        """The gang as the scheduler sees it, as long as it is to start."""
        if self.size or self.halted is not None:
            return None
        program = self.program
        return GangQueue(
            name=program.name,
            lane_value=program.lane_value,
            arrival=self.arrival,
            workers=program.most,
            min=program.least,
            claim=program.claim,
            memory_bytes=program.memory_bytes,
        )

    def started(self, workers: dict[int, Worker]) -> None:
        """All of its workers are up."""
        self.up, self.size = workers, len(workers)

    def ended(self, rank: int, code: int, now: float) -> str | None:
        """A worker has ended; when it failed, the others are told to, and the words for it come back."""
        worker = self.up.pop(rank)
        if code == EXIT_COMPLETE or self.failed or self.halted is not None:
            return None
        said = worker.last_words(2) or f"it ended with exit code {code}"
        self.failure = f"its worker {rank} of {self.size} failed, so all were ended: {said}"
        for other in self.up.values():
            other.ask_to_end(now)
        return self.failure
