"""One question over HTTP to a registry, or to whom it sends us: encrypted, short, to an address looked at.

A team's file names the registry, so what it names is held: no answer is waited for longer than ``SECONDS`` or
read further than was said; no address that clouds answer with credentials is asked; and a registry that is
open to everybody can send nobody into a private network. Where the registry itself is in one, or on this
machine, so may be the store that it keeps its blobs in.
"""

from __future__ import annotations

import http.client
import socket
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from ipaddress import ip_address
from typing import Final
from urllib.parse import SplitResult, urljoin, urlsplit

from allotment.kubernetes.images.reference import LOOPBACK, Reference
from allotment.platform.networks import Networks

SECONDS: Final = 10.0
REDIRECTS: Final = 3
PRIVATE: Final = ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7")
HERE: Final = ("127.0.0.0/8", "::1/128")
_REDIRECTED: Final = frozenset({301, 302, 303, 307, 308})
_CHUNK: Final = 64 << 10


@dataclass(eq=False)
class UnaskedError(Exception):
    """There is no answer; in words, with a remedy."""

    why: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back: the header's names in small letters."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, and how many bytes of an answer are taken."""

    address: str
    headers: Mapping[str, str] = field(default_factory=dict)
    most: int = 4 << 20
    form: bytes | None = None


Resolve = Callable[[str, int], tuple[str, ...]]


def resolved(host: str, port: int) -> tuple[str, ...]:
    """The addresses of a host, each once."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return tuple(dict.fromkeys(str(each[4][0]) for each in found))


class Asking:
    """Questions about the images of one registry."""

    def __init__(self, home: Reference, resolve: Resolve = resolved, seconds: float = SECONDS) -> None:
        self._home = home
        self._resolve = resolve
        self._seconds = seconds

    def ask(self, question: Question) -> Answer:
        """The answer, after the redirects; what is secret goes to the first host alone."""
        for _ in range(REDIRECTS + 1):
            answer = self._ask_once(question)
            to = answer.headers.get("location")
            if answer.status not in _REDIRECTED or to is None:
                return answer
            onward = _onward(question.address, to)
            kept = question.headers if _origin(onward) == _origin(question.address) else {}
            question = Question(onward, kept, question.most)
        raise UnaskedError(
            f"{self._home.api} sends from one address to the next without end", "ask whoever runs it"
        )

    def _ask_once(self, question: Question) -> Answer:
        parts = parts_of(question.address)
        host, encrypted = parts.hostname or "", parts.scheme == "https"
        try:
            port = parts.port or (443 if encrypted else 80)
        except ValueError:
            port = 0
        if not host or not port or not (encrypted or (parts.scheme == "http" and self._may_be_plain(host))):
            words = (
                f"{self._home.api} sends to {question.address[:80]!r}, which is not asked without encryption"
            )
            raise UnaskedError(words, "ask whoever runs that registry")
        try:
            addresses = tuple(self._allowed(host, port))
            if not addresses:
                words = f"{host} is at an address that is not asked for an image of {self._home.api}"
                raise UnaskedError(words, "look at the image's name, or ask whoever runs that registry")
            reached = _reached(addresses, port, self._seconds)
            with _connected(reached, host, port, encrypted=encrypted, seconds=self._seconds) as connection:
                return _answered(connection, parts.path or "/", parts.query, question)
        except ssl.SSLError as error:
            words = f"the certificate of {host} is not trusted: {error.reason or error}"
            remedy = "name its authority's file in SSL_CERT_FILE"
            raise UnaskedError(words, remedy) from error
        except socket.gaierror as error:
            raise UnaskedError(
                f"there is no host {host}", "look at the image's name, or at the network"
            ) from error
        except ValueError:  # what it says quotes the headers, where a token may stand
            words = f"a request to {host} cannot be sent: its address or its token has what no line can carry"
            raise UnaskedError(words, "log in to the registry again, or ask whoever runs it") from None
        except (OSError, http.client.HTTPException) as error:
            words = f"{host} does not answer: {str(error) or type(error).__name__}"
            raise UnaskedError(words, "look whether it can be reached from here") from error

    @cached_property
    def _networks(self) -> Networks:
        """Where answers may come from: as private as the registry itself is."""
        host, _, port = self._home.api.partition(":")
        found = [ip_address(each.partition("%")[0]) for each in self._resolve(host, int(port or 443))]
        here = HERE if self._home.is_here else ()
        return Networks((*here, *PRIVATE) if not any(each.is_global for each in found) else ())

    def _allowed(self, host: str, port: int) -> Iterator[str]:
        return (each for each in self._resolve(host, port) if self._networks.allows(each))

    def _may_be_plain(self, host: str) -> bool:
        return self._home.is_here and host in LOOPBACK


def parts_of(address: str) -> SplitResult:
    """The parts of an address that a registry gave; UnaskedError where it is none."""
    try:
        return urlsplit(address)
    except ValueError as error:
        words = f"the registry sends to {address[:80]!r}, which is no address"
        raise UnaskedError(words, "ask whoever runs that registry") from error


def _onward(address: str, to: str) -> str:
    parts_of(to)
    return urljoin(address, to)


def _origin(address: str) -> tuple[str, str]:
    parts = parts_of(address)
    return parts.scheme, parts.netloc


def _reached(addresses: Sequence[str], port: int, seconds: float) -> socket.socket:
    """A connection to the first of the addresses that answers; raises what the last one raised."""
    for address in addresses[:-1]:
        with suppress(OSError):
            return socket.create_connection((address, port), seconds / len(addresses))
    return socket.create_connection((addresses[-1], port), seconds)


@contextmanager
def _connected(
    reached: socket.socket, host: str, port: int, *, encrypted: bool, seconds: float
) -> Iterator[http.client.HTTPConnection]:
    """Speak with whom was reached, which is cut when the time is over, however slowly it answers."""
    reached.settimeout(seconds)
    over, slow = threading.Event(), f"it takes longer than {seconds:g} seconds"

    def cut() -> None:
        over.set()
        with suppress(OSError):
            reached.shutdown(socket.SHUT_RDWR)

    timer = threading.Timer(seconds, cut)
    timer.daemon = True
    timer.start()
    try:
        if encrypted:
            tls = ssl.create_default_context()
            reached = tls.wrap_socket(reached, server_hostname=host, do_handshake_on_connect=False)
            reached.do_handshake()
        connection = http.client.HTTPConnection(host, port)
        connection.default_port = 443 if encrypted else 80
        connection.sock = reached
        yield connection
        if over.is_set():
            raise TimeoutError(slow)
    except (OSError, http.client.HTTPException) as error:
        if over.is_set():
            raise TimeoutError(slow) from error
        raise
    finally:
        timer.cancel()
        reached.close()


def _answered(connection: http.client.HTTPConnection, path: str, query: str, question: Question) -> Answer:
    method = "GET" if question.form is None else "POST"
    connection.request(method, f"{path}?{query}" if query else path, question.form, dict(question.headers))
    answer = connection.getresponse()
    body = b""
    while chunk := answer.read(min(_CHUNK, question.most + 1 - len(body))):
        body += chunk
        if len(body) > question.most:
            words = f"{connection.host} answers with more than {question.most >> 10} KiB"
            raise UnaskedError(words, "ask whoever runs it: no description of an image is that large")
    headers = {name.lower(): value for name, value in answer.getheaders()}
    return Answer(answer.status, headers, body)
