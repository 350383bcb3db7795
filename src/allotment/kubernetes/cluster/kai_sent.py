"""A snapshot as it would be once a Job was sent: with its pods, their claims and the group KAI makes of them.

A Job makes as many pods as it runs at once, each with a claim for each of its templates; the pod-grouper
makes one group of them. Facts: ``batch/v1`` Jobs; KAI 0.17, whose pod-grouper takes the priority class from
the owner's label, else from the pods.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final

from allotment.kubernetes import kinds
from allotment.kubernetes.cluster.kai_pods import GROUP
from allotment.kubernetes.cluster.snapshot import Snapshot
from allotment.kubernetes.kinds import Object
from allotment.scheduling.kai.grouping import grouping
from allotment.scheduling.state.pod_groups import SubGroup

_OWN: Final = "priorityClassName"
OF_TEMPLATE: Final = "resource.kubernetes.io/pod-claim-name"


def with_job_of_kai(
    snapshot: Snapshot, job: Object, templates: Iterable[Object], priorities: Mapping[str, int]
) -> tuple[Snapshot, str]:
    """The snapshot as it would be once the Job was sent, and its group's key.

    ``priorities`` are the values of priority classes that the cluster may not have yet.
    """
    made = datetime.fromtimestamp(snapshot.time, UTC).isoformat().replace("+00:00", "Z")
    group = _group(job, made)
    pods = [_pod(job, group, number, made) for number in range(_width(job))]
    known = {str(each["metadata"]["name"]): each for each in templates}
    claims = [claim for pod in pods for claim in _claims(pod, known, snapshot)]
    classes = (
        {
            "apiVersion": kinds.PRIORITY_CLASS.api_version,
            "kind": kinds.PRIORITY_CLASS.name,
            "metadata": {"name": name},
            "value": value,
        }
        for name, value in priorities.items()
        if snapshot.named(kinds.PRIORITY_CLASS, name) is None
    )
    more = (job, group, *pods, *claims, *classes)
    keys = {(each["kind"], each["metadata"].get("namespace"), each["metadata"]["name"]) for each in more}
    kept = [
        each
        for each in snapshot.objects
        if (each["kind"], each["metadata"].get("namespace"), each["metadata"]["name"]) not in keys
    ]
    meta = group["metadata"]
    return replace(snapshot, objects=(*kept, *more)), f"{meta['namespace']}/{meta['name']}"


def _width(job: Object) -> int:
    """How many pods it has at once."""
    spec = job.get("spec") or {}
    width = spec.get("parallelism", 1)
    completions = spec.get("completions")
    return int(width if completions is None else min(width, completions))


def _group(job: Object, made: str) -> Object:
    meta, template = job["metadata"], (job.get("spec") or {}).get("template") or {}
    own = (template.get("spec") or {}).get(_OWN)
    labels = meta.get("labels") or {}
    owner = job
    if own and _OWN not in labels:
        owner = {**job, "metadata": {**meta, "labels": {**labels, _OWN: own}}}
    found = grouping(owner)
    spec: dict[str, Any] = {
        "queue": found.queue,
        _OWN: own or found.priority_class,
        "preemptibility": "preemptible" if found.preemptible else "non-preemptible",
        "minMember": _least(found.tree),
    }
    together = found.tree.together
    if together is not None:
        levels = {
            "requiredTopologyLevel": together.required,
            "preferredTopologyLevel": together.preferred,
        }
        told = {key: level for key, level in levels.items() if level}
        spec["topologyConstraint"] = {"topology": together.topology, **told}
    return {
        "apiVersion": kinds.KAI_POD_GROUP.api_version,
        "kind": kinds.KAI_POD_GROUP.name,
        "metadata": {
            "name": found.name,
            "namespace": str(meta.get("namespace") or ""),
            "creationTimestamp": made,
            "labels": labels,
            "ownerReferences": [{"kind": "Job", "name": meta["name"], "uid": meta.get("uid", "")}],
        },
        "spec": spec,
    }


def _least(tree: SubGroup) -> int:
    """Of a Job's group, which is flat."""
    return next((leaf.minimum or 0 for leaf in tree.children), 1)


def _pod(job: Object, group: Object, number: int, made: str) -> Object:
    meta, template = job["metadata"], (job.get("spec") or {}).get("template") or {}
    inner = template.get("metadata") or {}
    spec = template.get("spec") or {}
    name = f"{meta['name']}-{number}"
    statuses = [
        {"name": each["name"], "resourceClaimName": f"{name}-{each['name']}"}
        for each in spec.get("resourceClaims") or ()
        if each.get("resourceClaimTemplateName")
    ]
    return {
        "apiVersion": "v1",
        "kind": kinds.POD.name,
        "metadata": {
            "name": name,
            "namespace": str(meta.get("namespace") or ""),
            "creationTimestamp": made,
            "labels": inner.get("labels") or {},
            "annotations": {**(inner.get("annotations") or {}), GROUP: group["metadata"]["name"]},
        },
        "spec": spec,
        "status": {"phase": "Pending", **({"resourceClaimStatuses": statuses} if statuses else {})},
    }


def _claims(pod: Object, templates: Mapping[str, Object], snapshot: Snapshot) -> Iterator[Object]:
    """The claims that are made for a pod."""
    meta = pod["metadata"]
    for each in pod["spec"].get("resourceClaims") or ():
        name = each.get("resourceClaimTemplateName")
        template = templates.get(name) or snapshot.named(kinds.CLAIM_TEMPLATE, str(name), meta["namespace"])
        if not name or template is None:
            continue
        told = template.get("spec") or {}
        inner = told.get("metadata") or {}
        yield {
            "apiVersion": kinds.CLAIM.api_version,
            "kind": kinds.CLAIM.name,
            "metadata": {
                "name": f"{meta['name']}-{each['name']}",
                "namespace": meta["namespace"],
                "labels": inner.get("labels") or {},
                "annotations": {**(inner.get("annotations") or {}), OF_TEMPLATE: each["name"]},
            },
            "spec": told.get("spec") or {},
        }
