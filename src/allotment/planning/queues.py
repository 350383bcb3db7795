"""Each team's share as one value, whoever holds it: a cluster's queues, or a platform's file.

A share says what is guaranteed, what is the most, what is in use, and what waits; what nobody can know here
is None and not nought.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from allotment.kubernetes.cluster.capacity import KUEUE, NOTHING, Amount, Capacity
from allotment.kubernetes.cluster.waiting import Waiting

UNSTATED: Final = Fraction(1_000_000)
"""A quota from which on it stands for none: what is rendered for a team that states no quota."""


@dataclass(frozen=True, slots=True)
class Share:
    """A queue's share of one resource; ``used``, ``waiting`` and ``waiting_for`` are None where unknown.

    ``quota`` None is "as much as there is", ``limit`` None "no limit". ``lent`` is what of the quota others
    hold; ``free`` what could be had now without taking any back; ``fair`` what the queue gets when what is
    idle is shared out. ``next_end`` says what of it would end first for others. ``sum`` is the arithmetic in
    words, ``unreached`` why it never comes to its limit.
    """

    queue: str
    resource: str
    quota: Amount | None
    limit: Amount | None
    weight: Amount
    used: Amount | None = None
    borrowed: Amount = NOTHING
    lent: Amount = NOTHING
    free: Amount | None = None
    waiting: int | None = None
    waiting_for: Amount | None = None
    paused: int = 0
    within: tuple[str, ...] = ()
    inactive: str = ""
    sum: str = ""
    fair: Amount | None = None
    next_end: str = ""
    unreached: str = ""


@dataclass(frozen=True, slots=True)
class Shares:
    """All shares. ``name`` is where they are from, ``holder`` who sees to them, ``notes`` are sentences.

    ``quotas`` is what is guaranteed in all of each resource, where that is not the sum of the shares', and
    ``there`` what there is of it, where that is known.
    """

    name: str
    holder: str
    shares: tuple[Share, ...] = ()
    notes: tuple[str, ...] = ()
    quotas: tuple[tuple[str, Amount | None], ...] = ()
    there: tuple[tuple[str, Amount], ...] = ()

    @property
    def resources(self) -> tuple[str, ...]:
        """What is shared out, in order."""
        return tuple(dict.fromkeys(each.resource for each in self.shares))

    def of(self, resource: str) -> tuple[Share, ...]:
        """The shares of one resource."""
        return tuple(each for each in self.shares if each.resource == resource)

    def quota_in_all(self, resource: str) -> Amount | None:
        """What is guaranteed to all queues together; None where one states nothing."""
        told = dict(self.quotas)
        return told[resource] if resource in told else total(each.quota for each in self.of(resource))

    def there_in_all(self, resource: str) -> Amount | None:
        """What there is of it, in quotas or not; None where that is not known."""
        return dict(self.there).get(resource)


def share_of(capacity: Capacity, waiting: Waiting) -> Share:
    """What a queue of a cluster may use, and what waits at it, as a share."""
    quota = capacity.quota
    ceiling = capacity.limit if capacity.scheduler == KUEUE else capacity.most
    return Share(
        queue=capacity.queue,
        resource=capacity.resource,
        quota=None if quota is None or quota >= UNSTATED else quota,
        limit=_own_limit(capacity, ceiling),
        weight=capacity.weight,
        used=capacity.used,
        borrowed=capacity.borrowed,
        lent=capacity.lent,
        free=capacity.free,
        waiting=waiting.works,
        waiting_for=waiting.amount,
        paused=waiting.paused,
        within=capacity.parents,
        inactive=capacity.inactive,
        sum=capacity.arithmetic(),
    )


def _own_limit(capacity: Capacity, ceiling: Amount | None) -> Amount | None:
    """A queue in no cohort has its quota for a limit."""
    if capacity.scheduler == KUEUE and not capacity.parents:
        ceiling = capacity.quota
    return None if ceiling is None or ceiling >= UNSTATED else ceiling


def total(amounts: Iterable[Amount | None]) -> Amount | None:
    """The sum; None where one of them is."""
    listed = list(amounts)
    known = [each for each in listed if each is not None]
    return sum(known, NOTHING) if len(known) == len(listed) else None
