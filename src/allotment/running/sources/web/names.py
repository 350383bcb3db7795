"""Where names lead: looked up, held against the policy, and kept for a short while.

Every address that a name leads to has to be allowed: a name that leads to one that is open and to one that is
not is no name to trust.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Sequence

from allotment.platform.networks import network_to_name
from allotment.running.sources.web.errors import FORBIDDEN, UnreachableError, WebRefusedError
from allotment.running.sources.web.policy import Policy

KEPT_SECONDS = 60.0
MOST_ADDRESSES = 8

Resolve = Callable[[str, int], Sequence[str]]
"""The addresses of a host, in the order in which to try them; raises OSError."""


def look_up(host: str, port: int) -> tuple[str, ...]:
    """What the machine's own resolver says."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return tuple(dict.fromkeys(str(address[0]) for *_, address in found))


class Names:
    """Looks names up for several threads."""

    def __init__(self, policy: Policy, resolve: Resolve, monotonic: Callable[[], float]) -> None:
        self._policy = policy
        self._resolve = resolve
        self._monotonic = monotonic
        self._kept: dict[tuple[str, int], tuple[float, tuple[str, ...]]] = {}
        self._lock = threading.Lock()

    def addresses(self, host: str, port: int) -> tuple[str, ...]:
        """The addresses to connect to, all of them allowed; raises `WebRefusedError`, `UnreachableError`."""
        now = self._monotonic()
        with self._lock:
            until, kept = self._kept.get((host, port), (0.0, ()))
        if kept and now < until:
            return kept
        found = self._looked_up(host, port)
        refused = [address for address in found if not self._policy.allows(address)]
        if refused:
            leads = host if host in refused else f"the name {host} leads to {refused[0]}, which"
            raise WebRefusedError(
                FORBIDDEN,
                f"{leads} is not open to everybody; the platform can allow it all the same: "
                f"`private: [{network_to_name(refused[0])}]` under `sources` of its file",
            )
        found = found[:MOST_ADDRESSES]
        with self._lock:
            self._kept[host, port] = (now + KEPT_SECONDS, found)
        return found

    def _looked_up(self, host: str, port: int) -> tuple[str, ...]:
        try:
            found = tuple(self._resolve(host, port))
        except UnicodeError:
            raise WebRefusedError(FORBIDDEN, f"{host} is no name of a host") from None
        except OSError as error:
            passing = error.errno == socket.EAI_AGAIN
            reason = error.strerror or str(error)
            raise UnreachableError(f"the name {host} leads nowhere: {reason}", again=passing) from None
        if not found:
            raise UnreachableError(f"the name {host} leads nowhere", again=False)
        return found
