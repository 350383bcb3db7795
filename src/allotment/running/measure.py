"""What a worker measures of itself; all of it ends under ``measured``."""

from __future__ import annotations

import resource
from dataclasses import dataclass, field


def peak_memory() -> int:
    """The most memory that this process, or one of those it ran, had at once, in bytes (getrusage(2))."""
    who = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return max(resource.getrusage(one).ru_maxrss for one in who) * 1024


@dataclass(slots=True)
class Clocked:
    """Seconds of one attempt, by what they went into, and how many pages were done."""

    pages: int = 0
    step_seconds: float = 0.0
    wait_seconds: float = 0.0
    messages: dict[str, str] = field(default_factory=dict)

    def page(self, seconds: float, waited: float) -> None:
        """One page was done."""
        self.pages += 1
        self.step_seconds += seconds
        self.wait_seconds += waited


def rounded(seconds: float) -> float:
    """Seconds as they are written: to the microsecond."""
    return round(seconds, 6)
