"""A few words of shared memory in which a worker says what it is doing, for the process that watches it.

A worker that hangs in foreign code can tell nobody anything any more; what it wrote here before can still
be read. Written by one process, read by its supervisor, inherited through fork; every field is written in
one store.
"""

from __future__ import annotations

import json
import mmap
from collections.abc import Mapping
from typing import Any

SIZE = 8192
TEXT = 64
CODE, PAGE, PAGE_END, VERDICT = range(4)
NONE = -1.0


class Board:
    """Shared memory of one worker and its supervisor."""

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, SIZE)
        self._numbers = memoryview(self._memory)[:TEXT].cast("d")
        self._numbers[CODE] = self._numbers[VERDICT] = NONE

    @property
    def code(self) -> int | None:
        """The exit code that the worker has said it will end with."""
        code = self._numbers[CODE]
        return None if code == NONE else int(code)

    def announce(self, code: int) -> None:
        """Say with which code the worker is about to end."""
        self._numbers[CODE] = code

    @property
    def verdict(self) -> int | None:
        """The exit code of a worker whose guardian has to stay: something below it cannot be killed."""
        code = self._numbers[VERDICT]
        return None if code == NONE else int(code)

    def judge(self, code: int) -> None:
        """Say with which code the supervisor is to end."""
        self._numbers[VERDICT] = code

    def begin_page(self, number: int, end: float) -> None:
        """Say that a page is in flight and by when (monotonic time; 0: never) it must be over."""
        self._numbers[PAGE] = number
        self._numbers[PAGE_END] = end

    def end_page(self) -> None:
        """Say that no page is in flight."""
        self._numbers[PAGE_END] = 0.0
        self._numbers[PAGE] = 0.0

    @property
    def page(self) -> int | None:
        """The number of the page in flight."""
        return int(self._numbers[PAGE]) or None

    @property
    def page_end(self) -> float | None:
        """By when the page in flight must be over."""
        return self._numbers[PAGE_END] or None

    def begin_volume(self, about: Mapping[str, Any]) -> None:
        """Say which attempt at which volume is under way."""
        text = json.dumps(about).encode()
        if len(text) < SIZE - TEXT:
            self._memory[TEXT : TEXT + len(text) + 1] = text + b"\0"

    def end_volume(self) -> None:
        """Say that no attempt is under way."""
        self._memory[TEXT] = 0

    @property
    def volume(self) -> dict[str, Any] | None:
        """The attempt under way, as it was begun."""
        text = self._memory[TEXT:SIZE].split(b"\0", 1)[0]
        try:
            about = json.loads(text) if text else None
        except (ValueError, RecursionError):
            return None
        return about if isinstance(about, dict) else None
