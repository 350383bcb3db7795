"""What a server does to an object before it keeps it: names, times, generations, and the labels of a Job.

From the strategies of ``pkg/registry`` and the admission plugins that are on by default, of Kubernetes 1.36.
Owners are noted before this: what is added here is nobody's.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any, Final

from allotment.devices.server import Server
from allotment.devices.validation.gated import without_gated
from allotment.devices.versions import GROUP
from allotment.kubernetes.testing.resources import Resource

Object = dict[str, Any]
_NAME: Final = "batch.kubernetes.io/job-name"
_UID: Final = "batch.kubernetes.io/controller-uid"
_OLD_NAME: Final = "job-name"
_OLD_UID: Final = "controller-uid"
_UNREADY: Final = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
_LONGEST_PREFIX: Final = 58
_GIVEN: Final = ("clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy")


def generated(prefix: str, suffix: str) -> str:
    """A name from ``generateName``."""
    return f"{prefix[:_LONGEST_PREFIX]}{suffix}"


def converted(resource: Resource, value: Object) -> Object:
    """An object in the form that is kept: the texts of a Secret among its data."""
    if resource.kind != "Secret" or resource.group or not value.get("stringData"):
        return value
    data = {key: base64.b64encode(text.encode()).decode() for key, text in value["stringData"].items()}
    kept = {key: each for key, each in value.items() if key != "stringData"}
    return {**kept, "data": dict(sorted({**(value.get("data") or {}), **data}.items()))}


def prepared(resource: Resource, value: Object) -> Object:
    """A new object with what its strategy gives it."""
    if resource.has_status and resource.schema is None:
        value = {**value, "status": dict(resource.empty.get("status") or {})}
    elif resource.has_status:
        value = {key: each for key, each in value.items() if key != "status"}
    change = _PREPARE.get(resource.kind)
    return value if change is None else change(value)


def finished(resource: Resource, value: Object, server: Server) -> Object:
    """A new object that has passed the rules, as it is kept: a Job has the labels of its pods.

    Fields of devices whose gate is off are gone, without a word.
    """
    if resource.group == GROUP:
        return dict(without_gated(resource.kind, value, server)[0])
    if resource.kind != "Job" or value["metadata"].get("labels"):
        return value
    labels = (value["spec"]["template"].get("metadata") or {}).get("labels")
    return {**value, "metadata": {**value["metadata"], "labels": dict(labels)}} if labels else value


def kept_status(value: Object, old: Object) -> Object:
    """A changed object with the status that it had."""
    rest = {key: each for key, each in value.items() if key != "status"}
    return {**rest, "status": old["status"]} if "status" in old else rest


def only_status(value: Object, old: Object) -> Object:
    """The object as it was, with the metadata and the status of the changed one."""
    rest = {key: each for key, each in old.items() if key not in {"status", "metadata"}}
    status = {"status": value["status"]} if "status" in value else {}
    return {**rest, "metadata": value["metadata"], **status}


def differs_in_spec(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    """Whether more than metadata and status has changed."""
    apart = {"metadata", "status"}
    return {key: each for key, each in old.items() if key not in apart} != {
        key: each for key, each in new.items() if key not in apart
    }


def _job(value: Object) -> Object:
    spec, metadata = value["spec"], value["metadata"]
    uid, name = metadata["uid"], metadata.get("name", "")
    if spec.get("manualSelector"):
        return value
    labels = {_UID: uid, _NAME: name, _OLD_UID: uid, _OLD_NAME: name}
    template = spec["template"]
    pod_metadata = template.get("metadata") or {}
    told = {**(pod_metadata.get("labels") or {}), **labels}
    selector = spec.get("selector") or {}
    matched = {**(selector.get("matchLabels") or {}), _UID: uid}
    template = {**template, "metadata": {**pod_metadata, "labels": told}}
    spec = {**spec, "selector": {**selector, "matchLabels": matched}, "template": template}
    return {**value, "spec": spec}


def _pod(value: Object) -> Object:
    spec = dict(value["spec"])
    account = spec.get("serviceAccountName") or "default"
    spec |= {"serviceAccountName": account, "serviceAccount": account}
    tolerated = list(spec.get("tolerations") or ())
    for key in _UNREADY:
        if not any(
            each.get("key") in {key, None} and each.get("effect") in {"NoExecute", None} for each in tolerated
        ):
            tolerated.append(
                {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
            )
    spec["tolerations"] = tolerated
    spec.setdefault("priority", 0)
    spec.setdefault("preemptionPolicy", "PreemptLowerPriority")
    return {**value, "spec": spec, "status": {"phase": "Pending", "qosClass": _quality(spec)}}


def _quality(spec: Mapping[str, Any]) -> str:
    containers = spec.get("containers") or ()
    resources = [container.get("resources") or {} for container in containers]
    if not any(each.get("limits") or each.get("requests") for each in resources):
        return "BestEffort"
    for each in resources:
        limits, requests = each.get("limits") or {}, each.get("requests") or {}
        if not {"cpu", "memory"} <= limits.keys() or any(
            requests.get(name, limits[name]) != limits[name] for name in limits
        ):
            return "Burstable"
    return "Guaranteed"


def _namespace(value: Object) -> Object:
    return {**value, "spec": {"finalizers": ["kubernetes"]}, "status": {"phase": "Active"}}


def _service(value: Object) -> Object:
    """A Service with the addresses that it is given: none if it is headless, else one by its uid."""
    spec = value["spec"]
    if spec.get("type") == "ExternalName":
        return value
    number = int(sha256(value["metadata"]["uid"].encode()).hexdigest()[:4], 16)
    address = spec.get("clusterIP") or f"10.96.{number >> 8}.{number & 255}"
    given = {"clusterIPs": [address], "ipFamilies": ["IPv4"], "ipFamilyPolicy": "SingleStack"}
    return {**value, "spec": {**given, **spec, "clusterIP": address}}


def with_given(resource: Resource, value: Object, old: Object) -> Object:
    """A changed Service with the addresses that it was given, where it says nothing of them."""
    if resource.kind != "Service" or value["spec"].get("type") == "ExternalName":
        return value
    given = {key: old["spec"][key] for key in _GIVEN if key in old["spec"]}
    return {**value, "spec": {**given, **value["spec"]}}


_PREPARE: Final[Mapping[str, Callable[[Object], Object]]] = {
    "Job": _job,
    "Pod": _pod,
    "Namespace": _namespace,
    "Service": _service,
}
