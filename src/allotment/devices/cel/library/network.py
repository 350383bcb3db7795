"""Addresses: ``ip('1.2.3.4')``, ``cidr('10.0.0.0/8')`` and what can be asked of them (since 1.30)."""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_network
from typing import Final

from allotment.devices.cel import cel_types as t
from allotment.devices.cel.declarations import Library, Overload, member
from allotment.devices.cel.library.addresses import (
    Address,
    AddressError,
    parse_address,
    parse_prefix,
)
from allotment.devices.cel.problems import EvaluationError, no_such_overload
from allotment.devices.cel.values import Opaque
from allotment.quantities.quoting import quoted

_IP: Final = t.opaque("net.IP")
_CIDR: Final = t.opaque("net.CIDR")
_PARSING: Final = "network address parse error during conversion from string"


class Subnet:
    """An address and the length of its prefix."""

    __slots__ = ("address", "bits")

    def __init__(self, address: Address, bits: int) -> None:
        self.address = address
        self.bits = bits

    @property
    def network(self) -> IPv4Network | IPv6Network:
        """The network, with nothing behind the prefix."""
        return ip_network((self.address, self.bits), strict=False)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Subnet) and (self.address, self.bits) == (other.address, other.bits)

    def __hash__(self) -> int:
        return hash((self.address, self.bits))


def _parse_address(text: str) -> Address:
    try:
        address, zone = parse_address(text)
    except AddressError as error:
        message = f"IP Address {quoted(text)} parse error during conversion from string: {error}"
        raise EvaluationError(message) from error
    if zone:
        raise EvaluationError(f"IP address {quoted(text)} with zone value is not allowed")
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        raise EvaluationError(f"IPv4-mapped IPv6 address {quoted(text)} is not allowed")
    return address


def _parse_subnet(text: str) -> Subnet:
    try:
        address, bits = parse_prefix(text)
    except AddressError as error:
        raise EvaluationError(f"{_PARSING}: {_PARSING}: {error}") from error
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        raise EvaluationError(f"{_PARSING}: IPv4-mapped IPv6 address {quoted(text)} is not allowed")
    return Subnet(address, bits)


def _ip(text: str) -> Opaque:
    return Opaque(_parse_address(text), _IP)


def _cidr(text: str) -> Opaque:
    return Opaque(_parse_subnet(text), _CIDR)


def _is(parse: Callable[[str], object]) -> Callable[[str], bool]:
    def compute(text: str) -> bool:
        try:
            parse(text)
        except EvaluationError:
            return False
        return True

    return compute


def _show_address(address: Address) -> str:
    return str(address)


def _canonical(text: str) -> bool:
    return str(_parse_address(text)) == text


def _link_local_multicast(address: Address) -> bool:
    if isinstance(address, IPv4Address):
        return address in ip_network("224.0.0.0/24")
    return address.packed[0] == 0xFF and address.packed[1] & 0x0F == 2


def _global_unicast(address: Address) -> bool:
    special = address.is_unspecified or address.is_loopback or address.is_multicast or address.is_link_local
    return not special and str(address) != "255.255.255.255"


def _asked(read: Callable[[Address], bool | int]) -> Callable[[Opaque], bool | int]:
    return lambda address: read(address.data)


def _contains_ip(subnet: Opaque, address: Opaque) -> bool:
    return subnet.data.address.version == address.data.version and address.data in subnet.data.network


def _contains_ip_text(subnet: Opaque, text: str) -> bool:
    try:
        address = _ip(text)
    except EvaluationError as error:
        raise no_such_overload() from error
    return _contains_ip(subnet, address)


def _contains_cidr(subnet: Opaque, other: Opaque) -> bool:
    outer, inner = subnet.data, other.data
    if outer.address.version != inner.address.version or outer.bits > inner.bits:
        return False
    return bool(outer.network.overlaps(inner.network))


def _contains_cidr_text(subnet: Opaque, text: str) -> bool:
    return _contains_cidr(subnet, _cidr(text))


def _masked(subnet: Opaque) -> Opaque:
    return Opaque(Subnet(subnet.data.network.network_address, subnet.data.bits), _CIDR)


def address_size(value: Opaque) -> int | None:
    """How many bytes an address or a prefix counts for in costs."""
    if value.declared == _IP:
        return int(value.data.max_prefixlen) // 8
    if value.declared == _CIDR:
        return -(-int(value.data.bits) // 8)
    return None


def _question(
    name: str, read: Callable[[Address], bool | int], result: t.CelType = t.BOOL
) -> tuple[Overload, ...]:
    return (member(name, (_IP,), result, _asked(read)),)


IPS: Final = Library(
    {
        "ip": (Overload("string_to_ip", (t.STRING,), _IP, _ip),),
        "family": _question("ip_family", lambda address: address.version, t.INT),
        "ip.isCanonical": (Overload("ip_is_canonical", (t.STRING,), t.BOOL, _canonical),),
        "isUnspecified": _question("ip_is_unspecified", lambda address: address.is_unspecified),
        "isLoopback": _question("ip_is_loopback", lambda address: address.is_loopback),
        "isLinkLocalMulticast": _question("ip_is_link_local_multicast", _link_local_multicast),
        "isLinkLocalUnicast": _question("ip_is_link_local_unicast", lambda address: address.is_link_local),
        "isGlobalUnicast": _question("ip_is_global_unicast", _global_unicast),
        "isIP": (Overload("is_ip", (t.STRING,), t.BOOL, _is(_parse_address)),),
        "string": (Overload("ip_to_string", (_IP,), t.STRING, lambda address: _show_address(address.data)),),
    },
    names={"net.IP": _IP},
)
CIDRS: Final = Library(
    {
        "cidr": (Overload("string_to_cidr", (t.STRING,), _CIDR, _cidr),),
        "containsIP": (
            member("cidr_contains_ip_string", (_CIDR, t.STRING), t.BOOL, _contains_ip_text),
            member("cidr_contains_ip_ip", (_CIDR, _IP), t.BOOL, _contains_ip),
        ),
        "containsCIDR": (
            member("cidr_contains_cidr_string", (_CIDR, t.STRING), t.BOOL, _contains_cidr_text),
            member("cidr_contains_cidr", (_CIDR, _CIDR), t.BOOL, _contains_cidr),
        ),
        "ip": (member("cidr_ip", (_CIDR,), _IP, lambda subnet: Opaque(subnet.data.address, _IP)),),
        "prefixLength": (member("cidr_prefix_length", (_CIDR,), t.INT, lambda subnet: subnet.data.bits),),
        "masked": (member("cidr_masked", (_CIDR,), _CIDR, _masked),),
        "isCIDR": (Overload("is_cidr", (t.STRING,), t.BOOL, _is(_parse_subnet)),),
        "string": (
            Overload(
                "cidr_to_string",
                (_CIDR,),
                t.STRING,
                lambda subnet: f"{subnet.data.address}/{subnet.data.bits}",
            ),
        ),
    },
    names={"net.CIDR": _CIDR},
)
