"""A proxy before an S3 server that misbehaves by a plan, in the ways that real ones do."""

from __future__ import annotations

import http.client
import random
import socket
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from itertools import cycle
from urllib.parse import urlsplit

from tests.buckets.tiny_s3 import Handler, Server, s3_error

DRIP_SECONDS = 0.02


class Fault(StrEnum):
    """What a request meets."""

    NONE = "none"
    INTERNAL_ERROR = "500, and nothing is done"
    SLOW_DOWN = "503 SlowDown, and nothing is done"
    CUT = "the connection is cut before anything is done"
    CUT_AFTER = "it is done, and the connection is cut before the answer"
    ERROR_AFTER = "it is done, and the answer is 500"
    SLOW = "the answer comes in drips"
    TRUNCATED = "the answer is cut off half-way"


Plan = Callable[[int, str, str], Fault]
"""Which fault the n-th request (from 0), its method and its path meet."""


def seeded(seed: int, chance: float, faults: Sequence[Fault] = tuple(Fault)) -> Plan:
    """Faults at random instants, each kind as often as any other."""
    dice = random.Random(seed)
    kinds = cycle(dice.sample(faults, len(faults)))
    return lambda _number, _method, _path: next(kinds) if dice.random() < chance else Fault.NONE


class FaultProxy:
    """Hands requests on to ``upstream``, or misbehaves; counts what was met."""

    def __init__(self, upstream: str, plan: Plan = lambda *_: Fault.NONE) -> None:
        self.upstream = urlsplit(upstream).netloc
        self.plan = plan
        self.requests: Counter[str] = Counter()
        self.met: Counter[Fault] = Counter()
        self.paths: list[str] = []
        self._lock = threading.Lock()

    @contextmanager
    def serving(self) -> Iterator[str]:
        """Serve; gives the address."""
        proxy = self

        class Requests(Handler):
            upstream: http.client.HTTPConnection | None = None

            def do_GET(self) -> None:
                proxy.handle(self)

            do_PUT = do_HEAD = do_POST = do_DELETE = do_GET

            def finish(self) -> None:
                if self.upstream is not None:
                    self.upstream.close()
                try:
                    super().finish()
                except OSError:
                    return

        with Server(Requests).serving() as endpoint:
            yield endpoint

    def handle(self, request: Handler) -> None:
        """One request."""
        body = request.body()
        fault = self._fault(request)
        if fault in BEFORE:
            BEFORE[fault](request)
            return
        status, headers, answer = self._forwarded(request, body)
        if fault in INSTEAD:
            INSTEAD[fault](request)
        elif fault is Fault.SLOW:
            _drip(request, status, headers, answer)
        else:
            _begin(request, status, headers)
            half = fault is Fault.TRUNCATED and len(answer) > 1
            request.wfile.write(answer[: len(answer) // 2] if half else answer)
            request.wfile.flush()
            if half:
                _cut(request)

    def _fault(self, request: Handler) -> Fault:
        with self._lock:
            number = sum(self.requests.values())
            self.requests[request.command] += 1
            self.paths.append(request.path)
            fault = self.plan(number, request.command, request.path)
            self.met[fault] += 1
            return fault

    def _forwarded(self, request: Handler, body: bytes) -> tuple[int, dict[str, str], bytes]:
        connection = getattr(request, "upstream", None) or http.client.HTTPConnection(
            self.upstream, timeout=60
        )
        request.upstream = connection  # type: ignore[attr-defined]
        connection.request(request.command, request.path, body, dict(request.headers))
        answer = connection.getresponse()
        data = answer.read()
        headers = {name.lower(): value for name, value in answer.getheaders()}
        for name in ("connection", "transfer-encoding", "date", "server"):
            headers.pop(name, None)
        headers.setdefault("content-length", str(len(data)))
        return answer.status, headers, data


def _begin(request: Handler, status: int, headers: dict[str, str]) -> None:
    request.send_response(status)
    for name, value in headers.items():
        request.send_header(name, value)
    request.end_headers()


def _cut(request: Handler) -> None:
    request.close_connection = True
    request.connection.shutdown(socket.SHUT_RDWR)


def _drip(request: Handler, status: int, headers: dict[str, str], answer: bytes) -> None:
    pause = threading.Event()
    pause.wait(DRIP_SECONDS)
    _begin(request, status, headers)
    size = max(1, len(answer) // 4)
    for start in range(0, len(answer), size):
        request.wfile.write(answer[start : start + size])
        request.wfile.flush()
        pause.wait(DRIP_SECONDS)
    request.wfile.flush()


def _internal_error(request: Handler) -> None:
    request.answer(500, s3_error("InternalError"))


def _slow_down(request: Handler) -> None:
    request.answer(503, s3_error("SlowDown"))


BEFORE = {Fault.INTERNAL_ERROR: _internal_error, Fault.SLOW_DOWN: _slow_down, Fault.CUT: _cut}
INSTEAD = {Fault.CUT_AFTER: _cut, Fault.ERROR_AFTER: _internal_error}
