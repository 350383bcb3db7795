"""What queues hold and may have, kept for every queue up the tree.

``plugins/proportion`` of KAI: quota, limit and weight as given; what pods hold and ask for; and the fair
share, which is computed once when a cycle begins. Memory is in bytes here. A queue whose parent is not there
does not count, and neither do those below it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from allotment.scheduling.kai.axes import Triple
from allotment.scheduling.kai.division import Claimant, divide
from allotment.scheduling.state.share_queues import NO_LIMIT, Allotted, ShareQueue

RESOURCES: Final = (0, 1, 2)
_MEGABYTE: Final = 1_000_000
_NO_SHARE_PENALTY: Final = 1000


def beyond(amount: float, bound: float) -> bool:
    """Whether an amount is more than a bound, where either may be unlimited."""
    if bound == NO_LIMIT:
        return False
    return amount == NO_LIMIT or amount > bound


def within(amounts: Iterable[float], bounds: Iterable[float]) -> bool:
    """Whether no amount is more than its bound."""
    return not any(beyond(amount, bound) for amount, bound in zip(amounts, bounds, strict=True))


def _zeros() -> list[float]:
    return [0.0, 0.0, 0.0]


def _bytes(megabytes: float) -> float:
    return max(NO_LIMIT, megabytes * _MEGABYTE)


@dataclass(eq=False, slots=True)
class Account:
    """One queue's books."""

    name: str
    parent: Account | None
    priority: int
    created: float
    quota: list[float]
    limit: list[float]
    weight: list[float]
    used: list[float]
    children: list[Account] = field(default_factory=list)
    fair: list[float] = field(default_factory=_zeros)
    held: list[float] = field(default_factory=_zeros)
    held_firmly: list[float] = field(default_factory=_zeros)
    asked: list[float] = field(default_factory=_zeros)
    allocatable: list[float] = field(default_factory=_zeros)

    @classmethod
    def of(cls, queue: ShareQueue) -> Account:
        """The empty books of a queue."""
        given: tuple[Allotted, ...] = (queue.cpu, queue.memory, queue.gpu)
        return cls(
            name=queue.name,
            parent=None,
            priority=queue.priority,
            created=queue.created,
            quota=[queue.cpu.quota, _bytes(queue.memory.quota), queue.gpu.quota],
            limit=[queue.cpu.limit, _bytes(queue.memory.limit), queue.gpu.limit],
            weight=[each.weight for each in given],
            used=[queue.used.cpu, queue.used.memory, queue.used.gpu],
        )

    @property
    def line(self) -> Iterator[Account]:
        """The queue and those above it."""
        account: Account | None = self
        while account is not None:
            yield account
            account = account.parent

    @property
    def path(self) -> list[Account]:
        """The same from the top."""
        return list(self.line)[::-1]

    @property
    def leaf(self) -> bool:
        """Whether it runs jobs."""
        return not self.children

    def requestable(self, resource: int) -> float:
        """What is asked for, as far as the limit allows it."""
        limit, asked = self.limit[resource], self.asked[resource]
        return asked if limit == NO_LIMIT else min(limit, asked)

    def settle(self) -> None:
        """Compute what it may have from quota, fair share and limit."""
        self.allocatable = [self._allocatable(resource) for resource in RESOURCES]

    def _allocatable(self, resource: int) -> float:
        limit, quota = self.limit[resource], self.quota[resource]
        if quota == NO_LIMIT:
            return limit
        share = max(quota, self.fair[resource])
        return share if limit == NO_LIMIT else min(limit, share)

    def over_fair_share(self) -> bool:
        """Whether it holds more than its fair share of everything."""
        return all(self.fair[each] < self.held[each] for each in RESOURCES)

    def would_hold(self, more: Triple) -> list[float]:
        """What it held with so much more."""
        return [self.held[each] + more[each] for each in RESOURCES]

    def within_quota(self, more: Triple) -> bool:
        """Whether it stays within its quota of everything with so much more."""
        return within(self.would_hold(more), self.quota)

    def dominant_share(self, held: Iterable[float], total: Triple) -> float:
        """The largest part of what it may have that it would hold."""
        largest = 0.0
        for resource, amount in enumerate(held):
            share = self.allocatable[resource]
            if share == NO_LIMIT:
                share = total[resource]
            value = amount * _NO_SHARE_PENALTY if share == 0 else amount / share
            largest = max(largest, value)
        return largest

    def ask(self, amounts: Triple) -> None:
        """Pods wait for so much."""
        for account in self.line:
            for each in RESOURCES:
                account.asked[each] += amounts[each]

    def hold(self, amounts: Triple, *, firmly: bool, by: int = 1) -> None:
        """Pods hold so much, or give it back."""
        for account in self.line:
            for each in RESOURCES:
                account.held[each] += by * amounts[each]
                if firmly:
                    account.held_firmly[each] += by * amounts[each]


def open_accounts(queues: Mapping[str, ShareQueue]) -> dict[str, Account]:
    """Empty books for every queue whose ancestors are all there."""
    accounts = {name: Account.of(queue) for name, queue in queues.items() if _rooted(name, queues)}
    for name, account in accounts.items():
        parent = queues[name].parent
        if parent:
            account.parent = accounts[parent]
            accounts[parent].children.append(account)
    return accounts


def _rooted(name: str, queues: Mapping[str, ShareQueue]) -> bool:
    seen: set[str] = set()
    while name in queues and name not in seen:
        seen.add(name)
        parent = queues[name].parent
        if not parent:
            return True
        name = parent
    return False


def share_out(accounts: Iterable[Account], total: Triple, k: float) -> None:
    """Compute fair shares from the top down."""
    _share_out([account for account in accounts if account.parent is None], total, k)


def _share_out(siblings: list[Account], total: Iterable[float], k: float) -> None:
    for resource, amount in enumerate(total):
        claimants = [
            Claimant(
                name=account.name,
                quota=account.quota[resource],
                limit=account.limit[resource],
                weight=account.weight[resource],
                request=account.asked[resource],
                used=account.used[resource],
                priority=account.priority,
                created=account.created,
            )
            for account in siblings
        ]
        shares = divide(amount, claimants, k)
        for account in siblings:
            account.fair[resource] = shares[account.name]
    for account in siblings:
        account.settle()
        if account.children:
            _share_out(account.children, account.fair, k)
