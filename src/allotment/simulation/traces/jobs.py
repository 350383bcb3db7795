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


@dataclass(frozen=True, slots=True)
class Job:
    """What was asked for, when, by whom, and what came of it.

    Each of ``pods`` wants ``gpus`` cards, of each ``share`` thousandths, of one of ``models`` (empty: any),
    ``cpu`` in thousandths and ``memory`` in MiB. ``seconds`` is how long it ran, None where nobody knows.
    """

    name: str
    arrival: float = 0.0
    user: str = ""
    pods: int = 1
    gpus: int = 1
    share: int = WHOLE
    models: tuple[str, ...] = ()
    cpu: int = 0
    memory: int = 0
    seconds: float | None = None
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
