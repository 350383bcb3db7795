"""What the server holds the requests of a claim to.

From the validation of ``DeviceRequest``, ``ExactDeviceRequest`` and ``DeviceSubRequest`` in
``resource.k8s.io``. Mode and count are looked at with their defaults filled in.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from allotment.devices.server import Server
from allotment.devices.validation import raw
from allotment.devices.validation.derived import Derived
from allotment.devices.validation.names import of_class_name, of_label
from allotment.devices.validation.problems import Loc, Problem, Reason, each, invalid, required
from allotment.devices.validation.raw import Raw
from allotment.devices.validation.selectors import of_selectors
from allotment.devices.validation.taints import of_tolerations
from allotment.errors import did_you_mean
from allotment.quantities.kubernetes import Quantity
from allotment.quantities.quantity_text import QuantityTextError

MOST_REQUESTS: Final = 32
MOST_ALTERNATIVES: Final = 8
EXACT_COUNT: Final = "ExactCount"
ALL: Final = "All"
_ONE_OF: Final = "exactly one of `exactly` or `firstAvailable` is required"
REFERENCE: Final = (
    "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"
)


def of_requests(requests: Sequence[Raw], loc: Loc, derived: Derived, server: Server) -> Iterator[Problem]:
    """All requests of a claim."""
    yield from each(
        requests,
        loc,
        lambda request, where: _of_request(request, where, derived, server),
        server=server,
        most=MOST_REQUESTS,
        key=lambda request: raw.text(request, "name"),
        named="name",
    )


def _of_request(request: Raw, loc: Loc, derived: Derived, server: Server) -> Iterator[Problem]:
    name = raw.text(request, "name")
    yield from of_label(name, (*loc, "name"))
    exactly, alternatives = raw.part(request, "exactly"), raw.tables(request, "firstAvailable")
    if exactly is None and not alternatives:
        yield required(loc, _ONE_OF)
        return
    if exactly is not None and alternatives:
        yield invalid(loc, f"{_ONE_OF}, but multiple fields are set")
        if server.is_at_least(35):
            return
    if exactly is not None:
        yield from _of_exact(exactly, (*loc, "exactly"), server)
        yield from derived.of_request(exactly, (*loc, "exactly"), name)
    yield from each(
        alternatives,
        (*loc, "firstAvailable"),
        lambda sub, where: _of_alternative(sub, where, name, derived, server),
        server=server,
        most=MOST_ALTERNATIVES,
        key=lambda sub: raw.text(sub, "name"),
        named="name",
    )


def _of_alternative(sub: Raw, loc: Loc, request: str, derived: Derived, server: Server) -> Iterator[Problem]:
    name = raw.text(sub, "name")
    yield from of_label(name, (*loc, "name"))
    yield from _of_exact(sub, loc, server)
    yield from derived.of_request(sub, loc, f"{request}/{name}")


def _of_exact(exact: Raw, loc: Loc, server: Server) -> Iterator[Problem]:
    yield from of_class_name(raw.text(exact, "deviceClassName"), (*loc, "deviceClassName"))
    yield from of_selectors(exact, loc, server)
    yield from _of_count(exact, loc)
    yield from of_tolerations(exact, loc, server)
    for key in (requests := raw.table(raw.table(exact, "capacity"), "requests")):
        yield from of_quantity(raw.quantity(requests, key), (*loc, "capacity", "requests", key))


def _of_count(exact: Raw, loc: Loc) -> Iterator[Problem]:
    mode, count = raw.text(exact, "allocationMode") or EXACT_COUNT, raw.number(exact, "count")
    if mode == ALL:
        if count:
            yield invalid((*loc, "count"), f"{count} must not be specified when allocationMode is 'All'")
    elif mode != EXACT_COUNT:
        words = f'`{mode}` is not supported: supported values: "All", "ExactCount"'
        hint = did_you_mean(mode, (ALL, EXACT_COUNT))
        yield Problem((*loc, "allocationMode"), Reason.NOT_SUPPORTED, words, hint)
    elif count < 0:
        yield invalid((*loc, "count"), f"{count} must be greater than zero")


def of_quantity(text: str | None, loc: Loc) -> Iterator[Problem]:
    """A quantity: one that cannot be read is refused before any rule is looked at."""
    try:
        if text is not None:
            Quantity.parse(text)
    except QuantityTextError:
        yield Problem(loc, Reason.UNREADABLE, f"`{text}` is no quantity, such as 40Gi")


def names_of(requests: Sequence[Raw]) -> frozenset[str]:
    """What constraints and configurations can refer to: requests, and alternatives of requests."""
    alternatives = {
        raw.text(request, "name"): raw.tables(request, "firstAvailable") for request in requests
    }  # of two requests with one name the later counts
    below = (f"{name}/{raw.text(sub, 'name')}" for name, subs in alternatives.items() for sub in subs)
    return frozenset((*alternatives, *below))


def of_reference(name: str, loc: Loc, names: frozenset[str]) -> Iterator[Problem]:
    """A request that something refers to."""
    parts = name.split("/")
    if len(parts) <= 2:
        for one in parts:
            yield from of_label(one, loc)
    if name not in names:
        yield invalid(loc, f"`{name}` {REFERENCE}", did_you_mean(name, names))


def of_references(value: Raw, loc: Loc, names: frozenset[str], server: Server) -> Iterator[Problem]:
    """The requests that a constraint or a configuration is for."""
    yield from each(
        raw.texts(value, "requests"),
        (*loc, "requests"),
        lambda name, where: of_reference(name, where, names),
        server=server,
        most=MOST_REQUESTS,
        key=lambda name: name,
    )
