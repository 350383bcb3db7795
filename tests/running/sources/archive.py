"""An archive's server on the loopback address, whose every path behaves as a test wants, well or badly."""

from __future__ import annotations

import contextlib
import gzip
import socket
import socketserver
import ssl
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

PATIENCE = 20.0


@dataclass(frozen=True)
class Asked:
    """A request as it came."""

    path: str
    headers: Mapping[str, str]
    connection: int


@dataclass
class Talk:
    """The server's side of one request."""

    asked: Asked
    send: Callable[[bytes], None]
    closing: threading.Event


Answer = Callable[[Talk], None]


def answer(
    body: bytes = b"",
    *,
    status: str = "200 OK",
    media_type: str = "image/png",
    length: Any = None,
    **more: str,
) -> Answer:
    """An answer as it should be; ``length`` is what it claims to have, where that is a lie."""
    headers = {"content-type": media_type, "content-length": str(len(body) if length is None else length)}
    headers |= {name.replace("_", "-"): value for name, value in more.items()}
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return raw(f"HTTP/1.1 {status}\r\n{lines}\r\n".encode() + body)


def raw(data: bytes) -> Answer:
    """These bytes, whatever they are."""
    return lambda talk: talk.send(data)


def cut(data: bytes) -> Answer:
    """These bytes, and then the end of the connection."""

    def talk_back(talk: Talk) -> None:
        talk.send(data)
        raise ConnectionAbortedError

    return talk_back


def redirect(location: str, status: str = "302 Found") -> Answer:
    """An answer that leads elsewhere."""
    return answer(status=status, location=location)


def endless(head: bytes, piece: bytes) -> Answer:
    """A beginning, and then a piece again and again, for as long as anybody listens."""

    def talk_back(talk: Talk) -> None:
        talk.send(head)
        while not talk.closing.is_set():
            talk.send(piece)

    return talk_back


def dribble(head: bytes, piece: bytes = b"x", pause: float = 0.02) -> Answer:
    """A beginning, and then a piece now and then."""

    def talk_back(talk: Talk) -> None:
        talk.send(head)
        while not talk.closing.wait(pause):
            talk.send(piece)

    return talk_back


def silent(head: bytes = b"") -> Answer:
    """A beginning, and then nothing."""

    def talk_back(talk: Talk) -> None:
        talk.send(head)
        talk.closing.wait(PATIENCE)

    return talk_back


def in_turn(*answers: Answer) -> Answer:
    """One answer after another, the last one from then on."""
    left = list(answers)

    def talk_back(talk: Talk) -> None:
        (left.pop(0) if len(left) > 1 else left[0])(talk)

    return talk_back


def gzipped(body: bytes) -> Answer:
    """An answer that is packed."""
    return answer(gzip.compress(body), media_type="application/json", content_encoding="gzip")


NOTHING = answer(b"no", status="404 Not Found")


@dataclass
class Archive:
    """The server; paths that it does not know are answered with the default."""

    answers: dict[str, Answer] = field(default_factory=dict)
    default: Answer = NOTHING
    tls: ssl.SSLContext | None = None
    asked: list[Asked] = field(default_factory=list)
    at_once: int = 0
    most_at_once: int = 0

    def __enter__(self) -> Archive:
        self.closing = threading.Event()
        self._lock = threading.Lock()
        archive = self

        class Handler(socketserver.BaseRequestHandler):
            def handle(self) -> None:
                archive.serve(self.request)

        class Server(socketserver.ThreadingTCPServer):
            daemon_threads = True
            block_on_close = False
            request_queue_size = 64

            def handle_error(self, request: Any, client_address: Any) -> None:
                """What goes wrong here is meant."""

        self._server = Server(("127.0.0.1", 0), Handler)
        self._connections = 0
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    @property
    def host(self) -> str:
        """As the platform's file names it."""
        return f"http://127.0.0.1:{self.port}"

    def url(self, path: str) -> str:
        return f"{self.host}{path}"

    def paths(self) -> list[str]:
        return [asked.path for asked in self.asked]

    def serve(self, connection: socket.socket) -> None:
        """All requests of one connection."""
        with self._lock:
            self._connections += 1
            number = self._connections
        with contextlib.suppress(OSError):
            if self.tls is not None:
                connection = self.tls.wrap_socket(connection, server_side=True)
            with connection, connection.makefile("rb") as lines:
                while (asked := self._read(lines, number)) is not None:
                    self._answer(asked, connection)

    def _answer(self, asked: Asked, connection: socket.socket) -> None:
        with self._lock:
            self.asked.append(asked)
            self.at_once += 1
            self.most_at_once = max(self.at_once, self.most_at_once)
        try:
            behave = self.answers.get(asked.path.partition("?")[0], self.default)
            behave(Talk(asked, connection.sendall, self.closing))
        finally:
            with self._lock:
                self.at_once -= 1

    def _read(self, lines: Any, number: int) -> Asked | None:
        first = lines.readline().decode("latin-1").split()
        if len(first) < 3:
            return None
        headers = {}
        while line := lines.readline().decode("latin-1").strip():
            name, _, value = line.partition(":")
            headers[name.lower()] = value.strip()
        return Asked(first[1], headers, number)
