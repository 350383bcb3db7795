"""What nobody knows beforehand and is one number for a whole course: pages of books, errors of figures.

A volume that nobody has counted has the same pages under every scheduler of one seed, so that comparisons
meet the same books. A run time that rests on little is off by a factor that all pages share: drawn page by
page it would even out over a campaign, and a plan would be far too sure of itself.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

from allotment.simulation.distributions import Scaled
from allotment.simulation.draws import Draws
from allotment.simulation.run_times import RunTimes, Times
from allotment.simulation.work import Unit, Work


def settled(works: Iterable[Work], run_times: RunTimes, draws: Draws) -> tuple[tuple[Work, ...], RunTimes]:
    """Works with every volume's pages told, and run times as one course has them."""
    counted = tuple(_counted(work, run_times, draws) for work in works)
    found = replace(
        run_times,
        known={key: _settled(times, draws, *key) for key, times in run_times.known.items()},
        otherwise={recipe: _settled(times, draws, recipe) for recipe, times in run_times.otherwise.items()},
        guess=None if run_times.guess is None else _settled(run_times.guess, draws, "guess"),
    )
    return counted, found


def _settled(times: Times, draws: Draws, *about: str) -> Times:
    """The times with their doubt drawn; where several cards rest on one figure, they share the draw."""
    page, load = times.page, times.load
    if times.doubt:
        off = draws.stream("doubt", times.rests_on or about).gauss(0.0, times.doubt)
        page = Scaled(page, math.exp(off))
    if times.load_doubt and load is not None:
        off = draws.stream("doubt of loads", about[0]).gauss(0.0, times.load_doubt)
        load = Scaled(load, math.exp(off))
    return replace(times, page=page, load=load, doubt=0.0, load_doubt=0.0)


def _counted(work: Work, run_times: RunTimes, draws: Draws) -> Work:
    if all(unit.pages > 0 for unit in work.units):
        return work
    return replace(work, units=tuple(_told(unit, work, run_times, draws) for unit in work.units))


def _told(unit: Unit, work: Work, run_times: RunTimes, draws: Draws) -> Unit:
    """The unit with pages, one more at least than are done; where nobody says anything that is one."""
    if unit.pages > 0:
        return unit
    pages = run_times.pages.get(work.recipe)
    drawn = 1 if pages is None else round(pages.draw(draws.stream("pages", work.recipe, unit.name)))
    return replace(unit, pages=max(unit.done + 1, drawn))
