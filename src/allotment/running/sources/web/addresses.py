"""Web addresses as they are asked, and as messages and records show them.

Addresses come from manifests and redirects, that is, from anybody. They are taken apart once, strictly, and
what is asked is made of the parts, so that the check and the request can never read one differently
(RFC 3986; the differences between readers of addresses are a well-known way past such checks). In what is
shown, values that are likely to be secrets are left out: credentials, and tokens and signatures of queries.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, urljoin, urlsplit

from allotment.platform.addresses import HOST, LONGEST, host_of
from allotment.platform.hosts import USUAL_PORT, Origin
from allotment.platform.names import looks_secret
from allotment.running.sources.web.errors import FORBIDDEN, UNREADABLE, WebRefusedError

HIDDEN: Final = "…"
LONGEST_SHOWN: Final = 300
SECRET_KEYS: Final = frozenset({"sig", "signature", "auth", "key", "jwt", "session", "sid", "pwd", "pass"})
SIGNING: Final = ("x-amz-", "x-goog-")

_QUERY = re.compile(r"([^=&;]+)=([^&;]*)")
_UNPRINTED = re.compile(r"[\x00-\x20\x7f\\]")
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
    """An address without what could be a secret: for records, messages and logs."""
    before, mark, query = url.partition("?")
    scheme, slashes, rest = before.partition("://")
    if slashes:
        authority, slash, path = rest.partition("/")
        before = f"{scheme}://{authority.rpartition('@')[2]}{slash}{path}"
    return before + (f"?{_QUERY.sub(_masked_value, query)}" if mark else "")


def shown(url: str) -> str:
    """An address as a message shows it: masked, on one line, not too long."""
    line = "".join(character if character.isprintable() else HIDDEN for character in masked(url))
    return line if len(line) <= LONGEST_SHOWN else line[: LONGEST_SHOWN - 1] + HIDDEN


def _masked_value(found: re.Match[str]) -> str:
    name = found[1].lower()
    secret = name in SECRET_KEYS or name.startswith(SIGNING) or looks_secret(name) or name.endswith("token")
    return f"{found[1]}={HIDDEN}" if secret else found[0]
