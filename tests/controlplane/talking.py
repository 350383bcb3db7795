"""The harness's own way to a real API server, which owes nothing to what is tested with it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import urlencode

import urllib3

from allotment.kubernetes.client.transport import CutError, Reply


class Talk:
    """HTTPS with a token. ``name`` is the address."""

    def __init__(self, address: str, authority: Path, token: str) -> None:
        self.name = address
        self._pool = urllib3.PoolManager(
            ca_certs=str(authority), retries=False, maxsize=8, timeout=urllib3.Timeout(connect=5, read=60)
        )
        self._token = {"authorization": f"Bearer {token}"}

    def sleep(self, seconds: float) -> None:
        """Wait before the server is asked again."""
        time.sleep(seconds)

    def send(
        self, method: str, path: str, query: Mapping[str, str], headers: Mapping[str, str], body: bytes
    ) -> Reply:
        """The whole answer."""
        try:
            answer = self._pool.request(
                method, self._url(path, query), headers={**self._token, **headers}, body=body or None
            )
        except urllib3.exceptions.HTTPError as error:
            raise CutError(str(error)) from error
        return Reply(
            answer.status, {key.lower(): value for key, value in answer.headers.items()}, answer.data
        )

    def stream(
        self, path: str, query: Mapping[str, str], headers: Mapping[str, str]
    ) -> tuple[Reply, Iterator[bytes]]:
        """The answer, and its lines as they come."""
        try:
            answer = self._pool.request(
                "GET", self._url(path, query), headers={**self._token, **headers}, preload_content=False
            )
        except urllib3.exceptions.HTTPError as error:
            raise CutError(str(error)) from error
        told = {key.lower(): value for key, value in answer.headers.items()}
        return Reply(answer.status, told), _lines(answer)

    def _url(self, path: str, query: Mapping[str, str]) -> str:
        return self.name + path + (f"?{urlencode(query)}" if query else "")


def _lines(answer: urllib3.BaseHTTPResponse) -> Iterator[bytes]:
    rest = b""
    try:
        for chunk in answer.stream(amt=None):
            *whole, rest = (rest + chunk).split(b"\n")
            yield from (line + b"\n" for line in whole)
    except (urllib3.exceptions.HTTPError, OSError) as error:
        raise CutError(str(error)) from error
    finally:
        answer.close()
    if rest:
        yield rest
