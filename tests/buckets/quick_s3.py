"""An S3 server that takes as long as it is told to: `python -m tests.buckets.quick_s3 SECONDS`.

It holds its objects in memory and serves all connections in one loop, with requests read by hand: a PUT with
or without ``If-None-Match: *``, GET, HEAD, and ListObjectsV2. What it does with them is what `TinyS3` does,
which is what the real servers of other tests do (412 for what is there, 404 for what is not, lists in the
order of keys, a thousand at a time); every body is taken whole and gets its MD5. It prints its port, and ends
when its standard input does, which is when whoever started it has gone.
"""

from __future__ import annotations

import asyncio
import hashlib
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from urllib.parse import parse_qs, urlsplit

from tests.buckets.server_process import served_by
from tests.buckets.tiny_s3 import MODIFIED, TinyS3, s3_error

REASONS = {200: "OK", 404: "Not Found", 412: "Precondition Failed", 501: "Not Implemented"}
NAME = "bucket"


@contextmanager
def quick_s3(seconds: float = 0.0) -> Iterator[str]:
    """A server in a process of its own, whose one bucket is named ``bucket``; gives its address.

    Each answer comes so many seconds after its request.
    """
    with served_by("tests.buckets.quick_s3", str(seconds)) as address:
        yield address


class Conversation(asyncio.Protocol):
    """One connection: requests as they come, whole, one answer each."""

    def __init__(self, store: TinyS3, seconds: float) -> None:
        self._store = store
        self._seconds = seconds
        self._later = asyncio.get_running_loop().call_later
        self._received = b""
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._received += data
        while (end := self._received.find(b"\r\n\r\n")) >= 0:
            first, *lines = self._received[:end].decode("latin-1").split("\r\n")
            headers = {
                name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)
            }
            whole = end + 4 + int(headers.get("content-length", "0"))
            if len(self._received) < whole:
                return
            body, self._received = self._received[end + 4 : whole], self._received[whole:]
            method, path, _ = first.split(" ")
            status, answer, more = self._answer(method, path, headers, body)
            self._send(method, status, answer, more)

    def _send(self, method: str, status: int, answer: bytes, more: Mapping[str, str]) -> None:
        assert self._transport is not None
        told = {"content-length": str(len(answer)), **more}
        head = "".join(f"{name}: {value}\r\n" for name, value in told.items())
        start = f"HTTP/1.1 {status} {REASONS[status]}\r\n{head}\r\n".encode()
        self._later(self._seconds, self._transport.write, start if method == "HEAD" else start + answer)

    def _answer(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes
    ) -> tuple[int, bytes, Mapping[str, str]]:
        store, key = self._store, self._store.key(path)
        if method == "PUT":
            if store.put(key, body, create=headers.get("if-none-match") == "*"):
                return 200, b"", {"etag": _etag(body)}
            return 412, s3_error("PreconditionFailed"), {}
        query = parse_qs(urlsplit(path).query, keep_blank_values=True)
        if method == "GET" and "list-type" in query:
            return 200, store.list({name: values[0] for name, values in query.items()}), {}
        if method not in {"GET", "HEAD"}:
            return 501, s3_error("NotImplemented"), {}
        store.requests[method] += 1
        data = store.objects.get(key)
        if data is None:
            return 404, s3_error("NoSuchKey"), {}
        return 200, data, {"etag": _etag(data), "last-modified": MODIFIED}


def _etag(data: bytes) -> str:
    return f'"{hashlib.md5(data, usedforsecurity=False).hexdigest()}"'


async def serve(seconds: float) -> None:
    """Serve until standard input ends."""
    loop, over, store = asyncio.get_running_loop(), asyncio.Event(), TinyS3()
    server = await loop.create_server(lambda: Conversation(store, seconds), "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)

    def wait_for_the_end() -> None:
        sys.stdin.read()
        loop.call_soon_threadsafe(over.set)

    threading.Thread(target=wait_for_the_end, daemon=True).start()
    await over.wait()
    server.close()


if __name__ == "__main__":
    asyncio.run(serve(float(sys.argv[1])))
