"""What an outcome comes to: waits, use, whole nodes kept free, fairness, what reclaims cost, and money."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from allotment.scheduling.state.nodes import ClusterNode
from allotment.scheduling.state.state import State
from allotment.simulation.fairness import deserved, jain
from allotment.simulation.metrics import Ground, Metrics, ground_of, measure
from allotment.simulation.outcome import End, Outcome, Span, WorkEnd
from allotment.simulation.over_time import summed
from allotment.simulation.setting import Scheduler, Setting, TeamShare
from allotment.simulation.work import Ask, Kind, Unit, Work

TEAMS = {"archive": TeamShare("archive", "archive", quota=2.0), "lab": TeamShare("lab", "lab", quota=2.0)}
GROUND = Ground(TEAMS, frozenset({"n1", "n2"}))


def span(work: str, team: str, bound: float, ended: float, **more: object) -> Span:
    plain = Span(work, team, 0, 1, "n1", (), "L4", 1.0, bound, bound + 10, ended, End.COMPLETE)
    return replace(plain, **more)  # type: ignore[arg-type]


def campaign(name: str, team: str, volumes: int = 1, **more: object) -> Work:
    units = tuple(Unit(f"v{n}") for n in range(volumes))
    return replace(Work(name, team, Kind.CAMPAIGN, Ask(gpus=1.0), units), **more)  # type: ignore[arg-type]


BOOKS = campaign("books", "archive", 2, most=2)
OUTCOME = Outcome(
    scheduler="kai",
    seed=1,
    until=1000.0,
    spans=(
        span("books", "archive", 0, 100, index=0),
        span("books", "archive", 0, 60, index=1, node="n2", end=End.RECLAIMED, lost=20.0, by="maps"),
        span("books", "archive", 100, 200, index=1, attempt=2),
        span("maps", "lab", 60, 160, node="n2"),
    ),
    waits=(),
    decisions=(),
    ends=(
        WorkEnd("books", "archive", 0.0, 0.0, 200.0, complete=2),
        WorkEnd("maps", "lab", 40.0, 60.0, 160.0, complete=1),
    ),
    gpus=(("L4", 4),),
)
MAPS = campaign("maps", "lab")


def figures(**more: object) -> Metrics:
    return measure(replace(OUTCOME, **more), (BOOKS, MAPS), GROUND, {"L4": 3.6})  # type: ignore[arg-type]


def test_the_time_ends_with_the_last_work_that_ends() -> None:
    assert (figures().over, figures().makespan) == (200.0, 200.0)


def test_without_an_end_of_all_the_time_ends_with_the_last_run() -> None:
    ends = (OUTCOME.ends[0], replace(OUTCOME.ends[1], finished=None))
    found = figures(ends=ends)
    assert (found.over, found.makespan, found.unfinished) == (200.0, None, 1)


def test_where_nothing_ends_the_time_is_the_horizon() -> None:
    fleet = replace(MAPS, kind=Kind.FLEET, units=())
    spans = (span("maps", "lab", 60, 1000, end=End.RUNNING),)
    found = measure(replace(OUTCOME, spans=spans, ends=OUTCOME.ends[1:]), (fleet,), GROUND)
    assert (found.over, found.unfinished, found.makespan) == (1000.0, 0, None)


def test_waits_are_by_team_and_kind_of_work() -> None:
    waits = {(each.team, each.kind): (each.p50, each.most, each.never) for each in figures().waits}
    assert waits == {("archive", Kind.CAMPAIGN): (0.0, 0.0, 0), ("lab", Kind.CAMPAIGN): (20.0, 20.0, 0)}


def test_a_work_that_never_began_has_waited_until_the_end() -> None:
    ends = (OUTCOME.ends[0], WorkEnd("maps", "lab", 40.0, None, None, left=1))
    (wait,) = (each for each in figures(ends=ends).waits if each.team == "lab")
    assert (wait.most, wait.never) == (960.0, 1)


def test_use_is_of_the_cards_there_are_and_served_of_those_asked_for() -> None:
    found = figures()
    assert found.given == 360.0
    assert found.use == pytest.approx(360 / 800)
    assert found.served == pytest.approx(360 / (2 * 100 + 100 + 120))


def test_a_node_is_whole_and_free_while_nothing_of_it_is_used() -> None:
    assert figures().nodes_free.points == ((0.0, 0.0), (160.0, 1.0), (200.0, 2.0))
    assert figures().free_nodes == pytest.approx(40 / 200)


def test_what_a_reclaim_costs_is_the_page_in_work_and_the_start() -> None:
    found = figures()
    assert (found.reclaims, found.lost_pages, found.lost) == (1, 1, 30.0)


def test_money_is_by_the_hour_of_a_card() -> None:
    assert figures().money == pytest.approx(0.36)
    assert measure(OUTCOME, (BOOKS, MAPS), GROUND).money is None


def test_a_window_asks_for_no_more_than_is_left() -> None:
    assert figures().asked["archive"].points == ((0.0, 2.0), (100.0, 1.0), (200.0, 0.0))


def test_the_nodes_of_a_setting_are_those_with_cards() -> None:
    nodes = {"n1": ClusterNode("n1", allocatable={"nvidia.com/gpu": 8}), "n2": ClusterNode("n2")}
    assert ground_of(Setting(Scheduler.SIMPLE, State(nodes=nodes), TEAMS)).nodes == {"n1"}


@pytest.mark.parametrize(
    ("asked", "quotas", "capacity", "expected"),
    [
        ((100, 100), ((10, 3, None), (10, 1, None)), 100, (70, 30)),
        ((4, 100), ((10, 1, None), (10, 1, None)), 20, (4, 16)),
        ((100, 100), ((10, 1, 12), (10, 1, None)), 100, (12, 88)),
        ((30, 30), ((30, 1, None), (10, 1, None)), 20, (15, 5)),
        ((8, 8), ((None, 1, None), (None, 1, None)), 8, (4, 4)),
    ],
)
def test_a_team_deserves_its_quota_and_a_part_of_the_rest(
    asked: tuple[float, ...],
    quotas: tuple[tuple[float | None, float, float | None], ...],
    capacity: float,
    expected: tuple[float, ...],
) -> None:
    shares = {
        str(n): TeamShare(str(n), "", quota=quota, weight=weight, limit=limit)
        for n, (quota, weight, limit) in enumerate(quotas)
    }
    found = deserved({str(n): each for n, each in enumerate(asked)}, shares, capacity)
    assert tuple(found.values()) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("values", "expected"), [((1, 1), 1.0), ((1, 0), 0.5), ((0, 0), 1.0), ((1, 1, 0, 0), 0.5)]
)
def test_jain_is_one_when_all_have_alike(values: tuple[float, ...], expected: float) -> None:
    assert jain(values) == pytest.approx(expected)


RUNS = st.lists(
    st.tuples(
        st.sampled_from(["archive", "lab"]),
        st.sampled_from(["n1", "n2"]),
        st.integers(0, 50),
        st.integers(1, 40),
        st.sampled_from([End.COMPLETE, End.RECLAIMED, End.FAILED]),
    ),
    max_size=12,
)


@settings(max_examples=60, deadline=None)
@given(runs=RUNS)
def test_figures_agree_with_each_other(runs: list[tuple[str, str, int, int, End]]) -> None:
    spans = tuple(
        span(f"of-{team}", team, start, start + length, index=n, node=node, end=end)
        for n, (team, node, start, length, end) in enumerate(runs)
    )
    ends = tuple(WorkEnd(f"of-{team}", team, 0.0, 0.0, None) for team in TEAMS)
    works = tuple(campaign(f"of-{team}", team, 12, most=12) for team in TEAMS)
    outcome = replace(OUTCOME, spans=spans, ends=ends, gpus=(("L4", 12),), until=100.0)
    found = measure(outcome, works, GROUND, {"L4": 1.0})
    assert 0 <= found.use <= 1
    assert 0 <= found.served <= 1
    assert 0 <= found.free_nodes <= 2
    assert found.fairness is None or 0.5 - 1e-9 <= found.fairness <= 1
    assert found.given == pytest.approx(sum(each.seconds for each in found.spent))
    assert found.given == pytest.approx(sum(each.total(0, 100) for each in found.shares.values()))
    assert found.money == pytest.approx(found.given / 3600)
    for time, _ in found.in_use.points:
        rights = sum(each.at(time) for each in found.deserved.values())
        assert rights <= 12 + 1e-6


@settings(max_examples=60, deadline=None)
@given(changes=st.lists(st.tuples(st.integers(0, 20), st.integers(-3, 3))), cut=st.integers(0, 20))
def test_a_stretch_of_time_is_the_sum_of_its_parts(changes: list[tuple[float, float]], cut: int) -> None:
    steps = summed(changes)
    assert steps.total(0, cut) + steps.total(cut, 20) == pytest.approx(steps.total(0, 20))
    assert steps.at(21) == pytest.approx(sum(change for _, change in changes))
