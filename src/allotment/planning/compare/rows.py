"""The rows of a comparison: which figures stand in the table, in what, and from when a difference counts.

A team's or a work's row is there when the work is there; what nobody does stays out of every column. What is
better one way is what the advice weighs; what has no better way is told. How much of a difference counts is
said here for each row (``docs/compare.md`` has the same table): a tenth, and no less than somebody notices.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from allotment.planning.compare.comparison import Better, Counts, Row, Unit
from allotment.simulation.metrics import Metrics, Waiting
from allotment.simulation.work import Kind

HOUR: Final = 3600.0
TENTHS: Final = 10
"""From so many works on, nine tenths of them are others than all."""
Figure = tuple[Row, float | None]
Kinds = Mapping[tuple[str, Kind], tuple[str, str]]
"""What one work of a team and kind is called, and several, where that is not what the kind is called."""
KINDS: Final = {
    Kind.CAMPAIGN: ("campaign", "campaigns"),
    Kind.FLEET: ("fleet", "fleets"),
    Kind.GANG: ("gang", "gangs"),
}

AN_END: Final = Counts(0.10, 60.0)
A_WAIT: Final = Counts(0.10, 90.0)
TEN_POINTS: Final = Counts(0.0, 0.10)
ONE: Final = Counts(0.0, 1.0)
OF_ALL_HOURS: Final = Counts(0.10, 0.05, "gpu-hours")

MAKESPAN: Final = Row("makespan", "all that ends is over", Unit.SECONDS, counts=AN_END)
UNFINISHED: Final = Row("unfinished", "works that do not end", Unit.COUNT, counts=ONE)
USE: Final = Row("use", "cards in use", Unit.PART, Better.NEITHER, counts=TEN_POINTS)
SERVED: Final = Row("served", "given of what was asked for", Unit.PART, Better.MORE, counts=TEN_POINTS)
FREE_NODES: Final = Row(
    "free-nodes", "whole nodes free", Unit.NODES, Better.NEITHER, counts=Counts(0.1, 0.25)
)
FAIRNESS: Final = Row("fairness", "fairness (Jain, of deserved)", Unit.PART, Better.MORE, counts=TEN_POINTS)
TAKEN: Final = Row("reclaims", "pods taken back", Unit.COUNT, Better.NEITHER, counts=Counts(0.1, 1.0))
LOST_PAGES: Final = Row("lost-pages", "pages done again", Unit.COUNT, Better.NEITHER, counts=Counts(0.1, 1.0))
LOST: Final = Row("lost", "GPU-hours spent again", Unit.GPU_HOURS, counts=OF_ALL_HOURS)
HOURS: Final = Row("gpu-hours", "GPU-hours of what ends", Unit.GPU_HOURS, counts=Counts(0.10, 0.05))
PRICE: Final = Row("money", "cost of what ends", Unit.MONEY)


@dataclass(frozen=True, slots=True)
class Ended:
    """When a work was over, and what it took: GPU-hours, and money where its cards have a price."""

    finished: float | None
    hours: float
    money: float | None


def ends_of(metrics: Metrics) -> dict[str, Ended]:
    """What each work that ends came to."""
    hours, money = defaultdict[str, float](float), defaultdict[str, float](float)
    unpriced = {each.work for each in metrics.spent if each.money is None}
    for each in metrics.spent:
        hours[each.work] += each.seconds / HOUR
        money[each.work] += each.money or 0.0
    return {
        work: Ended(finished, hours[work], None if work in unpriced else money[work])
        for work, finished in metrics.finishes.items()
    }


def figures_of(metrics: Metrics, kinds: Kinds | None = None) -> dict[str, Figure]:
    """The rows of one outcome by their keys, in the order of the table, with their values."""
    return {row.key: (row, value) for row, value in _figures(metrics, kinds or {})}


def _figures(metrics: Metrics, kinds: Kinds) -> Iterable[Figure]:
    yield MAKESPAN, metrics.makespan
    yield UNFINISHED, metrics.unfinished
    for work, finished in metrics.finishes.items():
        yield Row(f"finish.{work}", f"{work} ends", Unit.SECONDS, of=work, counts=AN_END), finished
    for wait in metrics.waits:
        yield from _of_wait(wait, kinds)
    yield USE, metrics.use
    yield SERVED, metrics.served
    yield FREE_NODES, metrics.free_nodes
    if metrics.fairness is not None:
        yield FAIRNESS, metrics.fairness
    yield TAKEN, metrics.reclaims
    yield LOST_PAGES, metrics.lost_pages
    yield LOST, metrics.lost / HOUR
    ending = ends_of(metrics).values()
    yield HOURS, sum(each.hours for each in ending)
    for team, seconds in sorted(_by_team(metrics).items()):
        row = Row(f"gpu-hours.{team}", f"GPU-hours of {team}", Unit.GPU_HOURS, Better.NEITHER, team)
        yield row, seconds / HOUR
    prices = [each.money for each in ending if each.money is not None]
    if len(prices) == len(ending):
        yield PRICE, sum(prices)


def _of_wait(wait: Waiting, kinds: Kinds) -> Iterable[Figure]:
    whose = f"{wait.team}'" if wait.team.endswith("s") else f"{wait.team}'s"
    one, several = kinds.get((wait.team, wait.kind), KINDS[wait.kind])
    who = f"{whose} {several if wait.works > 1 else one}"
    key = f"wait.{wait.team}.{wait.kind}"
    begun = 1 - wait.never / wait.works
    longest = wait.most if begun == 1 else None
    if wait.works == 1:
        yield Row(f"{key}.max", f"wait of {who}", Unit.SECONDS, of=wait.team, counts=A_WAIT), longest
        return
    for name, words, value in (
        ("p50", "half of", wait.p50 if begun >= 0.5 else None),
        ("p90", "nine in ten of", wait.p90 if begun >= 0.9 else None),
        ("max", "longest of", longest),
    ):
        if name == "p90" and wait.works < TENTHS:
            continue
        title = f"wait, {words} {who}"
        yield Row(f"{key}.{name}", title, Unit.SECONDS, of=wait.team, counts=A_WAIT), value


def _by_team(metrics: Metrics) -> Mapping[str, float]:
    seconds = defaultdict[str, float](float)
    for each in metrics.spent:
        seconds[each.team] += each.seconds
    return seconds if len(seconds) > 1 else {}
