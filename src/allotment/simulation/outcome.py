"""What came of it: a record of every run of every pod, of every wait, and of every decision in its order.

Metrics, plans, comparisons and pictures are made of this alone. Times are seconds of the simulation.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class End(StrEnum):
    """How a run of a pod ended."""

    COMPLETE = "complete"
    FAILED = "failed"
    RECLAIMED = "reclaimed"
    NODE_LOST = "node lost"
    SHRUNK = "shrunk"
    RUNNING = "running"


@dataclass(frozen=True, slots=True)
class Span:
    """One run of one pod of a work: index ``index`` for the ``attempt``-th time.

    ``bound`` is when it got its node, ``ready`` when it began its first page, ``ended`` when its devices were
    free again (the horizon where it still runs). ``pages`` were finished by it, ``lost`` seconds of steps are
    repeated because of how it ended. ``by`` names the work that it was reclaimed for. ``shared`` are the
    cards of the node of which it had a part, where parts are counted, by a name that holds while anybody is
    on them.
    """

    work: str
    team: str
    index: int
    attempt: int
    node: str
    devices: tuple[str, ...]
    card: str
    gpus: float
    bound: float
    ready: float
    ended: float
    end: End
    pages: int = 0
    lost: float = 0.0
    by: str = ""
    shared: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class WaitSpan:
    """For how long a work waited with the same reason; ``pods`` is the most that waited."""

    work: str
    reason: str
    message: str
    since: float
    until: float
    pods: int = 1


@dataclass(frozen=True, slots=True)
class Decided:
    """One decision in the log: ``what`` is started, reclaimed, admitted, evicted or waits."""

    at: float
    what: str
    work: str
    index: int | None = None
    node: str = ""
    devices: tuple[str, ...] = ()
    by: str = ""
    reason: str = ""
    message: str = ""


@dataclass(frozen=True, slots=True)
class WorkEnd:
    """When a work arrived, first ran, and was over (None: not within the horizon), and its units."""

    work: str
    team: str
    arrival: float
    started: float | None
    finished: float | None
    complete: int = 0
    failed: int = 0
    left: int = 0
    never: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """One simulated course of things, of one seed. ``gpus`` is how many cards there are by kind."""

    scheduler: str
    seed: int
    until: float
    spans: tuple[Span, ...]
    waits: tuple[WaitSpan, ...]
    decisions: tuple[Decided, ...]
    ends: tuple[WorkEnd, ...]
    gpus: tuple[tuple[str, int], ...] = ()
    notes: tuple[str, ...] = ()
