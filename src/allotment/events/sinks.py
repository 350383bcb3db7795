"""Where events go: a pipe to the engine, several places at once, or nowhere.

Saying what happens must never hold up what happens. The pipe is not waited for: when its reader is slow, a
few events wait here, and further ones are dropped; the reader takes counts from the events that do come.
"""

from __future__ import annotations

import os
from typing import Protocol

from allotment.events.event import Event

WAITING_BYTES = 256 * 1024


class Sink(Protocol):
    """Takes events; never blocks for long and never fails."""

    def emit(self, event: Event) -> None:
        """Take one event."""

    def flush(self) -> None:
        """Pass on what is still waiting, as far as possible now."""


class NoSink:
    """Takes events nowhere."""

    def emit(self, event: Event) -> None:
        """Forget the event."""

    def flush(self) -> None:
        """Nothing waits."""


class ListSink:
    """Keeps events in a list, for tests and simulations."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def emit(self, event: Event) -> None:
        """Keep the event."""
        self.events.append(event)

    def flush(self) -> None:
        """Nothing waits."""

    def kinds(self) -> list[str]:
        """The kinds of the events so far."""
        return [event.kind for event in self.events]


class PipeSink:
    """Writes lines to a pipe without waiting; whole lines are dropped while too much waits."""

    def __init__(self, descriptor: int) -> None:
        os.set_blocking(descriptor, False)
        self._descriptor = descriptor
        self._waiting = b""
        self._broken = False
        self.dropped = 0

    def emit(self, event: Event) -> None:
        """Write the event's line, or let it wait, or drop it."""
        if len(self._waiting) > WAITING_BYTES:
            self.flush()
        if self._broken or len(self._waiting) > WAITING_BYTES:
            self.dropped += 1
            return
        self._waiting += event.to_line().encode(errors="replace") + b"\n"
        self.flush()

    def break_line(self) -> None:
        """End a line that another writer, who has died, may have left unfinished."""
        self._waiting += b"\n"

    def flush(self) -> None:
        """Write as much of what waits as the pipe takes now."""
        while self._waiting and not self._broken:
            try:
                written = os.write(self._descriptor, self._waiting)
            except BlockingIOError:
                return
            except OSError:
                self._broken = True
                return
            self._waiting = self._waiting[written:]
