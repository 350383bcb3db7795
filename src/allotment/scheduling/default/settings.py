"""What the default scheduler is configured with, and how its versions treat gangs."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Gangs(StrEnum):
    """What pods that belong together mean to the scheduler; all of it is behind the gate GenericWorkload."""

    UNKNOWN = "unknown"  # each pod for itself: 1.34, and any version with the gate off
    HELD = "held"  # 1.35: those that have found a place keep it and wait for the others
    TOGETHER = (
        "together"  # from 1.36: all in one cycle, one after the other, and none if too few find a place
    )


def gangs_of(version: tuple[int, int], *, enabled: bool = False) -> Gangs:
    """How a version treats gangs."""
    if not enabled or version < (1, 35):
        return Gangs.UNKNOWN
    return Gangs.HELD if version == (1, 35) else Gangs.TOGETHER


def is_early(version: tuple[int, int]) -> bool:
    """Whether a version tries who backs off while it has nothing else to try."""
    return version >= (1, 33)


@dataclass(frozen=True, slots=True)
class Settings:
    """The scheduler's settings: how many nodes are enough, and for how long a pod waits (in seconds).

    ``is_early``: it does not wait for the end of a back-off when it has nothing else to try, which is so from
    1.33 on (``SchedulerPopFromBackoffQ``). ``preempts``: pods take places from those of lower priority, as
    they do unless their priority class has ``preemptionPolicy: Never``.
    """

    gangs: Gangs = Gangs.UNKNOWN
    percentage: int = 0  # of nodes that are looked for; 0: by their number
    first_wait: float = 1.0
    longest_wait: float = 10.0
    flush: float = 300.0
    hold: float = 300.0
    is_early: bool = False
    preempts: bool = False

    def back_off(self, attempts: int) -> float:
        """How long a pod waits after so many attempts."""
        return float(min(self.first_wait * 2 ** min(attempts - 1, 30), self.longest_wait))

    def enough(self, nodes: int) -> int:
        """How many feasible nodes end the search (``numFeasibleNodesToFind``)."""
        percentage = self.percentage or max(50 - nodes // 125, 5)
        if nodes < 100 or percentage >= 100:
            return nodes
        return max(nodes * percentage // 100, 100)
