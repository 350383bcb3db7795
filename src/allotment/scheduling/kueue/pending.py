"""The workloads that wait in one ClusterQueue: in line, or put aside until something changes.

A head is taken in each cycle. What cannot be admitted comes back at once or is put aside, by why it failed;
in a best-effort queue all that are like it are put aside with it. Anything that gives room wakes them. A
workload for which others are being evicted stays in front of a best-effort queue. The rules are those of
``cluster_queue.go`` in ``pkg/cache/queue``.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from allotment.scheduling.kueue.assignment import Progress
from allotment.scheduling.kueue.charges import Info
from allotment.scheduling.kueue.decisions import Reason, Requeue
from allotment.scheduling.state.queues import Strategy
from allotment.scheduling.state.shelf import Shelf

Rank = tuple[int, float, str, str]

AT_ONCE = frozenset(
    {Requeue.AFTER_NOMINATION, Requeue.PREEMPTION, Requeue.MIGRATION, Requeue.PREEMPTION_FAILED}
)
_ALIKE = frozenset({Requeue.NO_FIT, Requeue.NO_CANDIDATES})
_NONE: Shelf[str, Queued] = Shelf()


@dataclass(frozen=True, slots=True)
class Queued:
    """A workload in line: its totals, its place, and how far its flavors were tried."""

    info: Info
    rank: Rank
    progress: Progress | None = None
    seen: int = 0


@dataclass(frozen=True, slots=True)
class Sticky:
    """The workload that others are evicted for; ``stays`` keeps it in front."""

    key: str
    stays: bool
    generation: int


@dataclass(frozen=True, slots=True)
class Pending:
    """One ClusterQueue's line. ``cycle`` counts heads taken, ``woken`` is the count at the last waking."""

    line: tuple[Rank, ...] = ()
    active: Shelf[str, Queued] = _NONE
    aside: Shelf[str, Queued] = _NONE
    parked: Mapping[str, Reason] = field(default_factory=dict, hash=False)
    cycle: int = 0
    woken: int = -1
    sticky: Sticky | None = None
    timed: bool = False

    def find(self, key: str) -> Queued | None:
        """A workload that waits here."""
        return self.active.get(key) or self.aside.get(key)

    def without(self, key: str) -> Pending:
        """The line without a workload: it is admitted, done or gone."""
        changed = self._unlined(key)
        if key in changed.aside:
            changed = replace(changed, aside=changed.aside.put({key: None}))
        if changed.sticky is not None and changed.sticky.key == key:
            changed = replace(changed, sticky=None)
        return changed

    def _unlined(self, key: str) -> Pending:
        queued = self.active.get(key)
        if queued is None:
            return self
        index = bisect_left(self.line, queued.rank)
        line = self.line[:index] + self.line[index + 1 :]
        return replace(self, line=line, active=self.active.put({key: None}))

    def lined(self, queued: Queued) -> Pending:
        """The line with a workload that is to be tried."""
        changed = self._unlined(queued.info.key)
        index = bisect_left(changed.line, queued.rank)
        line = (*changed.line[:index], queued.rank, *changed.line[index:])
        return replace(changed, line=line, active=changed.active.put({queued.info.key: queued}))

    def put_aside(self, queued: Queued) -> Pending:
        """The line with a workload that is not to be tried."""
        timed = self.timed or queued.info.workload.requeue_at is not None
        return replace(self, aside=self.aside.put({queued.info.key: queued}), timed=timed)


def pop(pending: Pending, usage_of: Callable[[Info], float] | None = None) -> tuple[Queued | None, Pending]:
    """The head of a line, and the line without it; ``usage_of`` puts LocalQueues that had less in front."""
    taken = replace(pending, cycle=pending.cycle + 1)
    if not pending.line:
        return None, taken
    sticky = pending.sticky
    front = sticky.key if sticky and sticky.stays and sticky.key in pending.active else None
    if usage_of is not None:
        front = min(
            pending.line,
            key=lambda rank: (usage_of(pending.active[rank[3]].info), rank[3] != front, rank),
        )[3]
    queued = pending.active[front or pending.line[0][3]]
    return queued, taken._unlined(queued.info.key)


def push(pending: Pending, queued: Queued, strategy: Strategy, *, ready: bool) -> Pending:
    """The line with a workload that is new or has changed (``PushOrUpdate``)."""
    key = queued.info.key
    old = pending.aside.get(key)
    if old is not None:
        if not _changed(old, queued):
            return pending.put_aside(queued)
        pending = replace(pending, aside=pending.aside.put({key: None}))
    here = key in pending.active
    if not here and not ready:
        return pending.put_aside(queued)
    if strategy is Strategy.BEST_EFFORT and not here and queued.info.shape in pending.parked:
        return pending.put_aside(queued)
    return pending.lined(queued)


def push_all(pending: Pending, queued: Iterable[Queued]) -> Pending:
    """The line with many workloads that are new, all to be tried."""
    new = {each.info.key: each for each in queued}
    line = tuple(sorted((*pending.line, *(each.rank for each in new.values()))))
    return replace(pending, line=line, active=pending.active.put(new))


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
    if ready and (at_once or pending.woken >= pending.cycle or tries_on):
        aside = pending.aside.get(key)
        if aside is not None:
            return replace(pending, aside=pending.aside.put({key: None})).lined(aside)
        return pending if key in pending.active else pending.lined(queued)
    if key in pending.aside or key in pending.active:
        return pending
    pending = pending.put_aside(queued)
    if queued.info.shape is not None and why in _ALIKE and strategy is Strategy.BEST_EFFORT:
        return _park(pending, queued.info.shape, reason or Reason.PENDING)
    return pending


def _park(pending: Pending, shape: str, reason: Reason) -> Pending:
    """Put aside what is like a workload that found nothing."""
    alike = {key: each for key, each in pending.active.items() if each.info.shape == shape}
    parked = {**pending.parked, shape: reason}
    if not alike:
        return replace(pending, parked=parked)
    gone = {each.rank for each in alike.values()}
    return replace(
        pending,
        parked=parked,
        line=tuple(rank for rank in pending.line if rank not in gone),
        active=pending.active.put(dict.fromkeys(alike)),
        aside=pending.aside.put(alike),
    )


def wake(pending: Pending, ready: Callable[[Info], bool]) -> Pending:
    """The line after something has changed that may let workloads in: all that may be tried are."""
    pending = replace(pending, woken=pending.cycle, parked={})
    woken = {key: each for key, each in pending.aside.items() if ready(each.info)}
    if not woken:
        return pending
    aside = pending.aside.put(dict.fromkeys(woken))
    return push_all(replace(pending, aside=aside), woken.values())
