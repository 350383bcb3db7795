"""Which of two sibling queues comes first.

By what each is to get next, or, where victims are sought, by what would be taken from it.
``plugins/proportion/queue_order`` of KAI; the first difference decides.
"""

from __future__ import annotations

from collections.abc import Sequence

from allotment.scheduling.kai.accounts import RESOURCES, Account, within
from allotment.scheduling.kai.axes import Triple


def comes_first(left: Bid, right: Bid, total: Triple) -> bool:
    """Whether the left queue comes before the right one."""
    for compare in _COMPARISONS:
        order = compare(left, right, total)
        if order:
            return order < 0
    return left.account.created < right.account.created


class Bid:
    """A queue, what the best job below it asks for, and what it holds without its victims, if it has such."""

    __slots__ = ("account", "asked", "left")

    def __init__(self, account: Account, asked: Triple, left: Sequence[float] | None = None) -> None:
        self.account, self.asked, self.left = account, asked, left

    def held(self) -> Sequence[float]:
        """What the queue would hold."""
        return self.account.would_hold(self.asked) if self.left is None else self.left

    def without_a_share(self) -> bool:
        """Whether it would hold what it may have nothing of."""
        held = self.account.would_hold(self.asked)
        return any(held[each] > 0 for each in RESOURCES if self.account.allocatable[each] == 0)


def _first(*, left: bool, right: bool) -> int:
    return right - left


def _smaller(left: float, right: float) -> int:
    return (left > right) - (left < right)


def _over_fair_share(left: Bid, right: Bid, _total: Triple) -> int:
    return left.account.over_fair_share() - right.account.over_fair_share()


def _starved(left: Bid, right: Bid, _total: Triple) -> int:
    return _first(left=left.account.within_quota(left.asked), right=right.account.within_quota(right.asked))


def _priority(left: Bid, right: Bid, _total: Triple) -> int:
    return _smaller(right.account.priority, left.account.priority)


def _without_a_share(left: Bid, right: Bid, _total: Triple) -> int:
    return left.without_a_share() - right.without_a_share()


def _share_with_job(left: Bid, right: Bid, total: Triple) -> int:
    return _smaller(
        left.account.dominant_share(left.held(), total), right.account.dominant_share(right.held(), total)
    )


def _share_now(left: Bid, right: Bid, total: Triple) -> int:
    return _smaller(
        left.account.dominant_share(left.account.held, total),
        right.account.dominant_share(right.account.held, total),
    )


def _weaker(left: Bid, right: Bid, _total: Triple) -> int:
    least, most = left.account.allocatable, right.account.allocatable
    smaller, larger = within(least, most), within(most, least)
    return 0 if smaller == larger else (-1 if smaller else 1)


_COMPARISONS = (
    _over_fair_share,
    _starved,
    _priority,
    _without_a_share,
    _share_with_job,
    _share_now,
    _weaker,
)
