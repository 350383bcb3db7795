"""Whom pages may be asked of: hosts that the platform names, at addresses that are open to everybody.

A name may lead anywhere, and to another place a moment later; so what a name leads to is looked at before
every connection, and the connection goes to the very address that was looked at. Sources: the special-purpose
registries of RFC 6890 and RFC 8190 as Python's `ipaddress` holds them, RFC 6052 (addresses of IPv4 within
IPv6), the clouds' manuals for where they answer with credentials.
"""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from allotment.platform.hosts import Hosts
from allotment.running.sources.web.addresses import Address, shown
from allotment.running.sources.web.errors import FORBIDDEN, WebRefusedError

AnyAddress = IPv4Address | IPv6Address
AnyNetwork = IPv4Network | IPv6Network

NEVER_BY_THE_WAY: tuple[AnyNetwork, ...] = tuple(
    map(
        ip_network,
        (
            "0.0.0.0/8",
            "169.254.0.0/16",
            "100.100.100.200/32",
            "168.63.129.16/32",
            "192.0.0.192/32",
            "224.0.0.0/4",
            "255.255.255.255/32",
            "::/128",
            "fe80::/10",
            "fd00:ec2::254/128",
            "fd20:ce::254/128",
            "ff00::/8",
        ),
    )
)
"""This host, link-local, multicast, where clouds hand out credentials: only a network within them allows."""

_TRANSLATED = ip_network("64:ff9b::/96")
_COMPATIBLE = ip_network("::/96")


class Policy:
    """What the platform allows; asked for an address before a request, and for where its name leads."""

    def __init__(self, hosts: Iterable[str], private: Iterable[str]) -> None:
        self._hosts = Hosts(hosts)
        self._private = tuple(ip_network(network) for network in private)

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
        try:
            address = ip_address(found.partition("%")[0])
        except ValueError:
            return False
        return all(self._allows(one) for one in (address, *_within(address)))

    def _allows(self, address: AnyAddress) -> bool:
        named = [network for network in self._private if address in network]
        special = next((network for network in NEVER_BY_THE_WAY if address in network), None)
        if special is not None:
            return any(_lies_in(network, special) for network in named)
        return bool(named) or (address.is_global and not address.is_multicast)


def _within(address: AnyAddress) -> Iterable[IPv4Address]:
    """The IPv4 addresses that one of IPv6 stands for."""
    if isinstance(address, IPv4Address):
        return
    if address.ipv4_mapped is not None:
        yield address.ipv4_mapped
    if address.sixtofour is not None:
        yield address.sixtofour
    if address.teredo is not None:
        yield from address.teredo
    if address in _TRANSLATED or (address in _COMPATIBLE and int(address) > 1):
        yield IPv4Address(int(address) & 0xFFFFFFFF)


def _lies_in(network: AnyNetwork, other: AnyNetwork) -> bool:
    if isinstance(network, IPv4Network):
        return isinstance(other, IPv4Network) and network.subnet_of(other)
    return isinstance(other, IPv6Network) and network.subnet_of(other)
