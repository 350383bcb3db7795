"""How far long work is, on standard error: a line that is drawn over, or now and then a line of its own.

On a terminal the line changes as the work goes on. Into a pipe or a file a plain line is written every ten
seconds, with the time that has passed, so that a log tells that something is done; what is over sooner says
nothing. The lines come from a thread, because one step may take longer than that.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from typing import Final, Self

import click

from allotment.cli.shared import safe
from allotment.cli.words import span

EVERY: Final = 10.0
"""Seconds between two plain lines, and before the first."""


class Progress:
    """What is done at the moment, and how much of it. ``waits`` says after a time whether it is over."""

    def __init__(
        self,
        said: str,
        *,
        clock: Callable[[], float] = time.monotonic,
        waits: Callable[[float], bool] | None = None,
    ) -> None:
        self._said, self._clock = said, clock
        self._begun = clock()
        self._over = threading.Event()
        self._waits = self._over.wait if waits is None else waits
        self._is_drawn = sys.stderr.isatty()
        self._is_open = False
        self._thread = threading.Thread(target=self.beat, name="progress", daemon=True)

    def __enter__(self) -> Self:
        if not self._is_drawn:
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self.end()
        if self._thread.is_alive():
            self._thread.join()

    def __call__(self, text: str) -> None:
        """So far it is."""
        self._said = text
        if self._is_drawn:
            click.echo(f"\r\x1b[K{safe(text)}", nl=False, err=True)
            self._is_open = True

    def end(self) -> None:
        """Take away what is drawn, for something else to be written."""
        if self._is_open:
            click.echo("\r\x1b[K", nl=False, err=True)
            self._is_open = False

    def beat(self) -> None:
        """Write a line every so often, until it is over or nobody reads any more."""
        while not self._waits(EVERY):
            passed = span(self._clock() - self._begun)
            try:
                click.echo(f"{safe(self._said)}, {passed}", err=True)
            except (OSError, ValueError):
                return

    def draws(self, name: str, done: int, of: int) -> None:
        """So many draws of something are played."""
        self(f"{name}: {done:,} of {of:,} draws")
