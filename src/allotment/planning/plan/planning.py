"""A plan from a scene: many courses of it are played, and read as intervals and as names of who pays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from allotment.planning.plan.caveats import sharing_caveats
from allotment.planning.plan.courses import Course
from allotment.planning.plan.drawing import Drawn, draw, why_fewer
from allotment.planning.plan.paying import payers_of
from allotment.planning.plan.plan import Changes, Fits, Held, Plan, Seen, WorkPlan
from allotment.planning.plan.question import Question
from allotment.planning.plan.risks import risks_of
from allotment.planning.plan.works import cost, work_plan
from allotment.planning.scenes.values import Scene
from allotment.simulation.many import Told, untold
from allotment.simulation.quantiles import share_beyond, spread
from allotment.simulation.work import Kind

PART = "-part"
NOTHING_LEFT = "nothing of it is left to run: its volumes are complete, or have failed for good"
BUDGET, DEADLINE = "budget", "deadline"


def plan_for(
    scene: Scene,
    changes: Changes,
    question: Question,
    *,
    team: str,
    seen: Seen | None = None,
    processes: int | None = None,
    told: Told = untold,
) -> Plan:
    """The plan of what is planned in the scene; where nothing is, nothing is played."""
    plan = Plan(
        world=scene.name,
        at=scene.now,
        scheduler=str(scene.setting.scheduler),
        team=team,
        changes=changes,
        seed=question.seed,
        until=question.until,
        currency=question.currency,
        assumptions=scene.assumptions,
        caveats=(*question.caveats, *sharing_caveats(scene.planned)),
        notes=tuple(dict.fromkeys((*question.notes, *scene.notes))),
        teams=scene.setting.teams,
        seen=seen or Seen(),
    )
    if not scene.planned:
        return replace(plan, notes=(*plan.notes, NOTHING_LEFT))
    return _drawn(plan, scene, question, draw(scene, question, processes, told))


def _drawn(plan: Plan, scene: Scene, question: Question, drawn: Drawn) -> Plan:
    others = [work for work in scene.works if not work.planned]
    ending = [work.name for work in scene.planned if work.kind is not Kind.FLEET]
    works = tuple(
        work_plan(work, drawn.beside, question, scene.run_times, _fits(question, work.name))
        for work in scene.planned
    )
    ends = [_last(each, ending) for each in drawn.beside]
    hours = [sum(sum(each.works[name].hours.values()) for name in ending) for each in drawn.beside]
    untils = [question.until if end is None or not ending else end for end in ends]
    costs = _costs(drawn.beside, ending, question)
    notes = (*filter(None, [why_fewer(scene, question)]), *_unpriced(works, question))
    plan = replace(
        plan,
        works=works,
        draws=len(drawn.beside),
        end=spread(ends),
        gpu_hours=spread(hours),
        money=spread(costs) if question.prices and None not in costs else None,
        payers=payers_of(others, drawn.beside, drawn.alone, untils) if others else (),
        others=len(others),
        risks=risks_of(drawn.tried, drawn.beside, ending),
        notes=tuple(dict.fromkeys((*plan.notes, *notes, *drawn.beside[0].notes))),
        gpus=drawn.beside[0].gpus,
        course=drawn.outcome(_middle(drawn.beside, ends)),
    )
    return replace(plan, held=tuple(_held(question, costs if question.prices else [None], ends)))


def _fits(question: Question, name: str) -> Fits | None:
    """What fits a work; parts of a campaign (``books-part2``) need what the campaign does."""
    return question.fits.get(name) or question.fits.get(name.rpartition(PART)[0])


def _last(found: Course, names: Sequence[str]) -> float | None:
    """When the last of these works is over; None where one is not within the horizon."""
    ends = [found.works[name].finished for name in names]
    return None if None in ends else max((end for end in ends if end is not None), default=0.0)


def _costs(courses: Sequence[Course], names: Sequence[str], question: Question) -> list[float | None]:
    """What all that ends costs in each course; None where a card that it uses has no price."""
    costs = [[cost(each.works[name], question.prices) for name in names] for each in courses]
    return [None if None in each else sum(amount or 0.0 for amount in each) for each in costs]


def _unpriced(works: Sequence[WorkPlan], question: Question) -> Iterator[str]:
    """Which cards have no price, where any has."""
    cards = sorted({use.card for work in works for use in work.cards if use.price is None})
    if cards and (question.prices or question.budget is not None):
        what = f"no price of an hour of {', '.join(cards)} is known"
        yield f"{what}, so that no sum of money is told (`prices` in platform.yaml)"


def _held(question: Question, costs: Sequence[float | None], ends: Sequence[float | None]) -> Iterator[Held]:
    """The bounds that were asked for, against nine of ten draws."""
    for words, limit, values in ((BUDGET, question.budget, costs), (DEADLINE, question.deadline, ends)):
        if limit is not None:
            reached = spread(values).p90
            is_kept = reached is not None and reached <= limit
            yield Held(words, limit, reached, is_kept, share_beyond(values, limit))


def _middle(courses: Sequence[Course], ends: Sequence[float | None]) -> int:
    """The seed of the course that ends at the half of the draws."""
    middle = spread(ends).p50
    return next(
        (found.seed for found, end in zip(courses, ends, strict=True) if end == middle), courses[0].seed
    )
