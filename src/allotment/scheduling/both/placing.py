"""What KAI sees of a cluster in which Kueue admits: queues without bounds, and only what is admitted.

Pods of a Job that is not admitted, or beyond what is, are gated (``schedulingGates``), as Kueue's pods of
elastic jobs are. A group belongs to the Workload that has its key, or names it as its Job.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from allotment.scheduling.state.pod_groups import USING, PodGroup, PodStatus
from allotment.scheduling.state.share_queues import FREELY, ShareQueue
from allotment.scheduling.state.workloads import Workload


def unlimited(queues: Mapping[str, ShareQueue]) -> dict[str, ShareQueue]:
    """The queues as they are when somebody else keeps quota: nobody is over anything, or owed anything."""
    return {
        name: replace(
            queue,
            cpu=FREELY,
            memory=FREELY,
            gpu=FREELY,
            reclaim_min_runtime=None,
            preempt_min_runtime=None,
        )
        for name, queue in queues.items()
    }


def admitted_pods(workloads: Iterable[Workload]) -> dict[str, int]:
    """How many pods are admitted, by the key of the Workload and by that of its Job."""
    found: dict[str, int] = {}
    for each in workloads:
        if each.admission is None or not each.admitted or each.finished or each.evicted is not None:
            continue
        count = sum(given.count for given in each.admission.pod_sets)
        for key in {each.key, each.job_uid} - {""}:
            found[key] = max(count, found.get(key, 0))
    return found


def placed_only(group: PodGroup, admitted: int) -> PodGroup:
    """The group as KAI is to see it: firm, and no more of them in line than are admitted."""
    standing = sum(pod.status in USING for pod in group.pods)
    room = max(0, admitted - standing)
    pods = []
    for pod in group.pods:
        status = pod.status
        if status in {PodStatus.PENDING, PodStatus.GATED}:
            status = PodStatus.PENDING if room else PodStatus.GATED
            room = max(0, room - 1)
        pods.append(pod if status is pod.status else replace(pod, status=status))
    if not group.preemptible and all(new is old for new, old in zip(pods, group.pods, strict=True)):
        return group
    return replace(group, pods=tuple(pods), preemptible=False)
