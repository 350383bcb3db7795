"""Intervals against further draws of the same kind."""

from __future__ import annotations

import random
from math import inf

import pytest

from allotment.planning.self_consistency import FORECASTS, Held, by_rank, figures_of, held, inwards
from allotment.simulation.draws import Draws
from allotment.simulation.metrics import ground_of
from allotment.simulation.run_times import RunTimes
from allotment.simulation.setting import Scheduler
from allotment.simulation.simulate import simulate
from allotment.simulation.traces.clusters import alike, even_shares, setting_of
from allotment.simulation.traces.jobs import Job, JobEnd
from allotment.simulation.traces.times import redrawn
from allotment.simulation.traces.works import Making, works_of


@pytest.mark.parametrize(("draws", "step"), [(39, 2), (19, 1), (5, 1), (99, 5)])
def test_an_interval_of_nine_tenths_is_from_one_draw_to_another(draws: int, step: int) -> None:
    assert inwards(draws) == step
    ordered = list(range(draws))
    parts = [by_rank(ordered, place + 0.5) for place in range(-1, draws)]
    assert sum(parts) == draws + 1 - 2 * step


@pytest.mark.parametrize(
    ("value", "inside"),
    [(-1.0, 0.0), (0.0, 18 / 20), (0.5, 1.0), (1.0, 19 / 21), (2.0, 0.0)],
)
def test_equals_count_by_rank(value: float, inside: float) -> None:
    assert by_rank([0.0] * 19 + [1.0] * 20, value) == pytest.approx(inside)


def test_of_the_same_chance_nine_tenths_are_held() -> None:
    stream = random.Random(1)
    figures = [
        {("x", str(name)): stream.lognormvariate(0, 2) for name in range(300)} for _ in range(FORECASTS + 10)
    ]
    (found,) = held(figures[:FORECASTS], figures[FORECASTS:])
    assert found.outcomes == 3000
    assert found.share == pytest.approx(0.9, abs=0.02)


def test_intervals_that_are_too_narrow_are_found_out() -> None:
    stream = random.Random(1)
    narrow = [{("x", str(name)): stream.gauss(0, 0.5) for name in range(200)} for _ in range(FORECASTS)]
    wide = [{("x", str(name)): stream.gauss(0, 1) for name in range(200)} for _ in range(10)]
    (found,) = held(narrow, wide)
    assert found.share < 0.75


def test_what_never_varies_has_no_interval_and_what_is_beyond_the_horizon_may_lie_in_one() -> None:
    forecasts = [{("x", "a"): 1.0, ("y", "b"): inf if number > 30 else number} for number in range(FORECASTS)]
    outcomes = [{("x", "a"): 2.0, ("y", "b"): inf}]
    x, y = held(forecasts, outcomes)
    assert x == Held("x", 0, 0, 0, same=1)
    assert (y.within, y.outcomes) == (1, 1)
    assert y.inside == pytest.approx(7 / 9)


def test_figures_are_of_jobs_of_teams_and_of_all() -> None:
    works = works_of([Job(f"j{number}", user="u", seconds=100, gpus=8) for number in range(3)])
    setting = setting_of(Scheduler.SIMPLE, alike(1), even_shares({work.team for work in works}, 8))
    outcome = simulate(setting, works, RunTimes(), Draws(1), 250)
    found = figures_of(outcome, works, ground_of(setting))
    assert found["a job begins", "j1"] == pytest.approx(104)
    assert found["a job ends", "j2"] == inf
    assert found["all is over", ""] == inf


def test_jobs_take_the_times_and_ends_of_others_that_are_like_them() -> None:
    jobs = [Job(f"j{number}", user="u", seconds=number, end=JobEnd.PASSED) for number in range(30)]
    jobs += [Job("wide", user="u", gpus=8, seconds=1000, end=JobEnd.FAILED), Job("unknown", user="u")]
    drawn = redrawn(jobs, Making(1), Draws(1))
    assert drawn == redrawn(jobs, Making(1), Draws(1))
    assert drawn != redrawn(jobs, Making(1), Draws(2))
    assert {job.seconds for job in drawn[:30]} <= set(range(30))
    assert len({job.seconds for job in drawn[:30]}) > 10
    assert drawn[30:] == tuple(jobs[30:])
