"""How the pods are spread over the chosen domains, down to the leaves: the last part of placement.

Above the level of slices all children of the chosen domains are one pool, from which the fewest are taken; at
and below it every domain hands its own share to its own children. The rules are those of the end of
``findTopologyAssignment`` and of ``updateCountsToMinimumGeneric``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from allotment.scheduling.kueue.topology.asking import Wish
from allotment.scheduling.kueue.topology.choosing import Chosen
from allotment.scheduling.kueue.topology.counting import Count, Counts
from allotment.scheduling.kueue.topology.domains import Domain
from allotment.scheduling.kueue.topology.sorting import (
    by_room,
    leader_first,
    tightest_pods,
    tightest_slices,
)
from allotment.scheduling.state.workloads import DomainCount, Placement


@dataclass(frozen=True, slots=True)
class Spread:
    """Where the pods stand, and where their leader does."""

    workers: Placement
    leader: Placement | None


def spread(counts: Counts, wish: Wish, chosen: Chosen, *, mixed: bool, by_parent: bool = False) -> Spread:
    """The placement; ``by_parent`` hands shares down from the chosen domains on."""
    least_first = wish.loose and mixed
    domains = fill(
        counts, chosen.domains, wish.count, wish.leaders, wish.size, least_first=least_first, sliced=True
    )
    level, lowest = chosen.level, len(counts.domains.levels) - 1
    while not by_parent and level < min(lowest, wish.slice_level):
        below = [child for domain in domains for child in domain.children]
        ordered = by_room(counts, below, least_first=least_first)
        domains = fill(
            counts, ordered, wish.count, wish.leaders, wish.size, least_first=least_first, sliced=True
        )
        level += 1
    while level < lowest:
        domains = _handed_down(counts, wish, domains, level, least_first=least_first)
        level += 1
    if not wish.leaders:
        return Spread(_placement(counts, domains), None)
    leading = [(domain, counts.of(domain).leaders) for domain in domains]
    return Spread(_placement(counts, domains), _placed(counts, leading))


def _handed_down(
    counts: Counts, wish: Wish, domains: list[Domain], level: int, *, least_first: bool
) -> list[Domain]:
    size = wish.size if level < wish.slice_level else wish.inner.get(level + 1, 1)
    result: list[Domain] = []
    for domain in domains:
        children = by_room(counts, domain.children, least_first=least_first)
        if size > 1:
            for child in children:
                count = counts.of(child)
                count.slices, count.slices_led = count.pods // size, count.pods_led // size
        own = counts.of(domain)
        result += fill(
            counts, children, own.pods, own.leaders, size, least_first=least_first, sliced=size > 1
        )
    return result


def fill(
    counts: Counts,
    domains: Sequence[Domain],
    count: int,
    leaders: int,
    size: int,
    *,
    least_first: bool,
    sliced: bool,
) -> list[Domain]:
    """Give pods to domains in order until none are left; their numbers are what they were given then."""
    ordered = leader_first(counts, list(domains), count, leaders, size, sliced=sliced)
    left = _Left(counts, count // size if sliced else count, leaders, size, sliced, least_first)
    taken: list[Domain] = []
    for index, domain in enumerate(ordered):
        led = left.leaders > 0
        best = left.best_of(domain, ordered[index:])
        taken.append(best)
        if left.give_led(counts.of(best)) if led else left.give(counts.of(best)):
            return taken
    return []


@dataclass(slots=True)
class _Left:
    """What is still to be given away: slices or pods, and leaders."""

    counts: Counts
    number: int
    leaders: int
    size: int
    sliced: bool
    least_first: bool

    def best_of(self, domain: Domain, rest: Sequence[Domain]) -> Domain:
        """The domain, or the tightest of the rest if this one would take all that is left."""
        count = self.counts.of(domain)
        if self.least_first or count.leaders < self.leaders or self.room(count) < self.number:
            return domain
        tightest = tightest_slices if self.sliced else tightest_pods
        return tightest(self.counts, rest, self.number, self.leaders)

    def room(self, count: Count) -> int:
        """How much a domain takes of what is given away now."""
        if self.sliced:
            return count.slices_led if self.leaders else count.slices
        return count.pods_led if self.leaders else count.pods

    def give_led(self, count: Count) -> bool:
        """Give while a leader is to be placed; whether that was all."""
        room = self.room(count)
        if room >= self.number and count.leaders >= self.leaders:
            count.leaders = self.leaders
            self._set(count, self.number)
            return True
        count.leaders = min(count.leaders, self.leaders)
        given = min(room, self.number)
        self._set(count, given)
        if self.sliced:
            count.slices_led = given
        else:
            count.pods_led = given
        self.leaders -= count.leaders
        self.number -= given
        return False

    def give(self, count: Count) -> bool:
        """Give without a leader; whether that was all."""
        count.leaders = 0
        given = min(self.room(count), self.number)
        done = self.room(count) >= self.number
        self._set(count, given)
        self.number -= given
        return done

    def _set(self, count: Count, given: int) -> None:
        if self.sliced:
            count.slices = given
        count.pods = given * self.size if self.sliced else given


def _placement(counts: Counts, domains: Sequence[Domain]) -> Placement:
    return _placed(counts, [(domain, counts.of(domain).pods) for domain in domains])


def _placed(counts: Counts, given: Sequence[tuple[Domain, int]]) -> Placement:
    """A placement as it is written: by the nodes' names alone where the lowest level is the node."""
    tree = counts.domains
    first = len(tree.levels) - 1 if tree.by_node else 0
    ordered = sorted(
        ((domain, number) for domain, number in given if number), key=lambda pair: pair[0].values
    )
    return Placement(
        tree.levels[first:], tuple(DomainCount(domain.values[first:], number) for domain, number in ordered)
    )
