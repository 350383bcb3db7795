"""Credentials that no request can carry, found when they are read, and kept out of every message.

A header is one line of visible characters (RFC 9110, section 5.5). What a library says of one that is not
quotes it, so credentials are looked at first; and where a server or a proxy sends back what it was sent, or a
library quotes what it could not send or read, that is taken out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit, urlunsplit

from allotment.errors import WorldError

HIDDEN: Final = "(hidden)"
LEAST: Final = 12
"""Shorter words than this are no secret, and stand in many others."""
_LINE: Final = re.compile(r"[\t -~]*")
_QUOTED: Final = re.compile(r"""[:,]?\s*(?:in\s+)?(?:bytearray\()?b?(?:'.*'|".*")\)?""", re.DOTALL)


def fault_in(value: str) -> str:
    """Why a header cannot have this value; empty where it can."""
    if "\n" in value or "\r" in value:
        return "has a line break in it"
    if value != value.strip():
        return "begins or ends with a blank"
    return "" if _LINE.fullmatch(value) else "has a character in it that no header can carry"


def check_user(user: Mapping[str, Any], where: str) -> None:
    """Refuse what a kubeconfig's user says and no request can carry, by the name of its field."""
    extra = user.get("as-user-extra")
    groups = user.get("as-groups")
    told = [
        ("token", user.get("token")),
        ("as", user.get("as")),
        ("as-uid", user.get("as-uid")),
        *(("as-groups", each) for each in (groups if isinstance(groups, list) else ())),
        *(("as-user-extra", each) for each in _values(extra)),
    ]
    for name, value in told:
        fault = fault_in(value) if isinstance(value, str) else ""
        if fault:
            raise _unfit(name, fault, where)


def _values(extra: object) -> list[Any]:
    if not isinstance(extra, dict):
        return []
    return [each for name, values in extra.items() for each in (name, *(values or ()))]


def read_token(path: str, where: str) -> str:
    """The token of a file, which somebody writes anew before it runs out."""
    try:
        token = Path(path).read_text(encoding="utf-8").strip()
    except OSError as error:
        raise WorldError(
            f"its `tokenFile` cannot be read: {error.strerror}", where=path, remedy="put the file there"
        ) from None
    except UnicodeDecodeError:
        raise _unfit("tokenFile", "is not UTF-8", where) from None
    fault = fault_in(token)
    if fault:
        raise _unfit("tokenFile", fault, where)
    return token


def _unfit(name: str, fault: str, where: str) -> WorldError:
    return WorldError(
        f"its `{name}` {fault}",
        where=where,
        remedy="write it on one line as it was given (in YAML between quotes, and not after `|`), or log in "
        "again",
    )


def without_quotes(text: str) -> str:
    """What a library says, without what it quotes."""
    return _QUOTED.sub("", " ".join(text.split())).strip()


def bare_address(address: str) -> str:
    """An address without the name and the password that may stand in it."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return HIDDEN if "@" in address else address
    host = parts.netloc.rpartition("@")[2]
    rest = parts._replace(netloc=host, query="", fragment="") if host != parts.netloc else parts
    plain = urlunsplit(rest)
    return HIDDEN if "@" in plain else plain


def without(body: bytes, header: str) -> bytes:
    """An answer without the credential that was sent in a header, wherever it stands in it."""
    secret = header.partition(" ")[2].encode()
    return body.replace(secret, HIDDEN.encode()) if len(secret) >= LEAST else body
