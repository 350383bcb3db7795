"""The end of an exchange that takes too long, whatever it hangs in: its socket is shut from outside.

A time limit on each read is none on all of them: a server that sends one byte now and then would never meet
it. So a watchman, one thread for all exchanges, shuts down the connection itself when its time is over, by a
second handle on the same socket, whichever layer (encryption, headers, body) is waiting for it at that time.
"""

from __future__ import annotations

import contextlib
import heapq
import os
import socket
import threading
import time
from types import TracebackType


class Watchman:
    """Ends exchanges at their time, for several threads."""

    def __init__(self) -> None:
        self._due: list[tuple[float, int, Watch]] = []
        self._changed = threading.Condition()
        self._count = 0
        self._thread: threading.Thread | None = None
        self._closed = False

    def watch(self, seconds: float) -> Watch:
        """A watch over an exchange that may last so many seconds from now."""
        watch = Watch()
        with self._changed:
            self._count += 1
            heapq.heappush(self._due, (time.monotonic() + max(seconds, 0.0), self._count, watch))
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="watchman", daemon=True)
                self._thread.start()
            self._changed.notify()
        return watch

    def close(self) -> None:
        """Watch nothing more."""
        with self._changed:
            self._closed = True
            self._changed.notify()

    def _work(self) -> None:
        while (watch := self._next()) is not None:
            watch.end()

    def _next(self) -> Watch | None:
        """Wait for the next watch whose time is over; None when there is nothing to do any more."""
        with self._changed:
            while not self._closed:
                while self._due and self._due[0][2].over:
                    heapq.heappop(self._due)
                left = self._due[0][0] - time.monotonic() if self._due else None
                if left is not None and left <= 0:
                    return heapq.heappop(self._due)[2]
                self._changed.wait(left)
        return None


class Watch:
    """Over the exchange inside of ``with``; ``passed`` tells whether its time was over before it was."""

    def __init__(self) -> None:
        self.passed = False
        self.over = False
        self._twin: socket.socket | None = None
        self._lock = threading.Lock()

    def __enter__(self) -> Watch:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:
            self.over = True
            self._let_go()

    def guard(self, connected: socket.socket) -> None:
        """From here it is this socket that is shut."""
        with self._lock:
            self._let_go()
            self._twin = socket.socket(fileno=os.dup(connected.fileno()))
            if self.passed:
                self._shut()

    def end(self) -> None:
        """Its time is over: shut the socket, unless the exchange has come to its end."""
        with self._lock:
            if not self.over:
                self.passed = True
                self._shut()

    def _shut(self) -> None:
        if self._twin is not None:
            with contextlib.suppress(OSError):
                self._twin.shutdown(socket.SHUT_RDWR)

    def _let_go(self) -> None:
        if self._twin is not None:
            self._twin.close()
            self._twin = None
