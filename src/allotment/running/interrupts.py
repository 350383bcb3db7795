"""What may break into a worker, and when: the end that somebody wants, the own deadline, a page's time limit.

A page in flight is finished if the grace period allows, and dropped if not; a model load is dropped at
once; a write is never broken off half-way by us. Which of these holds is the *mode* that the worker is in.
Signals come to Python's main thread between two of its steps; code that does not come back to Python, or
that swallows what is raised into it, is ended from outside (`allotment.running.watching`), a little after
its limit.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from types import FrameType

from allotment.running.board import Board
from allotment.running.endings import DeadlinePassed, PageTimeout, Stopped
from allotment.running.limits import page_slack, soft_grace

WRITING, WAITING, STEP = range(3)
AGAIN_SECONDS = 1.0
LAST_PAUSE_SECONDS = 0.3


class Interrupts:
    """Nothing breaks in: for tests, and the base of what does."""

    def check(self) -> None:
        """Between two pages: raise what is due."""

    def told_to_end(self) -> bool:
        """Whether somebody wants the end."""
        return False

    def begin_wait(self) -> None:
        """From here what is due is raised at once."""

    def end_wait(self) -> None:
        """From here nothing is raised."""

    def begin_page(self, number: int) -> None:
        """From here the page's limit counts."""

    def end_page(self) -> None:
        """From here nothing is raised."""

    def sleep(self, seconds: float) -> None:
        """Wait, unless something breaks in."""


class SignalInterrupts(Interrupts):
    """SIGTERM, the deadline and the page limit, by signals and one timer of this process.

    ``deadline`` is a monotonic time. A second SIGTERM drops the page in flight at once.
    """

    def __init__(
        self,
        *,
        page_seconds: float | None,
        grace_seconds: float,
        deadline: float | None,
        board: Board,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._page_seconds = page_seconds
        self._slack = page_slack(page_seconds) if page_seconds is not None else 0.0
        self._grace = soft_grace(grace_seconds)
        self._deadline = deadline
        self._board = board
        self._monotonic = monotonic
        self._mode = WRITING
        self._before = WRITING
        self._page_end: float | None = None
        self._stop_at: float | None = None

    def install(self) -> None:
        """Take the signals over, and let those through that came before."""
        signal.signal(signal.SIGTERM, self._on_term)
        signal.signal(signal.SIGALRM, self._on_alarm)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.pthread_sigmask(
            signal.SIG_UNBLOCK, {signal.SIGTERM, signal.SIGALRM, signal.SIGINT, signal.SIGCHLD}
        )

    def told_to_end(self) -> bool:
        """Whether somebody wants the end."""
        return self._stop_at is not None

    def close(self) -> None:
        """Let nothing break in any more."""
        self._mode = WRITING
        signal.setitimer(signal.ITIMER_REAL, 0)

    def check(self) -> None:
        """Between two pages: raise what is due."""
        if self._stop_at is not None:
            raise Stopped
        if self._deadline is not None and self._monotonic() >= self._deadline:
            raise DeadlinePassed

    def begin_wait(self) -> None:
        """From here what is due is raised at once."""
        self._before, self._mode = self._mode, WAITING
        try:
            self._judge()
        except BaseException:
            self._mode = self._before
            raise

    def end_wait(self) -> None:
        """From here the mode holds that held before."""
        self._mode = self._before

    def begin_page(self, number: int) -> None:
        """From here the page's limit counts, here and on the board that the supervisor reads."""
        now = self._monotonic()
        if self._page_seconds is not None:
            self._page_end = now + self._page_seconds
        self._board.begin_page(number, (self._page_end + self._slack) if self._page_end is not None else 0.0)
        self._mode = STEP
        self._arm(now)

    def end_page(self) -> None:
        """From here nothing is raised."""
        self._mode = WRITING
        self._page_end = None
        self._board.end_page()

    def sleep(self, seconds: float) -> None:
        """Wait, unless something breaks in."""
        mode = self._mode
        self._mode = WAITING
        try:
            self._judge()
            time.sleep(seconds)
        finally:
            self._mode = mode

    def pause(self, seconds: float) -> None:
        """Wait, in any thread, and hardly at all once the end is wanted; nothing is raised."""
        end = self._monotonic() + seconds
        while (left := end - self._monotonic()) > 0:
            if self._stop_at is not None:
                left, end = min(left, LAST_PAUSE_SECONDS), 0.0
            time.sleep(min(left, LAST_PAUSE_SECONDS))

    def _on_term(self, _signal: int, _frame: FrameType | None) -> None:
        now = self._monotonic()
        self._stop_at = now + self._grace if self._stop_at is None else now
        self._judge()

    def _on_alarm(self, _signal: int, _frame: FrameType | None) -> None:
        self._judge()

    def _judge(self) -> None:
        """Raise what is due in this mode, or see to it that we are called when it is."""
        if self._mode == WRITING:
            return
        now = self._monotonic()
        if self._stop_at is not None and (self._mode == WAITING or now >= self._stop_at):
            self._arm(now)
            raise Stopped
        if self._deadline is not None and now >= self._deadline:
            self._arm(now)
            raise DeadlinePassed
        if self._page_end is not None and now >= self._page_end:
            self._arm(now)
            raise PageTimeout
        self._arm(now)

    def _arm(self, now: float) -> None:
        """Set the timer for what is due next; what is due already comes again, in case it was swallowed."""
        times = [time for time in (self._deadline, self._page_end, self._stop_at) if time is not None]
        if not times:
            signal.setitimer(signal.ITIMER_REAL, 0)
            return
        ahead = [time - now for time in times if time > now]
        due = len(ahead) < len(times)
        first = min([*ahead, AGAIN_SECONDS] if due else ahead)
        signal.setitimer(signal.ITIMER_REAL, max(first, 0.001), AGAIN_SECONDS)
