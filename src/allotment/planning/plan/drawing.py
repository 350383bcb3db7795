"""The courses that a plan is read from: with what is planned, without it, and with one thing otherwise.

Ninety per cent of forty draws is the thirty-sixth of them: four lie beyond it, so that no single odd draw
decides. Very much work gets fewer draws, for each takes long, and its figures are rougher. From the tenth to
nine tenths of 19 draws, and of nine, lie four in five of all further draws, which is what they are to hold;
of a number between it would be less. Every course has a seed, and the scenes are played under the same ones,
so that differences are between pairs, which vary less.
"""

from __future__ import annotations

import pickle
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Final, NamedTuple

from allotment.planning.plan.courses import Course, course_of
from allotment.planning.plan.question import Question
from allotment.planning.plan.risks import Variant, variants
from allotment.planning.scenes.values import Scene
from allotment.simulation.many import Case, Task, Told, course, played
from allotment.simulation.outcome import Outcome
from allotment.simulation.work import Kind


class Counts(NamedTuple):
    """How often the scene is played: as it is, without what is planned, and with each thing otherwise."""

    beside: int
    alone: int
    tried: int


COUNTS: Final = ((2_000, Counts(40, 20, 6)), (4_000, Counts(19, 10, 3)))
"""By how many pods there are at most."""
FEWEST: Final = Counts(9, 5, 1)


@dataclass(frozen=True, slots=True)
class Drawn:
    """The courses by seed: ``beside`` with what is planned, ``alone`` without it, ``tried`` otherwise.

    ``alone`` is empty where nothing else is there. It and ``tried`` have fewer seeds, the first of them:
    pairs of the same seed differ less than draws do. ``packed`` are those of ``beside`` in full.
    """

    beside: tuple[Course, ...]
    alone: tuple[Course, ...] = ()
    tried: tuple[tuple[Variant, tuple[Course, ...]], ...] = ()
    packed: Mapping[int, bytes] = field(default_factory=dict)

    def outcome(self, seed: int) -> Outcome:
        """The whole of a course with what is planned."""
        found: Outcome = pickle.loads(self.packed[seed])  # noqa: S301 - it is from our own processes
        return found


def counts_for(scene: Scene, asked: int | None) -> Counts:
    """How often a scene is played."""
    pods = pods_of(scene)
    counts = next((counts for most, counts in COUNTS if pods <= most), FEWEST)
    return counts if asked is None else Counts(asked, min(asked, counts.alone), min(asked, counts.tried))


def pods_of(scene: Scene) -> int:
    """How many pods a scene has in all, about."""
    return sum(max(len(work.units), work.most) for work in scene.works)


def why_fewer(scene: Scene, question: Question) -> str:
    """Why it is played less often than work is that is not so much; empty where it is not."""
    usual, counts = COUNTS[0][1], counts_for(scene, None)
    if question.draws is not None or counts == usual:
        return ""
    tried = "once" if counts.tried == 1 else f"{counts.tried} times"
    return (
        f"{pods_of(scene):,} pods take long to play: drawn {counts.beside} times instead of {usual.beside},"
        f" and what could make it wrong tried {tried}, so that figures are rougher (--draws 40 for more)"
    )


def _kept(outcome: Outcome, planned: Collection[str], fleets: Collection[str]) -> tuple[Course, bytes]:
    return course_of(outcome, planned, fleets), pickle.dumps(outcome)


def _read(outcome: Outcome, planned: Collection[str], fleets: Collection[str]) -> tuple[Course, bytes]:
    return course_of(outcome, planned, fleets), b""


def draw(scene: Scene, question: Question, processes: int | None, told: Told) -> Drawn:
    """Play all of them, on so many processors."""
    counts = counts_for(scene, question.draws)
    seeds = range(question.seed, question.seed + counts.beside)
    planned = frozenset(work.name for work in scene.planned)
    others = tuple(work for work in scene.works if not work.planned)
    fleets = frozenset(work.name for work in others if work.kind is Kind.FLEET)
    keep = partial(_kept, planned=planned, fleets=fleets)
    read = partial(_read, planned=planned, fleets=fleets)
    base = Case(scene.setting, scene.works, scene.run_times, question.until)
    told(0, counts.beside + counts.alone * bool(others))
    begun = time.perf_counter()
    first, packed = keep(course(base, seeds[0]))
    seconds = time.perf_counter() - begun
    ends = any(work.kind is not Kind.FLEET for work in scene.planned)
    tried = tuple(variants(scene, question.until, first)) if question.risks and ends else ()
    alone = (Case(scene.setting, others, scene.run_times, question.until),) if others else ()
    cases = (base, *alone, *(variant.case for variant in tried))
    tasks = [
        *(Task(0, seed) for seed in seeds[1:]),
        *(Task(case, seed) for case in range(1, 1 + len(alone)) for seed in seeds[: counts.alone]),
        *(Task(case, seed) for case in range(1 + len(alone), len(cases)) for seed in seeds[: counts.tried]),
    ]
    results = played(
        cases,
        tasks,
        (keep, *(read for _ in cases[1:])),
        processes=processes,
        told=lambda done, of: told(done + 1, of + 1),
        seconds=seconds,
    )
    found = dict(zip(tasks, results, strict=True))
    of_case = [tuple(found[task][0] for task in tasks if task.case == place) for place in range(len(cases))]
    return Drawn(
        (first, *of_case[0]),
        of_case[1] if alone else (),
        tuple(zip(tried, of_case[1 + len(alone) :], strict=True)),
        {seeds[0]: packed, **{task.seed: found[task][1] for task in tasks if task.case == 0}},
    )
