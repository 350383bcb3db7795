"""How far long work is, on standard error: a line that is drawn over, or now and then a line of its own.

On a terminal the line changes as the work goes on, and after ten seconds counts the time that has passed, for
one step may take minutes. Into a pipe or a file a plain line is written every ten seconds, with that time, so
that a log tells that something is done; what is over sooner says nothing. Both come from a thread.
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
TICK: Final = 1.0
"""Seconds between two times that are shown in a line that is drawn over."""


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
        self._drawing = threading.Lock()
        self._of, self._of_since = "", self._begun
        self._thread = threading.Thread(target=self.beat, name="progress", daemon=True)

    def __enter__(self) -> Self:
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
            with self._drawing:
                self._draw()
                self._is_open = True

    def end(self) -> None:
        """Take away what is drawn, for something else to be written."""
        with self._drawing:
            if self._is_open:
                click.echo("\r\x1b[K", nl=False, err=True)
                self._is_open = False

    def beat(self) -> None:
        """Write the line every so often, until it is over or nobody reads any more."""
        while not self._waits(TICK if self._is_drawn else EVERY):
            try:
                self._again()
            except (OSError, ValueError):
                return

    def _again(self) -> None:
        if not self._is_drawn:
            click.echo(f"{safe(self._said)}, {span(self._clock() - self._begun)}", err=True)
            return
        with self._drawing:
            if self._is_open and self._clock() - self._begun >= EVERY:
                self._draw()

    def _draw(self) -> None:
        passed = self._clock() - self._begun
        since = f", {span(passed)}" if passed >= EVERY else ""
        click.echo(f"\r\x1b[K{safe(self._said)}{since}", nl=False, err=True)

    def draws(self, name: str, done: int, of: int) -> None:
        """So many draws of something are played; of what takes long also how long the rest takes about."""
        if name != self._of:
            self._of, self._of_since = name, self._clock()
        passed = self._clock() - self._of_since
        left = span(passed / done * (of - done)) if 0 < done < of and passed >= EVERY else ""
        self(f"{name}: {done:,} of {of:,} draws" + (f", at this pace {left} more" if left else ""))
