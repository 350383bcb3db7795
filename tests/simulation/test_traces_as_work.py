"""Jobs of a trace as work, and the cluster that is made for them."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allotment.planning.trace_scenes import Asked, variants_of
from allotment.simulation.many import Case
from allotment.simulation.setting import Scheduler
from allotment.simulation.traces.clusters import Demand, alike, even_shares, setting_of, sized
from allotment.simulation.traces.jobs import Job, JobEnd, JobKind, TraceNode
from allotment.simulation.traces.named import Format, Trace
from allotment.simulation.traces.times import Redrawing
from allotment.simulation.traces.works import MODEL, Making, decided_by, team_of, teams_of, works_of
from allotment.simulation.work import Kind


def test_users_are_divided_among_teams_always_alike() -> None:
    assert [team_of(user, 6) for user in ("1", "2", "3")] == ["team-3", "team-3", "team-2"]
    counts = [sum(team_of(str(user), 6) == f"team-{team}" for user in range(6000)) for team in range(1, 7)]
    assert all(900 < count < 1100 for count in counts)


@given(st.text(max_size=9), st.integers(1, 20))
def test_every_user_has_one_of_the_teams(user: str, teams: int) -> None:
    assert team_of(user, teams) in {f"team-{number}" for number in range(1, teams + 1)}


def test_a_team_that_the_trace_names_stays() -> None:
    jobs = [Job("a", user="u", team="vc"), Job("b", user="u")]
    assert teams_of(jobs, Making(1)) == ("team-1", "vc")


@pytest.mark.parametrize(
    ("job", "kind", "least", "most", "units"),
    [
        (Job("a", seconds=10), Kind.CAMPAIGN, 1, 1, 1),
        (Job("a", pods=4, seconds=10), Kind.GANG, 4, 4, 1),
        (Job("a", kind=JobKind.CAMPAIGN, pods=4, volumes=9, seconds=10), Kind.CAMPAIGN, 1, 4, 9),
        (Job("a", kind=JobKind.FLEET, pods=3), Kind.FLEET, 1, 3, 0),
    ],
)
def test_a_job_is_a_volume_a_gang_a_campaign_or_a_fleet(
    job: Job, kind: Kind, least: int, most: int, units: int
) -> None:
    (work,) = works_of([job])
    assert (work.kind, work.least, work.most, len(work.units)) == (kind, least, most, units)
    assert work.max_seconds == math.inf


@pytest.mark.parametrize(("seconds", "pages"), [(0, 1), (3600, 1), (3601, 2), (36_000, 10)])
def test_a_job_keeps_what_it_had_every_hour(seconds: float, pages: int) -> None:
    (work,) = works_of([Job("a", seconds=seconds, end=JobEnd.FAILED)])
    (unit,) = work.units
    assert (unit.pages, unit.seconds, unit.fails) == (pages, seconds, True)


def test_a_part_of_a_card_is_a_fraction_and_a_whole_one_in_quota() -> None:
    (work,) = works_of([Job("a", share=470, seconds=1, models=("T4",), cpu=1500, memory=1024)])
    ask = work.ask
    assert (ask.gpus, ask.request.fraction, ask.request.gpus, dict(ask.charges)) == (
        0.47, 0.47, 0, {"nvidia.com/gpu": 1},
    )  # fmt: skip
    assert (ask.node_selector, ask.request.cpu, ask.request.memory) == ({MODEL: "T4"}, 1500, 2**30)


@pytest.mark.parametrize(
    ("scheduler", "gpus", "whole", "fraction", "charged"),
    [
        (Scheduler.SIMPLE, 2.0, 2, 0.0, {"nvidia.com/gpu": 2}),
        (Scheduler.DEFAULT, 2.0, 2, 0.0, {"nvidia.com/gpu": 2}),
        (Scheduler.KUEUE, 2.0, 2, 0.0, {"nvidia.com/gpu": 2}),
        (Scheduler.KAI, 0.5, 0, 0.25, {"nvidia.com/gpu": 2}),
        (Scheduler.BOTH, 0.5, 0, 0.25, {}),
    ],
)
def test_parts_of_cards_are_whole_ones_where_kai_does_not_place(
    scheduler: Scheduler, gpus: float, whole: int, fraction: float, charged: dict[str, int]
) -> None:
    works = works_of([Job(name, gpus=2, share=250, seconds=1) for name in "ab"] + [Job("c", seconds=1)])
    one, other, plain = decided_by(works, scheduler)
    request = one.ask.request
    assert (one.ask.gpus, request.gpus, request.fraction, one.ask.charges) == (gpus, whole, fraction, charged)
    assert (one.ask is other.ask, plain, request.devices) == (True, works[2], 2 if fraction else 1)


@pytest.mark.parametrize("scheduler", ["default", "kueue", "kai", "both"])
def test_a_part_of_a_card_runs_under_every_scheduler_and_as_it_is_said(scheduler: str) -> None:
    jobs = (Job("half", team="a", share=500, seconds=60), Job("all", team="b", gpus=8, seconds=60, arrival=5))
    asked = Asked(nodes=1)
    (variant,) = variants_of(Trace("made", Format.OWN, jobs), asked, [Scheduler(scheduler)])
    assert variant.scene is not None
    case = Case(variant.scene.setting, variant.scene.works, variant.scene.run_times, 7200.0)
    outcome = Redrawing(jobs, asked.making, 1)(case, 1)
    used = {span.work: span.gpus for span in outcome.spans}
    said = [each.value for each in variant.scene.assumptions if each.subject == "parts of cards"]
    with_kai = scheduler in {"kai", "both"}
    assert used == {"half": 0.5 if with_kai else 1.0, "all": 8.0}
    assert ("a whole card each" in said) == (not with_kai)
    assert bool(said) == (scheduler != "kai")


def test_several_models_are_alternatives() -> None:
    first, second = works_of([Job("a", models=("T4", "A10"), seconds=1)] * 2)
    assert first.ask is second.ask
    assert first.ask.affinity is not None
    assert first.ask.affinity.to_dict()["nodeSelectorTerms"][0]["matchExpressions"] == [
        {"key": MODEL, "operator": "In", "values": ["T4", "A10"]}
    ]


def test_the_cluster_is_sized_by_what_the_jobs_would_hold_in_the_mean() -> None:
    jobs = [Job("a", 0, seconds=100, pods=2, gpus=8), Job("b", 100, seconds=50, gpus=4)]
    demand = Demand.of(jobs)
    assert (demand.cards, demand.widest) == ((1600 + 200) / 100, 16)
    assert [len(sized(demand, factor)) for factor in (0.1, 1.0, 2.0)] == [2, 3, 5]


def test_a_campaign_holds_cards_for_all_of_its_volumes() -> None:
    campaign = Job("a", kind=JobKind.CAMPAIGN, pods=4, volumes=10, seconds=30)
    assert Demand.of([campaign, Job("b", 300, seconds=0)]).cards == pytest.approx(1.0)


@given(st.lists(st.text("abc", min_size=1, max_size=3), min_size=1, unique=True), st.integers(0, 999))
def test_quotas_add_up_to_all_cards(teams: list[str], cards: int) -> None:
    quotas = [share.quota for share in even_shares(teams, cards).values() if share.quota is not None]
    assert sum(quotas) == cards
    assert max(quotas) - min(quotas) <= 1


def test_each_scheduler_finds_its_queues_in_the_setting() -> None:
    nodes = (*alike(2), TraceNode("x", 1000, 1024, 0, ""))
    shares = even_shares(["a", "b"], 16, limit=12)
    setting = setting_of(Scheduler.KAI, nodes, shares)
    state = setting.state
    assert [node.allocatable.get("nvidia.com/gpu") for node in state.nodes.values()] == [8, 8, None]
    numbers = {
        name: (each.parent, each.gpu.quota, each.gpu.limit) for name, each in state.share_queues.items()
    }
    assert numbers == {
        "allotment": (None, -1, -1),
        "a": ("allotment", 8, 12),
        "b": ("allotment", 8, 12),
    }
    quota = state.cluster_queues["a"].groups[0].quotas["allotment", "nvidia.com/gpu"]
    assert (quota.nominal, quota.borrowing) == (8, 4)
    assert state.local_queues["a/a"].cluster_queue == "a"
    assert setting.card_of_node == {"node-0": "GPU", "node-1": "GPU"}
