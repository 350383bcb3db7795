"""In which order domains are filled, and which of them closes a placement best.

Pods that may stand anywhere take the domains with the least room first and leave large ones whole (the
profile LeastFreeCapacity); all others take the roomiest, and for the last of them the smallest that will do
(BestFit).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from allotment.scheduling.kueue.topology.counting import Count, Counts
from allotment.scheduling.kueue.topology.domains import Domain

Number = Callable[[Count], int]


def by_room(counts: Counts, domains: Iterable[Domain], *, least_first: bool) -> list[Domain]:
    """The preferred domains, then those with most slices, least pods that they would waste, and by name."""
    sign = 1 if least_first else -1

    def rank(domain: Domain) -> tuple[int, int, int, tuple[str, ...]]:
        count = counts.of(domain)
        return -count.score, sign * count.slices, count.pods, domain.values

    return sorted(domains, key=rank)


def by_led_room(counts: Counts, domains: Iterable[Domain], *, least_first: bool) -> list[Domain]:
    """The same with a leader among them: domains that have room for one come first."""
    sign = 1 if least_first else -1

    def rank(domain: Domain) -> tuple[int, int, int, int, tuple[str, ...]]:
        count = counts.of(domain)
        return -count.leaders, -count.score, sign * count.slices_led, count.pods_led, domain.values

    return sorted(domains, key=rank)


def tightest(counts: Counts, domains: Sequence[Domain], needed: int, leaders: int, number: Number) -> Domain:
    """Of the most preferred domains the one with the least room that is enough; the first where none is."""
    best, least, score = None, 0, counts.of(domains[0]).score
    for domain in domains:
        count = counts.of(domain)
        if count.score != score:
            break
        if count.leaders < leaders:
            continue
        room = number(count)
        if room >= needed and (best is None or room < least):
            best, least = domain, room
    return best or domains[0]


def slices(count: Count) -> int:
    """Slices without a leader."""
    return count.slices


def slices_led(count: Count) -> int:
    """Slices beside a leader."""
    return count.slices_led


def pods(count: Count) -> int:
    """Pods without a leader."""
    return count.pods


def pods_led(count: Count) -> int:
    """Pods beside a leader."""
    return count.pods_led


def tightest_slices(counts: Counts, domains: Sequence[Domain], needed: int, leaders: int) -> Domain:
    """The tightest domain for slices, with leaders if any are left."""
    return tightest(counts, domains, needed, leaders, slices_led if leaders else slices)


def tightest_pods(counts: Counts, domains: Sequence[Domain], needed: int, leaders: int) -> Domain:
    """The tightest domain for pods, with leaders if any are left."""
    return tightest(counts, domains, needed, leaders, pods_led if leaders else pods)


def leader_first(
    counts: Counts, domains: list[Domain], count: int, leaders: int, size: int, *, sliced: bool
) -> list[Domain]:
    """The domains with one in front in which the leader costs no more than there is to spare."""
    if not leaders or len(domains) < 2:
        return domains
    plain, led = (slices, slices_led) if sliced else (pods, pods_led)
    needed = count // size if sliced else count
    room = sum(plain(counts.of(domain)) for domain in domains)
    for index, domain in enumerate(domains):
        here = counts.of(domain)
        if here.leaders >= leaders and room - (plain(here) - led(here)) >= needed:
            return [domain, *domains[:index], *domains[index + 1 :]]
    return domains
