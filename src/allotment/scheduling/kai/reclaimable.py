"""Whether one queue may take from another.

Judged between the first queues on the two paths that differ. Either what is taken from holds more than it may
have (fair share), or the taker stays within its quota and the other is above its own (quota); this is asked
for every chunk that goes, before it goes. Afterwards no queue of the taker may be better served, against its
fair share, than a sibling that lost something. ``plugins/proportion/reclaimable`` of KAI.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from allotment.scheduling.kai.accounts import RESOURCES, Account, within
from allotment.scheduling.kai.axes import CPU, GPU, MEMORY, NOTHING, Triple, plus
from allotment.scheduling.kai.groups import Group
from allotment.scheduling.kai.session import Session
from allotment.scheduling.kai.tasks import Task
from allotment.scheduling.state.share_queues import NO_LIMIT


def _levelled(taker: Account, victim: Account) -> tuple[Account, Account]:
    pair = taker, victim
    for pair in zip(taker.path, victim.path, strict=False):
        if pair[0] is not pair[1]:
            break
    return pair


def may_reclaim(session: Session, group: Group) -> bool:
    """Whether a job's queue stays within its fair share, and within quota if the job cannot be preempted."""
    account = session.accounts.get(group.queue)
    if account is None or not session.plugins.fairness:
        return False
    asked = session.asked_by(group)
    if not within(account.would_hold(asked), account.fair):
        return False
    return group.preemptible or _within_firm_quota(account, account.held_firmly, asked)


def _within_firm_quota(account: Account, firmly: Sequence[float], asked: Triple) -> bool:
    return within([firmly[each] + asked[each] for each in RESOURCES], account.quota)


def may_lose(session: Session, taker: Group, victim: Group) -> bool:
    """Whether a job's queue holds enough for the job to be looked at."""
    mine, theirs = session.accounts.get(taker.queue), session.accounts.get(victim.queue)
    if mine is None or theirs is None:
        return True
    asked = session.asked_by(taker)
    above, below = _levelled(mine, theirs)
    if not above.within_quota(asked):
        return not within(below.held, below.allocatable)
    under = False
    for each in RESOURCES:
        if asked[each] <= 0 or below.quota[each] == NO_LIMIT:
            continue
        if below.held[each] > below.quota[each]:
            return True
        under = under or below.held[each] < below.quota[each]
    return not under


@dataclass(frozen=True, slots=True)
class Chunk:
    """What goes together: a pod beyond what its job needs, or all of those."""

    amounts: Triple
    involved: frozenset[int]


def chunks_of(group: Group, tasks: Iterable[Task], *, ignore_moved: bool) -> list[Chunk]:
    """The pods of a victim in chunks; those that find another place do not count."""
    by_leaf: dict[str, list[Task]] = {}
    for task in tasks:
        by_leaf.setdefault(task.leaf, []).append(task)
    core: list[Task] = []
    surplus: list[Task] = []
    for name, pods in by_leaf.items():
        least = group.leaves[name].minimum
        core += pods[:least]
        surplus += pods[least:]
    parts = [[task] for task in surplus] + [core]
    kept = [[task for task in part if not (ignore_moved and task.active)] for part in parts]
    return [_chunk(part) for part in kept if part]


def _chunk(tasks: Sequence[Task]) -> Chunk:
    total = NOTHING
    whole = 0.0
    for task in tasks:
        total = plus(total, task.accepted)
        whole += task.accepted_vector[GPU]
    return Chunk(total, _involved(total, whole))


def _involved(amounts: Triple, whole_gpus: float) -> frozenset[int]:
    """The resources that are asked for; MIG instances alone do not make it GPUs."""
    counted = {CPU: amounts[CPU], MEMORY: amounts[MEMORY], GPU: whole_gpus}
    return frozenset(each for each, amount in counted.items() if amount > 0)


@dataclass(frozen=True, slots=True)
class Books:
    """What queues held when the search for a solution began."""

    held: Mapping[str, tuple[float, ...]]
    held_firmly: Mapping[str, tuple[float, ...]]

    @classmethod
    def of(cls, accounts: Mapping[str, Account]) -> Books:
        """A copy of the books."""
        return cls(
            {name: tuple(account.held) for name, account in accounts.items()},
            {name: tuple(account.held_firmly) for name, account in accounts.items()},
        )


class Reclaim:
    """Judges what one job would take from other queues."""

    def __init__(self, session: Session, taker: Group) -> None:
        self.session, self.taker = session, taker
        self.account = session.accounts[taker.queue]
        self.books = Books.of(session.accounts)
        self.left: dict[str, list[float]] = {}
        self.involved: dict[str, set[int]] = {}

    def allows(self, asked: Triple, whole_gpus: float, victims: Mapping[Group, Iterable[Task]]) -> bool:
        """Whether these pods may be taken for what the job asks for."""
        self.left, self.involved = {}, {}
        chunks: dict[str, list[Chunk]] = {}
        for group, tasks in victims.items():
            found = chunks_of(group, tasks, ignore_moved=self.session.settings.consolidating_reclaim)
            if found:
                chunks.setdefault(group.queue, []).extend(found)
        return all(self._take(asked, name, each) for name, each in chunks.items()) and self._balanced(
            asked, _involved(asked, whole_gpus)
        )

    def _take(self, asked: Triple, name: str, chunks: Sequence[Chunk]) -> bool:
        victim = self.session.accounts[name]
        mine, theirs = _levelled(self.account, victim)
        self.involved[name] = {each for chunk in chunks for each in chunk.involved}
        for chunk in chunks:
            if not self._may_take(asked, mine, theirs):
                return False
            for account in victim.line:
                left = self._left(account)
                for each in RESOURCES:
                    left[each] -= chunk.amounts[each]
                self.involved.setdefault(account.name, set()).update(self.involved[name])
        return True

    def _left(self, account: Account) -> list[float]:
        return self.left.setdefault(account.name, list(self.books.held[account.name]))

    def _may_take(self, asked: Triple, mine: Account, theirs: Account) -> bool:
        left = self._left(theirs)
        if not within(left, theirs.allocatable):
            return True
        held = self.books.held[mine.name]
        within_quota = within([held[each] + asked[each] for each in RESOURCES], mine.quota)
        return within_quota and not within(left, theirs.quota)

    def _balanced(self, asked: Triple, involved: frozenset[int]) -> bool:
        for account in self.account.line:
            after = self.left.get(account.name)
            if after is None:
                after = list(self.books.held[account.name])
            for each in RESOURCES:
                after[each] += asked[each]
            for name, left in self.left.items():
                sibling = self.session.accounts[name]
                if sibling is account or sibling.parent is not account.parent:
                    continue
                if not self._worse_off(account, after, sibling, left, involved | self.involved[name]):
                    return False
            firmly = self.books.held_firmly[account.name]
            if not self.taker.preemptible and not _within_firm_quota(account, firmly, asked):
                return False
        return True

    def _worse_off(
        self,
        account: Account,
        after: list[float],
        sibling: Account,
        left: list[float],
        involved: frozenset[int],
    ) -> bool:
        """Whether the taker stays less well served than the sibling."""
        for each in involved:
            mine, theirs = account.fair[each], sibling.fair[each]
            if mine == NO_LIMIT and theirs == NO_LIMIT:
                continue
            ratio = _saturation(after[each], mine) * 1.0
            other = _saturation(left[each], theirs)
            if ratio > 1 and theirs > 0 and ratio * self.session.settings.saturation >= other:
                return False
        return True


def _saturation(held: float, fair: float) -> float:
    if fair == 0:
        return math.inf if held > 0 else 0.0
    return 0.0 if fair == NO_LIMIT else held / fair
