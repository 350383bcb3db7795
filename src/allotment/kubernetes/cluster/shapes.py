"""What the parts of objects are, as far as they are looked at: mappings, lists of mappings, texts.

An API server holds its objects to schemas; a file that somebody changed by hand is held to this, so that
whoever reads a snapshot later need not ask at every step. A step ends in ``[]`` where each item of a list
is meant; the last one in ``=`` where it is a text, in ``!`` where it is a text that has to be there, and in
``#`` where it is a number from 0 on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from allotment.documents.checking import Place, RefusedError
from allotment.kubernetes.kinds import Object

_OF_ANY: Final = (
    "metadata.namespace=", "metadata.uid=", "metadata.creationTimestamp=", "metadata.labels",
    "metadata.annotations", "metadata.ownerReferences[].name=", "metadata.ownerReferences[].uid=",
    "status.conditions[].type!", "status.conditions[].status!", "status.conditions[].reason=",
    "status.conditions[].message=", "status.conditions[].lastTransitionTime=",
)  # fmt: skip
_TEMPLATE: Final = (
    "metadata", "spec.containers[].resources.requests", "spec.initContainers[].resources.requests",
    "spec.containers[].name=", "spec.resourceClaims[].name=", "spec.schedulingGates[]", "spec.tolerations[]",
    "spec.nodeSelector",
)  # fmt: skip
_GROUPS: Final = (
    "spec.resourceGroups[].coveredResources[]=",
    "spec.resourceGroups[].flavors[].name!",
    "spec.resourceGroups[].flavors[].resources[].name!",
)
_OF: Final[Mapping[str, tuple[str, ...]]] = {
    "Pod": (
        *_TEMPLATE, "spec.nodeName=", "status.phase=", "status.containerStatuses[].state",
        "status.initContainerStatuses[].state", "status.resourceClaimStatuses[].name=",
    ),
    "Job": ("spec.completions#", "spec.parallelism#", *(f"spec.template.{each}" for each in _TEMPLATE)),
    "Deployment": ("spec.replicas#", *(f"spec.template.{each}" for each in _TEMPLATE)),
    "Node": ("metadata.labels", "spec.taints[].key=", "status.allocatable", "status.capacity"),
    "Event": ("involvedObject.name=", "involvedObject.namespace=", "reason=", "message="),
    "Workload": (
        "spec.queueName=", "spec.podSets[].count#",
        *(f"spec.podSets[].template.{each}" for each in _TEMPLATE),
        "status.admission.clusterQueue=", "status.admission.podSetAssignments[].flavors",
        "status.admission.podSetAssignments[].resourceUsage", "status.resourceRequests[].resources",
        "status.reclaimablePods[].name=", "status.requeueState",
    ),
    "LocalQueue": ("spec.clusterQueue=",),
    "ClusterQueue": (
        *_GROUPS, "spec.cohortName=", "spec.stopPolicy=", "spec.fairSharing",
        "status.flavorsReservation[].name!", "status.flavorsReservation[].resources[].name!",
        "status.flavorsUsage[].name!", "status.flavorsUsage[].resources[].name!",
    ),
    "Cohort": (*_GROUPS, "spec.parentName="),
    "Queue": (
        "spec.parentQueue=", "spec.resources.gpu", "spec.resources.cpu", "spec.resources.memory",
        "status.allocated", "status.requested", "status.allocatedNonPreemptible",
    ),
    "PodGroup": ("spec.queue=",),
    "ResourceClaim": (
        "spec.devices.requests[]", "status.allocation.devices.results[]", "status.reservedFor[]",
    ),
    "ResourceClaimTemplate": ("spec.spec.devices.requests[].exactly",),
    "ConfigMap": ("data",),
}  # fmt: skip


@dataclass(slots=True)
class _Part:
    """What stands under a key: a text, or a mapping (with what is ``below`` in it), or a list of such."""

    is_list: bool = False
    is_text: bool = False
    is_required: bool = False
    is_count: bool = False
    below: dict[str, _Part] = field(default_factory=dict)


def check_shape(value: Object, place: Place) -> None:
    """Tell of every part of an object that is something else than it must be; leave the object then."""
    before = len(place.check.findings)
    _walk(value, place, _PARTS.get(value["kind"], _ANY))
    if len(place.check.findings) > before:
        raise RefusedError


def _walk(value: Any, place: Place, parts: Mapping[str, _Part]) -> None:
    """Look at all parts of a mapping."""
    if not isinstance(value, dict):
        _tell(value, place, "a mapping")
        return
    for name, part in parts.items():
        found = value.get(name)
        if found is None:
            if part.is_required:
                _tell(None, place / name, "text")
        elif part.is_list:
            _list(found, place / name, part)
        elif part.below:
            _walk(found, place / name, part.below)
        elif part.is_count:
            if isinstance(found, bool) or not isinstance(found, int) or found < 0:
                _tell(found, place / name, "a number from 0 on")
        elif not isinstance(found, str if part.is_text else dict):
            _tell(found, place / name, "text" if part.is_text else "a mapping")


def _list(found: Any, place: Place, part: _Part) -> None:
    if not isinstance(found, list):
        _tell(found, place, "a list")
        return
    for number, item in enumerate(found):
        if part.below:
            _walk(item, place / number, part.below)
        elif not isinstance(item, str if part.is_text else dict):
            _tell(item, place / number, "text" if part.is_text else "a mapping")


def _tell(part: Any, where: Place, expected: str) -> None:
    try:
        where.refuse_type(part, expected)
    except RefusedError:
        return


def _parts(paths: Iterable[str]) -> Mapping[str, _Part]:
    """The paths as one tree, so that what they have in common is looked at once."""
    root: dict[str, _Part] = {}
    for path in paths:
        level = root
        for step in path.split("."):
            bare = step.rstrip("=!#")
            part = level.setdefault(bare.removesuffix("[]"), _Part(is_list=bare.endswith("[]")))
            part.is_required |= step.endswith("!")
            part.is_text |= step.endswith(("=", "!"))
            part.is_count |= step.endswith("#")
            level = part.below
    return root


_ANY: Final = _parts(_OF_ANY)
_PARTS: Final = {kind: _parts((*_OF_ANY, *paths)) for kind, paths in _OF.items()}
