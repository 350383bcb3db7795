"""Room in Kueue's queues without a victim, and who waits in them.

Queues of one cohort tree share what they do not use, so a tree is looked at as a whole. Facts: Kueue 0.17 to
0.19: a growth is pinned to the flavors that its Job has; a Workload that can never be admitted, or whose
queue is stopped, waits in vain and holds nobody up; the status of a ClusterQueue lags by about a second.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Final

from allotment.kubernetes.cluster import Snapshot
from allotment.kubernetes.cluster.capacity import KUEUE, NOTHING, Amount, Capacity, amount_text
from allotment.kubernetes.cluster.quota import capacities_of, cluster_queue_of
from allotment.kubernetes.cluster.waiting import asked_of
from allotment.kubernetes.follow import fields
from allotment.kubernetes.kinds import WORKLOAD, Object
from allotment.kubernetes.operate.part import Cell, count_of, reclaimed
from allotment.kubernetes.operate.values import LAG

IN_VAIN: Final = frozenset(
    {"ExceedsMaxQuota", "Inadmissible", "Misconfigured", "NoMatchingFlavor", "Suspended"}
)
"""Reasons for which a Workload is not admitted however long it waits."""


@dataclass(frozen=True, slots=True)
class Waiter:
    """A Workload that waits for quota: at which queue, and what it asks for of each resource."""

    workload: Object
    queue: str
    asked: Mapping[str, Amount]

    @property
    def words(self) -> str:
        """As a person looks for it."""
        gpus = " and ".join(f"{amount_text(each, name)} {name}" for name, each in self.asked.items() if each)
        owners = fields.owners(self.workload)
        name = fields.text(owners[0], "name") if owners else fields.name(self.workload)
        return f"{fields.namespace(self.workload)}/{name} (queue {self.queue}, {gpus or 'nothing counted'})"


@dataclass(frozen=True)
class Queues:
    """The ClusterQueues of a snapshot. ``now`` tells what has just changed."""

    snapshot: Snapshot
    now: float
    _capacities: dict[str, Mapping[str, Capacity]] = field(default_factory=dict, repr=False, compare=False)

    def capacity(self, queue: str, resource: str) -> Capacity | None:
        """What a queue may use of a resource."""
        if resource not in self._capacities:
            self._capacities[resource] = capacities_of(self.snapshot, resource, scheduler=KUEUE)
        return self._capacities[resource].get(queue)

    def queue_of(self, workload: Object) -> str | None:
        """The ClusterQueue of a Workload."""
        admitted = fields.text(workload, "status", "admission", "clusterQueue")
        name = fields.text(workload, "spec", "queueName")
        return admitted or cluster_queue_of(self.snapshot, fields.namespace(workload), name)

    def tree_of(self, queue: str) -> str:
        """What the queues have in common that may lend each other."""
        found = self.capacity(queue, "gpus")
        parents = () if found is None else found.parents
        return f"cohort {parents[-1]}" if parents else f"queue {queue}"

    def pods(self, queue: str, costs: Mapping[Cell, Fraction]) -> tuple[int, str] | None:
        """How many pods more find room without a victim, and what bounds them; None where nothing tells."""
        found: list[tuple[int, str]] = []
        for (flavor, resource), amount in costs.items():
            capacity = self.capacity(queue, resource)
            part = (
                next((each for each in capacity.parts if each.flavor == flavor), None) if capacity else None
            )
            if part is None:
                return None
            free = amount_text(part.free, resource)
            found.append((math.floor(part.free / amount), f"{free} {resource} free in queue {queue}"))
        return min(found, default=None)

    def borrows(self, queue: str, costs: Mapping[Cell, Fraction], more: int) -> bool:
        """Whether so many pods more would be above the queue's own quota."""
        for (flavor, resource), amount in costs.items():
            capacity = self.capacity(queue, resource)
            for part in () if capacity is None else capacity.parts:
                if part.flavor == flavor and part.used + amount * more > part.quota:
                    return True
        return False

    def fits(self, workload: Object) -> int | None:
        """How many pods of a Workload without quota would be admitted now, in the flavor with most room.

        What others may claim before it is taken off first: those of its queue, and those who would only get
        their own quota back.
        """
        queue = self.queue_of(workload)
        count = count_of(workload) - reclaimed(workload)
        if queue is None or count < 1:
            return None
        found: list[int] = []
        for resource in self._covered(queue):
            asked = asked_of(self.snapshot, workload, resource)
            capacity = self.capacity(queue, resource)
            if not asked or capacity is None or not capacity.parts:
                continue
            free = max(part.free for part in capacity.parts)
            free -= sum((each.asked[resource] for each in self._before(workload, queue, resource)), NOTHING)
            found.append(max(0, math.floor(free / (asked / count))))
        return min(found, default=None)

    def most(self, workload: Object) -> int | None:
        """How many pods of it could ever be admitted at once."""
        queue = self.queue_of(workload)
        count = count_of(workload) - reclaimed(workload)
        if queue is None or count < 1:
            return None
        found: list[int] = []
        for resource in self._covered(queue):
            asked, capacity = asked_of(self.snapshot, workload, resource), self.capacity(queue, resource)
            if asked and capacity is not None and capacity.most_at_once is not None:
                found.append(math.floor(capacity.most_at_once / (asked / count)))
        return min(found, default=None)

    @cached_property
    def waiters(self) -> tuple[Waiter, ...]:
        """Who waits and could be admitted some day, the longest wait first."""
        found = [each for workload in self.snapshot.of(WORKLOAD) if (each := self._waiter(workload))]
        return tuple(sorted(found, key=lambda each: fields.created(each.workload) or 0))

    def in_flux(self, tree: str) -> str | None:
        """What has just changed in a tree, so that its queues' numbers may not tell it yet."""
        for workload in self.snapshot.of(WORKLOAD):
            if fields.holds(workload, "Finished"):
                continue
            queue = self.queue_of(workload)
            if queue is None or self.tree_of(queue) != tree:
                continue
            reserved = fields.condition(workload, "QuotaReserved")
            if fields.holds(workload, "Evicted") and reserved is not None and reserved.holds:
                return f"{fields.shown(workload)} is being evicted"
            if reserved is not None and reserved.since is not None and self.now - reserved.since < LAG:
                return f"{fields.shown(workload)} has just been {'admitted' if reserved.holds else 'refused'}"
        return None

    def hindered(self, queue: str) -> str | None:
        """Why nothing follows from what a queue has free: it is stopped, or its numbers may be old."""
        found = self.capacity(queue, "gpus")
        if found is not None and found.inactive:
            return f"queue {queue} admits nothing: {found.inactive}"
        return self.in_flux(self.tree_of(queue))

    def lacking(self, waiter: Waiter) -> Mapping[str, Amount] | None:
        """What a waiting peer lacks that others hold of its own quota; None where that would not admit it."""
        found: dict[str, Amount] = {}
        for resource, asked in waiter.asked.items():
            capacity = self.capacity(waiter.queue, resource)
            if capacity is None or not capacity.parts:
                return None
            part = max(capacity.parts, key=lambda each: each.free + each.lent)
            if asked > part.free + part.lent:
                return None
            if asked > part.free:
                found[resource] = asked - part.free
        return found or None

    def borrowed(self, queue: str, resource: str) -> Amount:
        """What a queue uses above its own quota."""
        found = self.capacity(queue, resource)
        return NOTHING if found is None else found.borrowed

    def _before(self, workload: Object, queue: str, resource: str) -> Iterator[Waiter]:
        tree = self.tree_of(queue)
        for each in self.waiters:
            if each.workload is workload or self.tree_of(each.queue) != tree or not each.asked.get(resource):
                continue
            capacity = self.capacity(each.queue, resource)
            own = NOTHING if capacity is None or capacity.quota is None else capacity.quota - capacity.used
            if each.queue == queue:
                if _precedes(each.workload, workload):
                    yield each
            elif each.asked[resource] <= own:
                yield each

    def _waiter(self, workload: Object) -> Waiter | None:
        if fields.holds(workload, "QuotaReserved") or fields.holds(workload, "Finished"):
            return None
        if fields.at(workload, "spec", "active") is False or fields.is_ending(workload):
            return None
        refused, requeued = fields.is_false(workload, "QuotaReserved"), fields.is_false(workload, "Requeued")
        if requeued is not None or (refused is not None and refused.reason in IN_VAIN):
            return None
        queue = self.queue_of(workload)
        if queue is None:
            return None
        asked = {name: asked_of(self.snapshot, workload, name) for name in self._covered(queue)}
        for resource, amount in asked.items():
            capacity = self.capacity(queue, resource)
            if capacity is None or capacity.inactive or capacity.never_fits(amount):
                return None
        return Waiter(workload, queue, {name: amount for name, amount in asked.items() if amount})

    def _covered(self, queue: str) -> tuple[str, ...]:
        found = self.capacity(queue, "gpus")
        return () if found is None else found.covers


def _precedes(one: Object, other: Object) -> bool:
    """Whether a queue takes the one first."""
    return _order(one) < _order(other)


def _order(workload: Object) -> tuple[int, float, str]:
    priority = fields.number(workload, "spec", "priority") or 0
    return -priority, fields.created(workload) or 0.0, fields.uid(workload)


def pods_for(amount: Amount, costs: Mapping[Cell, Fraction], resource: str) -> int | None:
    """How many pods hold so much of a resource; None where they hold none."""
    each = sum((cost for (_, name), cost in costs.items() if name == resource), NOTHING)
    return math.ceil(amount / each) if each else None
