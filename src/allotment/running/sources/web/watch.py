"""The end of an exchange that takes too long, whatever it hangs in: its socket is shut from outside.

A time limit on each read is none on all of them: a server that sends one byte now and then would never meet
it. So a timer shuts down the connection itself, by a second handle on the same socket, whichever layer
(encryption, headers, body) is waiting for it at that time.
"""

from __future__ import annotations

import contextlib
import os
import socket
import threading
from types import TracebackType


class Watch:
    """Lets the exchange inside of ``with`` last so many seconds; ``passed`` tells whether it was ended."""

    def __init__(self, seconds: float) -> None:
        self.passed = False
        self._twin: socket.socket | None = None
        self._lock = threading.Lock()
        self._timer = threading.Timer(max(seconds, 0.0), self._end)
        self._timer.daemon = True

    def __enter__(self) -> Watch:
        self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._timer.cancel()
        self.guard(None)

    def guard(self, connected: socket.socket | None) -> None:
        """From here it is this socket that is shut; none, for no more."""
        with self._lock:
            if self._twin is not None:
                self._twin.close()
            self._twin = None if connected is None else socket.socket(fileno=os.dup(connected.fileno()))
            if self.passed:
                self._shut()

    def _end(self) -> None:
        with self._lock:
            self.passed = True
            self._shut()

    def _shut(self) -> None:
        if self._twin is not None:
            with contextlib.suppress(OSError):
                self._twin.shutdown(socket.SHUT_RDWR)
