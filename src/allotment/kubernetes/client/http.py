"""The way to a cluster over HTTP: one connection pool, time limits, and what fails told as what it was.

The pool with its certificates is lightkube's; nothing here knows of credentials.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

from allotment.kubernetes.client.transport import CutError, HopelessError, NotSentError, Reply
from allotment.kubernetes.client.unreachable import is_hopeless

if TYPE_CHECKING:
    import httpx2

CONNECT_SECONDS: Final = 5.0
READ_SECONDS: Final = 60.0
AGENT: Final = "allotment"


class HttpTransport:
    """A client of HTTP as a transport; ``name`` is the context."""

    def __init__(self, client: httpx2.Client, name: str) -> None:
        self._client = client
        self.name = name

    def sleep(self, seconds: float) -> None:
        """Wait."""
        time.sleep(seconds)

    def close(self) -> None:
        """Give up the connections."""
        self._client.close()

    def send(
        self, method: str, path: str, query: Mapping[str, str], headers: Mapping[str, str], body: bytes
    ) -> Reply:
        """The whole answer."""
        import httpx2

        try:
            answer = self._client.request(method, path, params=query, headers=headers, content=body or None)
        except (httpx2.TransportError, httpx2.DecodingError) as error:
            raise _cut(error) from error
        return Reply(answer.status_code, _small(answer), answer.content)

    def stream(
        self, path: str, query: Mapping[str, str], headers: Mapping[str, str]
    ) -> tuple[Reply, Iterator[bytes]]:
        """The answer, and its lines as they come."""
        import httpx2

        timeout = httpx2.Timeout(_silence(query), connect=CONNECT_SECONDS)
        request = self._client.build_request("GET", path, params=query, headers=headers, timeout=timeout)
        try:
            answer = self._client.send(request, stream=True)
        except httpx2.TransportError as error:
            raise _cut(error) from error
        return Reply(answer.status_code, _small(answer)), _lines(answer)


def _small(answer: httpx2.Response) -> dict[str, str]:
    return {key.lower(): value for key, value in answer.headers.items()}


def _lines(answer: httpx2.Response) -> Iterator[bytes]:
    import httpx2

    rest = b""
    try:
        for chunk in answer.iter_bytes():
            *whole, rest = (rest + chunk).split(b"\n")
            yield from (line + b"\n" for line in whole)
    except (httpx2.TransportError, httpx2.DecodingError) as error:
        raise _cut(error) from error
    finally:
        answer.close()
    if rest:
        yield rest


def _silence(query: Mapping[str, str]) -> float | None:
    """How long nothing may come: a watch ends by itself, a log that is followed may be quiet for hours."""
    if query.get("follow"):
        return None
    told = query.get("timeoutSeconds", "")
    return READ_SECONDS + (float(told) if told.isdigit() else 0.0)


def _cut(error: Exception) -> CutError:
    import httpx2

    before = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout, httpx2.ProxyError)
    text = str(error) or type(error).__name__
    if not isinstance(error, before):
        return CutError(text)
    return (HopelessError if is_hopeless(error) else NotSentError)(text)
