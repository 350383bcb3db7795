"""Whom to evict: what both ways of choosing have in common, and the questions that they answer.

The order of candidates, the policies and the giving back of victims that were not needed after all are those
of ``pkg/scheduler/preemption`` and its ``common``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cmp_to_key

from allotment.scheduling.kueue.assignment import Assignment, Grade
from allotment.scheduling.kueue.charges import Info, priority_of, queue_time
from allotment.scheduling.kueue.decisions import Why
from allotment.scheduling.kueue.ground import Ground, Placed
from allotment.scheduling.kueue.placing import Asks, asks_of
from allotment.scheduling.kueue.settings import Settings
from allotment.scheduling.kueue.topology.finding import find
from allotment.scheduling.kueue.tree import Cell, Node
from allotment.scheduling.state.amounts import plus
from allotment.scheduling.state.queues import ANY, LOWER, LOWER_OR_NEWER, Preemption
from allotment.scheduling.state.workloads import Workload


@dataclass(frozen=True, slots=True)
class Target:
    """A workload that has to go, and why; the slice that is replaced goes without a reason."""

    info: Info
    why: Why | None = None


@dataclass(slots=True)
class Attempt:
    """One search for victims: for whom, for what of the tree, and for which places."""

    ground: Ground
    info: Info
    cells: frozenset[Cell]
    need: Mapping[Cell, int]
    asks: Asks = field(default_factory=dict)

    @property
    def node(self) -> Node:
        """The ClusterQueue of the workload that wants room."""
        return self.ground.node(self.info)

    @property
    def policy(self) -> Preemption:
        """Whom it may evict."""
        queue = self.node.queue
        return queue.preemption if queue else Preemption()

    @property
    def placed(self) -> Placed:
        """The places that it holds already."""
        return self.info.placed

    def fits(self, *, borrowing: bool) -> bool:
        """Whether it fits now, and has a place."""
        usage, node = self.ground.usage, self.node
        for cell, amount in self.need.items():
            if not borrowing and usage.borrows_with(node, cell, amount):
                return False
            if amount > usage.available(node, cell):
                return False
        if not self.asks:
            return True
        places = self.ground.places_of(node)
        return find(places, self.asks, self.info.workload, self.ground.settings).failure is None

    def order(self, info: Info) -> tuple[bool, bool, int, float, str]:
        """What comes first goes first: who has to go anyway, strangers, the unimportant, the newest."""
        workload = info.workload
        own = info.cluster_queue == self.info.cluster_queue
        return (workload.evicted is None, own, info.priority, -self._reserved_at(info), workload.uid)

    def _reserved_at(self, info: Info) -> float:
        at = info.workload.reserved_at
        return self.ground.now if at is None else at

    def sorted(self, infos: Iterable[Info]) -> list[Info]:
        """Candidates in that order; in one queue those first whose LocalQueue has had more of late."""
        if not self.ground.lines:
            return sorted(infos, key=self.order)
        return sorted(infos, key=cmp_to_key(self._compare))

    def _compare(self, left: Info, right: Info) -> int:
        ours, theirs = self.order(left), self.order(right)
        if ours[:2] == theirs[:2] and left.cluster_queue == right.cluster_queue:
            lines = self.ground.lines
            used, other = lines.get(left.workload.queue_key), lines.get(right.workload.queue_key)
            if used is not None and other is not None and used != other:
                return -1 if used > other else 1
        return (ours > theirs) - (ours < theirs)

    def give_back(self, targets: list[Target], *, borrowing: bool) -> list[Target]:
        """Let victims stay that are not needed, the last chosen first but one."""
        for index in range(len(targets) - 2, -1, -1):
            self.ground.put_back(targets[index].info)
            if self.fits(borrowing=borrowing):
                targets[index] = targets[-1]
                targets.pop()
            else:
                self.ground.remove(targets[index].info)
        return targets

    def restore(self, targets: Sequence[Target]) -> None:
        """Put victims back, since nothing is decided yet."""
        for target in targets:
            self.ground.put_back(target.info)


Choose = Callable[[Attempt], list[Target]]


def satisfies(policy: str, preemptor: Workload, candidate: Workload, settings: Settings) -> bool:
    """Whether a policy lets one workload evict another."""
    ours, theirs = priority_of(preemptor, settings), priority_of(candidate, settings)
    if policy == LOWER:
        return ours > theirs
    if policy == LOWER_OR_NEWER:
        if ours != theirs:
            return ours > theirs
        return queue_time(preemptor, settings) < queue_time(candidate, settings)
    return policy == ANY


@dataclass(frozen=True, slots=True)
class Preemptor:
    """Answers who would have to go, in one of the two ways of choosing."""

    ground: Ground
    choose: Choose

    def targets(self, info: Info, assignment: Assignment) -> list[Target]:
        """The victims for an assignment; none if there is no good choice."""
        node = self.ground.node(info)
        asks = asks_of(self.ground, node, info, assignment)
        need = requests_of(info, assignment)
        return self.choose(Attempt(self.ground, info, assignment.needing_preemption, need, asks))

    def prober(self, info: Info) -> Callable[[Cell, int], tuple[Grade, int]]:
        """The question whether room could be made in one cell alone, regardless of places."""
        node = self.ground.node(info)

        def probe(cell: Cell, amount: int) -> tuple[Grade, int]:
            targets = self.choose(Attempt(self.ground, info, frozenset({cell}), {cell: amount}))
            if not targets:
                return Grade.NO_CANDIDATES, self.ground.usage.lowest_fit(node, cell, amount)[0]
            with self.ground.without_use(target.info for target in targets):
                borrowing = self.ground.usage.lowest_fit(node, cell, amount)[0]
            own = any(target.info.cluster_queue == info.cluster_queue for target in targets)
            return (Grade.PREEMPT if own else Grade.RECLAIM), borrowing

        return probe


def requests_of(info: Info, assignment: Assignment) -> dict[Cell, int]:
    """What a workload needs in the flavors of an assignment, beyond the slice that it replaces."""
    need: dict[Cell, int] = {}
    for index, total in enumerate(info.totals):
        choice = assignment.pod_sets[index]
        count = choice.count
        if assignment.replaced is not None:
            count = total.count - assignment.replaced[index].count
        for resource, amount in total.scaled(count).requests.items():
            if amount and resource in choice.choices:
                cell = (choice.choices[resource].flavor, resource)
                need[cell] = plus(need.get(cell, 0), amount)
    return need
