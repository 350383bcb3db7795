"""Showing a run without ever holding it up: whoever draws does so in a thread of its own.

A terminal may be stopped (Ctrl-S), a pager may not read on, a pipe may be full or gone. The engine hands
over events and the newest snapshot and goes on; what cannot be shown in time is left out and counted, and a
display that is gone is simply no longer written to. Text is written to the descriptor itself, so that a
thread that is stuck in a write holds no lock that the end of the process would want.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from typing import Protocol, Self

from allotment.events.event import Event
from allotment.running.engine.engine import Engine
from allotment.running.engine.snapshot import Snapshot

MOST_WAITING = 10_000
SNAPSHOT_SECONDS = 0.25
LAST_SECONDS = 2.0


class Drawer(Protocol):
    """Shows events and snapshots; may block, and may fail with OSError."""

    def begin(self) -> None:
        """The first thing that is shown."""

    def event(self, event: Event) -> None:
        """Something happened."""

    def show(self, shown: Snapshot) -> None:
        """How it stands now."""

    def left_out(self, count: int) -> None:
        """So many events could not be shown in time."""

    def end(self) -> None:
        """The last thing that is shown."""


class Text:
    """A text file over a descriptor, without a buffer or a lock of its own."""

    encoding = "utf-8"

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def write(self, text: str) -> int:
        """Write all of it; raises OSError when nobody reads any more."""
        data = text.encode("utf-8", errors="replace")
        while data:
            data = data[os.write(self._descriptor, data) :]
        return len(text)

    def flush(self) -> None:
        """Nothing waits here."""

    def isatty(self) -> bool:
        """Whether it is a terminal."""
        return os.isatty(self._descriptor)

    def fileno(self) -> int:
        """The descriptor."""
        return self._descriptor


class Display:
    """A watcher of the engine that hands everything to a drawer in another thread."""

    def __init__(self, drawer: Drawer) -> None:
        self._drawer = drawer
        self._events: deque[Event] = deque()
        self._snapshot: Snapshot | None = None
        self._left_out = 0
        self._next_snapshot = 0.0
        self._ending = False
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._draw, name="display", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        with self._changed:
            self._ending = True
            self._changed.notify()
        self._thread.join(LAST_SECONDS)

    def event(self, event: Event) -> None:
        """Hand an event over, unless too many wait already."""
        with self._changed:
            if len(self._events) >= MOST_WAITING:
                self._left_out += 1
            else:
                self._events.append(event)
            self._changed.notify()

    def turn(self, engine: Engine) -> None:
        """Hand over how the engine stands, a few times a second."""
        now = engine.filler.clock()
        if now < self._next_snapshot:
            return
        self._next_snapshot = now + SNAPSHOT_SECONDS
        shown = engine.snapshot()
        with self._changed:
            self._snapshot = shown
            self._changed.notify()

    def _draw(self) -> None:
        try:
            self._drawer.begin()
            while self._draw_once():
                pass
            self._drawer.end()
        except OSError:  # nobody looks on any more
            return

    def _draw_once(self) -> bool:
        """Show what waits; returns whether there may be more."""
        with self._changed:
            while not (self._events or self._snapshot or self._left_out or self._ending):
                self._changed.wait()
            events, self._events = self._events, deque()
            shown, self._snapshot = self._snapshot, None
            left_out, self._left_out = self._left_out, 0
            more = not self._ending
        for event in events:
            self._drawer.event(event)
        if left_out:
            self._drawer.left_out(left_out)
        if shown is not None:
            self._drawer.show(shown)
        return more
