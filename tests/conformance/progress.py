"""How far the comparing has got, on the error stream: one line that is written over, or a line a suite."""

from __future__ import annotations

import sys
import time
from collections import Counter
from types import TracebackType
from typing import Self

from tests.conformance.suites import Suite

CLEAR = "\r\x1b[K"


class Progress:
    """Shows what is done; on a terminal the line is gone afterwards."""

    def __init__(self) -> None:
        self._terminal = sys.stderr.isatty()
        self._parts: Counter[str] = Counter()
        self._begun = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._terminal:
            self._write(CLEAR)

    def told(self, suite: Suite, done: int, of: int) -> None:
        """A share of this suite is done; ``done`` counts those of all suites."""
        self._parts[suite.name] += 1
        seconds = time.monotonic() - self._begun
        if self._terminal:
            self._write(f"{CLEAR}comparing {suite.name}: {done} of {of} parts, {seconds:.0f} s")
        elif self._parts[suite.name] == suite.parts:
            self._write(f"{suite.name} compared, {seconds:.0f} s\n")

    @staticmethod
    def _write(text: str) -> None:
        sys.stderr.write(text)
        sys.stderr.flush()
