"""The order in which jobs come: a tree of heaps, of queues by the best job below each, and of their jobs.

The tree is the one of KAI's ``actions/utils`` (JobsOrderByQueues): what came out marks its queues to be put
in order again, and only when they are looked at next. For victims everything is turned round.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from allotment.scheduling.kai.accounts import Account
from allotment.scheduling.kai.axes import NOTHING, Triple
from allotment.scheduling.kai.groups import Group, Rank
from allotment.scheduling.kai.heaps import Heap
from allotment.scheduling.kai.queue_order import Bid, comes_first
from allotment.scheduling.kai.session import Session


@dataclass(eq=False, slots=True)
class _Place:
    """A queue in the tree: with jobs, or with queues below it."""

    account: Account
    jobs: Heap[Group] | None = None
    queues: Heap[_Place] | None = None
    parent: _Place | None = None
    unsettled: bool = False
    gone: list[Triple] = field(default_factory=list)

    @property
    def empty(self) -> bool:
        return not (self.jobs if self.jobs is not None else self.queues)


Ordered = Mapping[str, list[Group]]


def in_order(session: Session, groups: Iterable[Group], *, victims: bool = False) -> Ordered:
    """Jobs by queue in their order; queues by their first job."""
    rank = job_rank if session.plugins.order else _age
    by_queue: dict[str, list[Group]] = {}
    for group in sorted(groups, key=rank, reverse=victims):
        by_queue.setdefault(group.queue, []).append(group)
    return by_queue


class Line:
    """Jobs in their order; ``victims`` for those that would go, worst first."""

    def __init__(self, session: Session, *, victims: bool = False, depth: int | None = None) -> None:
        self.session, self.victims, self.depth = session, victims, depth
        self.places: dict[str, _Place] = {}
        self.roots: Heap[_Place] = Heap(self._place_before)
        self.popped: dict[str, list[Triple]] = {}
        self.reduced: dict[tuple[str, str], tuple[list[float], int, list[float]]] = {}

    def extend(self, groups: Iterable[Group]) -> Line:
        """Put in all that are in a queue that runs jobs.

        KAI goes through a map here, in any order. In order of jobs every queue is compared by its best one.
        """
        return self.fill(in_order(self.session, groups, victims=self.victims))

    def fill(self, ordered: Ordered) -> Line:
        """The same for jobs that are in order already; the line is empty before."""
        for queue, groups in ordered.items():
            self.push(groups[0])
            place = self.places.get(queue)
            if place is not None and place.jobs is not None:
                place.jobs.extend_last(groups[1:])
        return self

    def __bool__(self) -> bool:
        return len(self.roots) > 0

    def push(self, group: Group) -> None:
        """Put a job in, perhaps again."""
        account = self.session.leaf_of(group)
        if account is None:
            return
        place = self.places.get(account.name)
        new = place is None
        if place is None:
            place = self.places[account.name] = _Place(account, jobs=Heap(self._job_before, self.depth))
        if place.jobs is not None:
            place.jobs.push(group)
        if new:
            self._link(place)
        self._unsettle(place)

    def pop(self) -> Group | None:
        """Take out the first job; the tree is then looked at again from there."""
        place = self._first_of(self.roots)
        while place is not None and place.queues is not None:
            place = self._first_of(place.queues)
        if place is None or place.jobs is None:
            return None
        group = place.jobs.pop()
        if self.victims:
            self.popped.setdefault(place.account.name, []).append(group.held)
        self._clean(place)
        return group

    def _link(self, place: _Place) -> None:
        above = place.account.parent
        if above is None:
            self.roots.push(place)
            return
        parent = self.places.get(above.name)
        new = parent is None
        if parent is None:
            parent = self.places[above.name] = _Place(above, queues=Heap(self._place_before))
        place.parent = parent
        if parent.queues is not None:
            parent.queues.push(place)
        if new:
            self._link(parent)

    def _unsettle(self, place: _Place | None) -> None:
        while place is not None:
            place.unsettled = True
            place = place.parent

    @staticmethod
    def _first_of(heap: Heap[_Place]) -> _Place | None:
        while len(heap):
            place = heap.first
            if not place.unsettled:
                return None if place.empty else place
            heap.settle_first()
            place.unsettled = False
        return None

    def _clean(self, place: _Place) -> None:
        if not place.empty:
            self._unsettle(place)
            return
        siblings = self.roots if place.parent is None else place.parent.queues
        if siblings is not None:
            siblings.pop()
        del self.places[place.account.name]
        if place.parent is not None:
            self._clean(place.parent)

    def _job_before(self, left: Group, right: Group) -> bool:
        rank = job_rank if self.session.plugins.order else _age
        return (rank(left) < rank(right)) != self.victims

    def _place_before(self, left: _Place, right: _Place) -> bool:
        if left.empty:
            return not self.victims
        if right.empty:
            return self.victims
        return self._queue_before(left, right) != self.victims

    def _queue_before(self, left: _Place, right: _Place) -> bool:
        if not self.session.plugins.fairness:
            return (left.account.created, left.account.name) < (right.account.created, right.account.name)
        return comes_first(self._bid(left), self._bid(right), self.session.total)

    def _left(self, account: Account, leaf: str, last: Triple) -> list[float]:
        """What a queue holds without the victims that have come out below it, and without this one."""
        popped = self.popped.get(leaf, [])
        held, count, left = self.reduced.get((account.name, leaf), ([], 0, []))
        if held != account.held:
            held, count, left = list(account.held), 0, list(account.held)
        for amounts in popped[count:]:
            left = _minus(left, amounts)
        self.reduced[account.name, leaf] = held, len(popped), left
        return _minus(left, last)

    def _bid(self, place: _Place) -> Bid:
        best = place
        while best.queues is not None:
            best = best.queues.first
        if best.jobs is None or not best.jobs:
            return Bid(place.account, NOTHING)
        group = best.jobs.first
        if self.victims:
            return Bid(place.account, NOTHING, self._left(place.account, best.account.name, group.held))
        return Bid(place.account, self.session.asked_by(group))


def _minus(left: list[float], amounts: Triple) -> list[float]:
    return [left[0] - amounts[0], left[1] - amounts[1], left[2] - amounts[2]]


def _standing(group: Group) -> int:
    """Whether it is below what it needs, exactly there, or above."""
    exactly = True
    for leaf in group.leaves.values():
        if leaf.active < leaf.minimum:
            return 0
        exactly = exactly and leaf.active == leaf.minimum
    return 1 if exactly else 2


def _age(group: Group) -> Rank:
    return (0, 0, group.created, group.key)


def job_rank(group: Group) -> Rank:
    """Where a job comes in its queue: by priority, by what it lacks, and by age."""
    if group.rank is None:
        group.rank = (-group.priority, _standing(group), group.created, group.key)
    return group.rank
