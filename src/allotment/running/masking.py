"""Secrets kept out of what a worker says: its log, its events, its objects in the bucket.

The values are known from the worker's environment, by the names in its assignment. They are masked where text
leaves the process, whoever wrote it; all that is printed goes through a pipe besides (`masked_output`).
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from allotment.events.event import Event
from allotment.events.sinks import Sink
from allotment.running.masked_output import mask_output
from allotment.running.secrets import MASK, masked_parts, masker

Mask = Callable[[str], str]

_mask: Mask = str


def hide(values: Iterable[str]) -> Mask:
    """Mask these values in all that this process says from now on; returns what does it."""
    global _mask  # noqa: PLW0603 - a process has one set of secrets, from its start to its end
    listed = tuple(values)
    _mask = masker(_spelled(listed)) if listed else str
    return _mask


def hide_output(names: Iterable[str], environ: Mapping[str, str]) -> Callable[[], None]:
    """Mask the values of these variables in all that this process, and those below it, print from now on;
    returns what waits for the last of it to be written."""
    values = tuple(environ[name] for name in names if environ.get(name))
    return mask_output([os.fsencode(part) for part in masked_parts(_spelled(values))], MASK.encode())


def _spelled(values: tuple[str, ...]) -> tuple[str, ...]:
    """The values as they are, and as they stand in JSON."""
    return (*values, *(json.dumps(value)[1:-1] for value in values))


def masked(text: str) -> str:
    """The text without secrets."""
    return _mask(text)


def masked_value(value: Any) -> Any:
    """A JSON value with every text in it masked; keys are ours and stay."""
    if _mask is str:
        return value
    if isinstance(value, str):
        return _mask(value)
    if isinstance(value, Mapping):
        return {key: masked_value(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [masked_value(item) for item in value]
    return value


class MaskingSink:
    """Passes events on with every text in their data masked."""

    def __init__(self, inner: Sink) -> None:
        self._inner = inner

    def emit(self, event: Event) -> None:
        """Pass the event on."""
        self._inner.emit(replace(event, data=masked_value(event.data)))

    def flush(self) -> None:
        """Flush what is behind."""
        self._inner.flush()


class MaskedStream(io.TextIOBase):
    """A text stream that masks what is written to it; all else is the stream's behind it."""

    def __init__(self, inner: io.TextIOBase, mask: Mask) -> None:
        self._inner = inner
        self._hide = mask

    def write(self, text: str) -> int:
        """Write the text, masked."""
        self._inner.write(self._hide(text))
        return len(text)

    def flush(self) -> None:
        """Flush the stream behind."""
        self._inner.flush()

    def fileno(self) -> int:
        """The number of the open file behind."""
        return self._inner.fileno()

    def isatty(self) -> bool:
        """Whether a person looks at it."""
        return self._inner.isatty()

    def writable(self) -> bool:
        """It is there to be written."""
        return True

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """The encoding of the stream behind."""
        return self._inner.encoding
