"""What the parts of objects are, as far as they are looked at: mappings, lists of mappings, texts.

An API server holds its objects to schemas; a file that somebody changed by hand is held to this, so that
whoever reads a snapshot later need not ask at every step. A step ends in ``[]`` where each item of a list
is meant; the last one in ``=`` where it is a text, and in ``!`` where it is a text that has to be there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from allotment.documents.checking import Place, RefusedError
from allotment.kubernetes.kinds import Object

_RECENT: Final = 8
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
    "Job": tuple(f"spec.template.{each}" for each in _TEMPLATE),
    "Deployment": tuple(f"spec.template.{each}" for each in _TEMPLATE),
    "Node": ("metadata.labels", "spec.taints[].key=", "status.allocatable", "status.capacity"),
    "Event": ("involvedObject.name=", "involvedObject.namespace=", "reason=", "message="),
    "Workload": (
        "spec.queueName=", *(f"spec.podSets[].template.{each}" for each in _TEMPLATE),
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


@dataclass(frozen=True, slots=True)
class _Step:
    """One step of a path."""

    name: str
    is_list: bool = False
    is_text: bool = False
    is_required: bool = False


def check_shape(value: Object, place: Place) -> None:
    """Tell of every part of an object that is something else than it must be; leave the object then."""
    before = len(place.check.findings)
    for path in (*_STEPS["*"], *_STEPS.get(value["kind"], ())):
        _walk(value, place, path)
    if len(place.check.findings) > before:
        raise RefusedError


def _walk(value: Any, place: Place, path: Sequence[_Step]) -> None:
    """Look at everything on the path."""
    if not isinstance(value, dict):
        _tell(value, place, "a mapping")
        return
    step, rest = path[0], path[1:]
    part, where = value.get(step.name), place / step.name
    if part is None:
        if step.is_required:
            _tell(None, where, "text")
        return
    if not step.is_list:
        _look(part, where, step, rest)
    elif not isinstance(part, list):
        _tell(part, where, "a list")
    else:
        for number, item in enumerate(part):
            _look(item, where / number, step, rest)


def _look(part: Any, where: Place, step: _Step, rest: Sequence[_Step]) -> None:
    if rest:
        _walk(part, where, rest)
    elif not isinstance(part, str if step.is_text else dict):
        _tell(part, where, "text" if step.is_text else "a mapping")


def _tell(part: Any, where: Place, expected: str) -> None:
    """Record the finding once, whichever path led here."""
    position = where.check.document.position(where.loc)
    if any(each.position == position for each in where.check.findings[-_RECENT:]):
        return
    try:
        where.refuse_type(part, expected)
    except RefusedError:
        return


def _path(text: str) -> tuple[_Step, ...]:
    return tuple(map(_step, text.split(".")))


def _step(text: str) -> _Step:
    is_required = text.endswith("!")
    is_text = is_required or text.endswith("=")
    bare = text.rstrip("=!")
    return _Step(bare.removesuffix("[]"), bare.endswith("[]"), is_text, is_required)


_STEPS: Final = {
    "*": tuple(map(_path, _OF_ANY)),
    **{kind: tuple(map(_path, paths)) for kind, paths in _OF.items()},
}
