"""At which level, and in which of its domains, the pods are to stand: the middle of placement.

One domain that holds all is best. If there is none, a required level fails, a preferred one gives way to the
next wider, and at the widest (or for pods that may stand anywhere) several domains are taken in order. The
rules are those of ``findLevelWithFitDomains``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from allotment.scheduling.kueue.topology.asking import Wish
from allotment.scheduling.kueue.topology.counting import Counts
from allotment.scheduling.kueue.topology.domains import Domain
from allotment.scheduling.kueue.topology.sorting import (
    by_led_room,
    by_room,
    leader_first,
    tightest_slices,
)


@dataclass(frozen=True, slots=True)
class Chosen:
    """Domains of one level."""

    level: int
    domains: list[Domain]


def choose(counts: Counts, wish: Wish, level: int, *, mixed: bool) -> Chosen | str:
    """The domains, or the message that says why there are none."""
    here = counts.domains.by_level[level]
    if not here:
        return f"no topology domains at level: {counts.domains.levels[level]}"
    least_first = wish.loose and mixed
    ordered = by_led_room(counts, here.values(), least_first=least_first)
    first = _smallest(counts, wish, ordered) if least_first else _tightest(counts, wish, ordered)
    if _holds(counts, first, wish):
        return Chosen(level, [first])
    if wish.required:
        later = [] if least_first else [n for n, each in enumerate(ordered) if _holds(counts, each, wish)]
        if later:  # those that are preferred are too small
            return Chosen(level, [tightest_slices(counts, ordered[later[0] :], wish.slices, wish.leaders)])
        last = counts.of(ordered[-1]).pods if least_first else counts.of(first).slices
        return not_fitting(counts, wish, level, last)
    if level > 0 and not wish.loose:
        return choose(counts, wish, level - 1, mixed=mixed)
    return _several(counts, wish, level, ordered, least_first=least_first)


def _smallest(counts: Counts, wish: Wish, ordered: list[Domain]) -> Domain:
    """Of domains with the least room first, the first that holds all."""
    return next((domain for domain in ordered if _holds(counts, domain, wish)), ordered[0])


def _tightest(counts: Counts, wish: Wish, ordered: list[Domain]) -> Domain:
    """Of domains with the most room first, the one that holds all with the least to spare."""
    if not _holds(counts, ordered[0], wish):
        return ordered[0]
    return tightest_slices(counts, ordered, wish.slices, wish.leaders)


def _holds(counts: Counts, domain: Domain, wish: Wish) -> bool:
    count = counts.of(domain)
    return count.slices_led >= wish.slices and count.leaders >= wish.leaders


def _several(
    counts: Counts, wish: Wish, level: int, ordered: list[Domain], *, least_first: bool
) -> Chosen | str:
    """As many domains as it takes, those with a leader first."""
    taken: list[Domain] = []
    slices, leaders = wish.slices, wish.leaders
    ordered = leader_first(counts, ordered, wish.count, leaders, wish.size, sliced=True)
    index = 0
    while leaders > 0 and index < len(ordered) and counts.of(ordered[index]).leaders > 0:
        domain = ordered[index]
        if not least_first and counts.of(domain).slices_led >= slices:
            domain = tightest_slices(counts, ordered[index:], slices, leaders)
        taken.append(domain)
        leaders -= counts.of(domain).leaders
        slices -= counts.of(domain).slices_led
        index += 1
    if leaders > 0:
        return not_fitting(counts, wish, level, wish.leaders - leaders)
    rest = by_room(counts, ordered[index:], least_first=least_first)
    for index, domain in enumerate(rest):
        if slices <= 0:
            break
        best = domain
        if not least_first and counts.of(domain).slices >= slices:
            best = tightest_slices(counts, rest[index:], slices, 0)
        taken.append(best)
        slices -= counts.of(best).slices
    if slices > 0:
        return not_fitting(counts, wish, level, wish.slices - slices)
    return Chosen(level, taken)


def not_fitting(counts: Counts, wish: Wish, level: int, fitting: int) -> str:
    """The message of a placement that fails."""
    topology, end = counts.domains.topology, counts.excluded.words()
    if wish.layers:
        return f'topology "{topology}" doesn\'t allow to fit{_by_layer(counts, wish, level)}{end}'
    unit = "pod" if wish.size == 1 else "slice"
    if fitting == 0:
        return f'topology "{topology}" doesn\'t allow to fit any of {wish.slices} {unit}(s){end}'
    return f'topology "{topology}" allows to fit only {fitting} out of {wish.slices} {unit}(s){end}'


def _by_layer(counts: Counts, wish: Wish, level: int) -> str:
    domains = counts.domains
    here = domains.by_level[level].values()
    if not here:
        return ""
    best = min(here, key=lambda domain: (-counts.of(domain).slices, domain.name))
    told = []
    for layer in wish.layers:
        depth = domains.level(layer.level)
        if depth is not None:
            fit = _slices_below(counts, [best], level, depth, layer.size)
            told.append(f"; {fit}/{wish.count // layer.size} slice(s) fit on level {layer.level}")
    return "".join(told)


def _slices_below(counts: Counts, domains: Iterable[Domain], level: int, depth: int, size: int) -> int:
    if level == depth:
        return sum(counts.of(domain).pods // size for domain in domains)
    return sum(_slices_below(counts, domain.children, level + 1, depth, size) for domain in domains)
