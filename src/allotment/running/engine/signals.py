"""Signals as something to wait for beside pipes: a wake-up socket, and how often somebody asked us to
end."""

from __future__ import annotations

import signal
import socket
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

    def __enter__(self) -> Self:
        self._reading, self._writing = socket.socketpair()
        self._reading.settimeout(0.0)
        self._writing.settimeout(0.0)
        self._old_wakeup = signal.set_wakeup_fd(self._writing.fileno(), warn_on_full_buffer=False)
        self._old = {number: signal.signal(number, self._request) for number in ENDINGS}
        self._old[signal.SIGCHLD] = signal.signal(signal.SIGCHLD, self._child)
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

    def _request(self, number: int, _: FrameType | None) -> None:
        self.requests += 1
        self.last = ENDINGS[signal.Signals(number)]

    def _child(self, _number: int, _frame: FrameType | None) -> None:
        """Nothing to do: the wake-up is what was wanted."""
