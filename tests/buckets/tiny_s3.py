"""A tiny S3 server of our own: quick, countable, filled in advance, able to ignore `If-None-Match`, and to
say nothing at all."""

from __future__ import annotations

import bisect
import hashlib
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

MODIFIED = "Wed, 21 Oct 2026 07:28:00 GMT"
MODIFIED_ISO = "2026-10-21T07:28:00.000Z"


class Handler(BaseHTTPRequestHandler):
    """What the servers of these tests have in common: HTTP/1.1, no log, no Nagle, one write an answer."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the library's name
        """Nothing is logged."""

    def body(self) -> bytes:
        """The body of the request."""
        return self.rfile.read(int(self.headers.get("content-length") or 0))

    def answer(self, status: int, body: bytes = b"", **headers: str) -> None:
        """Answer wholly."""
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        if "content_length" not in headers:
            self.send_header("content-length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)
        self.wfile.flush()


class Server(ThreadingHTTPServer):
    """A server on a free port of the loopback address; cut connections are no news."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, handler: Callable[..., BaseHTTPRequestHandler]) -> None:
        super().__init__(("127.0.0.1", 0), handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients come and go."""

    @property
    def endpoint(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    @contextmanager
    def serving(self) -> Iterator[str]:
        """Serve in a thread; gives the address."""
        thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield self.endpoint
        finally:
            self.shutdown()
            self.server_close()
            thread.join()


def s3_error(code: str) -> bytes:
    """An answer as S3 gives it, with what must not be shown."""
    return (
        f'<?xml version="1.0"?><Error><Code>{code}</Code><Message>m</Message>'
        "<AWSAccessKeyId>AKIASHOWN</AWSAccessKeyId><StringToSign>to-sign</StringToSign></Error>"
    ).encode()


class TinyS3:
    """One bucket named ``bucket``. ``heeds`` says whether a create-only PUT is one.

    ``is_silent`` says whether a request, by its method and path, is left without an answer.
    """

    def __init__(self, objects: dict[str, bytes] | None = None, *, heeds: bool = True) -> None:
        self.objects = dict(objects or {})
        self.requests: Counter[str] = Counter()
        self.heeds = heeds
        self.is_silent: Callable[[str, str], bool] = lambda _method, _path: False
        self.unanswered: list[str] = []
        self._ended = threading.Event()
        self._keys: list[str] | None = None
        self._lock = threading.Lock()

    @property
    def count(self) -> int:
        """How many requests there were."""
        return sum(self.requests.values())

    @contextmanager
    def serving(self) -> Iterator[str]:
        """Serve; gives the address."""
        store = self

        class Requests(Handler):
            def parse_request(self) -> bool:
                return super().parse_request() and not store.keeps_silent(self.command, self.path)

            def do_PUT(self) -> None:
                data = self.body()
                create = self.headers.get("if-none-match") == "*"
                created = store.put(store.key(self.path), data, create=create)
                if created:
                    self.answer(200, etag='"x"')
                else:
                    self.answer(412, s3_error("PreconditionFailed"))

            def do_GET(self) -> None:
                query = parse_qs(urlsplit(self.path).query, keep_blank_values=True)
                if "list-type" in query:
                    return self.answer(200, store.list({name: values[0] for name, values in query.items()}))
                return self.do_HEAD()

            def do_HEAD(self) -> None:
                store.requests[self.command] += 1
                data = store.objects.get(store.key(self.path))
                if data is None:
                    return self.answer(404, s3_error("NoSuchKey"))
                etag = f'"{hashlib.md5(data).hexdigest()}"'
                length = str(len(data))
                return self.answer(200, data, etag=etag, last_modified=MODIFIED, content_length=length)

        with Server(Requests).serving() as endpoint:
            try:
                yield endpoint
            finally:
                self._ended.set()

    def keeps_silent(self, method: str, path: str) -> bool:
        """Say nothing to this request for as long as the server lives, if it is one of those."""
        if not self.is_silent(method, path):
            return False
        self.unanswered.append(f"{method} {path}")
        return self._ended.wait()

    def key(self, path: str) -> str:
        """The key of a request's path."""
        return unquote(urlsplit(path).path).partition("/bucket/")[2]

    def put(self, key: str, data: bytes, *, create: bool) -> bool:
        """Write; whether it was."""
        with self._lock:
            self.requests["PUT"] += 1
            if self.heeds and create and key in self.objects:
                return False
            self.objects[key] = data
            self._keys = None
            return True

    def list(self, query: dict[str, str]) -> bytes:
        """One page of a list."""
        with self._lock:
            self.requests["LIST"] += 1
            if self._keys is None:
                self._keys = sorted(self.objects)
            keys = self._keys
        prefix, delimiter = query.get("prefix", ""), query.get("delimiter", "")
        after = query.get("continuation-token") or query.get("start-after") or ""
        most = int(query.get("max-keys", "1000"))
        place = bisect.bisect_right(keys, after) if after >= prefix else bisect.bisect_left(keys, prefix)
        shown: list[str] = []
        count, last = 0, ""
        while place < len(keys) and keys[place].startswith(prefix) and count < most:
            key = keys[place]
            folder, mark, _ = key[len(prefix) :].partition(delimiter) if delimiter else ("", "", "")
            count += 1
            if mark:
                last = f"{prefix}{folder}{delimiter}\U0010ffff"
                shown.append(
                    f"<CommonPrefixes><Prefix>{escape(prefix + folder + delimiter)}</Prefix></CommonPrefixes>"
                )
                place = bisect.bisect_left(keys, last)
                continue
            last = key
            shown.append(
                f"<Contents><Key>{escape(key)}</Key><LastModified>{MODIFIED_ISO}</LastModified><ETag>x</ETag>"
                f"<Size>{len(self.objects[key])}</Size></Contents>"
            )
            place += 1
        more = place < len(keys) and keys[place].startswith(prefix)
        token = f"<NextContinuationToken>{escape(last)}</NextContinuationToken>" if more else ""
        return (
            f"<ListBucketResult><IsTruncated>{str(more).lower()}</IsTruncated><KeyCount>{count}</KeyCount>"
            f"{token}{''.join(shown)}</ListBucketResult>"
        ).encode()
