"""Page counts that nobody knows: one number for each volume and seed.

A volume keeps its number under every scheduler of one seed, so that comparisons meet the same books.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from allotment.simulation.draws import Draws
from allotment.simulation.run_times import RunTimes
from allotment.simulation.work import Unit, Work


def counted(works: Iterable[Work], run_times: RunTimes, draws: Draws) -> tuple[Work, ...]:
    """The works with every volume's pages told; one of which nobody says anything has one page."""
    return tuple(_counted(work, run_times, draws) for work in works)


def _counted(work: Work, run_times: RunTimes, draws: Draws) -> Work:
    if all(unit.pages > 0 for unit in work.units):
        return work
    return replace(work, units=tuple(_told(unit, work, run_times, draws) for unit in work.units))


def _told(unit: Unit, work: Work, run_times: RunTimes, draws: Draws) -> Unit:
    if unit.pages > 0:
        return unit
    pages = run_times.pages.get(work.recipe)
    drawn = 1 if pages is None else round(pages.draw(draws.stream("pages", work.recipe, unit.name)))
    return replace(unit, pages=max(1, unit.done, drawn))
