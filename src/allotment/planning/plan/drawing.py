"""The courses that a plan is read from: with what is planned, without it, and with one thing otherwise.

Ninety per cent of forty draws is the thirty-sixth of them: four lie beyond it, so that no single odd draw
decides. Very much work gets fewer draws, for its sums vary less, and each takes longer. Every course has a
seed, and the scenes are played under the same ones, so that differences are between pairs, which vary less.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Final, NamedTuple

from allotment.planning.plan.courses import Course, course_of
from allotment.planning.plan.question import Question
from allotment.planning.plan.risks import Variant, variants
from allotment.planning.scenes.values import Scene
from allotment.simulation.many import Case, Task, Told, course, played
from allotment.simulation.work import Kind


class Counts(NamedTuple):
    """How often the scene is played: as it is, without what is planned, and with each thing otherwise."""

    beside: int
    alone: int
    tried: int


COUNTS: Final = ((2_000, Counts(40, 20, 6)), (20_000, Counts(20, 10, 3)))
"""By how many pods there are at most."""
FEWEST: Final = Counts(10, 5, 2)


@dataclass(frozen=True, slots=True)
class Drawn:
    """The courses by seed: ``beside`` with what is planned, ``alone`` without it, ``tried`` otherwise.

    ``alone`` is empty where nothing else is there. It and ``tried`` have fewer seeds, the first of them:
    pairs of the same seed differ less than draws do.
    """

    beside: tuple[Course, ...]
    alone: tuple[Course, ...] = ()
    tried: tuple[tuple[Variant, tuple[Course, ...]], ...] = ()


def counts_for(scene: Scene, asked: int | None) -> Counts:
    """How often a scene is played."""
    pods = sum(max(len(work.units), work.most) for work in scene.works)
    counts = next((counts for most, counts in COUNTS if pods <= most), FEWEST)
    return counts if asked is None else Counts(asked, min(asked, counts.alone), min(asked, counts.tried))


def draw(scene: Scene, question: Question, processes: int | None, told: Told) -> Drawn:
    """Play all of them, on so many processors."""
    counts = counts_for(scene, question.draws)
    seeds = range(question.seed, question.seed + counts.beside)
    planned = frozenset(work.name for work in scene.planned)
    others = tuple(work for work in scene.works if not work.planned)
    fleets = frozenset(work.name for work in others if work.kind is Kind.FLEET)
    read = partial(course_of, planned=planned, fleets=fleets)
    base = Case(scene.setting, scene.works, scene.run_times, question.until)
    first = read(course(base, seeds[0]))
    ends = any(work.kind is not Kind.FLEET for work in scene.planned)
    tried = tuple(variants(scene, question.until, first)) if question.risks and ends else ()
    alone = (Case(scene.setting, others, scene.run_times, question.until),) if others else ()
    cases = (base, *alone, *(variant.case for variant in tried))
    tasks = [
        *(Task(0, seed) for seed in seeds[1:]),
        *(Task(case, seed) for case in range(1, 1 + len(alone)) for seed in seeds[: counts.alone]),
        *(Task(case, seed) for case in range(1 + len(alone), len(cases)) for seed in seeds[: counts.tried]),
    ]
    found = dict(zip(tasks, played(cases, tasks, read, processes=processes, told=told), strict=True))
    of_case = [tuple(found[task] for task in tasks if task.case == place) for place in range(len(cases))]
    return Drawn(
        (first, *of_case[0]),
        of_case[1] if alone else (),
        tuple(zip(tried, of_case[1 + len(alone) :], strict=True)),
    )
