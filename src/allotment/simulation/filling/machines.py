"""Nodes while they are filled, and what a task asks of one.

Tasks that ask for the same are one ``Want``: what a policy thinks of a node for it is thought once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from allotment.simulation.traces.jobs import WHOLE, Job, TraceNode

NO_CARD: Final = ""


@dataclass(frozen=True, slots=True)
class Want:
    """What a task asks for: cpu in thousandths, memory in MiB, and of each of some cards a share."""

    cpu: int
    memory: int
    gpus: int
    share: int
    models: tuple[str, ...] = ()

    @classmethod
    def of(cls, job: Job) -> Want:
        """That of a job's pod."""
        gpus = job.gpus if job.share else 0
        return cls(job.cpu, job.memory, gpus, job.share if gpus else 0, job.models if gpus else ())

    @property
    def total(self) -> int:
        """Thousandths of cards in all."""
        return self.gpus * self.share

    @property
    def partial(self) -> bool:
        """Whether it asks for a part of one card."""
        return self.gpus == 1 and self.share < WHOLE

    @property
    def kind(self) -> str:
        """The kind of task by its cards: ``share``, ``1-gpu``, ``8-gpu``; nothing without one."""
        if not self.gpus:
            return NO_CARD
        return "share" if self.partial else f"{self.gpus}-gpu"


@dataclass(slots=True)
class Machine:
    """A node with what is left of it: cpu, memory, thousandths of each card; ``kinds`` of tasks stand on it.

    ``rest`` is what is left of the cards, sorted: what a policy thinks depends on that alone.
    """

    name: str
    model: str
    cpu: int
    memory: int
    gpus: list[int]
    kinds: Counter[str] = field(default_factory=Counter)
    rest: tuple[int, ...] = ()
    left: int = 0
    whole: int = 0

    def __post_init__(self) -> None:
        self._look()

    @classmethod
    def of(cls, node: TraceNode) -> Machine:
        """A node on which nothing stands."""
        return cls(node.name, node.model, node.cpu, node.memory, [WHOLE] * node.gpus)

    def fits(self, want: Want) -> bool:
        """Whether there is room for a task."""
        if want.cpu > self.cpu or want.memory > self.memory:
            return False
        if not want.gpus:
            return True
        if want.models and self.model not in want.models:
            return False
        if want.gpus == 1:
            return bool(self.rest) and self.rest[-1] >= want.share
        return len(self.rest) >= want.gpus and self.rest[-want.gpus] >= want.share

    def put(self, want: Want, cards: Sequence[int]) -> None:
        """A task stands on it from now on, on these cards."""
        self.cpu -= want.cpu
        self.memory -= want.memory
        for card in cards:
            self.gpus[card] -= want.share
        if want.gpus:
            self.kinds[want.kind] += 1
            self._look()

    def tightest(self, want: Want) -> list[int]:
        """The cards with the least left that will do, the first of equals first."""
        will_do = [number for number, left in enumerate(self.gpus) if left >= want.share]
        will_do.sort(key=self.gpus.__getitem__)
        return will_do[: want.gpus]

    def _look(self) -> None:
        self.rest = tuple(sorted(self.gpus))
        self.left = sum(self.rest)
        self.whole = self.rest.count(WHOLE)
