"""Bearing with a bucket, or a device ledger, that fails for a while.

Nothing can be started meanwhile, and what runs goes on: a bucket answers again, and a full or locked ledger
is made free, often by the very work that an engine would end if it gave up. So it gives up only when nothing
of its own runs any more, and that has been so for a few seconds and several tries.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from allotment.errors import AllotmentError

MOST_FAILURES: Final = 20
MOST_SECONDS: Final = 5.0
TRY_AGAIN_SECONDS: Final = 0.25


@dataclass(slots=True)
class Bearing:
    """How often it has failed without a break, and since when (seconds of one clock)."""

    failures: int = 0
    since: float = 0.0
    last: float | None = None
    is_told: bool = False

    def is_early(self, now: float) -> bool:
        """Whether it failed just now."""
        return self.last is not None and now < self.last + TRY_AGAIN_SECONDS

    def answered(self) -> None:
        """It works."""
        self.failures, self.last, self.is_told = 0, None, False

    def failed(self, error: AllotmentError, now: float, *, at_work: bool) -> str:
        """It failed; returns what to tell people, once. Raises the error when it is borne with no longer."""
        self.since = self.since if self.failures else now
        self.failures, self.last = self.failures + 1, now
        if now < self.since + MOST_SECONDS:
            return ""
        if not at_work and self.failures >= MOST_FAILURES:
            raise error
        told, self.is_told = self.is_told, True
        return "" if told else f"nothing is started, and what runs goes on: {error.what} ({error.where})"
