"""The courses that a plan is read from: with what is planned, without it, and with one thing otherwise.

Ninety per cent of forty draws is the thirty-sixth of them: four lie beyond it, so that no single odd draw
decides. Very much work gets fewer draws, for its sums vary less. Every course has a seed, and the scenes are
played under the same ones, so that differences are between pairs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from allotment.planning.plan.courses import Course, course_of
from allotment.planning.plan.question import Question
from allotment.planning.plan.risks import Variant, variants
from allotment.planning.scenes.values import Scene
from allotment.simulation.many import Case, Task, Told, course, played
from allotment.simulation.work import Kind

DRAWS: Final = ((2_000, 40), (20_000, 20))
FEWEST: Final = 10
OF_OTHERS: Final = 20
OF_RISKS: Final = 6


@dataclass(frozen=True, slots=True)
class Drawn:
    """The courses by seed: ``beside`` with what is planned, ``alone`` without it, ``tried`` otherwise.

    ``alone`` is empty where nothing else is there. It and ``tried`` have fewer seeds, the first of them:
    pairs of the same seed differ less than draws do.
    """

    beside: tuple[Course, ...]
    alone: tuple[Course, ...] = ()
    tried: tuple[tuple[Variant, tuple[Course, ...]], ...] = ()


def draws_for(scene: Scene, asked: int | None) -> int:
    """How many draws a scene gets."""
    if asked is not None:
        return asked
    pods = sum(max(len(work.units), work.most) for work in scene.works)
    return next((draws for most, draws in DRAWS if pods <= most), FEWEST)


def draw(scene: Scene, question: Question, processes: int | None, told: Told) -> Drawn:
    """Play all of them, on so many processors."""
    seeds = range(question.seed, question.seed + draws_for(scene, question.draws))
    planned = frozenset(work.name for work in scene.planned)
    others = tuple(work for work in scene.works if not work.planned)
    fleets = frozenset(work.name for work in others if work.kind is Kind.FLEET)
    read = partial(course_of, planned=planned, fleets=fleets)
    base = Case(scene.setting, scene.works, scene.run_times, question.until)
    first = read(course(base, seeds[0]))
    tried = tuple(variants(scene, question.until, first)) if question.risks else ()
    alone = (Case(scene.setting, others, scene.run_times, question.until),) if others else ()
    cases = (base, *alone, *(variant.case for variant in tried))
    tasks = list(_tasks(seeds, len(alone), len(tried)))
    found = dict(zip(tasks, played(cases, tasks, read, processes=processes, told=told), strict=True))
    of_case = [tuple(found[task] for task in tasks if task.case == place) for place in range(len(cases))]
    return Drawn(
        (first, *of_case[0]),
        of_case[1] if alone else (),
        tuple(zip(tried, of_case[1 + len(alone) :], strict=True)),
    )


def _tasks(seeds: Sequence[int], alone: int, tried: int) -> Iterator[Task]:
    """What is to be played beside the first course, which is there already."""
    yield from (Task(0, seed) for seed in seeds[1:])
    for case in range(1, 1 + alone):
        yield from (Task(case, seed) for seed in seeds[:OF_OTHERS])
    for case in range(1 + alone, 1 + alone + tried):
        yield from (Task(case, seed) for seed in seeds[:OF_RISKS])
