"""The door to a fake server for any client library: HTTP/1.1 on the loopback address.

    with listening(server) as address:
        ...  # http://127.0.0.1:40123

One thread a connection. A watch is sent in chunks as things happen, until its time is up or the client goes
away.
"""

from __future__ import annotations

import json
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from allotment.kubernetes.testing.answers import Answer, Stream
from allotment.kubernetes.testing.server import FakeApiServer

_LOOK = 0.25


@contextmanager
def listening(server: FakeApiServer, tls: ssl.SSLContext | None = None) -> Iterator[str]:
    """The address at which the server answers until the block ends; with ``tls``, by https."""
    http = _Server(("127.0.0.1", 0), _Handler)
    if tls is not None:
        http.socket = tls.wrap_socket(http.socket, server_side=True, do_handshake_on_connect=False)
    http.fake = server
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"{'http' if tls is None else 'https'}://127.0.0.1:{http.server_port}"
    finally:
        http.is_closing.set()
        with server.store.changed:
            server.store.changed.notify_all()
        http.shutdown()
        http.server_close()
        thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    fake: FakeApiServer

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.is_closing = threading.Event()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away is no error of the server's."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # or each answer waits 40 ms for the one before to be acknowledged
    server: _Server

    def handle_request(self) -> None:
        """Answer one request."""
        target = urlsplit(self.path)
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        query = dict(parse_qsl(target.query, keep_blank_values=True))
        headers = dict(self.headers.items())
        try:
            answer = self.server.fake.request(self.command, unquote(target.path), query, headers, body)
        except ConnectionResetError:
            self.close_connection = True
            return
        if answer.stream is not None:
            self._send_stream(answer, answer.stream)
        else:
            self._send(answer)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = handle_request  # noqa: N815  # as the library names them

    def log_message(self, format: str, *arguments: Any) -> None:  # noqa: A002  # as the library names it
        """Say nothing."""

    def _send(self, answer: Answer) -> None:
        is_text = isinstance(answer.body, str)
        data = answer.body.encode() if is_text else json.dumps(answer.body).encode()
        self._begin(answer, "text/plain; charset=utf-8" if is_text else "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _begin(self, answer: Answer, content_type: str) -> None:
        self.send_response(answer.status)
        self.send_header("Content-Type", content_type)
        for name, value in answer.headers.items():
            if name != "Content-Type":
                self.send_header(name, value)
        for text in answer.warnings:
            quoted = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
            self.send_header("Warning", f'299 - "{quoted}"')

    def _send_stream(self, answer: Answer, stream: Stream) -> None:
        self._begin(answer, answer.headers.get("Content-Type", "application/json"))
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        ends, changed = time.monotonic() + stream.seconds, self.server.fake.store.changed
        try:
            while True:
                with changed:
                    events = stream.pending()
                    left = ends - time.monotonic()
                    is_over = left <= 0 or stream.is_over or self.server.is_closing.is_set()
                    if not events and not is_over:
                        changed.wait(min(left, _LOOK))
                        continue
                self._send_events(events)
                if is_over:
                    break
            self._send_events(stream.closing())
            self.wfile.write(b"0\r\n\r\n")
        except OSError:
            self.close_connection = True

    def _send_events(self, events: list[Any]) -> None:
        for event in events:
            data = event if isinstance(event, bytes) else json.dumps(event).encode() + b"\n"
            self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()
