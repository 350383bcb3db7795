"""What carries a request to an API server and its answer back: HTTP in earnest, a function call in tests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer: its status, its headers in small letters, its body."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""


class CutError(OSError):
    """The connection ended before there was an answer: the server may or may not have acted."""


class NotSentError(CutError):
    """There was no connection: the server has not seen the request."""


class HopelessError(NotSentError):
    """There was no connection, and there will be none: the server is unknown, or not the one it claims."""


class Transport(Protocol):
    """A way to an API server. ``name`` is what to call it in messages: the context, or the address."""

    name: str

    def sleep(self, seconds: float) -> None:
        """Wait before the server is asked again."""
        ...

    def send(
        self, method: str, path: str, query: Mapping[str, str], headers: Mapping[str, str], body: bytes
    ) -> Reply:
        """The whole answer, whatever its status; CutError where none came."""
        ...

    def stream(
        self, path: str, query: Mapping[str, str], headers: Mapping[str, str]
    ) -> tuple[Reply, Iterator[bytes]]:
        """The answer to a GET, and its body line by line as it comes; CutError where it is cut."""
        ...
