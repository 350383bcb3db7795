"""Signals as something to wait for beside pipes: a wake-up socket, and how often somebody asked us to
end.

Ctrl-Z stops a process wherever it is. One that is stopped while it has the device ledger locked would keep
every other engine of the machine from starting anything, so that it is put off until that is over.
"""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Self

ENDINGS = {
    signal.SIGINT: "Ctrl-C",
    signal.SIGTERM: "told to end (SIGTERM)",
    signal.SIGHUP: "the terminal was closed (SIGHUP)",
}


class Signals:
    """Catches requests to end and ended children while it is entered; only in the main thread.

    ``requests`` counts the requests to end: the first is kept politely, the second at once. ``last`` says in
    words what the latest was.
    """

    def __init__(self) -> None:
        self.requests = 0
        self.last: str = ""
        self._is_busy = False
        self._is_stop_due = False

    def __enter__(self) -> Self:
        self._reading, self._writing = socket.socketpair()
        self._reading.settimeout(0.0)
        self._writing.settimeout(0.0)
        self._old_wakeup = signal.set_wakeup_fd(self._writing.fileno(), warn_on_full_buffer=False)
        self._old = {number: signal.signal(number, self._request) for number in ENDINGS}
        self._old[signal.SIGCHLD] = signal.signal(signal.SIGCHLD, self._child)
        self._old[signal.SIGTSTP] = signal.signal(signal.SIGTSTP, self._stop)
        return self

    def __exit__(self, *_: object) -> None:
        signal.set_wakeup_fd(self._old_wakeup)
        for number, handler in self._old.items():
            signal.signal(number, handler)
        self._reading.close()
        self._writing.close()

    def fileno(self) -> int:
        """Becomes readable when a signal has come."""
        return self._reading.fileno()

    def drain(self) -> None:
        """Forget the wake-ups so far."""
        try:
            while self._reading.recv(4096):
                pass
        except BlockingIOError:
            return

    @contextmanager
    def unstopped(self) -> Iterator[None]:
        """Put off being stopped from the terminal until this is over."""
        self._is_busy = True
        try:
            yield
        finally:
            self._is_busy = False
            if self._is_stop_due:
                self._stop(signal.SIGTSTP, None)

    def _stop(self, _number: int, _frame: FrameType | None) -> None:
        self._is_stop_due = self._is_busy
        if not self._is_busy:
            os.kill(os.getpid(), signal.SIGSTOP)

    def _request(self, number: int, _: FrameType | None) -> None:
        self.requests += 1
        self.last = ENDINGS[signal.Signals(number)]

    def _child(self, _number: int, _frame: FrameType | None) -> None:
        """Nothing to do: the wake-up is what was wanted."""
