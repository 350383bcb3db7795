"""How things end in a worker: exit codes, and what stops a page, a volume or the whole process.

The exit codes are the contract with whoever starts workers (reference page "The runner"): a Job's failure
policy and the local engine both act on them, so a step's own exit code is never passed on.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

EXIT_COMPLETE = 0
EXIT_FAILED = 1
EXIT_PERMANENT = 13
EXIT_TERMINATED = 143

UNREACHABLE = "source-unreachable"
"""The reason of what failed because pages could not be fetched now, which may pass."""


class Ended(StrEnum):
    """How an attempt at a volume ended, as its ``end`` object says. A start without one was reclaimed."""

    COMPLETE = "complete"
    FAILED = "failed"
    PERMANENT = "permanent"
    RECLAIMED = "reclaimed"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a volume: the exit code that it asks for, a short stable ``reason``, and one sentence."""

    code: int
    reason: str = ""
    message: str = ""


COMPLETE = Outcome(EXIT_COMPLETE)


@dataclass(eq=False)
class VolumeFailedError(Exception):
    """The volume cannot go on now; another attempt may do better. ``reason`` is a short stable code."""

    reason: str
    message: str

    def __str__(self) -> str:
        return self.message


@dataclass(eq=False)
class PermanentFailureError(VolumeFailedError):
    """The volume cannot be done until somebody mends something and asks for a retry."""


@dataclass(eq=False)
class CrowdedOutError(VolumeFailedError):
    """The device memory that was promised to this worker was in use by others: not its fault, no failure."""


class Stopped(BaseException):
    """The worker was told to end (SIGTERM), and the time for finishing the page in flight is over."""


class DeadlinePassed(BaseException):
    """The worker's own deadline, ``max_seconds``, has passed."""


class PageTimeout(BaseException):
    """The page has taken longer than ``page_seconds``."""


BREAKING_IN = (Stopped, DeadlinePassed, PageTimeout)
"""What the runner itself raises into a step; all else that comes out of one is the step's own doing."""
