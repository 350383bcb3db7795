"""Addresses of the network that pages may come from: those open to everybody, and those it names.

Files are checked by this where they name an address, and so is every connection before it is made. Sources:
the special-purpose registries of RFC 6890 and RFC 8190 as Python's `ipaddress` holds them, RFC 6052
(addresses of IPv4 within IPv6), RFC 1918 and RFC 4193 (private networks), the clouds' manuals for where they
answer with credentials.
"""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

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
_OF_SOMEBODY: tuple[AnyNetwork, ...] = tuple(
    map(ip_network, ("127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"))
)


class Networks:
    """What a platform lets connections go to beside what is open to everybody."""

    def __init__(self, private: Iterable[str]) -> None:
        self._private = tuple(ip_network(network) for network in private)

    def allows(self, found: str) -> bool:
        """Whether a connection may go to this address of the network."""
        address = read_address(found)
        return address is not None and all(self._allows(one) for one in (address, *_within(address)))

    def _allows(self, address: AnyAddress) -> bool:
        named = [network for network in self._private if address in network]
        special = next((network for network in NEVER_BY_THE_WAY if address in network), None)
        if special is not None:
            return any(_lies_in(network, special) for network in named)
        return bool(named) or (address.is_global and not address.is_multicast)


def read_address(text: str) -> AnyAddress | None:
    """The address that a text is; None for a name, or for nonsense."""
    try:
        return ip_address(text.strip("[]").partition("%")[0])
    except ValueError:
        return None


def network_to_name(address: str) -> str:
    """The network that a platform would name to allow an address: a usual one of its kind, else it alone."""
    read = read_address(address)
    if read is None:
        return address
    usual = (network for network in _OF_SOMEBODY if read in network)
    return str(next(usual, ip_network(read)))


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
