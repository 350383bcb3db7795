"""Reading addresses and prefixes as Go's ``net/netip`` does, with its messages.

Python reads the same addresses but explains them otherwise, and people search for what Kubernetes says.
"""

from __future__ import annotations

import re
from ipaddress import IPv4Address, IPv6Address
from typing import Final, NoReturn

from allotment.quantities.quoting import quoted

Address = IPv4Address | IPv6Address

_HEXADECIMAL: Final = re.compile(r"[0-9a-fA-F]*")
_BITS: Final = re.compile(r"0|[1-9][0-9]{0,17}", re.ASCII)
_FIELDS: Final = 4
_BYTES: Final = 16


class AddressError(ValueError):
    """What Go says of a text that is no address or no prefix."""


def parse_address(text: str) -> tuple[Address, str]:
    """An address and its zone."""
    kind = next((character for character in text if character in ".:%"), "")
    if kind in ("", "%"):
        _refuse(text, "missing IPv6 address" if kind else "unable to parse IP")
    return _ipv6(text) if kind == ":" else (IPv4Address(bytes(_ipv4_fields(text, text))), "")


def parse_prefix(text: str) -> tuple[Address, int]:
    """An address and the length of its prefix."""
    head, slash, tail = text.rpartition("/")
    if not slash:
        _refuse_prefix(text, "no '/'")
    try:
        address, zone = parse_address(head)
    except AddressError as error:
        _refuse_prefix(text, str(error))
    if zone:
        _refuse_prefix(text, "IPv6 zones cannot be present in a prefix")
    if not _BITS.fullmatch(tail):
        _refuse_prefix(text, f"bad bits after slash: {quoted(tail)}")
    bits = int(tail)
    if bits > address.max_prefixlen:
        _refuse_prefix(text, "prefix length out of range")
    return address, bits


def _refuse_prefix(text: str, message: str) -> NoReturn:
    raise AddressError(f"netip.ParsePrefix({quoted(text)}): {message}") from None


def _refuse(text: str, message: str, rest: str = "") -> NoReturn:
    at = f" (at {quoted(rest)})" if rest else ""
    raise AddressError(f"ParseAddr({quoted(text)}): {message}{at}")


def _ipv4_fields(text: str, part: str) -> list[int]:
    """Four numbers between dots."""
    fields: list[int] = []
    value = digits = 0
    for place, character in enumerate(part):
        if character.isascii() and character.isdigit():
            if digits == 1 and value == 0:
                _refuse(text, "IPv4 field has octet with leading zero")
            value, digits = value * 10 + int(character), digits + 1
            if value > 255:
                _refuse(text, "IPv4 field has value >255")
        elif character != ".":
            _refuse(text, "unexpected character", part[place:])
        else:
            if place in (0, len(part) - 1) or part[place - 1] == ".":
                _refuse(text, "IPv4 field must have at least one digit", part[place:])
            if len(fields) == _FIELDS - 1:
                _refuse(text, "IPv4 address too long")
            fields.append(value)
            value = digits = 0
    if len(fields) < _FIELDS - 1:
        _refuse(text, "IPv4 address too short")
    return [*fields, value]


class _Ipv6Reader:
    """Reads groups from the left; ``filled`` are the bytes so far, ``gap`` is where ``::`` stood."""

    def __init__(self, text: str, part: str) -> None:
        self.text = text
        self.rest = part
        self.filled = bytearray()
        self.gap = -1

    def refuse(self, message: str) -> NoReturn:
        _refuse(self.text, message, self.rest)

    def read(self) -> bytes:
        if self.rest.startswith("::"):
            self.gap = 0
            self.rest = self.rest[2:]
        while self.rest and len(self.filled) < _BYTES:
            self.group()
        if self.rest:
            self.refuse("trailing garbage after address")
        return self.expanded()

    def group(self) -> None:
        """A group and the colons behind it."""
        digits = _match(self.rest)
        if len(digits) > 4:
            self.refuse("each group must have 4 or less digits")
        if not digits:
            self.refuse("each colon-separated field must have at least one digit")
        if self.rest[len(digits) :].startswith("."):
            self.embedded()
            return
        self.filled += int(digits, 16).to_bytes(2, "big")
        self.rest = self.rest[len(digits) :]
        if not self.rest:
            return
        if self.rest[0] != ":":
            self.refuse("unexpected character, want colon")
        if len(self.rest) == 1:
            self.refuse("colon must be followed by more characters")
        self.rest = self.rest[1:]
        if self.rest[0] == ":":
            if self.gap >= 0:
                self.refuse("multiple :: in address")
            self.gap = len(self.filled)
            self.rest = self.rest[1:]

    def embedded(self) -> None:
        """An IPv4 address at the end."""
        if self.gap < 0 and len(self.filled) != _BYTES - _FIELDS:
            self.refuse("embedded IPv4 address must replace the final 2 fields of the address")
        if len(self.filled) + _FIELDS > _BYTES:
            self.refuse("too many hex fields to fit an embedded IPv4 at the end of the address")
        self.filled += bytes(_ipv4_fields(self.text, self.rest))
        self.rest = ""

    def expanded(self) -> bytes:
        missing = _BYTES - len(self.filled)
        if missing and self.gap < 0:
            self.refuse("address string too short")
        if not missing and self.gap >= 0:
            self.refuse("the :: must expand to at least one field of zeros")
        if not missing:
            return bytes(self.filled)
        return bytes(self.filled[: self.gap]) + bytes(missing) + bytes(self.filled[self.gap :])


def _match(text: str) -> str:
    found = _HEXADECIMAL.match(text)
    return found[0] if found else ""


def _ipv6(text: str) -> tuple[IPv6Address, str]:
    part, percent, zone = text.partition("%")
    if percent and not zone:
        _refuse(text, "zone must be a non-empty string")
    return IPv6Address(_Ipv6Reader(text, part).read()), zone
