"""The claim of a pod that counted: the same devices for the same containers.

Each container has cards of its own, a sidecar too. An init container that ends before the others begin uses
devices of theirs, and what it needs beyond that is there for the largest of them once: the sums are those
that the scheduler does for extended resources, so that a claim takes no card that the counts did not take.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from allotment.devices.claims import ClaimSpec, ExactRequest, Request
from allotment.devices.classes import DeviceClass
from allotment.devices.extended_resources import Container, RequestMapping, extended_claim
from allotment.kubernetes.convert.counted import Counted
from allotment.kubernetes.convert.pods import PodPlace
from allotment.kubernetes.convert.refusals import resources_of
from allotment.kubernetes.convert.tree import Path

MOST_DEVICES: Final = 32  # of one claim
_LONGEST_NAME: Final = 63
CLAIM: Final = "gpu"


@dataclass(frozen=True, slots=True)
class PodClaim:
    """The claim's spec, and for each container which requests serve it."""

    spec: ClaimSpec
    mappings: tuple[RequestMapping, ...]

    @property
    def devices(self) -> int:
        """How many devices it takes."""
        return sum(_exact(each).count for each in self.spec.requests)

    def of(self, container: str) -> tuple[RequestMapping, ...]:
        """What serves a container."""
        return tuple(each for each in self.mappings if each.container == container)

    def items(self, container: str, claim: str) -> list[dict[str, str]]:
        """What ``resources.claims`` of a container says; of a claim with one request its name is enough."""
        if len(self.spec.requests) == 1:
            return [{"name": claim}]
        names = dict.fromkeys(each.request for each in self.of(container))
        return [{"name": claim, "request": name} for name in names]

    def request(self, name: str) -> ExactRequest:
        """What a request asks for."""
        return _exact(next(each for each in self.spec.requests if each.name == name))


def pod_claim(place: PodPlace, kinds: Mapping[str, Counted], selectors: Iterable[str]) -> PodClaim:
    """The claim for what a pod counts; the selectors are for NVIDIA's devices, which have such labels."""
    containers = [_container(path, each) for path, each in place.containers()]
    classes = {name: DeviceClass(kind.device_class) for name, kind in kinds.items()}
    made = extended_claim(containers, kinds, classes)
    resource_of = {each.request: each.resource for each in made.mappings}
    names = _names(made.mappings, [each.name for each in made.spec.requests], kinds)
    asked = tuple(selectors)
    requests = []
    for each in made.spec.requests:
        kind = kinds[resource_of[each.name]]
        own = tuple(dict.fromkeys((*kind.selectors, *(asked if kind.is_nvidia else ()))))
        requests.append(Request(names[each.name], replace(_exact(each), selectors=own)))
    mappings = tuple(each._replace(request=names[each.request]) for each in made.mappings)
    return PodClaim(ClaimSpec(tuple(requests)), mappings)


def template(place: PodPlace, name: str, claim: PodClaim) -> dict[str, Any]:
    """The template that stands beside the object, in its namespace."""
    value = claim.spec.to_template(name)
    namespace = place.metadata.get("namespace")
    if namespace is not None:
        value["metadata"]["namespace"] = str(namespace)
    return value


def free_name(wanted: str, taken: Iterable[str]) -> str:
    """The name, or the first with a number behind it that nobody has."""
    known = set(taken)
    number, name = 2, wanted[:_LONGEST_NAME].rstrip("-.")
    while name in known:
        end = f"-{number}"
        name = wanted[: _LONGEST_NAME - len(end)].rstrip("-.") + end
        number += 1
    return name


def _names(
    mappings: Iterable[RequestMapping], requests: list[str], kinds: Mapping[str, Counted]
) -> dict[str, str]:
    """Names that people can read: of the container that has the devices, and of what they are if need be."""
    if len(requests) == 1:
        return {requests[0]: CLAIM}
    listed = list(mappings)
    owners: dict[str, RequestMapping] = {}
    for each in listed:
        owners.setdefault(each.request, each)
    several = len({each.resource for each in listed}) > 1
    names: dict[str, str] = {}
    for request in requests:
        owner = owners[request]
        wanted = f"{owner.container}-{kinds[owner.resource].noun}" if several else owner.container or CLAIM
        names[request] = free_name(wanted, names.values())
    return names


def _container(path: Path, value: Mapping[str, Any]) -> Container:
    is_init = path[-2] == "initContainers"
    counts = {name: str(said.get("limits", 0)) for name, said in resources_of(value).items()}
    is_sidecar = is_init and value.get("restartPolicy") == "Always"
    return Container(str(value.get("name") or ""), counts, is_init, is_sidecar)


def _exact(request: Request) -> ExactRequest:
    if request.exactly is None:
        raise ValueError("a counted resource asks for one kind of device")
    return request.exactly
