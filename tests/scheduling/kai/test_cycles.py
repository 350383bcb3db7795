"""What one cycle decides, by name."""

from __future__ import annotations

from dataclasses import replace

import pytest

from allotment.scheduling.kai import (
    Action,
    Bound,
    Evicted,
    Memory,
    Reason,
    Settings,
    Spreading,
    Waits,
    decide,
    placement,
)
from allotment.scheduling.state.nodes import Topology
from allotment.scheduling.state.pod_groups import PodRequest, SubGroup, Together, flat
from allotment.scheduling.state.share_queues import Allotted
from allotment.scheduling.state.state import State
from tests.scheduling.kai.kai_world import NOW, afterwards, cluster, job, node, outcome, queue

HALF = PodRequest(cpu=1000, memory=1e9, fraction=0.5)
FORTY_GIB = PodRequest(cpu=1000, memory=1e9, gpu_memory=40_000)
TWO = PodRequest(cpu=1000, memory=1e9, gpus=2)
SMALL = Topology("racks", ("rack", "kubernetes.io/hostname"))

CASES = {
    "what fits is bound": (
        cluster([node("n1", 2)], [queue("a")], [job("j", "a", 2)]),
        {"j-0": "bound@n1", "j-1": "bound@n1"},
    ),
    "a gang gets all or nothing": (cluster([node("n1", 2)], [queue("a")], [job("j", "a", 3)]), {}),
    "an elastic job begins with its least and takes what it can": (
        cluster([node("n1", 3)], [queue("a")], [job("j", "a", 5, least=1)]),
        {f"j-{number}": "bound@n1" for number in range(3)},
    ),
    "elastic pods are spread fairly over queues": (
        cluster(
            [node("n1", 4)],
            [queue("a", created=0.0), queue("b", created=1.0)],
            [job("x", "a", 4, least=1), job("y", "b", 4, least=1)],
        ),
        dict.fromkeys(("x-0", "x-1", "y-0", "y-1"), "bound@n1"),
    ),
    "nodes are filled one after the other": (
        cluster([node("n1"), node("n2")], [queue("a")], [job("r", "a", on=["n2"]), job("j", "a")]),
        {"j-0": "bound@n2"},
    ),
    "a fraction goes to a card that is shared already": (
        cluster(
            [node("n1"), node("n2")],
            [queue("a")],
            [job("r", "a", request=HALF, on=["n2"], groups=["g"]), job("j", "a", request=HALF)],
        ),
        {"j-0": "bound@n2"},
    ),
    "what the limit forbids waits": (
        cluster([node("n1")], [queue("a", limit=1)], [job("j", "a", 2, least=1)]),
        {"j-0": "bound@n1"},
    ),
    "a queue takes back its quota": (
        cluster(
            [node("n1", 2)],
            [queue("a", 1), queue("b", 1)],
            [job("x", "a", on=["n1"]), job("y", "a", on=["n1"], created=1.0), job("z", "b")],
        ),
        {"y-0": "evicted", "z-0": "waits@n1"},
    ),
    "nothing within quota is reclaimed": (
        cluster(
            [node("n1", 2)], [queue("a", 2), queue("b")], [job("x", "a", 2, on=["n1", "n1"]), job("z", "b")]
        ),
        {},
    ),
    "an elastic job gives its surplus first": (
        cluster(
            [node("n1", 3)],
            [queue("a", 1), queue("b", 1)],
            [job("x", "a", 3, least=1, on=["n1"] * 3), job("z", "b")],
        ),
        {"x-2": "evicted", "z-0": "waits@n1"},
    ),
    "inside a queue the higher priority preempts": (
        cluster(
            [node("n1", 1)], [queue("a", 1)], [job("low", "a", on=["n1"]), job("high", "a", priority=75)]
        ),
        {"low-0": "evicted", "high-0": "waits@n1"},
    ),
    "equal priority does not": (
        cluster([node("n1", 1)], [queue("a", 1)], [job("low", "a", on=["n1"]), job("high", "a")]),
        {},
    ),
    "others are moved to make room": (
        cluster(
            [node("n1", 2), node("n2", 2)],
            [queue("a")],
            [job("x", "a", on=["n1"]), job("y", "a", on=["n2"]), job("z", "a", request=TWO)],
        ),
        {"y-0": "waits@n1", "z-0": "waits@n2"},
    ),
    "a gang that lost a pod is evicted when its time is over": (
        cluster([node("n1", 1)], [queue("a")], [job("x", "a", 2, on=["n1"], stale_since=NOW - 61)]),
        {"x-0": "evicted"},
    ),
}


@pytest.mark.parametrize(("state", "expected"), CASES.values(), ids=CASES)
def test_one_cycle(state: State, expected: dict[str, str]) -> None:
    decisions, _ = decide(state, Memory(), NOW)
    assert outcome(decisions) == expected


def test_reasons_are_in_kais_words() -> None:
    state = cluster([node("n1")], [queue("a", limit=1)], [job("j", "a", 2)])
    decisions, _ = decide(state, Memory(), NOW)
    waits = [each for each in decisions if isinstance(each, Waits)]
    assert [each.reason for each in waits] == [Reason.OVER_LIMIT]
    assert waits[0].message == (
        "a quota has reached the allowable limit of GPUs. Limit is 1 GPUs, currently 0 GPUs allocated and"
        " workload requested 2 GPUs"
    )


def test_what_cannot_be_preempted_stays_within_quota() -> None:
    state = cluster([node("n1")], [queue("a", 1)], [job("j", "a", 2, priority=125, preemptible=False)])
    decisions, _ = decide(state, Memory(), NOW)
    assert [each.reason for each in decisions if isinstance(each, Waits)] == [Reason.OVER_QUOTA]
    assert "Non-preemptible workload is over quota." in str(decisions[0])


def test_a_missing_queue_is_told() -> None:
    state = cluster([node("n1")], [], [job("j", "nowhere")])
    decisions, _ = decide(state, Memory(), NOW)
    assert [each.reason for each in decisions if isinstance(each, Waits)] == [Reason.NO_QUEUE]


def test_a_queue_with_zero_limits_blocks_every_pod() -> None:
    empty = queue("a", cpu=Allotted(), memory=Allotted())
    decisions, _ = decide(cluster([node("n1")], [empty], [job("j", "a")]), Memory(), NOW)
    assert [each.reason for each in decisions if isinstance(each, Waits)] == [Reason.OVER_LIMIT]


def test_a_reclaim_tells_how_both_queues_stand() -> None:
    state = CASES["a queue takes back its quota"][0]
    decisions, _ = decide(state, Memory(), NOW)
    evicted = [each for each in decisions if isinstance(each, Evicted)]
    assert evicted[0].by == "z"
    assert evicted[0].action is Action.RECLAIM
    assert "a uses <GPU: 2, CPU: 2 (cores), memory: 2 (GB)> with a quota of <GPU: 1," in evicted[0].message


def test_pods_sharing_a_card_never_ask_for_more_than_it_has() -> None:
    state = cluster(
        [node("n1", 1)], [queue("a")], [job(f"j{number}", "a", request=FORTY_GIB) for number in range(3)]
    )
    decisions, _ = decide(state, Memory(), NOW)
    bound = [each for each in decisions if isinstance(each, Bound)]
    assert len(bound) == 2
    assert len({each.gpu_groups for each in bound}) == 1


@pytest.mark.parametrize(("how", "cards"), [(Spreading.PACK, 1), (Spreading.SPREAD, 2)])
def test_fractions_are_packed_or_spread(how: Spreading, cards: int) -> None:
    state = cluster([node("n1", 2)], [queue("a")], [job("x", "a", request=HALF), job("y", "a", request=HALF)])
    decisions, _ = decide(state, Memory(placement(how)), NOW)
    assert len({each.gpu_groups for each in decisions if isinstance(each, Bound)}) == cards


def test_spreading_switches_consolidation_off() -> None:
    assert Action.CONSOLIDATION not in placement(Spreading.SPREAD).actions


def test_a_minimum_runtime_protects_from_reclaim() -> None:
    state, expected = CASES["a queue takes back its quota"]
    queues = {**state.share_queues, "a": replace(state.share_queues["a"], reclaim_min_runtime=600.0)}
    protected = replace(state, share_queues=queues)
    assert outcome(decide(protected, Memory(), NOW)[0]) == {}
    assert outcome(decide(protected, Memory(), NOW + 600)[0]) == expected


def test_a_preemption_delay_keeps_a_job_from_evicting_others() -> None:
    state, expected = CASES["a queue takes back its quota"]
    delayed = state.with_pod_groups({"z": replace(state.pod_groups["z"], delay=300.0, created=NOW - 100)})
    decisions, _ = decide(delayed, Memory(), NOW)
    assert outcome(decisions) == {}
    assert Reason.DELAY in {each.reason for each in decisions if isinstance(each, Waits)}
    assert outcome(decide(delayed, Memory(), NOW + 200)[0]) == expected


def test_the_grace_of_a_stale_gang_is_remembered() -> None:
    state = cluster([node("n1", 1)], [queue("a")], [job("x", "a", 2, on=["n1"])])
    decisions, memory = decide(state, Memory(), NOW)
    assert outcome(decisions) == {}
    assert memory.stale["x"] == NOW
    decisions, _ = decide(state, memory, NOW + 60)
    assert outcome(decisions) == {"x-0": "evicted"}
    never = state.with_pod_groups({"x": replace(state.pod_groups["x"], grace=-1.0)})
    assert outcome(decide(never, memory, NOW + 6000)[0]) == {}


def test_when_a_job_began_is_remembered() -> None:
    state = cluster([node("n1")], [queue("a")], [job("x", "a")])
    decisions, memory = decide(state, Memory(), NOW)
    assert memory.started == {"x": NOW}
    _, later = decide(afterwards(state, decisions), memory, NOW + 5)
    assert later.started == {"x": NOW}


RACKS = [
    node(f"n{rack}{number}", 2, labels={"rack": f"r{rack}", "kubernetes.io/hostname": f"n{rack}{number}"})
    for rack in (1, 2)
    for number in (1, 2)
]


@pytest.mark.parametrize(
    ("count", "together", "placed"),
    [
        (4, Together("racks", required="rack"), 4),
        (5, Together("racks", required="rack"), 0),
        (5, Together("racks", preferred="rack"), 5),
        (2, Together("racks", required="kubernetes.io/hostname"), 2),
        (3, Together("racks", required="kubernetes.io/hostname"), 0),
        (2, Together("nothing", required="rack"), 0),
    ],
)
def test_pods_stay_in_a_domain(count: int, together: Together, placed: int) -> None:
    state = cluster(RACKS, [queue("a")], [job("j", "a", count, tree=flat(count, together))], [SMALL])
    decisions, _ = decide(state, Memory(), NOW)
    bound = [each for each in decisions if isinstance(each, Bound)]
    assert len(bound) == placed
    if together.required == "rack" and placed:
        assert len({each.node[:2] for each in bound}) == 1


def test_as_many_sub_groups_as_are_needed_are_placed_together() -> None:
    parts = tuple(SubGroup(name, 2, leaf=True) for name in ("a", "b", "c"))
    tree = SubGroup(minimum=2, children=parts)
    leaves = ["a", "a", "b", "b", "c", "c"]
    state = cluster([node("n1", 5)], [queue("q")], [job("j", "q", 6, tree=tree, leaves=leaves)])
    decisions, _ = decide(state, Memory(), NOW)
    assert sorted(outcome(decisions)) == ["j-0", "j-1", "j-2", "j-3"]


def test_jobs_like_one_that_failed_are_not_tried_again() -> None:
    jobs = [job("r", "a", 2, on=["n1", "n1"]), *(job(f"p{number}", "b") for number in range(3))]
    state = cluster([node("n1", 2)], [queue("a", 2), queue("b")], jobs)
    for signatures in (True, False):
        decisions, _ = decide(state, Memory(Settings(signatures=signatures)), NOW)
        assert outcome(decisions) == {}
