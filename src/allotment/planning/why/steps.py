"""The steps of a funnel, and an alternative of a claim on its way through it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from allotment.devices.claims import AllocationMode, ExactRequest, Request, SubRequest
from allotment.needs.clauses import Candidate, Clause


class Stage(StrEnum):
    """What a step of the funnel looks at."""

    CLASS = "class"
    MEMORY = "memory"
    CARD = "card"
    PART = "part"
    SELECT = "select"
    CAPACITY = "capacity"
    TAINT = "taint"
    POOL = "pool"
    GATE = "gate"
    OPEN = "open"
    REACH = "reach"
    NODE = "node"
    CONSTRAINT = "constraint"
    USE = "in use"
    COUNTERS = "counters"
    TOGETHER = "together"


HELD_BY: Final = "held by "
HAS_REST: Final = "has the rest"
OF_CLAUSES: Final = (Stage.MEMORY, Stage.CARD, Stage.PART, Stage.SELECT)


@dataclass(frozen=True, slots=True)
class Lost:
    """Like devices that fell out at one step for one reason; ``why`` is what they have."""

    count: int
    card: str
    why: str
    nodes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a funnel, how many devices are left after it, and which it took."""

    stage: Stage
    words: str
    left: int
    lost: tuple[Lost, ...] = ()
    text: str = ""


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition of a clause: ``texts`` are expressions that must hold."""

    stage: Stage
    words: str
    texts: tuple[str, ...]
    clause: Clause


@dataclass(slots=True)
class Sifted:
    """One alternative of a request, sifted. ``fault`` is set where a selector cannot be evaluated.

    ``every`` are the devices that pass what is asked, ``would`` those that would do if nothing were in use,
    ``free`` those that would do now;
    ``stopped`` is the step that leaves too few of all devices, ``held_up`` the one that leaves too few now.
    """

    request: Request
    sub: SubRequest
    words: str
    steps: list[Step] = field(default_factory=list)
    everything: list[Candidate] = field(default_factory=list)
    of_class: list[Candidate] = field(default_factory=list)
    before: list[Candidate] = field(default_factory=list)
    every: list[Candidate] = field(default_factory=list)
    would: list[Candidate] = field(default_factory=list)
    free: list[Candidate] = field(default_factory=list)
    conditions: list[Condition] = field(default_factory=list)
    fault: str | None = None
    stopped: Step | None = None
    held_up: Step | None = None

    @property
    def exact(self) -> ExactRequest:
        """What is asked for."""
        return self.sub.exactly

    @property
    def name(self) -> str:
        """The request, or the request and its alternative."""
        return f"{self.request.name}/{self.sub.name}" if self.request.first_available else self.sub.name

    @property
    def takes_all(self) -> bool:
        """Whether every device of a node is asked for that passes."""
        return self.exact.mode == AllocationMode.ALL

    @property
    def ends_search(self) -> bool:
        """Whether it is an error that keeps the pod off every node, whatever the alternatives."""
        steps = (self.stopped, self.held_up) if self.takes_all else ()
        return self.fault is not None or any(each and each.stage is Stage.CONSTRAINT for each in steps)

    @property
    def needed(self) -> int:
        """How many devices one node must have."""
        return self.exact.count if self.exact.mode == AllocationMode.EXACT_COUNT else 1

    def refusing(self, step: Step) -> Condition | None:
        """The condition that the step is about."""
        return next((each for each in self.conditions if each.words == step.words), None)
