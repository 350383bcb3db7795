"""Shares of queues over time, as plain numbers: what is deserved, what is fair, what is allocated and asked.

A value in between: whoever ran or simulated the queues fills it, and a page shows it. Every series is steps:
a value holds from its moment on until the next. Moments are seconds from ``since``'s zero; where ``clock``
is given it is the moment of zero, and times are shown in its time zone.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from allotment.pictures.ticks import Extent

Steps = tuple[tuple[float, float], ...]
"""(moment, value) in the order of time."""


@dataclass(frozen=True, slots=True)
class QueueOverTime:
    """One queue: its quota and limit (None: none), and how much of the unit it had at each moment.

    ``deserved`` is what its quota guarantees it (given only where it changes; else the quota is drawn),
    ``fair`` what the scheduler would give it now, ``asked`` what it would take: allocated and waiting.
    """

    name: str
    quota: float | None = None
    limit: float | None = None
    weight: float | None = None
    deserved: Steps = ()
    fair: Steps = ()
    allocated: Steps = ()
    asked: Steps = ()


@dataclass(frozen=True, slots=True)
class Reclaimed:
    """At that moment ``queue`` lost so much to ``by``; ``said`` is a sentence about it."""

    at: float
    queue: str
    by: str = ""
    amount: float = 1.0
    said: str = ""


@dataclass(frozen=True, slots=True)
class SharesOverTime:
    """All queues of one place from ``since`` until ``until``; ``total`` is how much there is to share.

    ``is_past`` says that it is what was, not what is expected.
    """

    name: str
    queues: tuple[QueueOverTime, ...]
    until: float
    since: float = 0.0
    total: float | None = None
    unit: str = "GPUs"
    reclaims: tuple[Reclaimed, ...] = ()
    clock: datetime | None = None
    notes: tuple[str, ...] = ()
    is_past: bool = False

    @property
    def extent(self) -> Extent:
        """The time that a picture of it shows."""
        return Extent(self.since, self.until, self.clock, self.is_past)
