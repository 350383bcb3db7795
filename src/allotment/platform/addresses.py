"""Addresses of pages and manifests: absolute, plain, without credentials, of a host that the platform names.

They end up in files, logs and results, so they are no place for secrets; and whoever fetches them must read
them the way this check does, which is why anything unusual is refused rather than interpreted.
"""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import urlsplit

from allotment.documents.checking import Place, shown

LONGEST: Final = 8192
HOST: Final = re.compile(r"(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")
RULE: Final = "bad-address"
ADDRESS: Final = re.compile(r"https?://[^\s\\\x00-\x20\x7f]+", re.IGNORECASE)
HINT: Final = "write the whole address, as a browser takes it: https://host/path"


def look_address(text: str, place: Place) -> None:
    """Refuse what is no plain web address."""
    if len(text) > LONGEST or not ADDRESS.fullmatch(text) or not text.isprintable():
        place.refuse(RULE, f"`{shown(text)}` is no web address", HINT)
    try:
        parts = urlsplit(text)
        host, _ = parts.hostname, parts.port
    except ValueError:
        place.refuse(RULE, f"the host or port of `{shown(text)}` cannot be read", HINT)
    if "@" in parts.netloc:
        message = "the address holds a user or a password, and addresses are written into results"
        place.refuse("secret-in-file", message, "take the credentials out")
    if not host or not HOST.fullmatch(_ascii(host)):
        place.refuse(RULE, f"`{shown(text)}` names no host", HINT)


def host_of(address: str) -> str:
    """The host of an address that `look_address` let pass."""
    return _ascii(urlsplit(address).hostname or "")


def _ascii(host: str) -> str:
    """A host name in lower-case ASCII, as name servers know it; empty where it has no such form."""
    try:
        return host.encode("idna").decode("ascii").lower()
    except UnicodeError:
        return ""
