"""Events written by a thread of their own, so that whoever tells them never waits for the bucket.

An engine that wrote its events itself would stand still for as long as a bucket takes to answer, with
workers unheard and Ctrl-C unkept. Here events only go into a queue, which has an end: when the bucket is away
for long, further ones are left out, and how many were lost is said once. What has been told is written at
the end as well, as far as the bucket takes it in time.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Final

from allotment.events.event import Event
from allotment.events.sinks import Sink

MOST_WAITING: Final = 50_000
LONGEST_END: Final = 60.0
A_MOMENT: Final = 3.0
LOOK_SECONDS: Final = 0.05

log = logging.getLogger(__name__)


class LogWriter:
    """One thread that writes for any number of sinks; started with the first event."""

    def __init__(self, *, most: int = MOST_WAITING) -> None:
        self._most = most
        self._waiting: deque[tuple[Sink, Event]] = deque()
        self._sinks: dict[int, Sink] = {}
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._thread: threading.Thread | None = None
        self._ending = False
        self._lost = 0

    def sink(self, inner: Sink) -> BackgroundSink:
        """A sink that never waits, before one that may."""
        self._sinks[id(inner)] = inner
        return BackgroundSink(self, inner)

    def take(self, inner: Sink, event: Event) -> None:
        """Let an event wait for the thread, if there is room."""
        with self._lock:
            if len(self._waiting) >= self._most or self._ending:
                self._lost += 1
                return
            self._waiting.append((inner, event))

    def wake(self) -> None:
        """Have written what waits, some time soon."""
        if self._thread is None and self._waiting:
            self._thread = threading.Thread(target=self._work, name="events", daemon=True)
            self._thread.start()
        self._wake.set()

    def close(
        self,
        enough: Callable[[], bool] = lambda: False,
        *,
        longest: float = LONGEST_END,
        moment: float = A_MOMENT,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> int:
        """Write what waits, within ``longest`` seconds, or ``moment`` once it is ``enough``; returns how many
        events were lost, as far as is known here."""
        self.wake()
        self._ending = True
        self._wake.set()
        end, hurried = monotonic() + longest, False
        while self._thread is not None and self._thread.is_alive() and monotonic() < end:
            if enough() and not hurried:
                end, hurried = min(end, monotonic() + moment), True
            self._thread.join(LOOK_SECONDS)
        late = self._thread is not None and self._thread.is_alive()
        lost = self._lost + len(self._waiting)
        if lost or late:
            log.warning("%s: the bucket took too long", f"{lost:,} events were lost" if lost else LATE)
        return lost

    def _work(self) -> None:
        while True:
            self._wake.wait()
            self._wake.clear()
            ending = self._ending
            while self._waiting:
                with self._lock:
                    inner, event = self._waiting.popleft()
                inner.emit(event)
            for inner in self._sinks.values():
                inner.flush()
            if ending:
                return


LATE: Final = "the last events may be lost"


class BackgroundSink:
    """Takes events for a writer's thread."""

    def __init__(self, writer: LogWriter, inner: Sink) -> None:
        self._writer = writer
        self._inner = inner

    def emit(self, event: Event) -> None:
        """Take one event."""
        self._writer.take(self._inner, event)

    def flush(self) -> None:
        """Have it written some time soon."""
        self._writer.wake()
