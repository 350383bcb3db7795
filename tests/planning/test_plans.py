"""Plans of scenes that can be worked out by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from allotment.planning.plan import drawing
from allotment.planning.plan.courses import Course, WorkCourse
from allotment.planning.plan.drawing import counts_for, why_fewer
from allotment.planning.plan.plan import Becomes, Change, Changes, Fits, Plan
from allotment.planning.plan.planning import plan_for
from allotment.planning.plan.question import Question
from allotment.planning.plan.risks import Variant, risks_of
from allotment.planning.scenes.values import Scene
from allotment.planning.why.why import State
from allotment.simulation.many import Case, course
from allotment.simulation.quantiles import Spread, spread
from allotment.simulation.setting import Chances
from tests.planning.plan_scenes import NEW, PAGE, campaign, fleet, scene

FEW = Question(draws=5, until=10_000.0, prices={"L4": 36.0}, risks=False)


def planned(found: Scene, question: Question = FEW) -> Plan:
    """The plan of a scene, played in this process."""
    return plan_for(found, NEW, question, team="archive", processes=1)


def sure(found: Spread | None, value: float) -> bool:
    """Whether it is so in every draw, within a second or two."""
    return found is not None and (found.p10, found.p50, found.p90) == pytest.approx((value,) * 3, abs=1.5)


def test_four_volumes_on_two_cards_take_the_time_of_two() -> None:
    (work,) = planned(scene(campaign())).works
    assert sure(work.start, 0)
    assert sure(work.end, 2 * PAGE)
    assert (work.units, work.left, work.pages, work.finishes) == (4, 4, 4, 1.0)


def test_gpu_hours_cost_what_the_platform_says() -> None:
    plan = planned(scene(campaign()))
    assert plan.gpu_hours.p50 == pytest.approx(4 * PAGE / 3600, rel=0.01)
    assert plan.money is not None
    assert plan.money.p90 == pytest.approx(4.0, rel=0.01)
    assert [(use.card, use.price) for use in plan.works[0].cards] == [("L4", 36.0)]


def test_without_a_price_there_is_no_sum() -> None:
    plan = planned(scene(campaign()), replace(FEW, prices={"H100-SXM": 2.0}))
    assert plan.money is None
    assert "no price of an hour of L4 is known" in " ".join(plan.notes)


def test_a_window_is_never_wider_than_what_runs() -> None:
    (work,) = planned(scene(campaign(most=1))).works
    assert sure(work.end, 4 * PAGE)
    assert {band.p90 for band in work.window[:-1]} == {1.0}


def test_volumes_that_are_done_are_not_done_again() -> None:
    work = campaign()
    half = tuple(replace(unit, done=1) if number < 2 else unit for number, unit in enumerate(work.units))
    (found,) = planned(scene(replace(work, units=half))).works
    assert (found.units, found.left) == (4, 2)
    assert sure(found.end, PAGE)


def test_run_times_say_on_what_they_rest() -> None:
    assert planned(scene(campaign())).works[0].basis == "measured by hand"


def test_what_does_not_end_within_the_horizon_has_no_end() -> None:
    plan = planned(scene(campaign()), replace(FEW, until=150.0))
    assert plan.works[0].end == Spread(None, None, None)
    assert plan.works[0].finishes == 0.0


def test_with_nobody_else_nobody_pays() -> None:
    plan = planned(scene(campaign()))
    assert (plan.payers, plan.others) == ((), 0)


def test_who_comes_later_and_waits_for_it_pays_by_name() -> None:
    plan = planned(scene(campaign(), campaign("postcards", 2, arrival=50.0, planned=False)))
    (payer,) = plan.payers
    assert (payer.name, payer.team, payer.draws) == ("postcards", "museum", 1.0)
    assert sure(payer.later, 150.0)
    assert plan.others == 1


def test_who_is_done_before_pays_nothing() -> None:
    plan = planned(scene(campaign(arrival=200.0), campaign("postcards", 2, planned=False)))
    assert plan.payers == ()


def test_a_fleet_that_gets_its_card_later_has_fewer_gpu_seconds() -> None:
    plan = planned(scene(campaign(), replace(fleet(), arrival=50.0)))
    (payer,) = plan.payers
    assert payer.kind == "fleet"
    assert sure(payer.later, 150.0)


@pytest.mark.parametrize(
    ("question", "kept"),
    [
        pytest.param(replace(FEW, budget=5.0), True, id="enough money"),
        pytest.param(replace(FEW, budget=3.0), False, id="too little money"),
        pytest.param(replace(FEW, budget=5.0, prices={}), False, id="money and no price"),
        pytest.param(replace(FEW, deadline=300.0), True, id="in time"),
        pytest.param(replace(FEW, deadline=150.0), False, id="too late"),
        pytest.param(replace(FEW, deadline=300.0, budget=3.0), False, id="in time and too dear"),
        pytest.param(FEW, True, id="nothing asked"),
    ],
)
def test_bounds_are_kept_at_nine_of_ten(question: Question, kept: bool) -> None:
    assert planned(scene(campaign()), question).is_kept is kept


def test_a_deadline_that_is_missed_says_how_often() -> None:
    assert planned(scene(campaign()), replace(FEW, deadline=150.0)).works[0].late == 1.0
    assert planned(scene(campaign()), replace(FEW, deadline=300.0)).works[0].late == 0.0


def test_what_could_go_wrong_is_ranked_by_what_it_does() -> None:
    question = replace(FEW, risks=True)
    found = planned(scene(campaign(), pages={"letters": 3600.0}), replace(question, until=1e6)).risks
    assert [risk.words.split(" (")[0] for risk in found][:2] == [
        "one node less",
        "pages take half as long again",
    ]
    assert sure(found[0].later, 2 * 3600.0)
    assert sure(found[1].later, 3600.0)


def test_a_risk_that_moves_nothing_is_not_told() -> None:
    found = planned(scene(campaign(most=1), nodes=3), replace(FEW, risks=True)).risks
    assert not any("node less" in risk.words for risk in found)


@pytest.mark.parametrize(("end", "told"), [(4000.0, [3000.0]), (900.0, [])])
def test_what_is_for_the_worse_and_ends_earlier_by_chance_is_not_told(end: float, told: list[float]) -> None:
    only = scene(campaign())
    variant = Variant("it is worse", Case(only.setting, only.works, only.run_times, 1e6))
    base, tried = (Course(1, {"letters": WorkCourse(finished=at)}) for at in (1000.0, end))
    assert [risk.later.p50 for risk in risks_of([(variant, [tried])], [base], ["letters"])] == told


def test_the_course_that_is_shown_is_one_of_the_draws() -> None:
    plan = planned(scene(campaign(), chances=Chances(unit_fails=0.5)))
    assert plan.course is not None
    assert plan.seed <= plan.course.seed < plan.seed + plan.draws


def test_the_same_seed_gives_the_same_plan() -> None:
    found = scene(campaign(volumes=20), chances=Chances(unit_fails=0.3))
    assert planned(found) == planned(found)


def test_another_seed_gives_another() -> None:
    found = scene(campaign(volumes=20), chances=Chances(unit_fails=0.3))
    assert planned(found).end != planned(found, replace(FEW, seed=100)).end


def test_where_nothing_changes_there_is_nothing_to_do_and_nothing_is_played() -> None:
    changes = Changes("./results", (Change("campaigns/letters", Becomes.UNCHANGED, ("all are complete",)),))
    plan = plan_for(scene(), changes, FEW, team="archive")
    assert (plan.is_nothing, plan.draws, plan.works) == (True, 0, ())
    assert plan.is_kept


def test_a_fleet_that_is_planned_has_no_end_and_counts_in_no_sum() -> None:
    plan = planned(scene(fleet(planned=True), campaign()))
    served = next(work for work in plan.works if work.kind == "fleet")
    assert not served.ends
    assert served.end == Spread(None, None, None)
    assert plan.gpu_hours.p50 == pytest.approx(4 * PAGE / 3600, rel=0.01)


def test_a_fleet_alone_is_planned_without_an_end() -> None:
    plan = planned(scene(fleet(planned=True)), replace(FEW, risks=True, deadline=60.0))
    assert (plan.risks, plan.works[0].ends, plan.is_kept) == ((), False, True)


@pytest.mark.parametrize(
    ("volumes", "asked", "counts"),
    [
        (2_000, None, (40, 20, 6)),
        (2_001, None, (19, 10, 3)),
        (4_001, None, (9, 5, 1)),
        (2_000, 1, (1, 1, 1)),
        (2_000, 100, (100, 20, 6)),
    ],
)
def test_very_much_work_is_played_less_often(
    volumes: int, asked: int | None, counts: tuple[int, int, int]
) -> None:
    found = scene(campaign(volumes=volumes))
    assert counts_for(found, asked) == counts
    assert bool(why_fewer(found, Question(draws=asked))) == (counts[0] in {19, 9})


def test_it_is_said_that_very_much_work_is_played_less_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawing, "COUNTS", ((3, drawing.COUNTS[0][1]),))
    found = planned(scene(campaign(volumes=4)), Question(until=1e6, risks=False))
    assert found.draws == 9
    assert "drawn 9 times instead of 40" in " ".join(found.notes)


@pytest.mark.parametrize("processes", [1, 2], ids=["here", "in two processes"])
def test_the_course_that_is_shown_is_the_one_that_ends_at_the_half(processes: int) -> None:
    found = scene(campaign(volumes=20), chances=Chances(unit_fails=0.3))
    shown = plan_for(found, NEW, FEW, team="archive", processes=processes).course
    assert shown is not None
    case = Case(found.setting, found.works, found.run_times, FEW.until)
    ends = {seed: course(case, seed).ends[0].finished for seed in range(FEW.seed, FEW.seed + 5)}
    assert ends[shown.seed] == spread(list(ends.values())).p50
    assert shown == course(case, shown.seed)


def test_parts_of_a_campaign_need_what_the_campaign_does() -> None:
    fits = Fits("a card", State.FITS, "fits 2 of 2 cards", 2, 2, 2)
    first, second = campaign("books"), replace(campaign("books-part2"), recipe="books")
    plan = planned(scene(first, second), replace(FEW, fits={"books": fits}))
    assert [work.fits for work in plan.works] == [fits, fits]
