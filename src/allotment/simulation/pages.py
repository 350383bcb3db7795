"""How long units of work take, page by page, and what is there when one is cut short.

The seconds of a unit's pages come from a stream of its own, so that every scheduler meets the same pages,
however often and in whatever order they are asked for. What a whole unit takes is drawn at once; its single
pages are only looked at when somebody has to know which of them was in work.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from enum import Enum
from itertools import accumulate

from allotment.simulation.draws import Draws
from allotment.simulation.run_times import RunTimes
from allotment.simulation.setting import Chances
from allotment.simulation.work import Work


class Fate(Enum):
    """How the work on a unit ends if nobody cuts it short."""

    COMPLETE = "complete"
    FAILS = "fails"  # for good, after all of its pages
    STUMBLES = "stumbles"  # after a part of them, and may be tried again


@dataclass(frozen=True, slots=True)
class Stretch:
    """The work of one pod on one unit: from the page after ``done`` on, for so many seconds."""

    unit: int
    done: int
    seconds: float
    fate: Fate = Fate.COMPLETE


@dataclass(frozen=True, slots=True)
class Cut:
    """A unit at some time: the pages that are done, and when the page in work began and would end."""

    done: int
    began: float
    ends: float


@dataclass(slots=True)
class Pages:
    """The pages of all units."""

    run_times: RunTimes
    draws: Draws
    chances: Chances

    def stretch(self, work: Work, unit: int, done: int, card: str, failures: int = 0) -> Stretch:
        """What working on a unit will be; ``failures`` are those that it had."""
        what = work.units[unit]
        seconds = self._whole(work, unit, card)
        if done:
            seconds = sum(self._each(work, unit, card)[done:])
        if what.fails:
            return Stretch(unit, done, seconds, Fate.FAILS)
        if self.chances.unit_fails:
            stream = self.draws.stream("fails", work.name, what.name, failures)
            if stream.random() < self.chances.unit_fails:
                return Stretch(unit, done, seconds * stream.random(), Fate.STUMBLES)
        return Stretch(unit, done, seconds)

    def cut(self, work: Work, stretch: Stretch, card: str, began: float, at: float) -> Cut:
        """How far a unit is at a time, if the work on it began then."""
        ends = list(accumulate(self._each(work, stretch.unit, card)[stretch.done :], initial=began))
        place = min(bisect_right(ends, at), len(ends)) - 1
        if place < 0:
            return Cut(stretch.done, began, ends[min(1, len(ends) - 1)])
        return Cut(stretch.done + place, ends[place], ends[min(place + 1, len(ends) - 1)])

    def load(self, work: Work, number: int, attempt: int, card: str, otherwise: float) -> float:
        """How long a pod loads its models; work without a recipe loads none."""
        if not work.recipe:
            return 0.0
        try:
            times = self.run_times.of(work.recipe, card)
        except LookupError:
            return otherwise
        if times.load is None:
            return otherwise
        return times.load.draw(self.draws.stream("load", work.name, number, attempt))

    def spent(
        self, work: Work, number: int, stretch: Stretch, card: str, worked: float | None = None
    ) -> float:
        """How much of the page in work is done where a pod runs already.

        One that has ``worked`` for less than its first page takes is on it; else it is a part by chance.
        """
        pages = self._each(work, stretch.unit, card)
        if stretch.done >= len(pages):
            return 0.0
        if worked is not None and not stretch.done and worked < pages[0]:
            return worked
        return min(self.draws.number("in work", work.name, number) * pages[stretch.done], stretch.seconds)

    def _whole(self, work: Work, unit: int, card: str) -> float:
        what = work.units[unit]
        if what.seconds is not None:
            return what.seconds
        stream = self.draws.stream("pages", work.name, what.name)
        return self.run_times.of(work.recipe, card).page.total(stream, what.pages)

    def _each(self, work: Work, unit: int, card: str) -> list[float]:
        """The seconds of every page: as they are drawn one by one, with the sum that was drawn at once."""
        what = work.units[unit]
        whole = self._whole(work, unit, card)
        if what.seconds is not None:
            return [whole / what.pages] * what.pages
        page = self.run_times.of(work.recipe, card).page
        stream = self.draws.stream("pages", work.name, what.name)
        drawn = [page.draw(stream) for _ in range(what.pages)]
        total = sum(drawn)
        return [each * whole / total for each in drawn] if total > 0 else drawn
