"""What the server holds the spec of a claim to: requests, constraints and configurations together.

From the validation of ``ResourceClaim`` and ``ResourceClaimTemplate`` in ``resource.k8s.io``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from allotment.devices.server import Gate, Server
from allotment.devices.validation import raw
from allotment.devices.validation.configs import of_config
from allotment.devices.validation.derived import Derived
from allotment.devices.validation.names import of_fully_qualified
from allotment.devices.validation.problems import Loc, Problem, Reason, each, required
from allotment.devices.validation.raw import Raw
from allotment.devices.validation.requests import names_of, of_references, of_requests

MOST_CONSTRAINTS: Final = 32
MOST_CONFIGS: Final = 32
ADMIN_LABEL: Final = "resource.kubernetes.io/admin-access"
_ONE_OF: Final = 'exactly one of "matchAttribute" or "distinctAttribute" is required'


def of_claim_spec(spec: Raw, loc: Loc, server: Server) -> Iterator[Problem]:
    """The spec of a claim, or of the claims that come of a template."""
    devices, below = raw.table(spec, "devices"), (*loc, "devices")
    requests, constraints = raw.tables(devices, "requests"), raw.tables(devices, "constraints")
    names = names_of(requests)
    yield from of_requests(requests, (*below, "requests"), Derived(constraints, server), server)
    yield from each(
        constraints,
        (*below, "constraints"),
        lambda constraint, where: _of_constraint(constraint, where, names, server),
        server=server,
        most=MOST_CONSTRAINTS,
    )
    yield from each(
        raw.tables(devices, "config"),
        (*below, "config"),
        lambda config, where: _of_config(config, where, names, server),
        server=server,
        most=MOST_CONFIGS,
    )


def _of_constraint(constraint: Raw, loc: Loc, names: frozenset[str], server: Server) -> Iterator[Problem]:
    yield from of_references(constraint, loc, names, server)
    for key in ("matchAttribute", "distinctAttribute"):
        if (attribute := raw.said(constraint, key)) is not None:
            yield from of_fully_qualified(attribute, (*loc, key), server)
            return
    if server.has(Gate.CONSUMABLE_CAPACITY):
        yield required(loc, _ONE_OF)
    else:
        yield required((*loc, "matchAttribute"))


def _of_config(config: Raw, loc: Loc, names: frozenset[str], server: Server) -> Iterator[Problem]:
    yield from of_references(config, loc, names, server)
    yield from of_config(config, loc, server)


def of_admin_access(spec: Raw, namespace_labels: Mapping[str, str]) -> Iterator[Problem]:
    """Whether the namespace allows the access to devices in use that a claim asks for."""
    if namespace_labels.get(ADMIN_LABEL) == "true":
        return
    for place, request in enumerate(raw.tables(raw.table(spec, "devices"), "requests")):
        if raw.flag(raw.table(request, "exactly"), "adminAccess"):
            loc: Loc = ("spec", "devices", "requests", place)
            words = f"admin access to devices requires the `{ADMIN_LABEL}: true` label on the namespace"
            yield Problem((*loc, "adminAccess"), Reason.FORBIDDEN, words, at=(*loc, "exactly", "adminAccess"))
            return
