"""Other run times for the jobs of a trace: as those of jobs that are like them, drawn anew for each seed.

What a trace holds happened once. How a forecast fares is seen only where the same jobs come again and take
another time, and end otherwise: each job gets both from one that its team ran with as many cards. Where there
are too few of those, from any with as many cards; how skewed run times are stays as it is.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from allotment.simulation.draws import Draws
from allotment.simulation.many import Case, course
from allotment.simulation.outcome import Outcome
from allotment.simulation.traces.jobs import Job, JobEnd
from allotment.simulation.traces.works import Making, decided_by, team_of, works_of
from allotment.simulation.work import Work

FEWEST: Final = 20
_Seen = tuple[float, JobEnd]
_Likes = Callable[[Job], tuple[object, ...]]


def redrawn(jobs: Iterable[Job], making: Making, draws: Draws) -> tuple[Job, ...]:
    """The jobs with run times and ends of others that are like them; fleets, and what has no time, stay."""
    jobs = tuple(jobs)
    near: _Likes = lambda job: (job.team or team_of(job.user, making.teams), job.cards, job.kind)  # noqa: E731
    far: _Likes = lambda job: (job.cards, job.kind)  # noqa: E731
    by_near, by_far = _seen(jobs, near), _seen(jobs, far)
    found = []
    for job in jobs:
        if job.seconds is None:
            found.append(job)
            continue
        alike = by_near[near(job)]
        alike = alike if len(alike) >= FEWEST else by_far[far(job)]
        seconds, end = alike[int(draws.number("alike", job.name) * len(alike))]
        found.append(replace(job, seconds=seconds, end=end))
    return tuple(found)


def _seen(jobs: Iterable[Job], like: _Likes) -> Mapping[tuple[object, ...], Sequence[_Seen]]:
    seen = defaultdict[tuple[object, ...], list[_Seen]](list)
    for job in jobs:
        if job.seconds is not None:
            seen[like(job)].append((job.seconds, job.end))
    return seen


@dataclass(frozen=True, slots=True)
class Redrawing:
    """Plays a case with its works made anew for each seed, from these jobs; under ``kept`` as they were."""

    jobs: tuple[Job, ...]
    making: Making
    kept: int | None = None

    def works(self, seed: int) -> tuple[Work, ...]:
        """The works of a seed."""
        if seed == self.kept:
            return works_of(self.jobs, self.making)
        return works_of(redrawn(self.jobs, self.making, Draws(seed)), self.making)

    def __call__(self, case: Case, seed: int) -> Outcome:
        """The course of a seed."""
        works = decided_by(self.works(seed), case.setting.scheduler)
        return course(replace(case, works=works), seed)
