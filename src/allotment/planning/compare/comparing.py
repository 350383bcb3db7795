"""Playing every variant under the same seeds, and making the comparison of what came of it.

The first seed is played in full and kept, for pictures and for the first decision that differs; of the others
only the figures are kept, so that many draws of much work cost no memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

from allotment.errors import UsageError
from allotment.planning.compare.advising import advice_for, rests_on
from allotment.planning.compare.alike import all_alike, idle_changes
from allotment.planning.compare.comparison import Cell, Column, Comparison, Differs, Row
from allotment.planning.compare.differences import held_against
from allotment.planning.compare.ending import Draw, everywhere
from allotment.planning.compare.first_difference import Course, first_difference
from allotment.planning.compare.rows import Kinds, ends_of, figures_of
from allotment.planning.compare.unended import unended
from allotment.planning.scenes.values import Assumption, Scene
from allotment.simulation.many import Case, Task, course, played
from allotment.simulation.many import Play as CoursePlayer
from allotment.simulation.metrics import Metrics, ground_of, measure
from allotment.simulation.outcome import Outcome
from allotment.simulation.quantiles import spread

FINISH: Final = "finish."
Told = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Variant:
    """One column before it is played: its scene, or why there is none."""

    name: str
    scheduler: str
    changes: tuple[str, ...] = ()
    scene: Scene | None = None
    refused: str = ""


@dataclass(frozen=True, slots=True)
class Play:
    """How it is played: the seeds, until when, what cards cost, and in how many processes.

    ``by_work`` gives each work a row of its own, which many thousands of works are better without;
    ``kinds`` is what works are called, ``has`` the scheduler that the platform has now, ``said`` a note on
    how it is played. ``course`` plays one seed, where more differs from seed to seed than what pages take.
    """

    seed: int = 1
    draws: int = 10
    until: float = 7 * 86_400.0
    prices: Mapping[str, float] | None = None
    currency: str = "EUR"
    processes: int | None = None
    by_work: bool = True
    course: CoursePlayer = course
    kinds: Kinds = field(default_factory=dict)
    has: str = ""
    said: str = ""


def untold(_name: str, _done: int, _of: int) -> None:
    """Tell nobody how far it is."""


def compare(variants: Sequence[Variant], play: Play, told: Told = untold) -> Comparison:
    """The comparison of these variants; the others are held against the first that can be played."""
    results = [_played(variant, play, partial(told, variant.name)) for variant in variants]
    drawn = iter(everywhere([draws for _, draws in results if draws]))
    results = [(column, next(drawn) if draws else draws) for column, draws in results]
    rows = _rows([draws for _, draws in results])
    columns = [_column(column, draws, rows) for column, draws in results]
    base = next((column for column in columns if not column.refused), None)
    if base is None:
        raise UsageError(
            f"the work can be played in no column: {variants[0].refused}"
            if variants
            else "nothing to compare",
            remedy="see `allot check`, which says what is wrong with it and what would do",
        )
    columns = [_held(column, base, rows, play.until) for column in columns]
    scenes = {variant.name: variant.scene for variant in variants if variant.scene is not None}
    first = scenes[base.name]
    common = _common([column.assumptions for column in columns if not column.refused])
    return Comparison(
        world=first.name,
        works=tuple(work.name for work in first.works),
        rows=tuple(rows),
        columns=tuple(_without(column, common) for column in columns),
        seed=play.seed,
        draws=play.draws,
        until=play.until,
        differs=tuple(_differ(columns, base, scenes)),
        advice=tuple(advice_for(columns, rows, play.until, play.currency, play.has)),
        advice_rests_on=rests_on(columns, play.draws),
        alike=(*idle_changes(columns), *all_alike(columns, rows)),
        unended=unended(columns),
        gpus=base.course.gpus if base.course is not None else (),
        teams=first.setting.teams,
        currency=play.currency,
        assumptions=common,
        notes=tuple(
            dict.fromkeys(
                (
                    *filter(None, [play.said]),
                    *_shared(columns),
                    *(n for scene in scenes.values() for n in scene.notes),
                )
            )
        ),
    )


def _played(variant: Variant, play: Play, told: Callable[[int, int], None]) -> tuple[Column, Sequence[Draw]]:
    """A column without its cells, and what each seed came to."""
    plain = Column(variant.name, variant.scheduler, variant.changes, refused=variant.refused)
    scene = variant.scene
    if scene is None:
        return plain, ()
    case = Case(scene.setting, scene.works, scene.run_times, play.until)
    told(0, play.draws)
    course = play.course(case, play.seed)
    told(1, play.draws)
    figures = partial(measure, works=scene.works, ground=ground_of(scene.setting), prices=play.prices)
    others = played(
        [case],
        [Task(0, seed) for seed in range(play.seed + 1, play.seed + play.draws)],
        partial(_read, figures, play.by_work, play.kinds),
        processes=play.processes,
        told=lambda done, _: told(done + 1, play.draws),
        play=play.course,
    )
    first = figures(course)
    column = replace(plain, course=course, figures=first, assumptions=scene.assumptions, notes=course.notes)
    return column, (_drawn(first, play.by_work, play.kinds), *others)


def _read(
    figures: Callable[[Outcome], Metrics],
    by_work: bool,  # noqa: FBT001 - carried to other processes by place
    kinds: Kinds,
    outcome: Outcome,
) -> Draw:
    return _drawn(figures(outcome), by_work, kinds)


def _drawn(metrics: Metrics, by_work: bool, kinds: Kinds) -> Draw:  # noqa: FBT001 - as its caller has it
    found = figures_of(metrics, kinds)
    shown = found if by_work else {key: each for key, each in found.items() if not key.startswith(FINISH)}
    return Draw(shown, ends_of(metrics))


def _rows(drawn: Sequence[Sequence[Draw]]) -> list[Row]:
    """Every row that is in all draws of a column, in the order of the first column that has it."""
    rows: dict[str, Row] = {}
    for column in drawn:
        previous = ""
        for key, (row, _) in (column[0].figures if column else {}).items():
            if key not in rows:
                rows = _after(rows, previous, row)
            previous = key
    return list(rows.values())


def _after(rows: Mapping[str, Row], previous: str, row: Row) -> dict[str, Row]:
    found: dict[str, Row] = {} if previous else {row.key: row}
    for key, each in rows.items():
        found[key] = each
        if key == previous:
            found[row.key] = row
    return {**found, row.key: found.get(row.key, row)}


def _column(column: Column, draws: Sequence[Draw], rows: Sequence[Row]) -> Column:
    cells = {}
    for row in rows:
        values = tuple(each.figures[row.key][1] for each in draws if row.key in each.figures)
        if values and len(values) == len(draws):
            cells[row.key] = Cell(spread(values), values)
    return replace(column, cells=cells)


def _held(column: Column, base: Column, rows: Sequence[Row], until: float) -> Column:
    """The column with each cell's difference from the base."""
    if column is base or column.refused:
        return column
    cells = dict(column.cells)
    for row in rows:
        found = held_against(row, column, base, until)
        if found is not None:
            cells[row.key] = replace(cells[row.key], difference=found)
    return replace(column, cells=cells)


def _differ(columns: Sequence[Column], base: Column, scenes: Mapping[str, Scene]) -> list[Differs]:
    found = []
    for column in columns:
        if column.name == base.name or column.course is None or base.course is None:
            continue
        here, there = (
            Course.of(each.name, each.course, scenes[each.name].works)
            for each in (base, column)
            if each.course is not None
        )
        differs = first_difference(here, there)
        if differs is not None:
            found.append(differs)
    return found


def _shared(columns: Sequence[Column]) -> Iterator[str]:
    names = [
        column.name
        for column in columns
        if column.course is not None and any(0 < span.gpus < 1 for span in column.course.spans)
    ]
    if names:
        yield f"pods that share a card are taken to be as fast as alone ({', '.join(names)})"


def _common(listed: Sequence[Sequence[Assumption]]) -> tuple[Assumption, ...]:
    """What every column takes for granted."""
    first, *others = listed
    return tuple(each for each in first if all(each in other for other in others))


def _without(column: Column, common: Sequence[Assumption]) -> Column:
    return replace(column, assumptions=tuple(each for each in column.assumptions if each not in common))
