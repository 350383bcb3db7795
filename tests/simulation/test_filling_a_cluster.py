"""Filling a cluster with tasks that never end: what policies take, what ties decide, what is a fragment."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from allotment.simulation.draws import Draws
from allotment.simulation.filling.arriving import arrivals
from allotment.simulation.filling.fill import Filled, fill
from allotment.simulation.filling.fragments import Fragments, usual
from allotment.simulation.filling.machines import Machine, Want
from allotment.simulation.filling.policies import Name, policy_of
from allotment.simulation.filling.ranking import NO_ROOM, Ties, ranking_of
from allotment.simulation.traces.jobs import Job, TraceNode
from allotment.simulation.traces.openb import NODES, TASKS, read_nodes, read_tasks
from tests.simulation.trace_data import folder, needs_traces

GIB = 1024


def node(name: str, gpus: int = 2, model: str = "T4", cpu: int = 32_000) -> TraceNode:
    return TraceNode(name, cpu, 128 * GIB, gpus, model)


def want(gpus: int = 1, share: int = 1000, cpu: int = 1000, models: tuple[str, ...] = ()) -> Want:
    return Want(cpu, GIB, gpus, share if gpus else 0, models)


def machine(gpus: Sequence[int], cpu: int = 32_000, model: str = "T4", kinds: Sequence[str] = ()) -> Machine:
    made = Machine("m", model, cpu, 128 * GIB, list(gpus))
    made.kinds.update(kinds)
    return made


@pytest.mark.parametrize(
    ("asked", "left", "fits"),
    [
        (want(1), [1000, 0], True),
        (want(2), [1000, 990], False),
        (want(1, 500), [490, 510], True),
        (want(1, 500), [490, 490], False),
        (want(0), [], True),
        (want(1), [], False),
        (want(0, cpu=33_000), [1000], False),
        (want(1, models=("A10",)), [1000], False),
        (want(1, models=("A10", "T4")), [1000], True),
    ],
)
def test_room_is_cpu_memory_cards_and_models(asked: Want, left: list[int], fits: bool) -> None:
    assert machine(left).fits(asked) is fits


def test_a_fragment_is_what_the_usual_tasks_cannot_use() -> None:
    fragments = Fragments([want(1, 500)] * 2 + [want(2)] * 1 + [want(0)] * 1)
    # halves (weight 1/2) can use the whole card and not the 400; pairs (1/4) and tasks without a card nothing
    assert fragments.of(machine([1000, 400])) == pytest.approx(0.5 * 400 + 0.25 * 1400 + 0.25 * 1400)
    # without cpu for any of them everything is a fragment
    assert fragments.of(machine([1000, 400], cpu=999)) == 1400


def test_the_usual_tasks_are_the_most_frequent_that_make_up_95_of_100() -> None:
    weights = usual([want(1)] * 90 + [want(2)] * 6 + [want(4)] * 4)
    assert weights == {(1000, 1000, 1, ()): 90 / 96, (1000, 1000, 2, ()): 6 / 96}


@pytest.mark.parametrize(
    ("policy", "asked", "left", "score"),
    [
        (Name.PACKING, want(1, 500), [600, 1000], 94),
        (Name.PACKING, want(1, 700), [600, 1000], 49),
        (Name.PACKING, want(1), [1000, 1000], 31),
        (Name.PACKING, want(0), [1000, 1000], 0),
        (Name.CLUSTERING, want(1), [1000, 1000], 43),
        (Name.BEST_FIT, want(1), [1000, 1000], 81),
        (Name.DOT_PRODUCT, want(1), [1000, 1000], 98),
        (Name.FGD, want(1), [1000, 0], 73),
        (Name.RANDOM, want(1), [1000, 0], 100),
    ],
)
def test_scores_by_hand(policy: Name, asked: Want, left: list[int], score: int) -> None:
    thinks = policy_of(policy, Fragments([want(2)]), random.Random(1))
    assert thinks.score(machine(left), asked) == score


@pytest.mark.parametrize(
    ("kinds", "score"), [(["1-gpu"], 93), (["1-gpu", "share"], 68), (["share"], 18), ([], 43)]
)
def test_clustering_goes_by_what_stands_on_a_node(kinds: list[str], score: int) -> None:
    thinks = policy_of(Name.CLUSTERING, Fragments([want(1)]), random.Random(1))
    assert thinks.score(machine([1000, 1000], kinds=kinds), want(1)) == score


def test_the_gradient_takes_the_card_where_least_is_lost() -> None:
    thinks = policy_of(Name.FGD, Fragments([want(1, 600)] * 3 + [want(1)]), random.Random(1))
    assert list(thinks.cards(machine([1000, 500, 600]), want(1, 300))) == [1]


@pytest.mark.parametrize(("ties", "taken"), [(Ties.FIRST, "a"), (Ties.LAST, "c")])
def test_among_equals_the_tie_rule_decides(ties: Ties, taken: str) -> None:
    ranking = ranking_of(ties, 3, random.Random(1))
    for number in range(3):
        ranking.rate(number, 7)
    assert "abc"[ranking.best() or 0] == taken


def test_ties_by_chance_take_each_as_often() -> None:
    ranking = ranking_of(Ties.RANDOM, 4, random.Random(1))
    for number, score in enumerate([7, 7, 3, 7]):
        ranking.rate(number, score)
    taken = [ranking.best() for _ in range(900)]
    assert set(taken) == {0, 1, 3}
    assert all(250 < taken.count(number) < 350 for number in (0, 1, 3))


@given(
    st.sampled_from(list(Ties)),
    st.lists(st.tuples(st.integers(0, 4), st.integers(NO_ROOM, 100)), max_size=40),
)
def test_a_ranking_is_what_looking_at_all_would_find(ties: Ties, changes: list[tuple[int, int]]) -> None:
    ranking, scores = ranking_of(ties, 5, random.Random(1)), [NO_ROOM] * 5
    for number, score in changes:
        ranking.rate(number, score)
        scores[number] = score
        best = ranking.best()
        equals = [each for each in range(5) if scores[each] == max(scores)] if max(scores) >= 0 else []
        if not equals:
            assert best is None
        elif ties is Ties.LAST:
            assert best == equals[-1]
        elif ties is Ties.RANDOM:
            assert best in equals
        else:
            assert best == equals[0]


TASKS_OF_ALL_KINDS = st.lists(
    st.builds(
        Job,
        name=st.uuids().map(str),
        gpus=st.integers(0, 3),
        share=st.just(1000),
        cpu=st.sampled_from([1000, 4000]),
        models=st.sampled_from([(), ("T4",), ("A10", "T4")]),
    )
    | st.builds(Job, name=st.uuids().map(str), share=st.sampled_from([200, 500, 700])),
    min_size=1,
    max_size=12,
)
NODES_OF_ALL_KINDS = [node("a"), node("b", 1), node("c", 4, "A10"), node("d", 0)]


@settings(max_examples=60, deadline=None)
@given(
    TASKS_OF_ALL_KINDS,
    st.sampled_from([name for name in Name if name is not Name.RANDOM]),
    st.sampled_from([Ties.FIRST, Ties.LAST]),
)
def test_remembering_scores_changes_nothing(jobs: list[Job], policy: Name, ties: Ties) -> None:
    filled = fill(NODES_OF_ALL_KINDS, jobs, policy, ties=ties, seed=3)
    assert (filled.given, filled.placed) == _looking_at_all(jobs, policy, ties)


def _looking_at_all(jobs: list[Job], policy: Name, ties: Ties) -> tuple[float, int]:
    draws, machines = Draws(3), [Machine.of(each) for each in NODES_OF_ALL_KINDS]
    wants = [Want.of(job) for job in sorted(jobs, key=lambda job: job.name)]
    thinks = policy_of(policy, Fragments(wants), draws.stream("cards"))
    given = placed = 0
    for asked in arrivals(wants, 1.3 * 7000, draws.stream("arrivals")):
        room = [each for each in machines if each.fits(asked)]
        if ties is Ties.LAST:
            room.reverse()
        if room:
            taken = max(room, key=lambda each: thinks.score(each, asked))
            taken.put(asked, thinks.cards(taken, asked))
            given, placed = given + asked.total, placed + 1
    return 100 * given / 7000, placed


@given(TASKS_OF_ALL_KINDS, st.sampled_from(list(Name)), st.sampled_from(list(Ties)), st.integers(0, 3))
@settings(max_examples=60, deadline=None)
def test_nothing_is_given_twice(jobs: list[Job], policy: Name, ties: Ties, seed: int) -> None:
    filled = fill(NODES_OF_ALL_KINDS, jobs, policy, ties=ties, seed=seed)
    assert 0 <= filled.given <= 100
    assert filled == fill(NODES_OF_ALL_KINDS, jobs, policy, ties=ties, seed=seed)
    assert all(0 <= point.fragments <= 100 - point.given + 1e-9 for point in filled.points)
    assert [point.given for point in filled.points] == sorted(point.given for point in filled.points)


def test_the_demand_is_met_by_further_tasks_or_by_leaving_some_out() -> None:
    for most in (2500, 9500):
        order = arrivals([want(1)] * 4, most, random.Random(1))
        assert sum(each.total for each in order) == most - 500


PUBLISHED = {
    # the artifact of "Beware of Fragmentation": given out at a demand of 130 of 100, the mean of ten seeds
    ("default", Name.RANDOM): 87.47,
    ("default", Name.DOT_PRODUCT): 90.85,
    ("default", Name.CLUSTERING): 91.88,
    ("default", Name.PACKING): 92.00,
    ("default", Name.BEST_FIT): 93.08,
    ("default", Name.FGD): 95.39,
    ("gpuspec33", Name.RANDOM): 86.46,
    ("gpuspec33", Name.BEST_FIT): 93.09,
    ("gpuspec33", Name.FGD): 94.55,
    ("gpushare100", Name.RANDOM): 79.44,
    ("gpushare100", Name.BEST_FIT): 85.01,
    ("gpushare100", Name.FGD): 86.90,
    ("multigpu50", Name.RANDOM): 90.27,
    ("multigpu50", Name.BEST_FIT): 95.74,
    ("multigpu50", Name.FGD): 97.18,
}


def _real(variant: str, policy: Name, ties: Ties, seeds: int = 4) -> float:
    nodes = read_nodes(folder() / "openb" / NODES)
    jobs = read_tasks(folder() / "openb" / TASKS.format(variant))
    runs: list[Filled] = [fill(nodes, jobs, policy, ties=ties, seed=42 + seed) for seed in range(seeds)]
    return sum(run.given for run in runs) / seeds


@pytest.mark.soak
@needs_traces
@pytest.mark.parametrize(("variant", "policy"), PUBLISHED)
def test_published_cells_are_met_within_a_point(variant: str, policy: Name) -> None:
    assert _real(variant, policy, Ties.SHUFFLED) == pytest.approx(PUBLISHED[variant, policy], abs=1.0)


@pytest.mark.soak
@needs_traces
def test_the_tie_rule_alone_moves_the_headline_by_points() -> None:
    found = {ties: _real("default", Name.FGD, ties, 2) for ties in Ties}
    assert found[Ties.SHUFFLED] == pytest.approx(found[Ties.FIRST], abs=0.5)
    assert found[Ties.RANDOM] < found[Ties.SHUFFLED] - 4
