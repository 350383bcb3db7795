"""What an API server fills in where an object says nothing.

From ``pkg/apis/core/v1/defaults.go`` and ``pkg/apis/batch/v1/defaults.go`` of Kubernetes 1.36, for the
fields of pods and Jobs that batch work has. Fields that Go always writes are filled in as well.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any, Final

from allotment.devices.validation.defaults import with_defaults as with_device_defaults

Object = dict[str, Any]
_RBAC: Final = "rbac.authorization.k8s.io"
_NO_BACKOFF: Final = 2147483647
_COUNTS: Final = frozenset({"active", "succeeded", "failed"})
_MODE: Final = 0o644


def with_defaults(kind: str, value: Mapping[str, Any], empty: Mapping[str, Any]) -> Object:
    """The object with what the server fills in; ``empty`` is what an object of the kind has in any case."""
    filled = _with_empty(copy.deepcopy(dict(value)), empty)
    if kind in _DEVICE_KINDS:
        filled = with_device_defaults(kind, filled)
    elif kind in _DEFAULTS:
        _DEFAULTS[kind](filled)
    return filled


def _with_empty(value: Object, empty: Mapping[str, Any]) -> Object:
    for key, inner in empty.items():
        if isinstance(inner, Mapping):
            value[key] = _with_empty(value.get(key) or {}, inner)
        else:
            value.setdefault(key, inner)
    return value


def _secret(value: Object) -> None:
    value.setdefault("type", "Opaque")


def _pod(value: Object) -> None:
    spec = value["spec"]
    for container in _containers(spec):
        resources = container.setdefault("resources", {})
        for name, amount in (resources.get("limits") or {}).items():
            resources.setdefault("requests", {}).setdefault(name, amount)
    spec.setdefault("enableServiceLinks", True)
    _pod_spec(spec)
    status = value.setdefault("status", {})
    status.setdefault("phase", "Pending")
    for condition in status.get("conditions") or ():
        condition.setdefault("lastProbeTime", None)
        condition.setdefault("lastTransitionTime", None)
    for state in status.get("containerStatuses") or ():
        for name in ("state", "lastState"):
            state.setdefault(name, {})


def _pod_template(value: Object) -> None:
    _pod_spec(value["template"]["spec"])


def _deployment(value: Object) -> None:
    spec = value["spec"]
    _pod_spec(spec["template"]["spec"])
    for name, default in (("replicas", 1), ("revisionHistoryLimit", 10), ("progressDeadlineSeconds", 600)):
        spec.setdefault(name, default)
    strategy = spec["strategy"]
    if strategy.setdefault("type", "RollingUpdate") == "RollingUpdate":
        rolling = strategy.setdefault("rollingUpdate", {})
        rolling.setdefault("maxUnavailable", "25%")
        rolling.setdefault("maxSurge", "25%")


def _job(value: Object) -> None:
    spec, status = value["spec"], value["status"]
    value["status"] = {name: each for name, each in status.items() if each != 0 or name not in _COUNTS}
    _pod_spec(spec["template"]["spec"])
    if spec.get("completions") is None and spec.get("parallelism") is None:
        spec["completions"] = 1
    spec.setdefault("parallelism", 1)
    per_index = spec.get("backoffLimitPerIndex") is not None
    spec.setdefault("backoffLimit", _NO_BACKOFF if per_index else 6)
    spec.setdefault("completionMode", "NonIndexed")
    spec.setdefault("suspend", False)
    spec.setdefault("manualSelector", False)
    for rule in (spec.get("podFailurePolicy") or {}).get("rules") or ():
        for condition in rule.get("onPodConditions") or ():
            condition.setdefault("status", "True")
    with_policy = spec.get("podFailurePolicy") is not None
    spec.setdefault("podReplacementPolicy", "Failed" if with_policy else "TerminatingOrFailed")


def _pod_spec(spec: Object) -> None:
    spec.setdefault("dnsPolicy", "ClusterFirst")
    spec.setdefault("restartPolicy", "Always")
    spec.setdefault("terminationGracePeriodSeconds", 30)
    spec.setdefault("securityContext", {})
    spec.setdefault("schedulerName", "default-scheduler")
    if spec.get("serviceAccountName"):
        spec.setdefault("serviceAccount", spec["serviceAccountName"])
    for volume in spec.get("volumes") or ():
        _volume(volume)
    for container in _containers(spec):
        _container(container)


def _containers(spec: Object) -> list[Object]:
    return [*(spec.get("initContainers") or ()), *(spec.get("containers") or ())]


def _container(container: Object) -> None:
    image = container.get("image") or ""
    tag = "" if "@" in image else image.rpartition("/")[2].partition(":")[2]
    is_latest = "@" not in image and tag in {"", "latest"}
    container.setdefault("imagePullPolicy", "Always" if is_latest else "IfNotPresent")
    container.setdefault("resources", {})
    container.setdefault("terminationMessagePath", "/dev/termination-log")
    container.setdefault("terminationMessagePolicy", "File")
    for port in container.get("ports") or ():
        port.setdefault("protocol", "TCP")
    for variable in container.get("env") or ():
        source = (variable.get("valueFrom") or {}).get("fieldRef")
        if source is not None:
            source.setdefault("apiVersion", "v1")


def _volume(volume: Object) -> None:
    if len(volume) == 1:
        volume["emptyDir"] = {}
    for source in ("configMap", "secret", "downwardAPI", "projected"):
        if isinstance(volume.get(source), dict):
            volume[source].setdefault("defaultMode", _MODE)
    for source in (volume.get("projected") or {}).get("sources") or ():
        if isinstance(source.get("serviceAccountToken"), dict):
            source["serviceAccountToken"].setdefault("expirationSeconds", 3600)


def _service(value: Object) -> None:
    spec = value["spec"]
    spec.setdefault("type", "ClusterIP")
    spec.setdefault("sessionAffinity", "None")
    spec.setdefault("internalTrafficPolicy", "Cluster")
    for port in spec.get("ports") or ():
        port.setdefault("protocol", "TCP")
        port.setdefault("targetPort", port["port"])


def _priority_class(value: Object) -> None:
    value.setdefault("preemptionPolicy", "PreemptLowerPriority")
    if value.get("globalDefault") is False:
        del value["globalDefault"]


def _namespace(value: Object) -> None:
    metadata = value.setdefault("metadata", {})
    if metadata.get("name"):
        metadata["labels"] = {
            **(metadata.get("labels") or {}),
            "kubernetes.io/metadata.name": metadata["name"],
        }


def _policy(value: Object) -> None:
    spec = value["spec"]
    spec.setdefault("failurePolicy", "Fail")
    for rule in (spec.get("matchConstraints") or {}).get("resourceRules") or ():
        rule.setdefault("scope", "*")
    _matched(spec.get("matchConstraints"))


def _policy_binding(value: Object) -> None:
    _matched(value["spec"].get("matchResources"))


def _matched(resources: Object | None) -> None:
    if resources is not None:
        resources.setdefault("matchPolicy", "Equivalent")
        resources.setdefault("namespaceSelector", {})
        resources.setdefault("objectSelector", {})


def _role_binding(value: Object) -> None:
    value["roleRef"].setdefault("apiGroup", _RBAC)
    for subject in value.get("subjects") or ():
        if subject.get("kind") in {"User", "Group"}:
            subject.setdefault("apiGroup", _RBAC)


_DEVICE_KINDS: Final = frozenset({"ResourceClaim", "ResourceClaimTemplate", "DeviceClass", "ResourceSlice"})
_DEFAULTS: Final[Mapping[str, Callable[[Object], None]]] = {
    "Namespace": _namespace,
    "Secret": _secret,
    "Service": _service,
    "Pod": _pod,
    "PodTemplate": _pod_template,
    "Deployment": _deployment,
    "Job": _job,
    "PriorityClass": _priority_class,
    "ValidatingAdmissionPolicy": _policy,
    "ValidatingAdmissionPolicyBinding": _policy_binding,
    "RoleBinding": _role_binding,
    "ClusterRoleBinding": _role_binding,
}
