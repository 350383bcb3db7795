"""The window controller over simulated Jobs of Kueue: the rules of ``allot operate`` (docs/operate.md).

A Job grows by a step, at most doubled, one in a tree of queues at a time and the narrowest first, only as far
as quota without a victim and free devices go, and never while somebody of its queue waits (or by borrowing
while anybody of the tree does). A growth that is not granted soon is taken back. One that was evicted is
lowered to what fits, and a peer whose own quota others hold is given it where that lets the peer in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

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


@dataclass(frozen=True, slots=True)
class Look:
    """One look of the controller."""

    standings: Sequence[Standing]
    quotas: Quotas
    free: Callable[[Work, int], int]
    pace: WindowPace
    now: float

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
        if job.waits and not job.reclaimed:
            fits = self.quotas.pods(each.queue, each.costs)
            to = max(each.least, min(fits, each.most))
            if to < job.width:
                return Move(job.key, Verb.LOWERED, to, f"{fits} of {job.width} would be admitted now")
        return None

    def _growths(self, moved: Iterable[str]) -> Iterator[Move]:
        taken = {self.quotas.root_of(each.queue) for each in self.standings if each.job.grows}
        taken |= {self.quotas.root_of(each.queue) for each in self.standings if each.job.key in set(moved)}
        waiting = [each for each in self.standings if each.job.waits and each.possible >= each.least]
        for each in sorted(self.standings, key=_turn):
            root = self.quotas.root_of(each.queue)
            if root in taken or not self.may_grow(each):
                continue
            step = self._step(each, waiting, root)
            if step > 0:
                taken.add(root)
                why = f"up to {each.most}, {step} more fit without a victim"
                yield Move(each.job.key, Verb.GROWS, each.job.width + step, why)

    def may_grow(self, each: Standing) -> bool:
        """Whether a Job's own standing lets it ask for more."""
        job = each.job
        return (
            self.pace.grows
            and job.granted is not None
            and job.asked is None
            and job.evicted is None
            and not job.reclaimed
            and job.width < each.most
            and job.unplaced == 0
            and self.now >= max(job.paused, job.stepped + self.pace.settle)
        )

    def _step(self, each: Standing, waiting: Sequence[Standing], root: str) -> int:
        if any(other.queue == each.queue for other in waiting):
            return 0
        most = min(each.most - each.job.width, max(1, each.job.width))
        most = min(most, self.quotas.pods(each.queue, each.costs))
        if any(self.quotas.root_of(other.queue) == root for other in waiting):
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
            and job.granted is not None
            and job.asked is None
            and job.evicted is None
            and job.left >= job.width
        )


def _turn(each: Standing) -> tuple[int, float, str]:
    return each.job.width, each.job.created, each.job.key
