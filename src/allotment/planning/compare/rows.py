"""The rows of a comparison: which figures of an outcome stand in the table, in which order, and in what.

A team's or a work's row is there when the work is there; what nobody does stays out of every column.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Final

from allotment.planning.compare.comparison import Better, Row, Unit
from allotment.simulation.metrics import Metrics, Waiting

HOUR: Final = 3600.0
TENTHS: Final = 10
"""From so many works on, nine tenths of them are others than all."""
Figure = tuple[Row, float | None]
_KINDS: Final = {"campaign": "campaigns", "fleet": "fleets", "gang": "gangs"}

MAKESPAN: Final = Row("makespan", "all that ends is over", Unit.SECONDS)
UNFINISHED: Final = Row("unfinished", "works that do not end", Unit.COUNT)
USE: Final = Row("use", "cards in use", Unit.PART, Better.NEITHER)
SERVED: Final = Row("served", "given of what was asked for", Unit.PART, Better.MORE)
FREE_NODES: Final = Row("free-nodes", "whole nodes free", Unit.NODES, Better.NEITHER)
FAIRNESS: Final = Row("fairness", "fairness (Jain, of deserved)", Unit.PART, Better.MORE)
RECLAIMS: Final = Row("reclaims", "pods reclaimed", Unit.COUNT)
LOST_PAGES: Final = Row("lost-pages", "pages done again", Unit.COUNT)
LOST: Final = Row("lost", "GPU-hours spent again", Unit.GPU_HOURS)
HOURS: Final = Row("gpu-hours", "GPU-hours of what ends", Unit.GPU_HOURS)
PRICE: Final = Row("money", "cost of what ends", Unit.MONEY)


def figures_of(metrics: Metrics) -> dict[str, Figure]:
    """The rows of one outcome by their keys, in the order of the table, with their values."""
    return {row.key: (row, value) for row, value in _figures(metrics)}


def _figures(metrics: Metrics) -> Iterable[Figure]:
    yield MAKESPAN, metrics.makespan
    yield UNFINISHED, metrics.unfinished
    for work, finished in metrics.finishes.items():
        yield Row(f"finish.{work}", f"{work} ends", Unit.SECONDS, of=work), finished
    for wait in metrics.waits:
        yield from _of_wait(wait)
    yield USE, metrics.use
    yield SERVED, metrics.served
    yield FREE_NODES, metrics.free_nodes
    if metrics.fairness is not None:
        yield FAIRNESS, metrics.fairness
    yield RECLAIMS, metrics.reclaims
    yield LOST_PAGES, metrics.lost_pages
    yield LOST, metrics.lost / HOUR
    ending = [each for each in metrics.spent if each.work in metrics.finishes]
    yield HOURS, sum(each.seconds for each in ending) / HOUR
    for team, seconds in sorted(_by_team(metrics).items()):
        row = Row(f"gpu-hours.{team}", f"GPU-hours of {team}", Unit.GPU_HOURS, Better.NEITHER, team)
        yield row, seconds / HOUR
    prices = [each.money for each in ending if each.money is not None]
    if len(prices) == len(ending):
        yield PRICE, sum(prices)


def _of_wait(wait: Waiting) -> Iterable[Figure]:
    whose = f"{wait.team}'" if wait.team.endswith("s") else f"{wait.team}'s"
    who = f"{whose} {_KINDS[wait.kind]}" if wait.works > 1 else f"{whose} {wait.kind}"
    key = f"wait.{wait.team}.{wait.kind}"
    begun = 1 - wait.never / wait.works
    longest = wait.most if begun == 1 else None
    if wait.works == 1:
        yield Row(f"{key}.max", f"wait of {who}", Unit.SECONDS, of=wait.team), longest
        return
    for name, words, value in (
        ("p50", "half of", wait.p50 if begun >= 0.5 else None),
        ("p90", "nine in ten of", wait.p90 if begun >= 0.9 else None),
        ("max", "longest of", longest),
    ):
        if name == "p90" and wait.works < TENTHS:
            continue
        yield Row(f"{key}.{name}", f"wait, {words} {who}", Unit.SECONDS, of=wait.team), value


def _by_team(metrics: Metrics) -> Mapping[str, float]:
    seconds = defaultdict[str, float](float)
    for each in metrics.spent:
        seconds[each.team] += each.seconds
    return seconds if len(seconds) > 1 else {}
