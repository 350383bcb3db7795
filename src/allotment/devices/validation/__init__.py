"""The rules of an API server on the objects of ``resource.k8s.io``, by its version and feature gates.

    verdict = validate("ResourceClaim", value, server=Server.of("1.36"))
    [str(problem) for problem in verdict.problems]

An object that an API server would refuse is better refused before it is asked. The rules are those of
``pkg/apis/resource/validation`` and of the tags of ``k8s.io/api/resource`` that a server goes by, of
Kubernetes 1.34 to 1.37: every place and every kind of problem as the server has them, in words of our own.
Objects of older versions are looked at in the form of ``v1``, as the server does after it has converted them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final, NamedTuple

from allotment.devices.server import ANY_SERVER, Gate, Server
from allotment.devices.validation import raw
from allotment.devices.validation.claims import of_admin_access, of_claim_spec
from allotment.devices.validation.classes import of_class_spec
from allotment.devices.validation.gated import Dropped, without_gated
from allotment.devices.validation.metadata import of_metadata, of_template_metadata
from allotment.devices.validation.problems import Problem, Reason
from allotment.devices.validation.raw import Raw
from allotment.devices.validation.slices import of_slice_spec
from allotment.devices.validation.status import of_status
from allotment.devices.validation.taints import of_rule
from allotment.devices.versions import NEWEST, newest_form

__all__ = ["ANY_SERVER", "Dropped", "Gate", "Problem", "Reason", "Server", "Verdict", "validate"]

Rules = Callable[[Raw, Server], Iterator[Problem]]


class Verdict(NamedTuple):
    """What a server finds wrong with an object, and which fields it takes out without a word."""

    problems: tuple[Problem, ...]
    dropped: tuple[Dropped, ...] = ()


def validate(
    kind: str,
    value: Raw,
    *,
    version: str = NEWEST,
    server: Server = ANY_SERVER,
    namespace_labels: Mapping[str, str] | None = None,
) -> Verdict:
    """What a server says to a new object of a kind; ``namespace_labels`` where those are known."""
    form = newest_form(kind, value, version)
    kept, dropped = without_gated(kind, form, server)
    problems = tuple(_RULES[kind](kept, server)) if kind in _RULES else ()
    if namespace_labels is not None and (spec := _claim_spec(kind, kept)) is not None:
        problems = (*of_admin_access(spec, namespace_labels), *problems)
    return Verdict(problems, dropped)


def _claim_spec(kind: str, value: Raw) -> Raw | None:
    if kind == "ResourceClaim":
        return raw.table(value, "spec")
    return raw.table(raw.table(value, "spec"), "spec") if kind == "ResourceClaimTemplate" else None


def _of_claim(value: Raw, server: Server) -> Iterator[Problem]:
    yield from of_metadata(raw.table(value, "metadata"), namespaced=True)
    yield from of_claim_spec(raw.table(value, "spec"), ("spec",), server)
    yield from of_status(value, server)


def _of_template(value: Raw, server: Server) -> Iterator[Problem]:
    spec = raw.table(value, "spec")
    yield from of_metadata(raw.table(value, "metadata"), namespaced=True)
    yield from of_template_metadata(raw.table(spec, "metadata"), ("spec", "metadata"))
    yield from of_claim_spec(raw.table(spec, "spec"), ("spec", "spec"), server)


def _of_class(value: Raw, server: Server) -> Iterator[Problem]:
    yield from of_metadata(raw.table(value, "metadata"), namespaced=False)
    yield from of_class_spec(raw.table(value, "spec"), ("spec",), server)


def _of_slice(value: Raw, server: Server) -> Iterator[Problem]:
    yield from of_metadata(raw.table(value, "metadata"), namespaced=False)
    yield from of_slice_spec(raw.table(value, "spec"), ("spec",), server)


def _of_rule(value: Raw, server: Server) -> Iterator[Problem]:
    yield from of_metadata(raw.table(value, "metadata"), namespaced=False)
    yield from of_rule(raw.table(value, "spec"), ("spec",), server)


_RULES: Final[Mapping[str, Rules]] = {
    "ResourceClaim": _of_claim,
    "ResourceClaimTemplate": _of_template,
    "DeviceClass": _of_class,
    "ResourceSlice": _of_slice,
    "DeviceTaintRule": _of_rule,
}
