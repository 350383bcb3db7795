"""Runs of pods: what a pod does from its node on, how that would end, and what is left when it ends early.

A campaign's pod does its units one after the other. A gang's pods wait until enough of them are ready and
then do one unit together: that is a run of its own, which ends with the first of them that is lost.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from allotment.simulation.adapters.adapter import PodId
from allotment.simulation.jobs import Job
from allotment.simulation.outcome import End
from allotment.simulation.pages import Fate, Pages, Stretch

FOREVER = float("inf")


@dataclass(slots=True, eq=False)
class Run:
    """A pod that has a node. ``due`` is when it ends as far as is known, ``version`` which knowledge that is.

    ``began`` is when its first stretch began: before ``ready`` where it ran already when all this did.
    ``unheard``: nobody takes notice of how it ends. ``shared`` are the cards of which it has a part.
    """

    pod: PodId
    job: Job
    node: str
    devices: tuple[str, ...]
    card: str
    bound: float
    ready: float
    began: float
    stretches: list[Stretch] = field(default_factory=list)
    due: float = FOREVER
    end: End = End.COMPLETE
    by: str = ""
    version: int = 0
    stopping: bool = False
    unheard: bool = False
    shared: tuple[str, ...] = ()

    @property
    def whole(self) -> float:
        """When it is through with all that it was given."""
        return self.began + sum(each.seconds for each in self.stretches)


@dataclass(slots=True, eq=False)
class GangRun:
    """What the pods of a gang do: who of them is ready, and the stretch that they work on, if they do."""

    members: dict[PodId, Run] = field(default_factory=dict)
    stretch: Stretch | None = None
    card: str = ""
    began: float = 0.0
    due: float = FOREVER
    version: int = 0


@dataclass(frozen=True, slots=True)
class Settled:
    """What came of a run: new pages, and seconds of a page that was dropped."""

    pages: int = 0
    lost: float = 0.0
    stumbled: bool = False


def page_in_work(pages: Pages, run: Run, at: float) -> float:
    """When the page ends on which a pod works at a time."""
    begun = run.began
    for stretch in run.stretches:
        if at < begun + stretch.seconds:
            ends = pages.cut(run.job.work, stretch, run.card, begun, at).ends
            return min(ends, begun + stretch.seconds) if stretch.fate is Fate.STUMBLES else ends
        begun += stretch.seconds
    return at


def settle(pages: Pages, run: Run, at: float, *, by_failure: bool = False) -> Settled:
    """Book what a campaign's pod has done until now, and how its units ended."""
    job = run.job
    new, lost, stumbled, begun = 0, 0.0, False, run.began
    for stretch in run.stretches:
        ends = begun + stretch.seconds
        if at < ends and begun > at:
            break
        if at >= ends and stretch.fate is not Fate.STUMBLES:
            new += job.progress(stretch.unit, job.work.units[stretch.unit].pages)
            if run.unheard and stretch is run.stretches[-1]:
                break
            (job.completes if stretch.fate is Fate.COMPLETE else job.fails)(stretch.unit)
        else:
            cut = pages.cut(job.work, stretch, run.card, begun, min(at, ends))
            new += job.progress(stretch.unit, cut.done)
            lost += min(at, ends) - cut.began
            if at >= ends or by_failure:
                stumbled = True
                job.stumbles(stretch.unit)
        if at < ends:
            break
        begun = ends
    return Settled(new, lost, stumbled)


def so_far(pages: Pages, run: Run, at: float) -> int:
    """How many new pages a pod that goes on has finished until now."""
    new, begun = 0, run.began
    for stretch in run.stretches:
        if begun > at:
            break
        whole = run.job.work.units[stretch.unit].pages
        ended = at >= begun + stretch.seconds and stretch.fate is not Fate.STUMBLES
        done = whole if ended else pages.cut(run.job.work, stretch, run.card, begun, at).done
        new += done - stretch.done
        begun += stretch.seconds
    return new
