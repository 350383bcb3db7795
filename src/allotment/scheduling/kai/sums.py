"""What the pods of each queue hold and ask for, kept from cycle to cycle.

Books are filled by adding amounts one after the other, and floating point makes the order count. As long as
every amount is a whole number and the sums stay exact, it does not: then a group that changes is taken off
and added again. Otherwise the books are filled pod by pod, as always.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from allotment.scheduling.kai.accounts import RESOURCES, Account
from allotment.scheduling.kai.axes import Triple, plus
from allotment.scheduling.kai.groups import Group
from allotment.scheduling.kai.tasks import Task
from allotment.scheduling.state.pod_groups import ALLOCATED, PodStatus

_EXACT: Final = 2**53
_HELD, _FIRMLY, _ASKED = 0, 3, 6

Whole = tuple[int, ...]
"""Held, held firmly and asked for, of each resource."""


class Sums:
    """Sums by queue, and of each group what it has brought in; None for one with fractions."""

    __slots__ = ("by_group", "by_queue", "fractions", "least_memory")

    def __init__(self, least_memory: int) -> None:
        self.least_memory = least_memory
        self.by_group: dict[str, tuple[str, Whole | None]] = {}
        self.by_queue: dict[str, list[int]] = {}
        self.fractions = 0

    def drop(self, key: str) -> None:
        """A group is gone, or will be counted anew."""
        known = self.by_group.pop(key, None)
        if known is not None:
            self._count(*known, -1)

    def add(self, group: Group) -> None:
        """Count a group as it stands."""
        whole = self._whole(group)
        self.by_group[group.key] = (group.queue, whole)
        self._count(group.queue, whole, 1)

    def _count(self, queue: str, whole: Whole | None, by: int) -> None:
        if whole is None:
            self.fractions += by
            return
        sums = self.by_queue.setdefault(queue, [0] * len(whole))
        for number, amount in enumerate(whole):
            sums[number] += by * amount

    def _whole(self, group: Group) -> Whole | None:
        held: dict[Triple, int] = {}
        wanted: dict[Triple, int] = {}
        for task in group.tasks.values():
            status = task.status
            if status in ALLOCATED:
                held[task.accepted] = held.get(task.accepted, 0) + 1
            elif status is PodStatus.PENDING:
                amounts = self._wanted(task)
                wanted[amounts] = wanted.get(amounts, 0) + 1
        if group.more is not None:
            amounts = self._wanted(group.more[0])
            wanted[amounts] = wanted.get(amounts, 0) + group.more[1]
        if not all(amount == int(amount) for amounts in (*held, *wanted) for amount in amounts):
            return None
        standing, waiting = _summed(held), _summed(wanted)
        firmly = (0,) * len(standing) if group.preemptible else standing
        return (*standing, *firmly, *(sum(pair) for pair in zip(standing, waiting, strict=True)))

    def _wanted(self, task: Task) -> Triple:
        """What a pod that waits asks for; one by memory is priced by the smallest GPU."""
        if not task.by_memory:
            return task.quota
        return plus(task.quota, (0.0, 0.0, task.priced(self.least_memory)))

    def fill(self, accounts: Mapping[str, Account], groups: Iterable[Group]) -> None:
        """Fill the empty books of queues."""
        if self.fractions or self._large():
            self._one_by_one(accounts, groups)
            return
        for queue, sums in self.by_queue.items():
            account = accounts.get(queue)
            for each in account.line if account is not None else ():
                for resource in RESOURCES:
                    each.held[resource] += sums[_HELD + resource]
                    each.held_firmly[resource] += sums[_FIRMLY + resource]
                    each.asked[resource] += sums[_ASKED + resource]

    def _large(self) -> bool:
        return any(
            sum(sums[_ASKED + resource] for sums in self.by_queue.values()) >= _EXACT
            for resource in RESOURCES
        )

    def _one_by_one(self, accounts: Mapping[str, Account], groups: Iterable[Group]) -> None:
        for group in groups:
            account = accounts.get(group.queue)
            if account is None:
                continue
            for task in group.tasks.values():
                if task.allocated:
                    account.hold(task.accepted, firmly=not group.preemptible)
                    account.ask(task.accepted)
                elif task.status is PodStatus.PENDING:
                    account.ask(self._wanted(task))
            if group.more is not None:
                for _ in range(group.more[1]):
                    account.ask(self._wanted(group.more[0]))


def _summed(counted: Mapping[Triple, int]) -> Whole:
    return tuple(sum(int(amounts[each]) * count for amounts, count in counted.items()) for each in RESOURCES)
