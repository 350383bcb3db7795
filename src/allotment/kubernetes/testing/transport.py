"""The way from our client to a fake server in the same process."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from allotment.kubernetes.client.transport import CutError, Reply
from allotment.kubernetes.testing import faults
from allotment.kubernetes.testing.server import FakeApiServer


class FakeTransport:
    """Requests as calls of a fake server; what it cuts is cut here."""

    name = "the fake cluster"

    def __init__(self, server: FakeApiServer) -> None:
        self.server = server
        self.slept: list[float] = []

    def sleep(self, seconds: float) -> None:
        """Wait no time, and write down for how long it would have been."""
        self.slept.append(seconds)

    def send(
        self, method: str, path: str, query: Mapping[str, str], headers: Mapping[str, str], body: bytes
    ) -> Reply:
        """The whole answer."""
        try:
            answer = self.server.request(method, path, query, headers, body)
        except faults.CutError as error:
            raise CutError(str(error)) from None
        told = {key.lower(): value for key, value in answer.headers.items()}
        return Reply(answer.status, told, _bytes(answer.body))

    def stream(
        self, path: str, query: Mapping[str, str], headers: Mapping[str, str]
    ) -> tuple[Reply, Iterator[bytes]]:
        """The answer, and its lines; a watch tells what has happened so far, and ends."""
        try:
            answer = self.server.request("GET", path, query, headers)
        except faults.CutError as error:
            raise CutError(str(error)) from None
        told = {key.lower(): value for key, value in answer.headers.items()}
        if answer.stream is None:
            return Reply(answer.status, told), iter(_bytes(answer.body).splitlines(keepends=True))
        events = [*answer.stream.pending(), *answer.stream.closing()]
        return Reply(answer.status, told), (_line(event) for event in events)


def _line(event: Any) -> bytes:
    return event if isinstance(event, bytes) else json.dumps(event).encode() + b"\n"


def _bytes(body: Any) -> bytes:
    return body.encode() if isinstance(body, str) else json.dumps(body).encode()
