"""What of an object a snapshot keeps: what decides where pods run, and no more.

People send snapshots to each other. So of pods, and of templates of pods, only what schedulers look at is
kept (no environment, command or volume), of nodes no address and no list of images, and of annotations those
of the schedulers and drivers. Who wrote which field, and what `kubectl apply` last sent, goes from all.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from allotment.kubernetes.kinds import Object
from allotment.kubernetes.render.names import MANAGED_BY

LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"
_METADATA: Final = frozenset({"managedFields", "selfLink"})
_ANNOTATION: Final = re.compile(
    r"(?:[\w.-]*\.)?(?:kueue\.x-k8s\.io|kai\.scheduler|run\.ai|nvidia\.com|kubernetes\.io|allotment)/.*"
    r"|allotment/.*|gpu-.*|mps|pod-group-name|received-resource-type"
)
_POD_SPEC: Final = frozenset(
    {
        "activeDeadlineSeconds", "affinity", "containers", "initContainers", "nodeName", "nodeSelector",
        "overhead", "preemptionPolicy", "priority", "priorityClassName", "resourceClaims", "resources",
        "restartPolicy", "runtimeClassName", "schedulerName", "schedulingGates", "schedulingGroup",
        "terminationGracePeriodSeconds", "tolerations", "topologySpreadConstraints", "workloadRef",
    }
)  # fmt: skip
_CONTAINER: Final = frozenset({"image", "name", "resources", "restartPolicy"})
_POD_STATUS: Final = frozenset(
    {
        "conditions", "containerStatuses", "extendedResourceClaimStatus", "initContainerStatuses", "message",
        "nominatedNodeName", "phase", "qosClass", "reason", "resourceClaimStatuses", "resize", "startTime",
    }
)  # fmt: skip
_NODE_SPEC: Final = frozenset({"taints", "unschedulable"})
_NODE_STATUS: Final = frozenset({"allocatable", "capacity", "conditions", "declaredFeatures"})
_FINISHED: Final = frozenset({"Failed", "Succeeded"})


def is_ours(value: Object) -> bool:
    """Whether this tool made the object, or it belongs to what it made."""
    labels = value["metadata"].get("labels") or {}
    return MANAGED_BY.items() <= labels.items() or any(key.startswith("allotment/") for key in labels)


def is_needed(value: Object) -> bool:
    """Whether the object tells anything: pods of others that have ended hold nothing."""
    if value["kind"] != "Pod" or is_ours(value):
        return True
    return (value.get("status") or {}).get("phase") not in _FINISHED


def kept(value: Object) -> Object:
    """What a snapshot holds of an object."""
    whole = dict(value)
    whole["metadata"] = _metadata(value["metadata"])
    cut = _CUTS.get(str(value["kind"]))
    return whole if cut is None else cut(whole)


def _metadata(value: Mapping[str, Any]) -> dict[str, Any]:
    found = {key: each for key, each in value.items() if key not in _METADATA}
    annotations = {
        key: each
        for key, each in (value.get("annotations") or {}).items()
        if key != LAST_APPLIED and _ANNOTATION.fullmatch(key)
    }
    found.pop("annotations", None)
    return found | ({"annotations": annotations} if annotations else {})


def _pod(value: dict[str, Any]) -> Object:
    return value | _cut(value, "status", _POD_STATUS) | _spec_of(value)


def _node(value: dict[str, Any]) -> Object:
    return value | _cut(value, "spec", _NODE_SPEC) | _cut(value, "status", _NODE_STATUS)


def _with_template(value: dict[str, Any]) -> Object:
    """A Job or a Deployment."""
    spec = value.get("spec") or {}
    if not spec.get("template"):
        return value
    return value | {"spec": {**spec, "template": _template(spec["template"])}}


def _with_pod_sets(value: dict[str, Any]) -> Object:
    """A Workload, of Kueue; Kubernetes' own has no pod sets and stays as it is."""
    spec = value.get("spec") or {}
    if "podSets" not in spec:
        return value
    sets = [
        {**each, "template": _template(each["template"])} if each.get("template") else each
        for each in spec["podSets"] or ()
    ]
    return value | {"spec": {**spec, "podSets": sets}}


def _bare(value: dict[str, Any]) -> Object:
    return {key: value[key] for key in ("apiVersion", "kind", "metadata")}


def _template(value: Mapping[str, Any]) -> dict[str, Any]:
    metadata = _metadata(value["metadata"]) if value.get("metadata") else {}
    return ({"metadata": metadata} if metadata else {}) | _spec_of(value)


def _spec_of(value: Mapping[str, Any]) -> dict[str, Any]:
    """A pod's spec."""
    if "spec" not in value:
        return {}
    spec = {key: each for key, each in (value["spec"] or {}).items() if key in _POD_SPEC}
    for containers in ("containers", "initContainers"):
        if containers in spec:
            spec[containers] = [
                {key: each for key, each in container.items() if key in _CONTAINER}
                for container in spec[containers] or ()
            ]
    return {"spec": spec}


def _cut(value: Mapping[str, Any], part: str, keys: frozenset[str]) -> dict[str, Any]:
    if part not in value:
        return {}
    return {part: {key: each for key, each in (value[part] or {}).items() if key in keys}}


_CUTS: Final[Mapping[str, Callable[[dict[str, Any]], Object]]] = {
    "Pod": _pod,
    "Node": _node,
    "Job": _with_template,
    "Deployment": _with_template,
    "Workload": _with_pod_sets,
    "Namespace": _bare,
}
