"""How the working process is watched: what it must not pass, and what its end means.

Steps may hang where no signal of Python's reaches them. So the grace period and the time limits are kept from
outside as well: the working process is ended a little after a limit that it could not keep itself. SIGTERM is
forwarded to it. When the supervisor is gone, the working process has nobody to work for and is ended at once.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from allotment.running.board import Board
from allotment.running.endings import EXIT_FAILED, EXIT_TERMINATED
from allotment.running.limits import DEADLINE_SLACK, hard_grace
from allotment.running.processes import heard_within

LOOK_SECONDS = 0.5
GUARDED_SECONDS = 0.2
EVIDENCE_SECONDS = 0.5
"""How long a worker above its share is left, so that the looks of its neighbours see whose fault it is."""
TRACE_SECONDS = 0.1
UNKILLABLE_SECONDS = 3.0
SIGNALS = frozenset({signal.SIGTERM, signal.SIGINT, signal.SIGCHLD, signal.SIGHUP})


class Death(StrEnum):
    """How the working process came to its end, when the end was not its own."""

    STUCK = "page-stuck"
    OVERDUE = "deadline"
    GRACE_OVER = "grace-over"
    CRASHED = "crashed"
    OUT_OF_MEMORY = "out-of-memory"
    KILLED = "killed"
    ABANDONED = "abandoned"
    OVER_SHARE = "share-exceeded"
    CROWDED_OUT = "crowded-out"


@dataclass(frozen=True, slots=True)
class WorkerEnd:
    """The exit code to end with, and, when the working process did not end by itself, how it died."""

    code: int
    death: Death | None = None
    how: str = ""


def oom_kills() -> int:
    """How often this container, or else this machine, has killed a process for want of memory."""
    for path in ("/sys/fs/cgroup/memory.events", "/proc/vmstat"):
        try:
            with open(path, encoding="ascii") as file:  # noqa: PTH123 - nothing large is imported here
                for line in file:
                    if line.startswith("oom_kill "):
                        return int(line.split()[1])
        except (OSError, ValueError):
            continue
    return 0


class Guard(Protocol):
    """Looks at what the working process, and what is below it, use of a card that others share."""

    def exceeded(self) -> str | None:
        """In words, that it has used more than its share."""

    def crowded(self) -> str | None:
        """In words, that others left it less than its share."""


@dataclass(slots=True)
class Watch:
    """A working process, its board, the limits (monotonic times), and who wants it to work.

    ``guard`` is there when its card is shared: who uses more than its share is ended.

    SIGHUP only means that it is time to look whether ``supervisor`` is still the parent of this process.
    """

    pid: int
    board: Board
    grace_seconds: float
    deadline: float | None
    supervisor: int
    monotonic: Callable[[], float] = time.monotonic
    guard: Guard | None = None
    _how: str = ""
    _exceeded: float | None = None
    _told_to_end: float | None = None
    _by_term: bool = False
    _death: Death | None = None
    _killed: float = 0.0
    _oom_kills: int = field(default_factory=oom_kills)

    def wait(self) -> WorkerEnd:
        """Wait for the working process's end."""
        while True:
            status = self._reap()
            now = self.monotonic()
            if status is not None:
                return self._judge(os.waitstatus_to_exitcode(status))
            if self._death is not None and now >= self._killed + UNKILLABLE_SECONDS:
                return self._judge(-signal.SIGKILL)
            if os.getppid() != self.supervisor:
                return WorkerEnd(EXIT_TERMINATED, Death.ABANDONED)
            self._end_if_overdue(now)
            self._hear(now)

    def _reap(self) -> int | None:
        """Take note of every child that has ended; returns the status of the one that works."""
        while True:
            try:
                ended, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return signal.SIGKILL
            if ended == self.pid:
                return status
            if ended == 0:
                return None

    def _hear(self, now: float) -> None:
        """Wait for a signal, or for the time of the next look."""
        wait = LOOK_SECONDS if self.guard is None else GUARDED_SECONDS
        if self._told_to_end is not None and self._death is None:
            wait = min(wait, max(0.0, self._told_to_end + hard_grace(self.grace_seconds) - now))
        heard = heard_within(SIGNALS, wait)
        if heard is None or heard in {signal.SIGCHLD, signal.SIGHUP}:
            return
        self._by_term = self._by_term or heard == signal.SIGTERM
        if self._told_to_end is None:
            self._told_to_end = self.monotonic()
        os.kill(self.pid, signal.SIGTERM)

    def _end_if_overdue(self, now: float) -> None:
        """End the working process when it has not kept a limit itself; its log shows where it was."""
        page_end = self.board.page_end
        if self._death is not None:
            return
        if self._told_to_end is not None and now >= self._told_to_end + hard_grace(self.grace_seconds):
            self._death = Death.GRACE_OVER
        elif page_end is not None and now >= page_end:
            self._death = Death.STUCK
        elif self.deadline is not None and now >= self.deadline + DEADLINE_SLACK:
            self._death = Death.OVERDUE
        elif self.guard is not None and (excess := self.guard.exceeded()) is not None:
            self._exceeded = now if self._exceeded is None else self._exceeded
            if now >= self._exceeded + EVIDENCE_SECONDS:
                self._death, self._how = Death.OVER_SHARE, excess
        if self._death is not None:
            self._killed = now
            os.kill(self.pid, signal.SIGUSR1)
            heard_within({signal.SIGCHLD}, TRACE_SECONDS)
            os.kill(self.pid, signal.SIGKILL)

    def _judge(self, code: int) -> WorkerEnd:
        """What an end of the working process means; only a code that it has announced is its own."""
        if self._death is None and code == self.board.code:
            own = code != EXIT_TERMINATED or self._told_to_end is None or self._by_term
            return WorkerEnd(code if own else EXIT_FAILED)
        if self._told_to_end is not None:
            return WorkerEnd(EXIT_TERMINATED if self._by_term else EXIT_FAILED, Death.GRACE_OVER)
        if self._death is not None:
            return WorkerEnd(EXIT_FAILED, self._death, self._how)
        if self.guard is not None and (others := self.guard.crowded()) is not None:
            return WorkerEnd(EXIT_FAILED, Death.CROWDED_OUT, others)
        if code == -signal.SIGKILL:
            memory = oom_kills() > self._oom_kills
            return WorkerEnd(EXIT_FAILED, Death.OUT_OF_MEMORY if memory else Death.KILLED)
        how = f"it ended with exit code {code}" if code >= 0 else f"signal {-code}"
        return WorkerEnd(EXIT_FAILED, Death.CRASHED, how)
