"""The way to a cluster over HTTP: one pool of connections, time limits, and what fails told as what it was.

This module needs the library of HTTP that comes with lightkube, so it is loaded when a cluster is asked.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Mapping
from typing import Any, Final

import httpx2

from allotment.errors import WorldError
from allotment.kubernetes.client.secrets import without, without_quotes
from allotment.kubernetes.client.transport import CutError, HopelessError, NotSentError, Reply
from allotment.kubernetes.client.unreachable import is_hopeless

CONNECT_SECONDS: Final = 5.0
READ_SECONDS: Final = 60.0
TIMEOUT: Final = httpx2.Timeout(READ_SECONDS, connect=CONNECT_SECONDS)
_BEFORE: Final = (
    httpx2.ConnectError,
    httpx2.ConnectTimeout,
    httpx2.PoolTimeout,
    httpx2.ProxyError,
    httpx2.UnsupportedProtocol,
)


class FreshToken(httpx2.Auth):
    """A token of a program or a file, which is asked for anew where the cluster refuses it."""

    def __init__(self, fresh: Callable[[], str], token: str) -> None:
        self._fresh, self._token = fresh, token

    def auth_flow(self, request: httpx2.Request) -> Generator[httpx2.Request, httpx2.Response, None]:
        """The request, and once more with a fresh token."""
        request.headers["Authorization"] = f"Bearer {self._token}"
        answer = yield request
        if answer.status_code != 401:
            return
        self._token = self._fresh()
        request.headers["Authorization"] = f"Bearer {self._token}"
        yield request


class HttpTransport:
    """A client of HTTP as a transport; ``server_name`` is what its certificate says, if not its address."""

    def __init__(self, client: httpx2.Client, name: str, *, server_name: str = "") -> None:
        self.name = name
        self._client = client
        self._extensions: dict[str, Any] = {"sni_hostname": server_name} if server_name else {}

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
        request = self._request(method, path, query, headers, body)
        answer = self._sent(request, stream=False)
        body = answer.content
        if answer.status_code >= 400:
            body = without(body, answer.request.headers.get("authorization", ""))
        return Reply(answer.status_code, _small(answer), body)

    def stream(
        self, path: str, query: Mapping[str, str], headers: Mapping[str, str]
    ) -> tuple[Reply, Iterator[bytes]]:
        """The answer, and its lines as they come."""
        request = self._request("GET", path, query, headers, b"")
        answer = self._sent(request, stream=True)
        return Reply(answer.status_code, _small(answer)), _lines(answer)

    def _request(
        self, method: str, path: str, query: Mapping[str, str], headers: Mapping[str, str], body: bytes
    ) -> httpx2.Request:
        return self._client.build_request(
            method,
            path,
            params=query,
            headers=headers,
            content=body or None,
            timeout=httpx2.Timeout(_silence(query), connect=CONNECT_SECONDS),
            extensions=self._extensions,
        )

    def _sent(self, request: httpx2.Request, *, stream: bool) -> httpx2.Response:
        try:
            return self._client.send(request, stream=stream)
        except (
            httpx2.LocalProtocolError,
            UnicodeError,
        ):  # what it says quotes the headers, and is kept from all
            raise WorldError(
                "a request with its credentials cannot be sent: a header would not be one line",
                where=self.name,
                remedy="look at the user of the kubeconfig, or have it written anew",
            ) from None
        except (httpx2.TransportError, httpx2.DecodingError) as error:
            raise _cut(error) from error


def _small(answer: httpx2.Response) -> dict[str, str]:
    return {key.lower(): value for key, value in answer.headers.items()}


def _lines(answer: httpx2.Response) -> Iterator[bytes]:
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
    text = without_quotes(str(error)) or type(error).__name__
    if not isinstance(error, _BEFORE):
        return CutError(text)
    return (HopelessError if is_hopeless(error) else NotSentError)(text)
