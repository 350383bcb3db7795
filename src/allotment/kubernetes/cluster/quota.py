"""What a queue of a cluster may use of a resource: of Kueue where it has ClusterQueues, else of KAI.

With both, Kueue's numbers hold: KAI's queues are without limit then, and only place what Kueue admitted.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from allotment.kubernetes.cluster.capacity import KAI, KUEUE, Amount, Capacity, Part, amount_text
from allotment.kubernetes.cluster.kai_quota import kai_capacities
from allotment.kubernetes.cluster.kueue_quota import inactive_words, kueue_capacities
from allotment.kubernetes.cluster.snapshot import Snapshot
from allotment.kubernetes.kinds import CLUSTER_QUEUE, KAI_QUEUE, LOCAL_QUEUE

__all__ = [
    "KAI",
    "KUEUE",
    "RESOURCE",
    "Amount",
    "Capacity",
    "Part",
    "amount_text",
    "capacities_of",
    "capacity_of",
    "cluster_queue_of",
    "inactive_words",
    "scheduler_of",
]

RESOURCE: Final = "gpus"
"""What our own queues call cards of all kinds."""


def scheduler_of(snapshot: Snapshot) -> str | None:
    """Whose queues hold quota in this cluster; None where there are none."""
    if snapshot.of(CLUSTER_QUEUE):
        return KUEUE
    return KAI if snapshot.of(KAI_QUEUE) else None


def capacities_of(
    snapshot: Snapshot, resource: str = RESOURCE, *, scheduler: str | None = None
) -> Mapping[str, Capacity]:
    """What each queue may use of a resource, by the queue's name."""
    chosen = scheduler or scheduler_of(snapshot)
    if chosen == KUEUE:
        return kueue_capacities(snapshot, resource)
    return kai_capacities(snapshot, resource) if chosen == KAI else {}


def capacity_of(
    snapshot: Snapshot, queue_name: str, resource: str = RESOURCE, *, scheduler: str | None = None
) -> Capacity | None:
    """What a queue may use of a resource, or None where there is no such queue."""
    return capacities_of(snapshot, resource, scheduler=scheduler).get(queue_name)


def cluster_queue_of(snapshot: Snapshot, namespace: str, local_queue: str) -> str | None:
    """The ClusterQueue behind a namespace's LocalQueue, or None where there is no such LocalQueue."""
    found = snapshot.named(LOCAL_QUEUE, local_queue, namespace)
    return None if found is None else (found.get("spec") or {}).get("clusterQueue")
