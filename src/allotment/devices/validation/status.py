"""What the server holds the status of a claim to: what was given, for whom, and what drivers say of it.

From ``validateResourceClaimStatusUpdate`` of ``resource.k8s.io``, for a claim without a former allocation.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator, Sequence
from typing import Final

from allotment.devices.server import Server
from allotment.devices.validation import raw
from allotment.devices.validation.configs import LONGEST_PARAMETERS, of_config, of_object
from allotment.devices.validation.devices import of_conditions
from allotment.devices.validation.names import of_driver, of_label, of_label_key, of_pool, of_uid
from allotment.devices.validation.nodes import of_node_selector
from allotment.devices.validation.problems import (
    Loc,
    Problem,
    Reason,
    each,
    invalid,
    required,
    too_long,
    too_many,
)
from allotment.devices.validation.raw import Raw
from allotment.devices.validation.requests import names_of, of_reference, of_references
from allotment.devices.validation.slices import of_operations
from allotment.devices.validation.taints import of_tolerations

MOST_RESULTS: Final = 32
MOST_CONFIGS: Final = 64  # those of the classes, and those of the claim
MOST_USERS: Final = 256
MOST_CONDITIONS: Final = 8
MOST_ADDRESSES: Final = 16
LONGEST_REASON: Final = 1024
LONGEST_MESSAGE: Final = 32 * 1024
_LONGEST: Final = {"interfaceName": 256, "hardwareAddress": 128}
_SOURCES: Final = ("FromClaim", "FromClass")
_STATUSES: Final = ("False", "True", "Unknown")
_REASON: Final = re.compile(r"[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?")
_NOT_ALLOCATED: Final = "may not be specified when `allocated` is not set"


def of_status(claim: Raw, server: Server) -> Iterator[Problem]:
    """The status of a claim."""
    status, loc = raw.table(claim, "status"), ("status",)
    names = names_of(raw.tables(raw.table(raw.table(claim, "spec"), "devices"), "requests"))
    users, allocation = raw.tables(status, "reservedFor"), raw.part(status, "allocation")
    yield from each(
        users,
        (*loc, "reservedFor"),
        _of_user,
        server=server,
        most=MOST_USERS,
        key=lambda user: raw.text(user, "uid"),
        named="uid",
    )
    if users and allocation is None:
        yield Problem((*loc, "reservedFor"), Reason.FORBIDDEN, _NOT_ALLOCATED)
    given = raw.table(allocation or {}, "devices")
    allocated = {_device_key(result) for result in raw.tables(given, "results")}
    yield from each(
        raw.tables(status, "devices"),
        (*loc, "devices"),
        lambda device, where: _of_device(device, where, allocated, server),
        server=server,
        key=_device_key,
        named="deviceID",
    )
    if allocation is not None:
        yield from _of_allocation(allocation, (*loc, "allocation"), names, server)


def _of_user(user: Raw, loc: Loc) -> Iterator[Problem]:
    for key in ("resource", "name", "uid"):
        if not raw.text(user, key):
            yield required((*loc, key))


def _device_key(device: Raw) -> tuple[str, ...]:
    return tuple(raw.text(device, key) for key in ("driver", "pool", "device", "shareID"))


def _of_allocation(allocation: Raw, loc: Loc, names: frozenset[str], server: Server) -> Iterator[Problem]:
    given, here = raw.table(allocation, "devices"), (*loc, "devices")
    yield from each(
        raw.tables(given, "results"),
        (*here, "results"),
        lambda result, where: _of_result(result, where, names, server),
        server=server,
        most=MOST_RESULTS,
    )
    yield from each(
        raw.tables(given, "config"),
        (*here, "config"),
        lambda config, where: _of_given_config(config, where, names, server),
        server=server,
        most=MOST_CONFIGS,
    )
    if (selector := raw.part(allocation, "nodeSelector")) is not None:
        yield from of_node_selector(selector, (*loc, "nodeSelector"))


def _of_result(result: Raw, loc: Loc, names: frozenset[str], server: Server) -> Iterator[Problem]:
    yield from of_reference(raw.text(result, "request"), (*loc, "request"), names)
    yield from _of_names(result, loc, server)
    yield from of_conditions(result, loc, server)
    if server.is_at_least(37):
        yield from of_tolerations(result, loc, server)
        yield from of_operations(result, loc, server)


def _of_names(device: Raw, loc: Loc, server: Server) -> Iterator[Problem]:
    yield from of_driver(raw.text(device, "driver"), (*loc, "driver"), server)
    yield from of_pool(raw.text(device, "pool"), (*loc, "pool"))
    yield from of_label(raw.text(device, "device"), (*loc, "device"))
    if (share := raw.said(device, "shareID")) is not None:
        yield from of_uid(share, (*loc, "shareID"))


def _of_given_config(config: Raw, loc: Loc, names: frozenset[str], server: Server) -> Iterator[Problem]:
    source = raw.text(config, "source")
    if not source:
        yield required((*loc, "source"), f"say one of {', '.join(_SOURCES)}")
    elif source not in _SOURCES:
        words = f"`{source}` is not supported: supported values: {', '.join(_SOURCES)}"
        yield Problem((*loc, "source"), Reason.NOT_SUPPORTED, words)
    yield from of_references(config, loc, names, server)
    yield from of_config(config, loc, server)


def _of_device(device: Raw, loc: Loc, allocated: set[tuple[str, ...]], server: Server) -> Iterator[Problem]:
    yield from _of_names(device, loc, server)
    if _device_key(device) not in allocated:
        yield invalid(loc, "must be an allocated device in the claim")
    conditions = raw.tables(device, "conditions")
    if len(conditions) > MOST_CONDITIONS:
        yield too_many((*loc, "conditions"), len(conditions), MOST_CONDITIONS)
    yield from _of_conditions(conditions, (*loc, "conditions"), server)
    if device.get("data") is not None:
        yield from of_object(device["data"], (*loc, "data"), LONGEST_PARAMETERS)
    yield from _of_network(raw.table(device, "networkData"), (*loc, "networkData"), server)


def _of_conditions(conditions: Sequence[Raw], loc: Loc, server: Server) -> Iterator[Problem]:
    """Conditions as every kind of the API has them; 1.37 says more exactly what is missing."""
    is_exact = server.is_at_least(37)
    seen: set[str] = set()
    for place, condition in enumerate(conditions):
        here, name = (*loc, place), raw.text(condition, "type")
        if name in seen:
            where = here if is_exact else (*here, "type")
            yield Problem(where, Reason.DUPLICATE, f'Duplicate value: "{name}"')
        seen.add(name)
        yield from _of_condition(condition, here, is_exact=is_exact)


def _of_condition(condition: Raw, loc: Loc, *, is_exact: bool) -> Iterator[Problem]:
    name, status = raw.text(condition, "type"), raw.text(condition, "status")
    reason = raw.text(condition, "reason")
    if not name and is_exact:
        yield required((*loc, "type"))
    else:
        yield from of_label_key(name, (*loc, "type"))
    if not status and is_exact:
        yield required((*loc, "status"))
    elif status not in _STATUSES:
        words = f"`{status}` is not supported: supported values: {', '.join(_STATUSES)}"
        yield Problem((*loc, "status"), Reason.NOT_SUPPORTED, words)
    if raw.number(condition, "observedGeneration") < 0:
        yield invalid((*loc, "observedGeneration"), "must be greater than or equal to zero")
    if not raw.text(condition, "lastTransitionTime"):
        yield required((*loc, "lastTransitionTime"))
    if not reason:
        yield required((*loc, "reason"))
    elif _REASON.fullmatch(reason) is None:
        yield invalid((*loc, "reason"), f"`{reason}` must be a word of letters, digits, `_`, `,` and `:`")
    for key, longest in (("reason", LONGEST_REASON), ("message", LONGEST_MESSAGE)):
        if len(raw.text(condition, key).encode()) > longest:
            yield too_long((*loc, key), longest)


def _of_network(data: Raw, loc: Loc, server: Server) -> Iterator[Problem]:
    for key, longest in _LONGEST.items():
        if len(raw.text(data, key).encode()) > longest:
            yield too_long((*loc, key), longest)
    yield from each(
        raw.texts(data, "ips"),
        (*loc, "ips"),
        _of_address,
        server=server,
        most=MOST_ADDRESSES,
        key=lambda address: address,
    )


def _of_address(address: str, loc: Loc) -> Iterator[Problem]:
    """An address of an interface with its prefix, such as 192.0.2.7/24, in its shortest form."""
    try:
        found = ipaddress.ip_interface(address)
        canonical = "/" in address and str(found) == address
    except ValueError:
        canonical = False
    if not canonical:
        yield invalid(
            loc, f"`{address}` must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)"
        )
