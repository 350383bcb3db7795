"""Queues that share a cluster by quota, weight and limit: ``scheduling.run.ai/v2`` Queue.

Amounts are floats as in the object: cpu in thousandths, memory in millions of bytes, GPUs in devices. -1 is
unlimited, and a number that is left out is 0, which allows nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

NO_LIMIT: Final = -1.0


@dataclass(frozen=True, slots=True)
class Allotted:
    """What a queue is given of one resource: guaranteed, at most, and its weight in what is left over."""

    quota: float = 0.0
    limit: float = 0.0
    weight: float = 0.0


FREELY: Final = Allotted(NO_LIMIT, NO_LIMIT, 1.0)


@dataclass(frozen=True, slots=True)
class PastUse:
    """How much of the cluster was used in the window that time-based sharing looks at, from 0 to 1."""

    cpu: float = 0.0
    memory: float = 0.0
    gpu: float = 0.0


@dataclass(frozen=True, slots=True)
class ShareQueue:
    """A Queue; only one without children runs jobs. Minimum runtimes are seconds, None where not stated."""

    name: str
    parent: str | None = None
    priority: int = 100
    created: float = 0.0
    cpu: Allotted = Allotted()
    memory: Allotted = Allotted()
    gpu: Allotted = Allotted()
    reclaim_min_runtime: float | None = None
    preempt_min_runtime: float | None = None
    used: PastUse = PastUse()
