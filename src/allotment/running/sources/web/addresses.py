"""Web addresses as they are asked, and as messages and records show them.

Addresses come from manifests and redirects, that is, from anybody. They are taken apart once, strictly, and
what is asked is made of the parts, so that the check and the request can never read one differently
(RFC 3986; the differences between readers of addresses are a well-known way past such checks). In what is
shown, values that are likely to be secrets are left out: credentials, tokens, signatures, whatever looks so.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from itertools import pairwise
from typing import Final
from urllib.parse import quote, unquote_plus, urljoin, urlsplit

from allotment.platform.addresses import HOST, LONGEST, host_of
from allotment.platform.hosts import USUAL_PORT, Origin
from allotment.platform.names import looks_secret
from allotment.running.sources.web.errors import FORBIDDEN, UNREADABLE, WebRefusedError

HIDDEN: Final = "…"
LONGEST_SHOWN: Final = 300
SHORTEST_KEY: Final = 16
SECRET_KEYS: Final = frozenset({"sig", "signature", "auth", "key", "jwt", "session", "sid", "pwd", "pass"})
SIGNING: Final = ("x-amz-", "x-goog-")
SECRET_ENDINGS: Final = ("token", "signature", "sessionid", "apikey")

_PART = re.compile(r"(?P<before>)(?P<name>[^=&;]+)(?:=(?P<value>[^&;]*))?")
_MATRIX = re.compile(r"(?P<before>;)(?P<name>[^=;/]+)=(?P<value>[^;/]*)")
_KEY_LIKE = re.compile(r"[A-Za-z0-9_+/=-]{16,}", re.ASCII)
_SEPARATED = re.compile(r"[_-]")
_UNPRINTED = re.compile(r"[\x00-\x20\x7f\\\ud800-\udfff]")
_KEPT = "/%:@!$&'()*+,;=~?"


@dataclass(frozen=True, slots=True)
class Address:
    """An address to ask: whom, and for what (path and query)."""

    origin: Origin
    target: str

    @property
    def url(self) -> str:
        """The address as one text."""
        origin = self.origin
        port = "" if origin.port == USUAL_PORT[origin.scheme] else f":{origin.port}"
        return f"{origin.scheme}://{origin.host}{port}{self.target}"


def read_address(url: str, base: str | None = None) -> Address:
    """The address in a text, relative to ``base`` if there is one; raises `WebRefusedError`."""
    text = url.strip().replace(" ", "%20")
    if len(text) > LONGEST or _UNPRINTED.search(text):
        raise WebRefusedError(UNREADABLE, f"{shown(url)} is no web address")
    try:
        text = urljoin(base, text) if base is not None else text
        parts = urlsplit(text)
        scheme, port = parts.scheme.lower(), parts.port
        host = host_of(text)
    except ValueError:
        raise WebRefusedError(UNREADABLE, f"{shown(url)} is no web address") from None
    if scheme not in USUAL_PORT:
        raise WebRefusedError(FORBIDDEN, f"{shown(url)} is neither an https nor an http address")
    if "@" in parts.netloc:
        raise WebRefusedError(
            FORBIDDEN, f"{shown(url)} holds a user or a password, and is not asked with them"
        )
    if not HOST.fullmatch(host) or port == 0:
        raise WebRefusedError(UNREADABLE, f"{shown(url)} names no host by its name")
    query = f"?{quote(parts.query, safe=_KEPT)}" if parts.query else ""
    target = f"{quote(parts.path or '/', safe=_KEPT)}{query}"
    return Address(Origin(scheme, host, port or USUAL_PORT[scheme]), target)


def masked(url: str) -> str:
    """An address without what could be a secret: for records, messages and logs.

    What has a secret's name is left out. What has none and looks like a key is left out too, with a mark in
    its place that tells two of them apart, so that an address still says which page it is of.
    """
    before, hash_mark, fragment = url.partition("#")
    before, query_mark, query = before.partition("?")
    scheme, slashes, rest = before.partition("://")
    if slashes:
        authority, slash, path = rest.partition("/")
        before = f"{scheme}://{authority.rpartition('@')[2]}{slash}{_MATRIX.sub(_masked_value, path)}"
    asked = f"?{_masked_parts(query)}" if query_mark else ""
    return before + asked + (f"#{_masked_parts(fragment)}" if hash_mark else "")


def shown(url: str) -> str:
    """An address as a message shows it: masked, on one line, not too long."""
    line = "".join(character if character.isprintable() else HIDDEN for character in masked(url))
    return line if len(line) <= LONGEST_SHOWN else line[: LONGEST_SHOWN - 1] + HIDDEN


def _masked_parts(text: str) -> str:
    return _PART.sub(_masked_value, text)


def _masked_value(found: re.Match[str]) -> str:
    before, name, value = found["before"], found["name"], found["value"]
    if value is None:
        return f"{before}{_marked(name)}" if _looks_like_a_key(name) else found[0]
    if _names_a_secret(unquote_plus(name)):
        return f"{before}{name}={HIDDEN}"
    return f"{before}{name}={_marked(value)}" if _looks_like_a_key(value) else found[0]


def _names_a_secret(name: str) -> bool:
    name = name.lower()
    return (
        name in SECRET_KEYS or name.startswith(SIGNING) or looks_secret(name) or name.endswith(SECRET_ENDINGS)
    )


def _looks_like_a_key(value: str) -> bool:
    """Whether a value is long, of one piece, and of letters and digits mixed as nobody would name a page."""
    plain = unquote_plus(value)
    if plain.startswith("eyJ") and plain.count(".") == 2:
        return True
    piece = max(_SEPARATED.split(plain), key=len) if _KEY_LIKE.fullmatch(plain) else ""
    changes = sum(_kind(one) != _kind(other) for one, other in pairwise(piece))
    return len(piece) >= SHORTEST_KEY and changes >= len(piece) / 5


def _kind(character: str) -> int:
    return 0 if character.isdigit() else 1 if character.islower() else 2


def _marked(value: str) -> str:
    return HIDDEN + hashlib.sha256(value.encode()).hexdigest()[:8]
