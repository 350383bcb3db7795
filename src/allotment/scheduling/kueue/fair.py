"""Preemption under fair sharing: victims from where most is borrowed for its weight.

Again and again the queue with the largest share gives its first candidate, if by that the shares become
fairer by the first rule; what that leaves undone, the second rule may do. A workload within its queue's quota
takes back what it is owed without being compared. The rules are those of ``fairPreemptions`` and of
``pkg/scheduler/preemption/fairsharing``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from allotment.scheduling.kueue.charges import Info
from allotment.scheduling.kueue.decisions import Why
from allotment.scheduling.kueue.gates import Gate
from allotment.scheduling.kueue.preempting import Attempt, Target, satisfies
from allotment.scheduling.kueue.settings import BOTH_RULES, FairRule
from allotment.scheduling.kueue.shares import LEAST, Share, share_of
from allotment.scheduling.kueue.tree import Cell, Node
from allotment.scheduling.state.queues import NEVER

Rule = Callable[[Share, Share, Share], bool]
"""Of the shares of our side with the workload, of the other side before, and of the other side afterwards."""

RULES: dict[FairRule, Rule] = {
    FairRule.FINAL: lambda ours, _before, after: ours.rank <= after.rank,
    FairRule.INITIAL: lambda ours, before, _after: ours.rank < before.rank,
}


def choose_fairly(attempt: Attempt) -> list[Target]:
    """The victims; none if no choice makes room."""
    candidates = attempt.sorted(_candidates(attempt))
    if not candidates:
        return []
    rules = attempt.ground.settings.fair or BOTH_RULES
    ground, node = attempt.ground, attempt.node
    search = _Search(attempt)
    with ground.with_use(node, attempt.need, attempt.placed):
        done = search.first(candidates, RULES[rules[0]])
        if not done and len(rules) > 1:
            done = search.second()
    if not done:
        attempt.restore(search.targets)
        return []
    targets = attempt.give_back(search.targets, borrowing=True)
    attempt.restore(targets)
    return targets


def _candidates(attempt: Attempt) -> list[Info]:
    node, policy = attempt.node, attempt.policy
    found: list[Info] = []
    if policy.within != NEVER:
        found += _of_queue(attempt, node, policy.within)
    if node.parent is None or policy.reclaim == NEVER:
        return found
    for queue in attempt.ground.active(node.root.leaves()):
        if queue is not node and _borrows(attempt, queue):
            found += _of_queue(attempt, queue, policy.reclaim)
    return found


def _of_queue(attempt: Attempt, queue: Node, policy: str) -> list[Info]:
    preemptor, settings = attempt.info.workload, attempt.ground.settings
    return [
        info
        for info in attempt.ground.holders(queue)
        if satisfies(policy, preemptor, info.workload, settings) and not info.uses.isdisjoint(attempt.cells)
    ]


def _borrows(attempt: Attempt, queue: Node) -> bool:
    usage = attempt.ground.usage
    return any(usage.borrows_with(queue, cell, 0) for cell in attempt.cells)


@dataclass(slots=True)
class _Search:
    """The victims so far, and the candidates that the first rule spared."""

    attempt: Attempt
    targets: list[Target] = field(default_factory=list)
    spared: list[Info] = field(default_factory=list)

    def first(self, candidates: list[Info], rule: Rule) -> bool:
        """Evict by the first rule; whether that made room."""
        attempt = self.attempt
        within = attempt.ground.settings.on(Gate.WITHIN_NOMINAL) and not _borrows(attempt, attempt.node)
        line = Line(attempt, candidates)
        for queue in line:
            own = queue is attempt.node
            if own or within:
                if self._evict(line.pop(queue), Why.OWN_QUEUE if own else Why.RECLAIM):
                    return True
                continue
            if self._by_rule(line, queue, rule):
                return True
        return False

    def _by_rule(self, line: Line, queue: Node, rule: Rule) -> bool:
        """Evict the first candidate of a queue whose going is fair; whether that made room."""
        attempt = self.attempt
        usage = attempt.ground.usage
        ours, theirs = _sides(attempt.node, queue)
        new, before = share_of(usage, ours), share_of(usage, theirs)
        known: dict[tuple[tuple[Cell, int], ...], Share] = {}
        while line.has(queue):
            info = line.pop(queue)
            alike = tuple(info.cells.items())
            after = known.get(alike)
            if after is None:
                with attempt.ground.without_cells(queue, info.cells, info.placed):
                    after = known[alike] = share_of(usage, theirs)
            if rule(new, before, after):
                return self._evict(info, Why.FAIR)
            self.spared.append(info)
        return False

    def second(self) -> bool:
        """Evict of those who were spared, at most one of a queue; whether that made room."""
        attempt = self.attempt
        usage = attempt.ground.usage
        line = Line(attempt, self.spared)
        for queue in line:
            ours, theirs = _sides(attempt.node, queue)
            fair = share_of(usage, ours).rank < share_of(usage, theirs).rank
            info = line.pop(queue)
            if fair and self._evict(info, Why.FAIR):
                return True
            line.drop(queue)
        return False

    def _evict(self, info: Info, why: Why) -> bool:
        attempt = self.attempt
        attempt.ground.remove(info)
        self.targets.append(Target(info, why))
        with attempt.ground.without_cells(attempt.node, attempt.need, attempt.placed):
            return attempt.fits(borrowing=True)


def _sides(preemptor: Node, target: Node) -> tuple[Node, Node]:
    """The two nodes that meet below the lowest cohort that both queues have."""
    if target is preemptor:
        return preemptor, target
    above = list(preemptor.above())
    common = next(cohort for cohort in target.above() if cohort in above)
    return _below(preemptor, common), _below(target, common)


def _below(node: Node, common: Node) -> Node:
    while node.parent is not None and node.parent is not common:
        node = node.parent
    return node


class Line:
    """The queues to take from, the one with the largest share first at every step."""

    def __init__(self, attempt: Attempt, candidates: list[Info]) -> None:
        self._attempt = attempt
        self._path = set(attempt.node.above())
        self._left: dict[str, list[Info]] = {}
        for info in candidates:
            self._left.setdefault(info.cluster_queue, []).append(info)
        self._pruned: set[Node] = set()

    def __iter__(self) -> Iterator[Node]:
        node = self._attempt.node
        if node.parent is None:
            while node not in self._pruned and self.has(node):
                yield node
            return
        root = node.root
        while root not in self._pruned:
            queue = self._next(root)
            if queue is not None:
                yield queue

    def has(self, queue: Node) -> bool:
        """Whether a queue has candidates left."""
        return bool(self._left.get(queue.name))

    def pop(self, queue: Node) -> Info:
        """The first candidate of a queue."""
        return self._left[queue.name].pop(0)

    def drop(self, queue: Node) -> None:
        """Take no more from a queue."""
        self._pruned.add(queue)

    def _next(self, cohort: Node) -> Node | None:
        """The queue below with the largest share; None if this look only found what to leave out."""
        queue, queue_share = self._largest_queue(cohort)
        child, child_share = self._largest_cohort(cohort)
        if queue is None and child is None:
            self._pruned.add(cohort)
            return None
        if child is not None and child_share.rank >= queue_share.rank:
            return self._next(child)
        return queue

    def _largest_queue(self, cohort: Node) -> tuple[Node | None, Share]:
        best, best_share = None, LEAST
        attempt = self._attempt
        for queue in attempt.ground.active(cohort.queues):
            if queue in self._pruned:
                continue
            share = share_of(attempt.ground.usage, queue)
            if (not share.borrows and queue is not attempt.node) or not self.has(queue):
                self._pruned.add(queue)
            elif share.rank > best_share.rank:
                best, best_share = queue, share
            elif share.rank == best_share.rank and best is not None and self._sooner(queue, best):
                best = queue
        return best, best_share

    def _sooner(self, queue: Node, other: Node) -> bool:
        order = self._attempt.order
        return order(self._left[queue.name][0]) < order(self._left[other.name][0])

    def _largest_cohort(self, cohort: Node) -> tuple[Node | None, Share]:
        best, best_share = None, LEAST
        for child in cohort.cohorts:
            if child in self._pruned:
                continue
            share = share_of(self._attempt.ground.usage, child)
            if not share.borrows and child not in self._path:
                self._pruned.add(child)
            elif share.rank >= best_share.rank:
                best, best_share = child, share
        return best, best_share
