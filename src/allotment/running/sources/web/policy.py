"""Whom pages may be asked of: hosts that the platform names, at addresses that are open to everybody.

A name may lead anywhere, and to another place a moment later; so what a name leads to is looked at before
every connection, and the connection goes to the very address that was looked at.
"""

from __future__ import annotations

from collections.abc import Iterable

from allotment.platform.hosts import Hosts
from allotment.platform.networks import Networks
from allotment.running.sources.web.addresses import Address, shown
from allotment.running.sources.web.errors import FORBIDDEN, WebRefusedError


class Policy:
    """What the platform allows; asked for an address before a request, and for where its name leads."""

    def __init__(self, hosts: Iterable[str], private: Iterable[str]) -> None:
        self._hosts = Hosts(hosts)
        self._networks = Networks(private)

    def admitted(self, address: Address) -> Address:
        """The address as it may be asked; raises `WebRefusedError` when it may not be."""
        origin = self._hosts.admitted(address.origin)
        if origin is not None:
            return Address(origin, address.target)
        named = " in this way" if address.origin.host in self._hosts else ""
        raise WebRefusedError(
            FORBIDDEN,
            f"{shown(address.url)}: the platform does not let pages come from `{address.origin}`{named}",
        )

    def allows(self, found: str) -> bool:
        """Whether a connection may go to this address of the network."""
        return self._networks.allows(found)
