"""What the server holds the attributes of a device to: one value of one type, or one list of them.

From the validation of ``DeviceAttribute`` in ``resource.k8s.io``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from allotment.devices.rules import is_qualified
from allotment.devices.server import Server
from allotment.devices.validation import raw
from allotment.devices.validation.names import of_fully_qualified, of_qualified
from allotment.devices.validation.problems import Key, Loc, Problem, Reason, invalid, required, too_long
from allotment.devices.validation.raw import Raw

LONGEST_VALUE: Final = 64
LONGEST_KEY: Final = 96
MOST_NAMES: Final = 32
MOST_VALUES: Final = 48
SCALARS: Final = ("bool", "int", "string", "version")
LISTS: Final = ("bools", "ints", "strings", "versions")
_ONE: Final = "exactly one value must be specified"
_NUMBER: Final = r"(0|[1-9]\d*)"
_WORD: Final = r"(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)"
_SEMVER: Final = re.compile(
    rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(-{_WORD}(\.{_WORD})*)?(\+[0-9a-zA-Z-]+(\.[0-9a-zA-Z-]+)*)?", re.ASCII
)


def of_attributes(device: Raw, loc: Loc, server: Server) -> Iterator[Problem]:
    """The attributes of a device, and how many there are together with its capacities."""
    attributes, capacity = raw.table(device, "attributes"), raw.table(device, "capacity")
    special = {name: one for name, one in raw.entries(device, "attributes") if not _is_plain(one)}
    count = len(attributes) + len(capacity)
    if count > MOST_NAMES:
        words = f"{count}: the total number of attributes and capacities must not exceed {MOST_NAMES}"
        yield invalid(loc, words)
    if server.is_at_least(36):
        values = len(attributes) + sum(_values(attribute) - 1 for attribute in special.values())
        if values > MOST_VALUES:
            words = f"{values}: the total number of attribute values must not exceed {MOST_VALUES}"
            yield invalid(loc, words)
    for name in attributes:
        yield from of_key(name, (*loc, "attributes"), server)
    for name, attribute in special.items():
        yield from _of_attribute(attribute, (*loc, "attributes", Key(name, LONGEST_KEY)), server)


def of_key(name: str, loc: Loc, server: Server) -> Iterator[Problem]:
    """The name of an attribute or a capacity."""
    if "/" not in name and is_qualified(name):
        return
    where = loc if server.is_at_least(36) else (*loc, Key(name, LONGEST_KEY))
    for problem in of_qualified(name, where, server):
        yield problem._replace(at=(*loc, name))


def _is_plain(attribute: Raw) -> bool:
    """Whether nothing can be wrong with it: thousands of devices repeat such attributes."""
    if len(attribute) != 1:
        return False
    ((kind, value),) = attribute.items()
    if kind == "string":
        return isinstance(value, str) and len(value) <= LONGEST_VALUE // 4
    return kind in {"int", "bool"} and value is not None


def _values(attribute: Raw) -> int:
    return sum(len(raw.listed(attribute, key) or ()) for key in LISTS) or 1


def _of_attribute(attribute: Raw, loc: Loc, server: Server) -> Iterator[Problem]:
    kinds = [key for key in (*SCALARS, *LISTS) if attribute.get(key) is not None]
    for kind in kinds:
        value = attribute[kind]
        if kind in SCALARS:
            yield from _of_value(kind, value, (*loc, kind))
            continue
        items = value if isinstance(value, list) else [value]
        if not items:
            yield invalid((*loc, kind), "must not be empty if specified")
        for place, item in enumerate(items):
            yield from _of_value(kind[:-1], item, (*loc, kind, place))
    if not kinds:
        yield invalid(loc, _ONE) if server.is_at_least(35) else required(loc, _ONE)
    elif len(kinds) > 1:
        yield invalid(loc, f"{_ONE}, and here are {', '.join(kinds)}")


def _of_value(kind: str, value: Any, loc: Loc) -> Iterator[Problem]:
    if kind not in {"string", "version"} or not isinstance(value, str):
        return
    if kind == "version" and _SEMVER.fullmatch(value) is None:
        yield invalid(loc, f"`{value}` must be a string compatible with semver.org spec 2.0.0")
    if len(value.encode()) > LONGEST_VALUE:
        yield too_long(loc, LONGEST_VALUE)


def of_partition_type(spec: Raw, loc: Loc, server: Server) -> Iterator[Problem]:
    """The attribute that names the type of each partition (Kubernetes 1.37, alpha)."""
    name = raw.said(spec, "partitionTypeAttribute")
    if name is None:
        return
    here = (*loc, "partitionTypeAttribute")
    wrong = tuple(of_fully_qualified(name, here, server))
    yield from wrong
    devices = raw.tables(spec, "devices")
    if not any(raw.listed(device, "consumesCounters") for device in devices):
        yield invalid(here, "may only be set on a slice which declares devices that consume counters")
        return
    if wrong:
        return
    bare = name.removeprefix(f"{raw.text(spec, 'driver')}/")
    for place, device in enumerate(devices):
        if not raw.listed(device, "consumesCounters"):
            continue
        attributes = raw.table(device, "attributes")
        found = attributes.get(name, attributes.get(bare))
        where = (*loc, "devices", place, "attributes", Key(name, 2 * LONGEST_KEY))
        if found is None:
            words = "device consumes counters and `partitionTypeAttribute` names this attribute"
            yield Problem(where, Reason.REQUIRED, words, at=(*loc, "devices", place, "attributes"))
        elif not isinstance(found, dict) or found.get("string") is None:
            words = "must be a string value because `partitionTypeAttribute` names this attribute"
            yield invalid(where, words)
