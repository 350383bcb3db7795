"""Cards that a pod asks for as an extended resource, and that a scheduler gives through a DeviceClass.

A pod says ``limits: {example.com/gpu: 2}`` and names no claim. A class stands for that resource when it says
so (``extendedResourceName``), and every class stands for ``deviceclass.resource.kubernetes.io/<its name>``.
Where a node has no device plugin for the resource, the scheduler makes one claim for the whole pod, with a
request for each container, and writes down which container gets which request (KEP 5004). Init containers
that end before the others begin use devices of those, and the largest of what they still need once for all of
them. The names of the requests are those that kube-scheduler 1.36 and 1.37 give.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from allotment.devices.claims import ClaimSpec, ExactRequest, Request
from allotment.devices.classes import DeviceClass
from allotment.devices.rules import amount
from allotment.devices.validation.classes import is_extended_resource

PREFIX: Final = "deviceclass.resource.kubernetes.io/"
ANNOTATION: Final = "resource.kubernetes.io/extended-resource-claim"
_UNIT: Final = 10**9


@dataclass(frozen=True, slots=True)
class Container:
    """A container of a pod: what it requests, and whether it is over before the others begin.

    A sidecar is an init container that goes on: it counts with the others.
    """

    name: str
    requests: Mapping[str, str] = field(default_factory=dict, hash=False)
    is_init: bool = False
    is_sidecar: bool = False

    @property
    def ends_early(self) -> bool:
        """Whether its devices are free again when the others begin."""
        return self.is_init and not self.is_sidecar

    def count(self, resource: str) -> int:
        """How many of a resource it wants; what is no whole number is none."""
        wanted = amount(self.requests.get(resource, "0"))
        return 0 if wanted is None or wanted.nanos % _UNIT else wanted.nanos // _UNIT


class RequestMapping(NamedTuple):
    """Which request of the claim serves a container with a resource."""

    container: str
    resource: str
    request: str

    def to_dict(self) -> dict[str, str]:
        """The mapping as ``status.extendedResourceClaimStatus`` of a pod has it."""
        return {"containerName": self.container, "resourceName": self.resource, "requestName": self.request}


@dataclass(frozen=True, slots=True)
class ExtendedClaim:
    """The claim for a pod's extended resources, and who gets what of it."""

    spec: ClaimSpec
    mappings: tuple[RequestMapping, ...] = ()

    def to_dict(self, pod: str, namespace: str, uid: str = "") -> dict[str, Any]:
        """The claim as the scheduler creates it, owned by its pod."""
        owner = {"apiVersion": "v1", "kind": "Pod", "name": pod, "uid": uid, "controller": True}
        return {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceClaim",
            "metadata": {
                "generateName": f"{pod}-extended-resources-",
                "namespace": namespace,
                "annotations": {ANNOTATION: "true"},
                "ownerReferences": [owner],
            },
            "spec": self.spec.to_dict(),
        }


def containers_of(pod_spec: Mapping[str, Any]) -> tuple[Container, ...]:
    """The containers of a pod, the init containers first; a limit without a request is a request too."""
    return tuple(
        _container(each, is_init=key == "initContainers")
        for key in ("initContainers", "containers")
        for each in pod_spec.get(key) or ()
    )


def _container(value: Mapping[str, Any], *, is_init: bool) -> Container:
    resources = value.get("resources") or {}
    said = {**(resources.get("limits") or {}), **(resources.get("requests") or {})}
    return Container(
        str(value.get("name") or ""),
        {name: str(quantity) for name, quantity in said.items()},
        is_init,
        is_init and value.get("restartPolicy") == "Always",
    )


def classes_by_resource(classes: Iterable[DeviceClass]) -> dict[str, DeviceClass]:
    """Which class stands for which resource; of two for one the newer, and of two as old the lower name."""
    found: dict[str, DeviceClass] = {}
    for each in sorted(classes, key=lambda one: one.name, reverse=True):
        found[f"{PREFIX}{each.name}"] = each
        if each.extended_resource_name is None:
            continue
        known = found.get(each.extended_resource_name)
        if known is None or _created(each) >= _created(known):
            found[each.extended_resource_name] = each
    return found


def _created(one: DeviceClass) -> str:
    return str(one.metadata.get("creationTimestamp") or "")


def resource_names(containers: Iterable[Container]) -> tuple[str, ...]:
    """The extended resources that a pod asks for, those of classes included, in order."""
    names = {name for each in containers for name in each.requests if each.count(name)}
    return tuple(sorted(name for name in names if name.startswith(PREFIX) or is_extended_resource(name)))


class Served(NamedTuple):
    """How a node serves the extended resources of a pod."""

    by_class: tuple[str, ...] = ()
    by_plugin: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


def served_by(
    names: Iterable[str], classes: Mapping[str, DeviceClass], allocatable: Mapping[str, str]
) -> Served:
    """Who serves each resource on a node: a device plugin where it says how many it has, else a class."""
    parts: dict[str, list[str]] = {"by_class": [], "by_plugin": [], "missing": []}
    for name in names:
        plugin = amount(allocatable.get(name, "0"))
        if name in classes and (plugin is None or not plugin.nanos):
            parts["by_class"].append(name)
        else:
            parts["by_plugin" if name in allocatable else "missing"].append(name)
    return Served(**{key: tuple(listed) for key, listed in parts.items()})


def extended_claim(
    containers: Sequence[Container], names: Iterable[str], classes: Mapping[str, DeviceClass]
) -> ExtendedClaim:
    """The claim for these resources; a resource for which no class stands is passed over."""
    requests: list[Request] = []
    mappings: list[RequestMapping] = []
    for name in sorted(names):
        if (found := classes.get(name)) is not None:
            made, served = _of_resource(containers, name, found.name)
            requests += made
            mappings += served
    ordered = tuple(sorted(requests, key=lambda request: request.name))
    return ExtendedClaim(ClaimSpec(ordered), tuple(mappings))


@dataclass(frozen=True, slots=True)
class _Need:
    """What a container gets: what others have, and devices of its own under a name."""

    shared: tuple[str, ...]
    name: str
    count: int


def _of_resource(
    containers: Sequence[Container], resource: str, device_class: str
) -> tuple[list[Request], list[RequestMapping]]:
    lasting = {
        place: _Need((), _request_name(place, each, resource), each.count(resource))
        for place, each in enumerate(containers)
        if not each.ends_early and each.count(resource)
    }
    early = {
        place: _after_sharing(place, each, resource, lasting)
        for place, each in enumerate(containers)
        if each.ends_early and each.count(resource)
    }
    largest = max(early.values(), key=lambda need: need.count, default=None)  # of equals the first
    needs = [*lasting.values()]
    if largest is not None and largest.count:
        needs.append(largest)
    requests = [Request(need.name, ExactRequest(device_class, count=need.count)) for need in needs]
    shared_name = largest.name if largest is not None else ""
    mappings = [
        RequestMapping(containers[place].name, resource, name)
        for place, name in _served(lasting, early, shared_name)
    ]
    return requests, mappings


def _after_sharing(place: int, container: Container, resource: str, lasting: Mapping[int, _Need]) -> _Need:
    """What an init container needs beside the devices of the containers after it, taken in their order."""
    left, shared = container.count(resource), []
    for other, need in lasting.items():
        if other >= place and left > 0:
            shared.append(need.name)
            left -= need.count
    return _Need(tuple(shared), _request_name(place, container, resource), max(left, 0))


def _served(
    lasting: Mapping[int, _Need], early: Mapping[int, _Need], shared_name: str
) -> Iterator[tuple[int, str]]:
    yield from ((place, need.name) for place, need in lasting.items())
    for place, need in early.items():
        yield from ((place, name) for name in need.shared)
        if need.count:
            yield place, shared_name


def _request_name(place: int, container: Container, resource: str) -> str:
    return f"container-{place}-request-{sorted(container.requests).index(resource)}"
