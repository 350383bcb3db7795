"""A small OCI registry on the loopback address: images by digest, tokens, and every way to answer wrongly."""

from __future__ import annotations

import base64
import hashlib
import json
import ssl
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

INDEX = "application/vnd.oci.image.index.v1+json"
MANIFEST = "application/vnd.oci.image.manifest.v1+json"
USER, PASSWORD, TOKEN, IDENTITY = "reader", "hush", "a-token", "an-identity"


@dataclass
class Reply:
    """An answer that is sent as it is; ``drip`` sends the body a byte at a time, for as long as it is."""

    status: int = 200
    body: bytes = b"{}"
    headers: Mapping[str, str] = field(default_factory=dict)
    drip: bool = False


@dataclass
class FakeRegistry:
    """What it has, by path; ``auth`` is what it wants; ``instead`` is answered for paths that end so."""

    auth: str = "none"
    port: int = 0
    stored: dict[str, bytes] = field(default_factory=dict)
    instead: dict[str, Reply] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    authorizations: list[str | None] = field(default_factory=list)

    def put(self, value: Mapping[str, Any]) -> str:
        body = json.dumps(value).encode()
        digest = "sha256:" + hashlib.sha256(body).hexdigest()
        self.stored[digest] = body
        return digest

    def image(self, labels: Mapping[str, str], *, machine: str = "amd64", env: tuple[str, ...] = ()) -> str:
        config = {
            "architecture": machine,
            "os": "linux",
            "config": {"Labels": dict(labels), "Env": list(env)},
        }
        digest = self.put(config)
        entry = {"mediaType": "application/vnd.oci.image.config.v1+json", "digest": digest, "size": 1}
        return self.put({"schemaVersion": 2, "mediaType": MANIFEST, "config": entry, "layers": []})

    def index(self, manifests: Mapping[str, str]) -> str:
        entries = [
            {"mediaType": MANIFEST, "digest": digest, "platform": {"os": "linux", "architecture": machine}}
            for machine, digest in manifests.items()
        ]
        unknown = {"os": "unknown", "architecture": "unknown"}
        attestation = {"mediaType": MANIFEST, "digest": "sha256:" + "0" * 64, "platform": unknown}
        return self.put({"schemaVersion": 2, "mediaType": INDEX, "manifests": [attestation, *entries]})

    def named(self, digest: str, repository: str = "team/read") -> str:
        return f"127.0.0.1:{self.port}/{repository}@{digest}"

    def reply(self, path: str, authorization: str | None, form: bytes) -> Reply:
        bare, _, query = path.partition("?")
        for ending, reply in self.instead.items():
            if bare.endswith(ending):
                return reply
        if bare == "/token":
            return self._token(query, authorization, form)
        wanted = {"bearer": f"Bearer {TOKEN}", "basic": _basic(USER, PASSWORD)}.get(self.auth)
        if wanted is not None and authorization != wanted:
            realm = f"http://127.0.0.1:{self.port}/token"
            challenge = {
                "bearer": f'Bearer realm="{realm}",service="fake",scope="repository:team/read:pull"',
                "basic": 'Basic realm="fake"',
            }[self.auth]
            return Reply(401, _error("UNAUTHORIZED"), {"WWW-Authenticate": challenge})
        body = self.stored.get(bare.rpartition("/")[2])
        if body is None:
            return Reply(404, _error("MANIFEST_UNKNOWN" if "/manifests/" in bare else "BLOB_UNKNOWN"))
        return Reply(200, body)

    def _token(self, query: str, authorization: str | None, form: bytes) -> Reply:
        said = parse_qs(form.decode()) if form else parse_qs(query)
        assert said["scope"] == ["repository:team/read:pull"]
        assert said["service"] == ["fake"]
        if form:
            known = said["refresh_token"] == [IDENTITY]
            return Reply(200, json.dumps({"access_token": TOKEN}).encode()) if known else Reply(401)
        if authorization not in {None, _basic(USER, PASSWORD)}:
            return Reply(401, _error("UNAUTHORIZED"))
        return Reply(200, json.dumps({"token": TOKEN if authorization else "of-nobody"}).encode())


def _basic(user: str, password: str) -> str:
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


def _error(code: str) -> bytes:
    return json.dumps({"errors": [{"code": code, "message": "no"}]}).encode()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    registry: FakeRegistry
    closing: threading.Event

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away is no error of the server's."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_GET(self) -> None:
        self._answer(b"")

    def do_POST(self) -> None:
        self._answer(self.rfile.read(int(self.headers["Content-Length"])))

    def _answer(self, form: bytes) -> None:
        registry = self.server.registry
        registry.asked.append(urlsplit(self.path).path)
        registry.authorizations.append(self.headers.get("Authorization"))
        reply = registry.reply(self.path, self.headers.get("Authorization"), form)
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(reply.body)))
        self.end_headers()
        if not reply.drip:
            self.wfile.write(reply.body)
            return
        for byte in reply.body:
            self.wfile.write(bytes([byte]))
            if self.server.closing.wait(0.05):
                return

    def log_message(self, *arguments: Any) -> None:
        """Nothing is written down."""


@contextmanager
def registry(auth: str = "none", tls: ssl.SSLContext | None = None) -> Iterator[FakeRegistry]:
    """A registry that answers until the block ends."""
    server = _Server(("127.0.0.1", 0), _Handler)
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    server.closing = threading.Event()
    server.registry = FakeRegistry(auth, server.server_port)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server.registry
    finally:
        server.closing.set()
        server.shutdown()
        server.server_close()
        thread.join()
