"""The runs of a gang: its pods wait until enough are ready, and the first that is lost ends what they do.

What is done stays done. Those that are left keep their nodes; as soon as enough are ready again they load
their models anew and go on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from allotment.simulation.jobs import Job
from allotment.simulation.outcome import End
from allotment.simulation.pages import Fate, Pages, Stretch
from allotment.simulation.runs import FOREVER, GangRun, Run, Settled

CLOSE: Final = 1e-6  # seconds; sums of pages are no nearer to the whole than that
_UNIT: Final = 0


@dataclass(slots=True)
class Gangs:
    """All gangs; ``at`` asks for ``over`` to be called when a gang's stretch is through."""

    pages: Pages
    otherwise: float
    at: Callable[[float, Job, int], None]

    def ready(self, run: Run, now: float, *, spent: bool = False) -> None:
        """A pod is ready; if it is the last that was missing, the gang begins."""
        job = run.job
        gang = job.gang = job.gang or GangRun()
        gang.members[run.pod] = run
        if gang.stretch is None and len(gang.members) >= job.work.least and not job.over:
            self._begin(job, gang, now, spent=spent)

    def _begin(self, job: Job, gang: GangRun, at: float, *, spent: bool = False) -> None:
        gang.card = min(gang.members.values(), key=lambda run: run.pod).card
        done, failures = job.done.get(_UNIT, 0), job.failures.get(_UNIT, 0)
        gang.stretch = self.pages.stretch(job.work, _UNIT, done, gang.card, failures)
        gang.began = at - (self.pages.spent(job.work, 0, gang.stretch, gang.card) if spent else 0.0)
        gang.due = gang.began + gang.stretch.seconds
        gang.version += 1
        if job.started is None:
            job.started = at
        self.at(gang.due, job, gang.version)

    def leaves(self, run: Run, now: float) -> float:
        """When a pod goes that is told to: after the page in work, or the grace period."""
        gang = run.job.gang
        if gang is None or gang.stretch is None or run.pod not in gang.members or now < gang.began:
            return now
        ends = self._cut_at(run.job, gang, gang.stretch, now)[2]
        return min(ends if ends < gang.due - CLOSE else gang.due, now + run.job.work.grace)

    def _cut_at(self, job: Job, gang: GangRun, stretch: Stretch, at: float) -> tuple[int, float, float]:
        cut = self.pages.cut(job.work, stretch, gang.card, gang.began, at)
        return cut.done, cut.began, cut.ends

    def lost(self, run: Run, now: float) -> Settled:
        """A pod is gone, and what the gang was at with it."""
        job, gang = run.job, run.job.gang
        if gang is None or gang.members.pop(run.pod, None) is None:
            return Settled()
        settled = self._cut(job, gang, now, len(gang.members) + 1)
        if len(gang.members) >= job.work.least and not job.over:
            first = min(gang.members.values(), key=lambda each: each.pod)
            load = self.pages.load(job.work, first.pod.number, gang.version, first.card, self.otherwise)
            self._begin(job, gang, now + load)
        return settled

    def _cut(self, job: Job, gang: GangRun, now: float, pods: int) -> Settled:
        """What came of a stretch that ends early; what is repeated is repeated by all of its pods."""
        stretch, gang.stretch = gang.stretch, None
        gang.version += 1
        gang.due = FOREVER
        if stretch is None or now < gang.began:
            return Settled()
        done, began, _ends = self._cut_at(job, gang, stretch, now)
        return Settled(job.progress(_UNIT, done), (now - began) * pods)

    def over(self, job: Job, version: int, now: float) -> tuple[End, Settled] | None:
        """A gang's stretch is through: how its pods end, and what came of it; None where it was cut short."""
        gang = job.gang
        if gang is None or gang.version != version or gang.stretch is None:
            return None
        stretch = gang.stretch
        if stretch.fate is Fate.STUMBLES:
            settled = self._cut(job, gang, now, len(gang.members))
            job.stumbles(_UNIT)
            gang.members.clear()
            return End.FAILED, settled
        new = job.progress(_UNIT, job.work.units[_UNIT].pages)
        gang.stretch = None
        gang.members.clear()
        if stretch.fate is Fate.FAILS:
            job.fails(_UNIT)
            return End.FAILED, Settled(new)
        job.completes(_UNIT)
        return End.COMPLETE, Settled(new)

    def so_far(self, job: Job, at: float) -> int:
        """How many new pages a gang that goes on has finished until now."""
        gang = job.gang
        if gang is None or gang.stretch is None or at < gang.began:
            return 0
        return self._cut_at(job, gang, gang.stretch, at)[0] - gang.stretch.done
