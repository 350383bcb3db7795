"""What pods belong to, and what the objects above them say: Jobs, Workloads, Deployments of fleets."""

from __future__ import annotations

from typing import Final

from allotment.kubernetes.apply.memory import ending_of, is_prepare
from allotment.kubernetes.follow import fields
from allotment.kubernetes.kinds import Object
from allotment.kubernetes.render.names import PREFIX, cut

JOB_NAME: Final = "batch.kubernetes.io/job-name"
_OF_NODES: Final = frozenset({"DaemonSet", "Node"})
Owner = tuple[str, str]
"""Namespace and name of what pods belong to."""


def owner_of(pod: Object) -> Owner:
    """What a pod belongs to: its Job, its fleet's Deployment, another controller, or itself."""
    namespace = str(pod["metadata"].get("namespace") or "")
    labels = fields.mapping(pod, "metadata", "labels")
    if JOB_NAME in labels:
        return namespace, str(labels[JOB_NAME])
    if f"{PREFIX}fleet" in labels:
        return namespace, cut(str(labels[f"{PREFIX}fleet"]), 52)
    owners = fields.items(pod, "metadata", "ownerReferences")
    return namespace, fields.text(owners[0], "name") if owners else str(pod["metadata"]["name"])


def is_of_node(pod: Object) -> bool:
    """Whether it belongs to the node itself, of a DaemonSet or started by its kubelet, and stays as long."""
    owners = fields.items(pod, "metadata", "ownerReferences")
    return any(each.get("kind") in _OF_NODES for each in owners)


def owned(workload: Object) -> Owner:
    """What a Workload is of."""
    namespace = str(workload["metadata"].get("namespace") or "")
    owners = fields.items(workload, "metadata", "ownerReferences")
    return namespace, fields.text(owners[0], "name") if owners else str(workload["metadata"]["name"])


def key_of(value: Object) -> Owner:
    """Namespace and name."""
    return str(value["metadata"].get("namespace") or ""), str(value["metadata"]["name"])


def goes_on(job: Object) -> bool:
    """Whether a Job has anything to do that nobody holds back."""
    is_held = fields.at(job, "spec", "suspend") is True
    return ending_of(job) is None and not is_held and not is_prepare(job)


def is_finished(workload: Object) -> bool:
    """Whether a Workload is over."""
    return any(
        each.get("type") == "Finished" and each.get("status") == "True"
        for each in fields.items(workload, "status", "conditions")
    )


def width(job: Object | None, workload: Object | None) -> int:
    """How many pods it wants at once."""
    if job is not None:
        return fields.count(job, "spec", "parallelism") or 1
    return sum(fields.count(each, "count") for each in fields.items(workload, "spec", "podSets")) or 1


def least(workload: Object | None, count: int) -> int:
    """Kueue admits all pods of a workload or none."""
    return count if workload is not None else 1


def name_of(pod: Object) -> str:
    """Namespace and name as one text."""
    return "/".join(key_of(pod))


def has_succeeded(pod: Object) -> bool:
    """Whether a pod has ended well and counts: of one that its Job deletes nobody takes notice."""
    is_deleted = bool(fields.text(pod, "metadata", "deletionTimestamp"))
    return fields.text(pod, "status", "phase") == "Succeeded" and not is_deleted
