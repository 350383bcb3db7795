"""Places in a queue: what waits for quota beside a Workload, and beside a PodGroup of KAI's.

Kueue takes the higher priority first, then the one that has waited longer; a workload that was evicted by
preemption keeps its old place, one that was put back by a check or for pods that never became ready counts
from then. KAI orders the groups of a queue by priority, then by age. Facts: Kueue 0.19, KAI 0.17.
"""

from __future__ import annotations

from typing import Final

from allotment.kubernetes.follow import fields
from allotment.kubernetes.follow.model import Position
from allotment.kubernetes.follow.seen import Seen
from allotment.kubernetes.kinds import (
    CLUSTER_QUEUE,
    KAI_POD_GROUP,
    LOCAL_QUEUE,
    PRIORITY_CLASS,
    WORKLOAD,
    Object,
)

PUT_BACK: Final = frozenset({"PodsReadyTimeout", "AdmissionCheck"})
NOT_WAITING: Final = ("QuotaReserved", "Finished")
NO_CLASS: Final = 50


def local_queue(workload: Object, seen: Seen) -> Object | None:
    """The LocalQueue that a Workload names."""
    return seen.named(LOCAL_QUEUE, fields.text(workload, "spec", "queueName"), fields.namespace(workload))


def cluster_queue_name(workload: Object, seen: Seen) -> str:
    """The ClusterQueue behind a Workload, as far as it is known."""
    admitted = fields.text(workload, "status", "admission", "clusterQueue")
    return admitted or fields.text(local_queue(workload, seen), "spec", "clusterQueue")


def cluster_queue(workload: Object, seen: Seen) -> Object | None:
    """The ClusterQueue behind a Workload."""
    return seen.named(CLUSTER_QUEUE, cluster_queue_name(workload, seen))


def waits(workload: Object) -> bool:
    """Whether it stands in the queue."""
    if fields.at(workload, "spec", "active") is False:
        return False
    return not any(fields.holds(workload, kind) for kind in NOT_WAITING)


def _order(workload: Object) -> tuple[int, float, str]:
    evicted = fields.condition(workload, "Evicted")
    since = fields.created(workload) or 0.0
    if evicted is not None and evicted.holds and evicted.reason in PUT_BACK:
        since = evicted.since or since
    return -(fields.number(workload, "spec", "priority") or 0), since, fields.uid(workload)


def others_waiting(workload: Object, seen: Seen) -> tuple[Object, ...]:
    """Everything that waits for the same ClusterQueue, itself too, in order."""
    queue = cluster_queue_name(workload, seen)
    if not queue:
        return ()
    found = [each for each in seen.of(WORKLOAD) if waits(each) and cluster_queue_name(each, seen) == queue]
    return tuple(sorted(found, key=_order))


def position(workload: Object, seen: Seen) -> Position | None:
    """Its place; None where it does not wait, or where not all Workloads could be read."""
    if any(each.kind == WORKLOAD for each in seen.snapshot.partly):
        return None
    found = others_waiting(workload, seen)
    place = next((place for place, each in enumerate(found, 1) if each is workload), None)
    return None if place is None else Position(place, len(found), cluster_queue_name(workload, seen))


def kai_position(group: Object, seen: Seen) -> Position | None:
    """The place of a group among those of its queue that cannot be scheduled yet."""
    queue = fields.text(group, "spec", "queue")
    if not queue:
        return None
    waiting = [
        each
        for each in seen.of(KAI_POD_GROUP)
        if fields.text(each, "spec", "queue") == queue and (each is group or is_held_up(each))
    ]
    ordered = sorted(waiting, key=lambda each: (-_priority(each, seen), fields.created(each) or 0.0))
    return Position(ordered.index(group) + 1, len(ordered), queue)


def is_held_up(group: Object) -> bool:
    """Whether KAI says that the group cannot be scheduled."""
    return any(each.holds for each in fields.conditions(group, "schedulingConditions"))


def _priority(group: Object, seen: Seen) -> int:
    found = seen.named(PRIORITY_CLASS, fields.text(group, "spec", "priorityClassName"))
    value = fields.number(found, "value")
    return NO_CLASS if value is None else value
