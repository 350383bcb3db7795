"""Where the API server asks for a container's output: HTTPS, as a kubelet answers it."""

from __future__ import annotations

import ssl
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs, unquote, urlsplit

from tests.controlplane.certificates import Pair

Look = Callable[[str, str, str], tuple[Path, bool] | None]
"""Of a namespace, a pod and a container: the file, and whether more may come into it."""
PAUSE: Final = 0.1


def serve(port: int, pair: Pair, look: Look) -> ThreadingHTTPServer:
    """Answer in threads until the process ends."""
    server = _Server(("127.0.0.1", port), _Handler)
    server.look = look
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pair.certificate, pair.key)
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    look: Look

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away is no error."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_GET(self) -> None:
        """``/containerLogs/NAMESPACE/POD/CONTAINER``, whole, its last lines, or as it grows."""
        target = urlsplit(self.path)
        parts = [unquote(each) for each in target.path.split("/") if each]
        query = {key: values[-1] for key, values in parse_qs(target.query).items()}
        found = self.server.look(*parts[1:4]) if parts[:1] == ["containerLogs"] and len(parts) == 4 else None
        if found is None or not found[0].exists():
            self.send_error(404, "there is no such container here")
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        self.end_headers()
        with found[0].open("rb") as file:
            data = file.read()
            if "tailLines" in query:
                count = int(query["tailLines"])
                data = b"".join(data.splitlines(keepends=True)[-count:]) if count else b""
            self.wfile.write(data)
            while query.get("follow") == "true" and self._may_grow(parts):
                self.wfile.flush()
                time.sleep(PAUSE)
                self.wfile.write(file.read())
            self.wfile.write(file.read())

    def log_message(self, format: str, *arguments: Any) -> None:  # noqa: A002 - as the library names it
        """Say nothing."""

    def _may_grow(self, parts: list[str]) -> bool:
        found = self.server.look(*parts[1:4])
        return found is not None and found[1]
