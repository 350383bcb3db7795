"""Connections of HTTP to addresses that were looked at, and those that are kept for the next request.

The connection is urllib3's, which knows the host by its name (for encryption, its certificate and the Host
header), and goes to the address that it is given, so that the name is not looked up a second time.
"""

from __future__ import annotations

import contextlib
import logging
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.util.connection import create_connection

from allotment.platform.hosts import Origin
from allotment.running.sources.web.watch import Watch

IDLE_SECONDS = 20.0

logging.getLogger("urllib3.connection").addFilter(lambda _record: False)  # they hold whole addresses

NewConnection = Callable[[], socket.socket]


class _Plain(HTTPConnection):
    reach: NewConnection

    def _new_conn(self) -> socket.socket:
        return self.reach()


class _Encrypted(HTTPSConnection):
    reach: NewConnection

    def _new_conn(self) -> socket.socket:
        return self.reach()


AnyConnection = _Plain | _Encrypted


def connected(
    origin: Origin,
    addresses: tuple[str, ...],
    tls: ssl.SSLContext,
    *,
    connect_seconds: float,
    watch: Watch,
) -> AnyConnection:
    """A connection to the first of the addresses that answers; raises what the last one raised."""
    for left, address in zip(range(len(addresses) - 1, -1, -1), addresses, strict=True):
        try:
            return _connected(origin, address, tls, connect_seconds, watch)
        except OSError:
            if not left or watch.passed:
                raise
    raise ConnectionError("there is no address")


def _connected(
    origin: Origin, address: str, tls: ssl.SSLContext, seconds: float, watch: Watch
) -> AnyConnection:
    def reach() -> socket.socket:
        found = create_connection(
            (address, origin.port), seconds, socket_options=HTTPConnection.default_socket_options
        )
        watch.guard(found)
        return found

    made: AnyConnection
    if origin.scheme == "https":
        made = _Encrypted(origin.host, origin.port, timeout=seconds, ssl_context=tls)
    else:
        made = _Plain(origin.host, origin.port, timeout=seconds)
    made.reach = reach
    try:
        made.connect()
    except BaseException:
        made.close()
        raise
    return made


@dataclass(frozen=True, slots=True)
class _Kept:
    connection: AnyConnection
    until: float


class Connections:
    """Connections that are kept after a request, for several threads."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._kept: dict[Origin, list[_Kept]] = {}
        self._lock = threading.Lock()

    def take(self, origin: Origin) -> AnyConnection | None:
        """A connection that was kept and is still quiet, if there is one."""
        while True:
            with self._lock:
                kept = self._kept.get(origin)
                if not kept:
                    return None
                one = kept.pop()
            if self._monotonic() < one.until and one.connection.is_connected:
                return one.connection
            one.connection.close()

    def keep(self, origin: Origin, connection: AnyConnection) -> None:
        """Keep a connection whose last answer was read to its end."""
        with self._lock:
            self._kept.setdefault(origin, []).append(_Kept(connection, self._monotonic() + IDLE_SECONDS))

    def close(self) -> None:
        """Close all that are kept."""
        with self._lock:
            kept = [one for many in self._kept.values() for one in many]
            self._kept.clear()
        for one in kept:
            one.connection.close()

    @contextmanager
    def kept_if_whole(self, origin: Origin, connection: AnyConnection) -> Iterator[None]:
        """Keep the connection if what is done inside ends well, and close it otherwise."""
        try:
            yield
        except BaseException:
            with contextlib.suppress(OSError):
                connection.close()
            raise
        if connection.sock is None:
            connection.close()
        else:
            self.keep(origin, connection)
