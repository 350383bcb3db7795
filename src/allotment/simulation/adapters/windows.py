"""The window controller over simulated Jobs of Kueue: the rules of ``allot operate`` (docs/operate.md).

A Job grows by a step, at most doubled, one in a tree of queues at a time and the narrowest first, only as far
as quota without a victim and free devices go, and never while somebody of its queue waits (or by borrowing
while anybody of the tree does). A growth that is not granted soon is taken back. One that was evicted is
lowered to what fits, and a peer whose own quota others hold is given it where that lets the peer in.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

from allotment.scheduling.kueue.tree import Cell
from allotment.simulation.adapters.kueue_jobs import Job
from allotment.simulation.adapters.quotas import Costs, Quotas
from allotment.simulation.setting import WindowPace
from allotment.simulation.work import Work


class Verb(StrEnum):
    """What is done with a Job."""

    GROWS = "grows"
    SHRINKS = "shrinks"
    LOWERED = "is lowered"
    TAKEN_BACK = "is taken back"


@dataclass(frozen=True, slots=True)
class Move:
    """A Job's new width, and why; ``by`` is the work for whose sake."""

    job: str
    verb: Verb
    to: int
    why: str
    by: str = ""


@dataclass(frozen=True, slots=True)
class Standing:
    """A Job as the controller sees it: in which ClusterQueue, and what a pod of it costs there."""

    job: Job
    queue: str
    costs: Costs = field(hash=False)
    possible: int

    @property
    def most(self) -> int:
        """The most that it may be wide."""
        return min(self.job.work.most, self.job.left, self.possible)

    @property
    def least(self) -> int:
        """The least that it promises, as far as it can be met."""
        return max(1, min(self.job.work.least, self.most))


@dataclass(frozen=True)
class Look:
    """One look of the controller; ``moved`` is when something happened last in each queue."""

    standings: Sequence[Standing]
    quotas: Quotas
    free: Callable[[Work, int], int]
    pace: WindowPace
    now: float
    moved: Mapping[str, float] = field(default_factory=dict)

    @cached_property
    def flux(self) -> frozenset[str]:
        """The trees of which may not be told yet what is free."""
        known = self.quotas.tree.queues
        lately = {name for name, at in self.moved.items() if self.now - at < self.pace.lag and name in known}
        lately |= {each.queue for each in self.standings if each.job.evicted is not None}
        return frozenset(map(self.quotas.root_of, lately))

    @cached_property
    def waiting(self) -> frozenset[str]:
        """The queues, and the trees, in which somebody waits who could be admitted."""
        queues = {each.queue for each in self.standings if each.job.waits and each.possible >= each.least}
        return frozenset(queues | {f"/{self.quotas.root_of(queue)}" for queue in queues})

    def in_flux(self, queue: str) -> bool:
        """Whether what the tree of a queue has free may not be told yet."""
        return self.quotas.root_of(queue) in self.flux

    def moves(self) -> list[Move]:
        """What is to be moved."""
        given = self._gifts()
        found = [move for each in self.standings if (move := self._by_itself(each)) is not None]
        found = [move for move in found if move.job not in given]
        return [*given.values(), *found, *self._growths({*given, *(move.job for move in found)})]

    def _by_itself(self, each: Standing) -> Move | None:
        job = each.job
        if job.grows:
            if self.now - job.stepped < self.pace.patience:
                return None
            why = f"Kueue did not grant {job.width} within {self.pace.patience:g} s"
            return Move(job.key, Verb.TAKEN_BACK, job.admitted, why)
        if job.elastic and job.waits and not job.reclaimed and not self.in_flux(each.queue):
            fits = self.quotas.pods(each.queue, each.costs)
            to = max(each.least, min(fits, each.most))
            if to < job.width:
                return Move(job.key, Verb.LOWERED, to, f"{fits} of {job.width} would be admitted now")
        return None

    def _growths(self, moved: Container[str]) -> Iterator[Move]:
        taken = {self.quotas.root_of(each.queue) for each in self.standings if each.job.grows}
        taken |= {self.quotas.root_of(each.queue) for each in self.standings if each.job.key in moved}
        for each in sorted(self.standings, key=_turn):
            root = self.quotas.root_of(each.queue)
            if root in taken or not self.may_grow(each) or self.in_flux(each.queue):
                continue
            step = self._step(each, root)
            if step > 0:
                taken.add(root)
                why = f"up to {each.most}, {step} more fit without a victim"
                yield Move(each.job.key, Verb.GROWS, each.job.width + step, why)

    def may_grow(self, each: Standing) -> bool:
        """Whether a Job's own standing lets it ask for more."""
        job = each.job
        return (
            self.pace.grows
            and job.elastic
            and job.granted is not None
            and job.asked is None
            and job.evicted is None
            and not job.reclaimed
            and job.width < each.most
            and job.unplaced == 0
            and self.now >= max(job.paused, job.stepped + self.pace.settle)
        )

    def _step(self, each: Standing, root: str) -> int:
        if each.queue in self.waiting:
            return 0
        most = min(each.most - each.job.width, max(1, each.job.width))
        most = min(most, self.quotas.pods(each.queue, each.costs))
        if f"/{root}" in self.waiting:
            whole = range(most, 0, -1)
            most = next((n for n in whole if not self.quotas.borrows(each.queue, each.costs, n)), 0)
        return self.free(each.job.work, most) if most > 0 else 0

    def _gifts(self) -> dict[str, Move]:
        """What Jobs give to peers, one peer of a tree at a time."""
        found: dict[str, Move] = {}
        served: set[str] = set()
        for waiter in self.standings:
            root = self.quotas.root_of(waiter.queue)
            if not waiter.job.waits or waiter.possible < waiter.least or root in served:
                continue
            if self.in_flux(waiter.queue):
                continue
            lacking = self._lacking(waiter)
            if len(lacking) == 1:
                ((cell, amount),) = lacking.items()
                shared = self._shared(waiter, cell, amount)
                if shared:
                    served.add(root)
                    found |= {move.job: move for move in shared}
        return found

    def _lacking(self, waiter: Standing) -> Mapping[Cell, int]:
        """What others hold of the quota that is the waiter's own, and that it needs."""
        pods = waiter.job.width
        needs = {cell: cost * pods for cell, cost in waiter.costs.items() if cost}
        if any(amount > self.quotas.own_left(waiter.queue, cell) for cell, amount in needs.items()):
            return {}
        lacks = {cell: amount - self.quotas.available(waiter.queue, cell) for cell, amount in needs.items()}
        return {cell: amount for cell, amount in lacks.items() if amount > 0}

    def _shared(self, waiter: Standing, cell: Cell, amount: int) -> list[Move]:
        root, rest, moves = self.quotas.root_of(waiter.queue), amount, []
        borrowed: dict[str, int] = {}
        why = f"{waiter.job.work.name} waits, and others hold {amount} {cell[1]} of its own quota"
        for each in sorted(self.standings, key=lambda one: (one.least - one.job.width, one.job.key)):
            cost = each.costs.get(cell, 0)
            if not cost or not self._gives(each) or each.queue == waiter.queue:
                continue
            if self.quotas.root_of(each.queue) != root:
                continue
            spare = borrowed.setdefault(each.queue, self.quotas.borrowed(each.queue, cell))
            pods = min(-(-min(rest, spare) // cost), each.job.width - each.least)
            if pods < 1:
                continue
            borrowed[each.queue] -= pods * cost
            rest -= pods * cost
            to = each.job.width - pods
            moves.append(Move(each.job.key, Verb.SHRINKS, to, why, waiter.job.work.name))
            if rest <= 0:
                return moves
        return []

    def _gives(self, each: Standing) -> bool:
        job = each.job
        settled = self.now - job.stepped >= self.pace.minimum_runtime
        return (
            settled
            and job.elastic
            and job.granted is not None
            and job.asked is None
            and job.evicted is None
            and job.left >= job.width
        )


def _turn(each: Standing) -> tuple[int, float, str]:
    return each.job.width, each.job.created, each.job.key
