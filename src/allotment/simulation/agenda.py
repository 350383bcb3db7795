"""What is to come, in the order of time, and what an adapter has not heard of yet."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from heapq import heappop, heappush
from itertools import count
from math import inf
from typing import Any

from allotment.simulation.adapters.adapter import PodId
from allotment.simulation.jobs import Job


class What(IntEnum):
    """What happens, in the order in which it is taken in at one moment."""

    GANG = 0
    END = 1
    NODE = 2
    SYNC = 3
    OVER = 4
    ARRIVAL = 5
    RETRY = 6
    READY = 7


class Agenda:
    """The events to come, and the time that it is."""

    def __init__(self) -> None:
        self.now = 0.0
        self.heap: list[tuple[float, int, int, Any]] = []
        self._numbers = count()

    def at(self, time: float, what: What, payload: object) -> None:
        """Something will happen; what is of the same time and kind happens in the order of being told."""
        heappush(self.heap, (time, what, next(self._numbers), payload))

    @property
    def next(self) -> float:
        """When the next thing happens; never, if nothing is to come."""
        return self.heap[0][0] if self.heap else inf

    def take(self) -> tuple[int, Any] | None:
        """The next thing that happens by now."""
        if not self.heap or self.heap[0][0] > self.now:
            return None
        _time, what, _number, payload = heappop(self.heap)
        return what, payload


@dataclass(slots=True)
class News:
    """What has happened and is not told yet; ``making``: works whose pods may have to be made or let go."""

    ended: list[PodId] = field(default_factory=list)
    readied: list[PodId] = field(default_factory=list)
    nodes: list[tuple[str, bool]] = field(default_factory=list)
    arrivals: list[Job] = field(default_factory=list)
    touched: dict[str, Job] = field(default_factory=dict)
    making: dict[str, Job] = field(default_factory=dict)

    @property
    def any(self) -> bool:
        """Whether there is anything to tell but that pods are ready."""
        return bool(self.ended or self.nodes or self.touched or self.arrivals or self.making)
