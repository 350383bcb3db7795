"""What `allot check` holds before the cluster, held on it: an admission policy in CEL.

In the namespaces of teams, which carry the team's label: a Job, Deployment or pod names no other team's
queue; what gets devices names a queue at all, and no node, by which it would pass the scheduler; priorities
are the platform's lanes; every image, also one that is mounted, is named by digest, and is of the
repositories that the platform allows. KAI reads a pod's own queue (without one it takes the label
``project``); under Kueue it is its Job's, so a bare pod with devices is refused (teams may not write pods, so
none can be given a false owner). Pods are looked at when they are made and not later, and nothing that is
being deleted is: whoever takes a finalizer off an old one is not stopped. Facts:
``admissionregistration.k8s.io/v1``; a policy without a binding does nothing, and ``failurePolicy: Fail``
refuses what cannot be decided; a server gives pods a priority class by itself, so theirs is not looked at.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from allotment.kubernetes.render.names import ROOT, TEAM_LABEL, labels_of, lane_class
from allotment.kubernetes.render.placing import KAI_QUEUE, PRIORITY_CLASS, QUEUE_NAME
from allotment.kubernetes.render.rendered import Object, Rendered
from allotment.needs.ways.fraction import SCHEDULER
from allotment.platform.model import Platform

WITH_KUEUE: Final = frozenset({"kueue", "both"})
WITH_KAI: Final = frozenset({"kai", "both"})
KAI_PRIORITY: Final = "priorityClassName"
"""A label that KAI reads of what owns pods."""

DIGEST: Final = "@sha256:[0-9a-f]{64}$"
LABELS: Final = "has(object.metadata.labels) ? object.metadata.labels : {}"
CONTAINERS: Final = (
    "variables.spec.containers + (has(variables.spec.initContainers) ? variables.spec.initContainers : [])"
)
COUNTED: Final = (
    "variables.containers.exists(c, has(c.resources) && has(c.resources.limits) && "
    "c.resources.limits.exists(r, r.startsWith('nvidia.com/') || r.startsWith('amd.com/') || "
    "r.startsWith('gpu.intel.com/') || r.startsWith('allotment/') || r.contains('gpu') || "
    "r.startsWith('deviceclass.resource.kubernetes.io/')))"
)
CLAIMED: Final = "has(variables.spec.resourceClaims) && size(variables.spec.resourceClaims) > 0"
PARTS: Final = "['gpu-fraction', 'gpu-memory'].exists(a, a in variables.annotations)"
IMAGES: Final = (
    "variables.containers.map(c, has(c.image) ? c.image : '') + "
    "(has(variables.spec.volumes) ? variables.spec.volumes.filter(v, has(v.image)) : [])"
    ".map(v, has(v.image.reference) ? v.image.reference : '')"
)
STAYS: Final = "!has(object.metadata.deletionTimestamp)"
FRACTION: Final = "fraction"
OWNED: Final = (
    "has(object.metadata.ownerReferences) && object.metadata.ownerReferences.exists(o, "
    "has(o.controller) && o.controller && o.kind in ['Job', 'ReplicaSet'])"
)


@dataclass(frozen=True, slots=True)
class Looked:
    """Objects that a policy looks at: their kind of resource, and where they say what a pod is."""

    name: str
    spec: str
    metadata: str
    rules: tuple[tuple[str, str, tuple[str, ...]], ...]
    is_pod: bool = False


LOOKED: Final = (
    Looked("pods", "object.spec", "object.metadata", (("", "pods", ("CREATE",)),), is_pod=True),
    Looked(
        "jobs",
        "object.spec.template.spec",
        "object.spec.template.metadata",
        (("batch", "jobs", ("CREATE", "UPDATE")), ("apps", "deployments", ("CREATE", "UPDATE"))),
    ),
)


def admission_objects(platform: Platform) -> Rendered:
    """A policy for pods, one for what makes them, and their bindings to the namespaces of teams."""
    return Rendered(
        tuple(each for looked in LOOKED for each in (_policy(platform, looked), _binding(looked)))
    )


def _policy(platform: Platform, looked: Looked) -> Object:
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": f"{ROOT}-{looked.name}", "labels": labels_of()},
        "spec": {
            "failurePolicy": "Fail",
            "matchConstraints": {
                "resourceRules": [
                    {
                        "apiGroups": [group],
                        "apiVersions": ["v1"],
                        "operations": list(operations),
                        "resources": [resource],
                    }
                    for group, resource, operations in looked.rules
                ]
            },
            "matchConditions": [{"name": "stays", "expression": STAYS}],
            "variables": [{"name": name, "expression": text} for name, text in variables(looked).items()],
            "validations": list(validations(platform, looked)),
        },
    }


def variables(looked: Looked) -> Mapping[str, str]:
    """What the rules look at, by name; each may use those before it."""
    annotations = f"{looked.metadata}.annotations"
    said = f"has({annotations})" if looked.is_pod else f"has({looked.metadata}) && has({annotations})"
    return {
        "team": f"namespaceObject.metadata.labels['{TEAM_LABEL}']",
        "labels": LABELS,
        "spec": looked.spec,
        "containers": CONTAINERS,
        "annotations": f"{said} ? {annotations} : {{}}",
        "devices": f"({CLAIMED}) || {PARTS} || {COUNTED}",
        "images": IMAGES,
        **({"owned": OWNED} if looked.is_pod else {}),
    }


def validations(platform: Platform, looked: Looked) -> Iterator[dict[str, Any]]:
    """The rules, each with what a person is told whom it stops."""
    for key in (QUEUE_NAME, KAI_QUEUE):
        yield _rule(
            f"!('{key}' in variables.labels) || variables.labels['{key}'] == variables.team",
            f"'{key} must be the queue of this namespace: ' + variables.team",
        )
    for key in _needed(platform):
        owned = " || variables.owned" if looked.is_pod and key == QUEUE_NAME else ""
        yield _rule(
            f"!variables.devices{owned} || '{key}' in variables.labels",
            f"'what gets devices needs the label {key}: ' + variables.team",
        )
    if platform.scheduler in WITH_KAI:
        by_kai = f"variables.spec.?schedulerName.orValue('') == '{SCHEDULER}'"
        yield _rule(
            f"variables.devices || !({by_kai}) || '{KAI_QUEUE}' in variables.labels",
            f"'what KAI places needs the label {KAI_QUEUE}: ' + variables.team",
        )
        yield _rule(
            f"!variables.devices || {by_kai}", f"'what gets devices needs schedulerName: {SCHEDULER}'"
        )
        if FRACTION not in platform.sharing:
            yield _rule(f"!{PARTS}", "'the platform does not let cards be shared by fractions'")
    yield _rule("!variables.devices || !has(variables.spec.nodeName)", "'what gets devices names no node'")
    if not looked.is_pod:
        yield from _priorities(platform)
    yield _rule(
        f"variables.images.all(i, i.matches('{DIGEST}'))", "'images are named by digest: NAME@sha256:…'"
    )
    if platform.images:
        allowed = " || ".join(
            f"i.startsWith('{each}@') || i.startsWith('{each}/')"
            for each in map(_repository, platform.images)
        )
        yield _rule(
            f"variables.images.all(i, {allowed})",
            "'images come from the repositories that the platform names'",
        )


def _needed(platform: Platform) -> Iterator[str]:
    """The labels without which nothing gets a device."""
    if platform.scheduler in WITH_KUEUE:
        yield QUEUE_NAME
    if platform.scheduler in WITH_KAI:
        yield KAI_QUEUE


def _priorities(platform: Platform) -> Iterator[dict[str, Any]]:
    """Rules by which nothing goes before the lanes: in the pods themselves, and in what schedulers read."""
    known = ", ".join(f"'{lane_class(lane)}'" for lane in platform.lanes)
    told = f"'priorities are the lanes of the platform: {', '.join(map(lane_class, platform.lanes))}'"
    yield _rule(
        "!has(variables.spec.priorityClassName) || variables.spec.priorityClassName == '' || "
        f"variables.spec.priorityClassName in [{known}]",
        told,
    )
    for key in (PRIORITY_CLASS, KAI_PRIORITY):
        yield _rule(f"!('{key}' in variables.labels) || variables.labels['{key}'] in [{known}]", told)


def _repository(name: str) -> str:
    """A repository inside a text of CEL."""
    return name.rstrip("/").replace("\\", "\\\\").replace("'", "\\'")


def _rule(expression: str, message: str) -> dict[str, Any]:
    return {"expression": expression, "messageExpression": message, "reason": "Forbidden"}


def _binding(looked: Looked) -> Object:
    selector = {"matchExpressions": [{"key": TEAM_LABEL, "operator": "Exists"}]}
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": f"{ROOT}-{looked.name}", "labels": labels_of()},
        "spec": {
            "policyName": f"{ROOT}-{looked.name}",
            "validationActions": ["Deny"],
            "matchResources": {"namespaceSelector": selector},
        },
    }
