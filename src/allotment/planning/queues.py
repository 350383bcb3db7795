"""Each team's share as one value, whoever holds it: a cluster's queues, or a platform's file.

A share says what is guaranteed, what is the most, what is in use, and what waits; what nobody can know here
is None and not nought.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from allotment.kubernetes.cluster.capacity import NOTHING, Amount


@dataclass(frozen=True, slots=True)
class Share:
    """A queue's share of one resource; ``used``, ``waiting`` and ``waiting_for`` are None where unknown.

    ``quota`` None is "as much as there is", ``limit`` None "no limit". ``lent`` is what of the quota others
    hold; ``free`` what could be had now without taking any back; ``fair`` what the queue gets when what is
    idle is shared out. ``next_end`` says what of it would end first for others. ``sum`` is the arithmetic in
    words.
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


@dataclass(frozen=True, slots=True)
class Shares:
    """All shares. ``name`` is where they are from, ``holder`` who sees to them, ``notes`` are sentences.

    ``quotas`` is what is guaranteed in all of each resource, where that is not the sum of the shares'.
    """

    name: str
    holder: str
    shares: tuple[Share, ...] = ()
    notes: tuple[str, ...] = ()
    quotas: tuple[tuple[str, Amount | None], ...] = ()

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


def total(amounts: Iterable[Amount | None]) -> Amount | None:
    """The sum; None where one of them is."""
    listed = list(amounts)
    known = [each for each in listed if each is not None]
    return sum(known, NOTHING) if len(known) == len(listed) else None
