"""URLs taken apart as Go's ``net/url`` does, with its messages."""

from __future__ import annotations

import re
import string
from dataclasses import dataclass, field
from ipaddress import IPv4Address
from typing import Final
from urllib.parse import quote, unquote_to_bytes

from allotment.devices.cel.library.addresses import AddressError, parse_address
from allotment.quantities.quoting import quoted

_SCHEME: Final = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]*):(.*)", re.DOTALL)
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_PORT: Final = re.compile(r"(?::[0-9]*)?", re.ASCII)
_ESCAPE: Final = re.compile(r"%(?![0-9a-fA-F]{2}).{0,2}", re.DOTALL)
_OF_ASCII: Final = re.compile(r"%[0-7][0-9a-fA-F]")
_UNRESERVED: Final = frozenset(string.ascii_letters + string.digits + "-_.~")
_IN_HOST: Final = _UNRESERVED | frozenset("!$&'()*+,;=:[]<>\"")
_IN_USER: Final = _UNRESERVED | frozenset(":!$&'()*+,;=%@")
_PATH_KEPT: Final = "/$&+,:;=@~-_."
_IN_PATH: Final = _UNRESERVED | frozenset("/$&+,:;=@!'()*[]%")


class UrlError(ValueError):
    """What Go says of a text that is no URL."""


@dataclass(frozen=True, slots=True)
class Url:
    """The parts of a URL. What stood behind ``#`` is part of ``text`` only, by which URLs are compared."""

    text: str
    scheme: str = field(compare=False)
    host: str = field(compare=False)
    path: str = field(compare=False)
    query: str = field(compare=False)

    @property
    def port(self) -> str:
        """What stands behind the host's last colon, if it is a number."""
        return self._host_and_port()[1]

    @property
    def hostname(self) -> str:
        """The host without port and brackets."""
        host = self._host_and_port()[0]
        return host[1:-1] if host.startswith("[") and host.endswith("]") else host

    @property
    def escaped_path(self) -> str:
        """The path as it was written, if it could be written so."""
        if self.path == "*" or _IN_PATH.issuperset(self.path):
            return self.path
        return quote(unquote_to_bytes(self.path), safe=_PATH_KEPT)

    @property
    def queries(self) -> dict[str, list[str]]:
        """What stands behind ``?``, by name; what cannot be read is left out."""
        result: dict[str, list[str]] = {}
        for part in self.query.split("&"):
            if part and ";" not in part and not _ESCAPE.search(part):
                name, _, value = part.partition("=")
                result.setdefault(_unescaped(name, plus=True), []).append(_unescaped(value, plus=True))
        return result

    def _host_and_port(self) -> tuple[str, str]:
        host, colon, port = self.host.rpartition(":")
        return (host, port) if colon and _PORT.fullmatch(colon + port) else (self.host, "")


def parse_url(text: str) -> Url:
    """The parts of an absolute URL or path; UrlError if it is none."""
    check_url(text)
    head, _, fragment = text.partition("#")
    try:
        url = _parse(head, whole=False)
    except UrlError as error:
        raise UrlError(f"parse {quoted(head)}: {error}") from None
    if bad := _ESCAPE.search(fragment):
        raise UrlError(f"parse {quoted(text)}: invalid URL escape {quoted(bad[0])}")
    return Url(text, url.scheme, url.host, url.path, url.query)


def check_url(text: str) -> None:
    """Refuses a text that no request could name; two slashes at its beginning are taken for a path here."""
    try:
        _parse(text, whole=True)
    except UrlError as error:
        raise UrlError(f"parse {quoted(text)}: {error}") from None


def _parse(text: str, *, whole: bool) -> Url:
    """The parts; ``whole``: the text stands for itself, so it begins with a scheme or ``/``."""
    if _CONTROL.search(text):
        raise UrlError("net/url: invalid control character in URL")
    if not text and whole:
        raise UrlError("empty url")
    if text == "*":
        return Url(text, "", "", "*", "")
    if text.startswith(":"):
        raise UrlError("missing protocol scheme")
    match = _SCHEME.fullmatch(text)
    scheme, rest = (match[1].lower(), match[2]) if match else ("", text)
    rest, _, query = rest.partition("?")
    if not rest.startswith("/"):
        if scheme:
            return Url(text, scheme, "", "", query)
        if whole:
            raise UrlError("invalid URI for request")
        if ":" in rest.partition("/")[0]:
            raise UrlError("first path segment in URL cannot contain colon")
    host = ""
    if rest.startswith("//") and (scheme or not (whole or rest.startswith("///"))):
        authority, slash, path = rest[2:].partition("/")
        rest = slash + path
        host = _authority(scheme, authority)
    _check_escapes(rest)
    return Url(text, scheme, host, rest, query)


def _authority(scheme: str, authority: str) -> str:
    """The host, with its port; who it is asked as is only looked at."""
    user, at, host = authority.rpartition("@")
    found = _host(scheme, host)
    if at:
        if not _IN_USER.issuperset(user):
            raise UrlError("net/url: invalid userinfo")
        _check_escapes(user)
    return found


def _host(scheme: str, host: str) -> str:
    bracket = host.rfind("[")
    if bracket > 0:
        raise UrlError("invalid IP-literal")
    if bracket == 0:
        return _literal(host)
    first = host.find(":")
    place = first if scheme in ("http", "https") else host.rfind(":")
    if first >= 0:
        _check_port(host[place:])
    return _in_host(host)


def _literal(host: str) -> str:
    """An address between brackets, and a port."""
    inner, bracket, port = host[1:].rpartition("]")
    if not bracket:
        raise UrlError("missing ']' in host")
    _check_port(port)
    address, zone, name = inner.partition("%25")
    found = _in_host(address) + (_in_zone(zone + name) if zone else "")
    try:
        known, _ = parse_address(found)
    except AddressError as error:
        raise UrlError(f"invalid host: {error}") from None
    if isinstance(known, IPv4Address):
        raise UrlError("invalid IP-literal")
    return f"[{found}]{_in_host(port)}"


def _check_port(port: str) -> None:
    if not _PORT.fullmatch(port):
        raise UrlError(f"invalid port {quoted(port)} after host")


def _check_escapes(text: str) -> None:
    if bad := _ESCAPE.search(text):
        raise UrlError(f"invalid URL escape {quoted(bad[0])}")


def _in_host(host: str) -> str:
    """A host without escapes, of which it may have only such as are not ASCII."""
    at = 0
    while at < len(host):
        step = 1
        if host[at] == "%":
            _check_escapes(host[at : at + 3])
            if _OF_ASCII.match(host, at) and host[at : at + 3] != "%25":
                raise UrlError(f"invalid URL escape {quoted(host[at : at + 3])}")
            step = 3
        else:
            _check_character(host[at])
        at += step
    return _unescaped(host)


def _in_zone(zone: str) -> str:
    """A zone without escapes: whatever a host may have, blanks too."""
    at = 0
    while at < len(zone):
        step = 1
        if zone[at] == "%":
            _check_escapes(zone[at : at + 3])
            escape = zone[at : at + 3]
            character = chr(int(escape[1:], 16))
            if escape != "%25" and character not in _IN_HOST | {" "}:
                raise UrlError(f"invalid URL escape {quoted(escape)}")
            step = 3
        else:
            _check_character(zone[at])
        at += step
    return _unescaped(zone)


def _check_character(character: str) -> None:
    if character.isascii() and character not in _IN_HOST:
        raise UrlError(f"invalid character {quoted(character)} in host name")


def _unescaped(text: str, *, plus: bool = False) -> str:
    text = text.replace("+", " ") if plus else text
    return unquote_to_bytes(text).decode(errors="replace") if "%" in text else text
