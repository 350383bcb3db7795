"""What one pod of a rendered Job or Deployment asks a queue for, and how many of its pods start together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from allotment.kubernetes.apply.groups import by_address, notes_on
from allotment.kubernetes.cluster.quota import RESOURCE
from allotment.kubernetes.kinds import CLAIM, CLAIM_TEMPLATE, Object
from allotment.kubernetes.render.context import Context
from allotment.kubernetes.render.placing import MIN_MEMBER, MIN_PARALLELISM
from allotment.quantities import parse_exact

REFERENCES: Final = (("resourceClaimTemplateName", CLAIM_TEMPLATE), ("resourceClaimName", CLAIM))
FRACTION: Final = "gpu-fraction"
CARDS: Final = RESOURCE


@dataclass(frozen=True, slots=True)
class DeviceRequest:
    """Devices of one class; ``count`` is None for all of them."""

    device_class: str
    count: int | None


def template_of(value: Object) -> Mapping[str, Any]:
    """The pod template of a Job or Deployment; empty for what has no pods."""
    found: Mapping[str, Any] = (value.get("spec") or {}).get("template") or {}
    return found if "spec" in found else {}


def claims_named(value: Object) -> Iterator[tuple[str, str]]:
    """The addresses of the claims and claim templates that its pods name."""
    for claim in template_of(value).get("spec", {}).get("resourceClaims") or ():
        for key, kind in REFERENCES:
            if key in claim:
                yield kind.shown, claim[key]


def device_requests(claim: Object) -> Iterator[DeviceRequest]:
    """What a claim or claim template asks for; each of a list of alternatives."""
    spec = claim["spec"]
    devices = (spec.get("spec") or spec).get("devices") or {}
    for request in devices.get("requests") or ():
        for one in (request["exactly"],) if "exactly" in request else request.get("firstAvailable") or ():
            count = None if one.get("allocationMode") == "All" else int(one.get("count", 1))
            yield DeviceRequest(str(one["deviceClassName"]), count)


def per_pod(value: Object, claims: Mapping[tuple[str, str], Object]) -> Mapping[str, Fraction]:
    """What one pod requests, by resource; cards of all kinds are one."""
    template = template_of(value)
    found: dict[str, Fraction] = {}
    for container in template.get("spec", {}).get("containers") or ():
        for name, amount in ((container.get("resources") or {}).get("requests") or {}).items():
            found[name] = found.get(name, Fraction(0)) + parse_exact(amount)
    cards = Fraction(0)
    for address in claims_named(value):
        if address in claims:
            cards += sum(request.count or 1 for request in device_requests(claims[address]))
    fraction = ((template.get("metadata") or {}).get("annotations") or {}).get(FRACTION)
    cards += parse_exact(fraction) if fraction is not None else 0
    return {**found, **({CARDS: cards} if cards else {})}


def pods_together(context: Context, value: Object) -> int:
    """How many pods are admitted together or not at all: without such a rule, one."""
    if value["kind"] != "Job":
        return 1
    notes = notes_on(value)
    if context.with_kueue:
        return int(notes.get(MIN_PARALLELISM) or value["spec"].get("parallelism", 1))
    return int(notes.get(MIN_MEMBER, 1)) if context.with_kai else 1


def claims_among(objects: tuple[Object, ...]) -> Mapping[tuple[str, str], Object]:
    """The claims and claim templates of rendered objects."""
    return by_address(each for each in objects if each["kind"] in {CLAIM.name, CLAIM_TEMPLATE.name})
