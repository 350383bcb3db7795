"""Classical preemption: the fewest victims that priorities and quotas allow, by a fixed order.

Candidates of other queues are those of queues beyond their quota, found from the nearest cohort outwards.
Over those that use quota which the workload's own part of the tree has a right to, it has an advantage;
others it may evict within its quota, or, where the queue says so, even while it borrows. The rules are those
of ``classicalPreemptions`` and of ``pkg/scheduler/preemption/classical``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from allotment.scheduling.kueue.charges import Info
from allotment.scheduling.kueue.decisions import Why
from allotment.scheduling.kueue.preempting import Attempt, Target, satisfies
from allotment.scheduling.kueue.tree import Node
from allotment.scheduling.state.queues import NEVER


class _Right(Enum):
    """By what right a candidate may be evicted."""

    OWN_QUEUE = Why.OWN_QUEUE
    ADVANTAGE = Why.RECLAIM
    WITHIN_QUOTA = "within quota"
    WHILE_BORROWING = Why.WHILE_BORROWING

    @property
    def why(self) -> Why:
        return Why.RECLAIM if self is _Right.WITHIN_QUOTA else Why(self.value)


@dataclass(frozen=True, slots=True)
class _Candidate:
    info: Info
    right: _Right
    common: Node | None = None


def choose_classically(attempt: Attempt) -> list[Target]:
    """The victims; none if even all candidates are not enough."""
    candidates = _Candidates(attempt)
    for borrowing in candidates.tries():
        targets = _try(attempt, candidates, borrowing=borrowing)
        if targets:
            return targets
    return []


def _try(attempt: Attempt, candidates: _Candidates, *, borrowing: bool) -> list[Target]:
    targets: list[Target] = []
    for candidate in candidates.ordered:
        if not _still_valid(attempt, candidate, borrowing=borrowing):
            continue
        attempt.ground.remove(candidate.info)
        targets.append(Target(candidate.info, candidate.right.why))
        if attempt.fits(borrowing=borrowing):
            kept = attempt.give_back(targets, borrowing=borrowing)
            attempt.restore(kept)
            return kept
    attempt.restore(targets)
    return []


def _still_valid(attempt: Attempt, candidate: _Candidate, *, borrowing: bool) -> bool:
    """Whether a candidate's queue, and what is above it on the way to ours, still uses more than its own."""
    if candidate.right is _Right.OWN_QUEUE:
        return True
    if borrowing and candidate.right is _Right.WITHIN_QUOTA:
        return False
    node, usage = attempt.ground.node(candidate.info), attempt.ground.usage
    if not usage.exceeds(node, attempt.cells):
        return False
    for above in node.above():
        if above is candidate.common:
            break
        if not usage.exceeds(above, attempt.cells):
            return False
    return True


class _Candidates:
    """All that may be evicted, in order."""

    def __init__(self, attempt: Attempt) -> None:
        self._attempt = attempt
        policy = attempt.policy
        self._forbidden = policy.while_borrowing == NEVER
        own = self._of_queue(attempt.node, None) if policy.within != NEVER else []
        by_advantage: list[_Candidate] = []
        by_priority: list[_Candidate] = []
        if attempt.node.parent is not None and policy.reclaim != NEVER:
            self._look_outwards(by_advantage, by_priority)
        self._advantages = bool(by_advantage)
        self._strangers = bool(by_advantage or by_priority)
        lists = [self._sorted(each) for each in (by_advantage, by_priority, own)]
        evicted = [each for some in lists for each in some if each.info.workload.evicted is not None]
        self.ordered = evicted + [
            each for some in lists for each in some if each.info.workload.evicted is None
        ]

    def tries(self) -> tuple[bool, ...]:
        """Whether borrowing is allowed, in the order in which both are tried."""
        if not self._strangers or (self._forbidden and not self._below_nominal()):
            return (True,)
        if self._forbidden and not self._advantages:
            return (False, True)
        return (True, False)

    def _below_nominal(self) -> bool:
        attempt = self._attempt
        node, usage = attempt.node, attempt.ground.usage
        return all(node.nominal(cell) > usage.used(node, cell) for cell in attempt.cells)

    def _sorted(self, candidates: list[_Candidate]) -> list[_Candidate]:
        by_key = {each.info.key: each for each in candidates}
        return [by_key[info.key] for info in self._attempt.sorted([each.info for each in candidates])]

    def _look_outwards(self, by_advantage: list[_Candidate], by_priority: list[_Candidate]) -> None:
        attempt = self._attempt
        usage = attempt.ground.usage
        advantage, rest = usage.fits_quota(attempt.node, attempt.need)
        none_by_priority = self._forbidden and not self._below_nominal()  # it would borrow whatever they give
        done: Node | None = None
        for cohort in attempt.node.above():
            found = by_advantage if advantage else by_priority
            looked_at = () if none_by_priority and not advantage else self._beyond_quota(cohort, done)
            for queue in looked_at:
                found += self._of_queue(queue, cohort, advantage=advantage)
            fits, rest = usage.fits_quota(cohort, rest)
            advantage = advantage or fits
            done = cohort

    def _beyond_quota(self, cohort: Node, done: Node | None) -> Iterator[Node]:
        """The queues below that use more than their quota, through cohorts that do."""
        attempt = self._attempt
        usage = attempt.ground.usage
        for child in cohort.cohorts:
            if child is not done and usage.exceeds(child, attempt.cells):
                yield from self._beyond_quota(child, done)
        for queue in attempt.ground.active(cohort.queues):
            if queue is not attempt.node and usage.exceeds(queue, attempt.cells):
                yield queue

    def _of_queue(self, queue: Node, common: Node | None, *, advantage: bool = False) -> list[_Candidate]:
        attempt = self._attempt
        own = queue is attempt.node
        policy = attempt.policy.within if own else attempt.policy.reclaim
        preemptor, settings = attempt.info.workload, attempt.ground.settings
        return [
            _Candidate(info, self._right(info, own=own, advantage=advantage), common)
            for info in attempt.ground.holders(queue)
            if not info.uses.isdisjoint(attempt.cells)
            and satisfies(policy, preemptor, info.workload, settings)
        ]

    def _right(self, info: Info, *, own: bool, advantage: bool) -> _Right:
        if own:
            return _Right.OWN_QUEUE
        if advantage:
            return _Right.ADVANTAGE
        threshold = self._attempt.policy.threshold
        above = info.priority >= self._attempt.info.priority or (
            threshold is not None and info.priority > threshold
        )
        return _Right.WITHIN_QUOTA if self._forbidden or above else _Right.WHILE_BORROWING
