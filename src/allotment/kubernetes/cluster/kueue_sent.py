"""A snapshot as it would be once a Job was sent: with the Workload that Kueue would make of it.

Kueue makes one of the Job's parallelism, its template and its labels. Facts: Kueue 0.19, ``batch/v1`` Jobs.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from allotment.kubernetes import kinds
from allotment.kubernetes.cluster.snapshot import Snapshot
from allotment.kubernetes.kinds import Object
from allotment.kubernetes.kueue_jobs import QUEUE


def with_job(
    snapshot: Snapshot, job: Object, others: Iterable[Object], priority: int
) -> tuple[Snapshot, str]:
    """The snapshot as it would be once the Job and these other objects were sent, and its Workload's key."""
    meta, spec = job["metadata"], job.get("spec") or {}
    namespace, name = str(meta.get("namespace") or ""), f"job-{meta['name']}"
    workload = {
        "apiVersion": kinds.WORKLOAD.api_version,
        "kind": kinds.WORKLOAD.name,
        "metadata": {
            "name": name,
            "namespace": namespace,
            "uid": f"of-{name}",
            "creationTimestamp": None,
            "labels": meta.get("labels") or {},
            "ownerReferences": [{"kind": "Job", "name": meta["name"], "uid": "", "controller": True}],
        },
        "spec": {
            "queueName": (meta.get("labels") or {}).get(QUEUE, ""),
            "priority": priority,
            "podSets": [{"name": "main", "count": spec.get("parallelism", 1), "template": spec["template"]}],
        },
    }
    more = (*others, job, workload)
    keys = {(each["kind"], each["metadata"].get("namespace"), each["metadata"]["name"]) for each in more}
    kept = [
        each
        for each in snapshot.objects
        if (each["kind"], each["metadata"].get("namespace"), each["metadata"]["name"]) not in keys
    ]
    return replace(snapshot, objects=(*kept, *more)), f"{namespace}/{name}"
