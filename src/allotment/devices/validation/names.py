"""What is wrong with a name: labels, subdomains, keys, drivers, pools, qualified names.

The forms are those of ``k8s.io/apimachinery`` (pkg/util/validation) and of the validation of
``resource.k8s.io``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from allotment.devices.rules import is_label, is_label_key, is_label_value, is_subdomain
from allotment.devices.server import Server
from allotment.devices.validation.problems import Loc, Problem, Reason, invalid, required, too_long

LONGEST_DRIVER: Final = 63
LONGEST_POOL: Final = 253
LONGEST_IDENTIFIER: Final = 32
_IDENTIFIER: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_UID: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_LABEL: Final = "is no DNS label: lower-case letters, digits and hyphens between them, at most 63"
_SUBDOMAIN: Final = "is no DNS subdomain: DNS labels with dots between them, at most 253 characters"
_LABEL_KEY: Final = (
    "is no name of a label: letters, digits, `-`, `_`, `.`, with or without a domain before a `/`"
)
_LABEL_VALUE: Final = "is no value of a label: letters, digits, `-`, `_`, `.`, at most 63"
_IDENTIFIER_WORDS: Final = "is no C identifier: letters, digits and `_`, and no digit first"
QUALIFIED: Final = "a fully qualified name must be a domain and a name separated by a slash"


def of_label(text: str, loc: Loc) -> Iterator[Problem]:
    """A DNS label."""
    if not is_label(text):
        yield invalid(loc, f"`{text}` {_LABEL}")


def of_subdomain(text: str, loc: Loc) -> Iterator[Problem]:
    """A DNS subdomain."""
    if not is_subdomain(text):
        yield invalid(loc, f"`{text}` {_SUBDOMAIN}")


def of_label_key(text: str, loc: Loc) -> Iterator[Problem]:
    """The key of a label; taints and conditions have such keys too."""
    if not is_label_key(text):
        yield invalid(loc, f"`{text}` {_LABEL_KEY}")


def of_label_value(text: str, loc: Loc) -> Iterator[Problem]:
    """The value of a label."""
    if not is_label_value(text):
        yield invalid(loc, f"`{text}` {_LABEL_VALUE}")


def of_driver(text: str, loc: Loc, server: Server) -> Iterator[Problem]:
    """The name of a driver: a subdomain, of whatever case."""
    if not text:
        yield required(loc)
        if server.is_at_least(35):
            return
    if len(text.encode()) > LONGEST_DRIVER:
        yield too_long(loc, LONGEST_DRIVER)
    yield from of_subdomain(text.lower(), loc)


def of_pool(text: str, loc: Loc) -> Iterator[Problem]:
    """The name of a pool: subdomains with slashes between them."""
    if not text:
        yield required(loc)
        return
    if len(text.encode()) > LONGEST_POOL:
        yield too_long(loc, LONGEST_POOL)
    for each in text.split("/"):
        yield from of_subdomain(each, loc)


def of_class_name(text: str, loc: Loc) -> Iterator[Problem]:
    """The name of a device class in a request."""
    if not text:
        yield required(loc, "name the device class")
        return
    yield from of_subdomain(text, loc)


def of_uid(text: str, loc: Loc) -> Iterator[Problem]:
    """A UID as the API writes them."""
    if _UID.fullmatch(text) is None:
        yield invalid(
            loc, f"`{text}` is no UID of the form xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx in lower case"
        )


def of_qualified(text: str, loc: Loc, server: Server) -> Iterator[Problem]:
    """A C identifier with or without a domain before it; more slashes the server lets pass."""
    empty = Reason.INVALID if server.is_at_least(35) else Reason.REQUIRED
    if not text and empty is Reason.REQUIRED:
        yield required(loc, "name required")
        return
    parts = text.split("/")
    if len(parts) > 2:
        return
    if len(parts) == 2:
        if parts[0]:
            yield from of_driver(parts[0], loc, server)
        else:
            yield Problem(loc, empty, f"`{text}`: the domain must not be empty")
    name = parts[-1]
    if len(parts) == 2 and not name:
        yield Problem(loc, empty, f"`{text}`: the name must not be empty")
        return
    if len(name.encode()) > LONGEST_IDENTIFIER:
        yield too_long(loc, LONGEST_IDENTIFIER)
    if _IDENTIFIER.fullmatch(name) is None:
        yield invalid(loc, f"`{text}` {_IDENTIFIER_WORDS}")


def of_fully_qualified(text: str, loc: Loc, server: Server) -> Iterator[Problem]:
    """A C identifier with a domain before it."""
    yield from of_qualified(text, loc, server)
    if "/" not in text and (text or server.is_at_least(35)):
        yield invalid(loc, f"`{text}`: {QUALIFIED}")
