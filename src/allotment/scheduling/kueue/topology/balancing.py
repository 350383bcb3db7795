"""Pods in shares as equal as can be, over no more domains than they need (alpha: TASBalancedPlacement).

The largest share is sought that every domain of one parent can take; domains below it are left out, and of
the rest those are chosen that leave the least over. Where it does not come out, placement is the usual one.
The rules are those of ``tas_balanced_placement.go`` in ``pkg/cache/scheduler``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import log2

from allotment.scheduling.kueue.topology.asking import Wish
from allotment.scheduling.kueue.topology.choosing import Chosen
from allotment.scheduling.kueue.topology.counting import Count, Counts
from allotment.scheduling.kueue.topology.domains import Domain
from allotment.scheduling.kueue.topology.sorting import by_led_room, by_room

Left = tuple[int, int]  # leaders and pods that are still to be placed


@dataclass(frozen=True, slots=True)
class _Greedy:
    """How many domains the roomiest come to, and the last of them with and without a leader."""

    number: int
    last_led: Domain | None
    last: Domain | None


@dataclass(frozen=True, slots=True)
class _Best:
    """The domains with the largest share so far, and the numbers without those that are too small."""

    share: int
    number: int
    domains: Sequence[Domain]
    counts: Counts


def balance(counts: Counts, wish: Wish) -> tuple[Chosen, Counts] | None:
    """The domains with the shares they are given, if pods can be balanced at all."""
    best = _best(counts, wish)
    if best is None:
        return None
    level, domains = wish.level, list(best.domains)
    if level < wish.slice_level:
        chosen = optimal(best.counts, domains, wish, by_entropy=True)
        domains, level = [child for domain in chosen for child in domain.children], level + 1
    given = place_balanced(best.counts, domains, wish, best.share)
    return (Chosen(level, given), best.counts) if given else None


def _best(counts: Counts, wish: Wish) -> _Best | None:
    if wish.level == 0:
        families = [list(counts.domains.by_level[0].values())]
    else:
        parents = sorted(counts.domains.by_level[wish.level - 1].values(), key=lambda each: each.values)
        families = [each.children for each in parents]
    best: _Best | None = None
    for family in families:
        found = _tried(counts, wish, family, best.share if best else 0)
        if found is not None and found.share > 0:
            better = best is None or (found.share, -found.number) > (best.share, -best.number)
            best = found if better else best
    return best


def _tried(counts: Counts, wish: Wish, family: Sequence[Domain], least: int) -> _Best | None:
    """The share for the domains of one parent; with a leader a smaller one that leaves room for it."""
    below = family
    if wish.level < wish.slice_level:
        below = [child for domain in family for child in domain.children]
    greedy = _greedy(counts, below, wish)
    if greedy is None or not greedy.number:
        return None
    share = wish.slices // greedy.number
    if greedy.last_led is not None:
        share = min(share, counts.of(greedy.last_led).slices_led)
    reserved = share
    if greedy.last is not None:
        share = min(share, counts.of(greedy.last).slices)
        reserved = min(share, counts.of(greedy.last).slices_led) if wish.leaders else share
    for each in dict.fromkeys((share, reserved)):
        if each < least or each <= 0:
            break
        pruned = _pruned(counts, wish, family, each)
        after = _greedy(pruned, family, wish)
        if after is not None:
            return _Best(each, after.number, family, pruned)
    return None


def _greedy(counts: Counts, domains: Sequence[Domain], wish: Wish) -> _Greedy | None:
    slices, leaders, number = wish.slices, wish.leaders, 0
    rest = list(domains)
    last_led = last = None
    while leaders > 0:
        rest = by_led_room(counts, rest, least_first=False)
        if not rest or counts.of(rest[0]).leaders <= 0:
            return None
        last_led = rest.pop(0)
        leaders -= counts.of(last_led).leaders
        slices -= counts.of(last_led).slices_led
        number += 1
    for domain in by_room(counts, rest, least_first=False):
        if slices <= 0 or counts.of(domain).slices <= 0:
            break
        last = domain
        slices -= counts.of(domain).slices
        number += 1
    return None if slices > 0 else _Greedy(number, last_led, last)


def _pruned(counts: Counts, wish: Wish, family: Sequence[Domain], share: int) -> Counts:
    """The numbers without the domains that cannot take a share."""
    pruned = counts.copy()
    plain = replace(wish, inner={})
    for domain in family:
        for child in domain.children:
            _prune(pruned, child, wish, share)
    for domain in family:
        pruned.count_up(domain, plain, wish.level)
        _prune(pruned, domain, wish, share)
    return pruned


def _prune(counts: Counts, domain: Domain, wish: Wish, share: int) -> None:
    count = counts.of(domain)
    if count.slices < share:
        _clear(counts, domain, leaders_only=False)
    elif wish.leaders and count.leaders and count.slices_led < share:
        _clear(counts, domain, leaders_only=True)


def _clear(counts: Counts, domain: Domain, *, leaders_only: bool) -> None:
    count = counts.of(domain)
    count.pods_led = count.slices_led = count.leaders = 0
    if not leaders_only:
        count.pods = count.slices = 0
    for child in domain.children:
        _clear(counts, child, leaders_only=leaders_only)


def optimal(counts: Counts, domains: Sequence[Domain], wish: Wish, *, by_entropy: bool) -> list[Domain]:
    """As few domains as can be that hold all with the least left over; none where there is none."""
    greedy = _greedy(counts, domains, wish)
    if greedy is None:
        return []
    ordered = sorted(domains, key=lambda domain: domain.values)
    if by_entropy:
        ordered.sort(key=lambda domain: _roominess(counts, domain))
    # by how many domains are taken: what they leave unplaced, and the first way to come to it
    ways: list[dict[Left, tuple[Domain, ...]]] = [{} for _ in range(greedy.number + 1)]
    ways[0][wish.leaders, wish.slices * wish.size] = ()
    for domain in ordered:
        count = counts.of(domain)
        for number in range(greedy.number, 0, -1):
            for (leaders, pods), way in sorted(ways[number - 1].items(), key=lambda each: each[0]):
                if leaders <= 0 and pods <= 0:
                    continue
                if leaders > 0 and count.leaders > 0:
                    left = leaders - count.leaders, pods - count.pods_led
                    ways[number].setdefault(left, (*way, domain))
                if count.slices > 0:
                    ways[number].setdefault((leaders, pods - count.pods), (*way, domain))
    done = [left for left in ways[greedy.number] if left[0] == 0 and left[1] <= 0]
    return list(ways[greedy.number][max(done)]) if done else []


def _roominess(counts: Counts, domain: Domain) -> tuple[int, int, float]:
    count = counts.of(domain)
    return -count.leaders, -count.slices_led, -_entropy([counts.of(child) for child in domain.children])


def _entropy(parts: Sequence[Count]) -> float:
    """How evenly room is spread over children."""
    total = sum(part.pods for part in parts)
    shares = [part.pods / total for part in parts if part.pods > 0]
    return -sum(share * log2(share) for share in shares)


def place_balanced(counts: Counts, domains: Sequence[Domain], wish: Wish, share: int) -> list[Domain]:
    """The domains with what each is given: the share, and the first ones what remains; none if it fails."""
    chosen = optimal(counts, domains, wish, by_entropy=False)
    more = wish.slices - len(chosen) * share
    if not chosen or more < 0:
        return []
    leaders = wish.leaders
    chosen = by_led_room(counts, chosen, least_first=False)
    for domain in chosen:
        count = counts.of(domain)
        extra = 0
        if leaders > 0 or more > 0:
            extra = min((count.slices_led if leaders > 0 else count.slices) - share, more)
        count.leaders = 1 if leaders > 0 else 0
        leaders -= count.leaders
        count.slices = count.slices_led = share + extra
        count.pods = count.slices * wish.size
        count.pods_led = count.pods - count.leaders
        more -= extra
    return [] if more > 0 or leaders > 0 else chosen
