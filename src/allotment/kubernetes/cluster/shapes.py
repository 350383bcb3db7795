"""What the parts of objects are, as far as they are looked at: mappings, lists of mappings, texts, amounts.

An API server holds its objects to schemas; a file that somebody changed by hand is held to this, so that
whoever reads a snapshot later need not ask at every step. A step ends in ``[]`` where each item of a list
is meant, and is ``*`` where each value of a mapping is. The last one ends in a mark that says what is to be
there (``FORMS``), and in ``!`` where it has to be there; without a mark it is a mapping.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from allotment.documents.checking import Place, RefusedError
from allotment.kubernetes.cluster.file import time_of
from allotment.kubernetes.cluster.kai_objects import duration
from allotment.kubernetes.kinds import Object
from allotment.quantities.kubernetes import Quantity
from allotment.quantities.quantity_text import QuantityTextError

_OF_ANY: Final = (
    "metadata.namespace=", "metadata.uid=", "metadata.creationTimestamp@", "metadata.deletionTimestamp@",
    "metadata.labels.*=", "metadata.annotations.*=", "metadata.ownerReferences[].name=",
    "metadata.ownerReferences[].uid=", "status.conditions[].type=!", "status.conditions[].status=!",
    "status.conditions[].reason=", "status.conditions[].message=", "status.conditions[].lastTransitionTime@",
)  # fmt: skip
_TOLERATIONS: Final = tuple(f"tolerations[].{each}=" for each in ("key", "operator", "value", "effect"))
_TERMS: Final = tuple(
    f"{match}[].{each}"
    for match in ("matchExpressions", "matchFields")
    for each in ("key=!", "operator=!", "values[]=")
)
_REQUIRED: Final = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED: Final = "spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[]"
_TEMPLATE: Final = (
    "metadata", "spec.containers[].resources.requests.*~", "spec.initContainers[].resources.requests.*~",
    "spec.initContainers[].restartPolicy=", "spec.resources.requests.*~", "spec.overhead.*~",
    "spec.containers[].name=", "spec.resourceClaims[].name=", "spec.schedulingGates[]",
    "spec.nodeSelector.*=", "spec.priority&", "spec.priorityClassName=", "spec.schedulerName=",
    *(f"spec.{each}" for each in _TOLERATIONS),
    *(f"{_REQUIRED}.nodeSelectorTerms[].{each}" for each in _TERMS),
    f"{_PREFERRED}.weight#!", *(f"{_PREFERRED}.preference.{each}" for each in _TERMS),
)  # fmt: skip
_TAINTS: Final = ("key=!", "value=", "effect=")
_GROUPS: Final = (
    "spec.resourceGroups[].coveredResources[]=",
    "spec.resourceGroups[].flavors[].name=!",
    "spec.resourceGroups[].flavors[].resources[].name=!",
    *(
        f"spec.resourceGroups[].flavors[].resources[].{each}~"
        for each in ("nominalQuota", "borrowingLimit", "lendingLimit")
    ),
    "spec.fairSharing.weight~",
)
_TOGETHER: Final = tuple(
    f"topologyConstraint.{each}=" for each in ("topology", "requiredTopologyLevel", "preferredTopologyLevel")
)
_OF: Final[Mapping[str, tuple[str, ...]]] = {
    "Pod": (
        *_TEMPLATE, "spec.nodeName=", "status.phase=", "status.startTime@",
        "status.containerStatuses[].state", "status.initContainerStatuses[].state",
        "status.resourceClaimStatuses[].name=",
    ),
    "Job": (
        "spec.completions#", "spec.parallelism#", "status.startTime@", "status.completedIndexes=",
        "status.failedIndexes=", *(f"spec.template.{each}" for each in _TEMPLATE),
    ),
    "Deployment": ("spec.replicas#", *(f"spec.template.{each}" for each in _TEMPLATE)),
    "Node": (
        *(f"spec.taints[].{each}" for each in _TAINTS), "status.allocatable.*~", "status.capacity.*~",
    ),
    "Event": ("involvedObject.name=", "involvedObject.namespace=", "reason=", "message="),
    "PriorityClass": ("value&",),
    "WorkloadPriorityClass": ("value&",),
    "Workload": (
        "spec.queueName=", "spec.priority&", "spec.podSets[].name=", "spec.podSets[].count#",
        "spec.podSets[].minCount#",
        *(f"spec.podSets[].template.{each}" for each in _TEMPLATE),
        "status.admission.clusterQueue=", "status.admission.podSetAssignments[].flavors.*=",
        "status.admission.podSetAssignments[].resourceUsage.*~", "status.resourceRequests[].resources.*~",
        "status.reclaimablePods[].name=", "status.requeueState.requeueAt@",
    ),
    "ResourceFlavor": (
        "spec.nodeLabels.*=", "spec.topologyName=", *(f"spec.nodeTaints[].{each}" for each in _TAINTS),
        *(f"spec.{each}" for each in _TOLERATIONS),
    ),
    "LocalQueue": ("spec.clusterQueue=", "spec.stopPolicy=", "spec.fairSharing.weight~"),
    "ClusterQueue": (
        *_GROUPS, "spec.cohortName=", "spec.stopPolicy=",
        "status.flavorsReservation[].name=!", "status.flavorsReservation[].resources[].name=!",
        "status.flavorsUsage[].name=!", "status.flavorsUsage[].resources[].name=!",
    ),
    "Cohort": (*_GROUPS, "spec.parentName="),
    "Topology": ("spec.levels[].nodeLabel=!",),
    "Queue": (
        "spec.parentQueue=", "spec.priority&", "spec.reclaimMinRuntime^", "spec.preemptMinRuntime^",
        *(
            f"spec.resources.{of}.{each}%"
            for of in ("gpu", "cpu", "memory")
            for each in ("quota", "limit", "overQuotaWeight")
        ),
        "status.allocated", "status.requested", "status.allocatedNonPreemptible",
    ),
    "PodGroup": (
        "spec.queue=", "spec.minMember#", "spec.minSubGroup#", "spec.priorityClassName=",
        "spec.preemptibility=", "spec.subGroups[].name=!", "spec.subGroups[].minMember#",
        "spec.subGroups[].minSubGroup#", "spec.subGroups[].parent=",
        *(f"spec.{each}" for each in _TOGETHER), *(f"spec.subGroups[].{each}" for each in _TOGETHER),
    ),
    "ResourceClaim": (
        "spec.devices.requests[]", "status.allocation.devices.results[]", "status.reservedFor[]",
    ),
    "ResourceClaimTemplate": ("spec.spec.devices.requests[].exactly",),
    "ConfigMap": ("data",),
}  # fmt: skip


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_quantity(value: Any) -> bool:
    if not isinstance(value, str) and not _is_number(value):
        return False
    try:
        Quantity.parse(str(value))
    except QuantityTextError:
        return False
    return True


def _is_duration(value: Any) -> bool:
    try:
        return isinstance(value, str) and duration(value, 0.0) is not None
    except ValueError:
        return False


FORMS: Final[Mapping[str, tuple[str, Callable[[Any], bool]]]] = {
    "": ("a mapping", lambda value: isinstance(value, dict)),
    "=": ("text", lambda value: isinstance(value, str)),
    "#": ("a number from 0 on", lambda value: _is_whole(value) and value >= 0),
    "&": ("a whole number", _is_whole),
    "%": ("a number", _is_number),
    "~": ("a quantity, such as 40Gi", _is_quantity),
    "@": (
        "a time, such as 2026-11-30T12:00:00Z",
        lambda value: isinstance(value, str) and time_of(value) is not None,
    ),
    "^": ("a duration, such as 10m0s", _is_duration),
}
"""What a part may be by its mark: in words, and whether a value is one."""
ANY: Final = "*"


@dataclass(slots=True)
class _Part:
    """What stands under a key: a value of a form, or a mapping (with what is ``below`` in it), or a list."""

    form: str = ""
    is_list: bool = False
    is_required: bool = False
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
        if name == ANY:
            for key, each in value.items():
                _value(each, place / str(key), part)
            continue
        found = value.get(name)
        if found is not None:
            _part(found, place / name, part)
        elif part.is_required:
            _tell(None, place / name, FORMS[part.form][0])


def _part(found: Any, place: Place, part: _Part) -> None:
    if not part.is_list:
        _value(found, place, part)
    elif not isinstance(found, list):
        _tell(found, place, "a list")
    else:
        for number, item in enumerate(found):
            _value(item, place / number, part)


def _value(value: Any, place: Place, part: _Part) -> None:
    if part.below:
        _walk(value, place, part.below)
        return
    words, fits = FORMS[part.form]
    if not fits(value):
        _tell(value, place, words)


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
            bare = step.removesuffix("!")
            form = bare[-1:] if bare[-1:] in FORMS else ""
            bare = bare.removesuffix(form)
            part = level.setdefault(bare.removesuffix("[]"), _Part(form, bare.endswith("[]")))
            part.is_required |= step.endswith("!")
            level = part.below
    return root


_ANY: Final = _parts(_OF_ANY)
_PARTS: Final = {kind: _parts((*_OF_ANY, *paths)) for kind, paths in _OF.items()}
