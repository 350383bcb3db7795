"""Searching a job's solution: first for how many of its pods there is one, then for all.

The number of pods is doubled while it works, and then halved in between; what worked for fewer pods is where
the search for more begins. ``JobSolver`` of KAI.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from allotment.scheduling.kai.groups import Branch, Group
from allotment.scheduling.kai.lines import Line
from allotment.scheduling.kai.next_pods import pods_to_place
from allotment.scheduling.kai.nodes import Node
from allotment.scheduling.kai.session import Session
from allotment.scheduling.kai.solving.building import Accumulation
from allotment.scheduling.kai.solving.generating import MAKERS, Maker
from allotment.scheduling.kai.solving.scenarios import Batch
from allotment.scheduling.kai.solving.simulating import Simulation, Solution
from allotment.scheduling.kai.statement import Statement
from allotment.scheduling.kai.tasks import Task


@dataclass(slots=True)
class _Known:
    """What an earlier try has found."""

    batches: Sequence[Batch] = ()
    tasks: Sequence[Task] = ()


@dataclass(slots=True)
class Solver:
    """Searches for one job; ``victims`` puts all who may be evicted in order anew.

    A solution by which the job still has not what it needs is given up, and KAI leaves its steps in the
    session then: the rest of the cycle sees them.
    """

    session: Session
    feasible: Sequence[Node]
    victims: Callable[[], Line]
    simulation: Simulation
    failed: set[tuple[object, ...]] = field(default_factory=set)

    def solve(self, group: Group) -> Statement | None:
        """Steps by which the job gets its place; they are still to be made good."""
        before = group.using
        tasks = list(pods_to_place(group, real=False))
        if not tasks or not self.session.plugins.solving:
            return None
        self.failed = set()
        for maker in MAKERS:
            known = _Known()
            solution = self._search(group, tasks, known, maker)
            if solution is None:
                continue
            return solution.statement if group.satisfied and group.using > before else None
        return None

    def _search(self, group: Group, tasks: Sequence[Task], known: _Known, maker: Maker) -> Solution | None:
        def works(count: int) -> bool:
            found = self._try(group, tasks[:count], known, maker)
            if found is None:
                return False
            known.batches, known.tasks = found.batches, found.tasks
            found.statement.rollback()
            return True

        if most_that_work(len(tasks), works) == 0:
            return None
        return self._try(group, tasks, known, maker)

    def _try(self, group: Group, tasks: Sequence[Task], known: _Known, maker: Maker) -> Solution | None:
        preemptor = partial(group, tasks)
        feasible = {node.name: node for node in self.feasible}
        for task in known.tasks:
            if task.node in self.session.nodes:
                feasible[task.node] = self.session.nodes[task.node]
        grown = Accumulation(self.session, preemptor, known.batches, self.victims(), feasible)
        for scenario in maker(self.session, grown):
            key = scenario.fingerprint()
            if key in self.failed:
                continue
            solution = self.simulation.play(scenario, feasible)
            if solution is not None:
                return solution
            self.failed.add(key)
        return None


def most_that_work(count: int, works: Callable[[int], bool]) -> int:
    """The largest number that works: doubling while it does, then halving the gap."""
    low, number = 0, 1
    while works(number):
        low = number
        if number == count:
            return count
        number = min(number * 2, count)
    high = number
    while high - low > 1:
        middle = (low + high) // 2
        if works(middle):
            low = middle
        else:
            high = middle
    return low


def partial(group: Group, tasks: Sequence[Task]) -> Group:
    """The job with what it has and these pods only, and with no higher least numbers than that."""
    copy = group.copy_with([*(task for task in group.tasks.values() if task.active), *tasks])
    for leaf in copy.leaves.values():
        if leaf.tasks:
            leaf.minimum = min(leaf.minimum, len(leaf.tasks))
    _lower(copy.root)
    return copy


def _lower(branch: Branch) -> bool:
    filled = sum(bool(leaf.tasks) for leaf in branch.direct) + sum([_lower(each) for each in branch.branches])
    if branch.minimum is not None:
        branch.minimum = min(branch.minimum, filled)
    return filled > 0
