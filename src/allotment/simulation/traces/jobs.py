"""A job as any trace tells of it, and a node; in the one form that fillings and simulations are made from.

Traces differ in what they tell: one knows when a job was handed in and how long it ran, another what part of
a card it wanted and on which models. What a trace does not tell stays at its default, and whoever uses it
says what it takes for that.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

WHOLE: Final = 1000


class JobEnd(StrEnum):
    """How a job ended, as its trace has it."""

    PASSED = "passed"
    FAILED = "failed"
    KILLED = "killed"
    UNKNOWN = "unknown"


class JobKind(StrEnum):
    """What a job is: something that ends at once, volume by volume, or never."""

    JOB = "job"
    CAMPAIGN = "campaign"
    FLEET = "fleet"


@dataclass(frozen=True, slots=True)
class Job:
    """What was asked for, when, by whom, and what came of it.

    Each of ``pods`` wants ``gpus`` cards, of each ``share`` thousandths, of one of ``models`` (empty: any),
    ``cpu`` in thousandths and ``memory`` in MiB. Several pods start together and work on one thing, but
    those of a campaign, which are its window over so many ``volumes``, and of a fleet. ``seconds`` is how
    long it ran, or each of its volumes; None where nobody knows. ``pages`` are what it can resume from;
    0 leaves that to whoever makes work of it. ``team`` is whose it is where the trace tells.
    """

    name: str
    arrival: float = 0.0
    user: str = ""
    team: str = ""
    kind: JobKind = JobKind.JOB
    pods: int = 1
    gpus: int = 1
    share: int = WHOLE
    models: tuple[str, ...] = ()
    cpu: int = 0
    memory: int = 0
    volumes: int = 1
    pages: int = 0
    seconds: float | None = None
    priority: int = 0
    preemptible: bool = True
    end: JobEnd = JobEnd.UNKNOWN

    @property
    def cards(self) -> float:
        """How many cards all of its pods hold."""
        return self.pods * self.gpus * self.share / WHOLE


@dataclass(frozen=True, slots=True)
class TraceNode:
    """A node as a trace lists it: ``cpu`` in thousandths, ``memory`` in MiB, and its cards by model."""

    name: str
    cpu: int
    memory: int
    gpus: int
    model: str = ""
