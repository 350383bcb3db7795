"""The workloads that wait in one ClusterQueue: in line, or put aside until something changes.

A head is taken in each cycle. What cannot be admitted comes back at once or is put aside, by why it failed;
in a best-effort queue all that are like it are put aside with it. Anything that gives room wakes them. A
workload for which others are being evicted stays in front of a best-effort queue. The rules are those of
``cluster_queue.go`` in ``pkg/cache/queue``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from allotment.scheduling.kueue.charges import Info
from allotment.scheduling.kueue.decisions import Reason, Requeue
from allotment.scheduling.kueue.lanes import Lanes, Queued, Rank
from allotment.scheduling.state.queues import Strategy
from allotment.scheduling.state.shelf import Shelf

__all__ = ["Pending", "Queued", "Rank", "Sticky", "pop", "push", "push_all", "requeue", "wake"]

AT_ONCE = frozenset(
    {Requeue.AFTER_NOMINATION, Requeue.PREEMPTION, Requeue.MIGRATION, Requeue.PREEMPTION_FAILED}
)
_ALIKE = frozenset({Requeue.NO_FIT, Requeue.NO_CANDIDATES})
_NONE: Shelf[str, Queued] = Shelf()


@dataclass(frozen=True, slots=True)
class Sticky:
    """The workload that others are evicted for; ``stays`` keeps it in front."""

    key: str
    stays: bool
    generation: int


@dataclass(frozen=True, slots=True)
class Pending:
    """One ClusterQueue's line. ``cycle`` counts heads taken, ``woken`` is the count at the last waking.

    ``apart`` are those put aside one by one; those put aside because of a workload like them rest in their
    lanes, with the reason in ``parked``.
    """

    lanes: Lanes = field(default_factory=Lanes)
    apart: Shelf[str, Queued] = _NONE
    parked: Mapping[str, Reason] = field(default_factory=dict, hash=False)
    cycle: int = 0
    woken: int = -1
    sticky: Sticky | None = None
    timed: bool = False

    @property
    def active(self) -> dict[str, Queued]:
        """All who are in line; it costs as much as they are many."""
        return dict(self.lanes.members(resting=False))

    @property
    def aside(self) -> dict[str, Queued]:
        """All who are put aside."""
        return {**self.apart, **dict(self.lanes.members(resting=True))}

    def find(self, key: str) -> Queued | None:
        """A workload that waits here."""
        return self.lanes.find(key) or self.apart.get(key)

    def is_lined(self, key: str) -> bool:
        """Whether a workload is to be tried."""
        return key in self.lanes.kinds and not self.lanes.rests(key)

    def set_aside(self, key: str) -> Queued | None:
        """A workload that is put aside."""
        return self.lanes.find(key) if self.lanes.rests(key) else self.apart.get(key)

    def without(self, key: str) -> Pending:
        """The line without a workload: it is admitted, done or gone."""
        changed = self.taken(key)
        if changed.sticky is not None and changed.sticky.key == key:
            changed = replace(changed, sticky=None)
        return changed

    def taken(self, key: str) -> Pending:
        """The line without a workload that may come back."""
        changed = self
        if key in self.apart:
            changed = replace(self, apart=self.apart.put({key: None}))
        if key in changed.lanes.kinds:
            changed = replace(changed, lanes=changed.lanes.without(key))
        return changed

    def lined(self, queued: Queued, *, loose: bool = False) -> Pending:
        """The line with a workload that is to be tried."""
        changed = self.taken(queued.info.key)
        return replace(changed, lanes=changed.lanes.with_all([queued], loose=loose))

    def put_aside(self, queued: Queued) -> Pending:
        """The line with a workload that is not to be tried."""
        changed = self.taken(queued.info.key)
        timed = self.timed or queued.info.workload.requeue_at is not None
        return replace(changed, apart=changed.apart.put({queued.info.key: queued}), timed=timed)


def pop(pending: Pending, usage_of: Callable[[Info], float] | None = None) -> tuple[Queued | None, Pending]:
    """The head of a line, and the line without it; ``usage_of`` puts LocalQueues that had less in front."""
    pending = replace(pending, cycle=pending.cycle + 1)
    head = pending.lanes.first()
    if head is None:
        return None, pending
    sticky = pending.sticky
    front = sticky.key if sticky and sticky.stays and pending.is_lined(sticky.key) else None
    if usage_of is not None:
        head = min(
            pending.active.values(),
            key=lambda each: (usage_of(each.info), each.info.key != front, each.rank),
        )
    elif front is not None:
        head = pending.find(front) or head
    return head, pending.taken(head.info.key)


def push(pending: Pending, queued: Queued, strategy: Strategy, *, ready: bool) -> Pending:
    """The line with a workload that is new or has changed (``PushOrUpdate``)."""
    key = queued.info.key
    here = pending.is_lined(key)
    old = pending.set_aside(key)
    if old is not None and not _changed(old, queued):
        return pending.put_aside(queued)
    if not here and not ready:
        return pending.put_aside(queued)
    if strategy is Strategy.BEST_EFFORT and not here and queued.info.shape in pending.parked:
        return pending.put_aside(queued)
    return pending.lined(queued, loose=not ready)


def push_all(pending: Pending, queued: Iterable[Queued]) -> Pending:
    """The line with many workloads that are new, all to be tried."""
    return replace(pending, lanes=pending.lanes.with_all(queued))


def _changed(old: Queued, new: Queued) -> bool:
    """Whether a workload that was put aside differs in a way that may let it in."""
    before, after = old.info.workload, new.info.workload
    if old.seen and after.generation != old.seen:
        return True
    said = (
        before.pod_sets is not after.pod_sets and before.pod_sets != after.pod_sets,
        (before.priority, before.boost) != (after.priority, after.boost),
        before.queue != after.queue,
        before.reclaimable != after.reclaimable,
        before.evicted != after.evicted,
        before.held_back != after.held_back,
        before.preemption_gated != after.preemption_gated,
        old.info.totals != new.info.totals,
    )
    return any(said)


def requeue(
    pending: Pending, queued: Queued, strategy: Strategy, why: Requeue, reason: Reason, *, ready: bool
) -> Pending:
    """The line with a head that was not admitted (``RequeueIfNotPresent``)."""
    key = queued.info.key
    if why in {Requeue.PREEMPTION, Requeue.MIGRATION}:
        stays = strategy is Strategy.BEST_EFFORT
        pending = replace(pending, sticky=Sticky(key, stays, queued.seen))
    at_once = why is not Requeue.NAMESPACE if strategy is Strategy.STRICT else why in AT_ONCE
    tries_on = queued.progress is not None and queued.progress.pending
    known = pending.set_aside(key)
    if ready and (at_once or pending.woken >= pending.cycle or tries_on):
        return pending if pending.is_lined(key) else pending.lined(known or queued)
    if known is not None or pending.is_lined(key):
        return pending
    pending = pending.put_aside(queued)
    if queued.info.shape is not None and why in _ALIKE and strategy is Strategy.BEST_EFFORT:
        return _park(pending, queued.info.shape, reason or Reason.PENDING)
    return pending


def _park(pending: Pending, shape: str, reason: Reason) -> Pending:
    """Put aside what is like a workload that found nothing."""
    lanes, loose = pending.lanes.rested(shape)
    parked = {**pending.parked, shape: reason}
    return replace(pending, lanes=lanes, parked=parked, apart=pending.apart.put(loose))


def wake(pending: Pending, opens: Callable[[str], bool], ready: Callable[[Info], bool]) -> Pending:
    """The line after something has changed that may let workloads in: all that may be tried are.

    ``opens`` says whether the queue is open to a namespace.
    """
    lanes, closed = pending.lanes.woken(opens)
    woken = {
        key: each
        for key, each in pending.apart.items()
        if opens(each.info.workload.namespace) and ready(each.info)
    }
    apart = pending.apart.put({**dict.fromkeys(woken), **closed})
    changed = replace(pending, lanes=lanes, apart=apart, woken=pending.cycle, parked={})
    return push_all(changed, woken.values()) if woken else changed
