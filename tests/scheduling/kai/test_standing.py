"""How queues stand when a cycle begins: worked examples of counting, and what decisions make of a state."""

from __future__ import annotations

from dataclasses import replace

import pytest

from allotment.scheduling.kai import Memory, Settings, Standing, applied, decide, ended, standings, stopped
from allotment.scheduling.kai.axes import CPU, GPU
from allotment.scheduling.state.claimed_devices import Allocation, Claim
from allotment.scheduling.state.nodes import ClusterNode
from allotment.scheduling.state.pod_groups import PodGroup, PodRequest, PodStatus
from allotment.scheduling.state.share_queues import ShareQueue
from allotment.scheduling.state.state import State
from tests.scheduling.kai.kai_world import NOW, cluster, job, node, queue

A, B = queue("a", 10, weight=3), queue("b", 10, created=1.0)
MIG = {"nvidia.com/mig-3g.40gb": 2, "nvidia.com/gpu": 0}
HALF = PodRequest(500, 0, fraction=0.5)
MEMORY = PodRequest(500, 0, gpu_memory=30_000)
MEMORY_OF_A_SMALL_ONE = 40_000


def mig(name: str) -> ClusterNode:
    found = node(
        name, 0, labels={"nvidia.com/mig.strategy": "mixed", "node-role.kubernetes.io/mig-enabled": "true"}
    )
    return replace(found, allocatable={**found.allocatable, **MIG})


def stand(state: State) -> dict[str, Standing]:
    return dict(standings(state, Memory(Settings()), NOW).queues)


CASES = [
    pytest.param(
        [node(f"n{number}", 10) for number in range(10)],
        [A, B],
        [job("x", "a", 100, least=1), job("y", "b", 100, least=1)],
        {"a": (70, 0, 100), "b": (30, 0, 100)},
        id="a hundred GPUs, ten guaranteed to each, three to one of what is left",
    ),
    pytest.param(
        [node(f"n{number}", 10) for number in range(10)],
        [A, B],
        [job("x", "a", 100, least=1)],
        {"a": (100, 0, 100), "b": (0, 0, 0)},
        id="who asks for nothing has a share of nothing",
    ),
    pytest.param(
        [node("n1", 10), replace(node("n2", 10), ready=False)],
        [queue("a"), queue("b", created=1.0)],
        [job("x", "a", 20, least=1), job("y", "b", 20, least=1)],
        {"a": (5, 0, 20), "b": (5, 0, 20)},
        id="a node that is not ready counts for nothing",
    ),
    pytest.param(
        [replace(node("n1", 10), taken={"nvidia.com/gpu": 4})],
        [queue("a"), queue("b", created=1.0)],
        [job("x", "a", 20, least=1), job("y", "b", 20, least=1)],
        {"a": (3, 0, 20), "b": (3, 0, 20)},
        id="pods of other schedulers make it less",
    ),
    pytest.param(
        [mig("n1")],
        [queue("a"), queue("b", created=1.0)],
        [
            job("x", "a", request=PodRequest(mig=(("nvidia.com/mig-3g.40gb", 1),)), on=["n1"]),
            job("y", "b", request=PodRequest(mig=(("nvidia.com/mig-3g.40gb", 1),))),
        ],
        {"a": (3, 3, 3), "b": (3, 0, 3)},
        id="an instance of three slices counts three GPUs",
    ),
    pytest.param(
        [node("n1", 2)],
        [queue("a")],
        [job("x", "a", 3, least=1, request=HALF, on=["n1"], groups=["g1"])],
        {"a": (1.5, 0.5, 1.5)},
        id="halves count as halves",
    ),
    pytest.param(
        [node("n1", 2), node("n2", 2, memory=MEMORY_OF_A_SMALL_ONE)],
        [queue("a")],
        [job("x", "a", 2, least=1, request=MEMORY, on=["n1"], groups=["g1"])],
        {"a": (1.13, 0.38, 1.13)},
        id="memory that waits is priced by the smallest GPU, and what has a place by its own, in hundredths",
    ),
]


@pytest.mark.parametrize(("nodes", "queues", "jobs", "expected"), CASES)
def test_fair_share_held_and_asked(
    nodes: list[ClusterNode],
    queues: list[ShareQueue],
    jobs: list[PodGroup],
    expected: dict[str, tuple[float, float, float]],
) -> None:
    found = stand(cluster(nodes, queues, jobs))
    told = {name: (found[name].fair[GPU], found[name].held[GPU], found[name].asked[GPU]) for name in expected}
    for name, numbers in expected.items():
        assert told[name] == pytest.approx(numbers, abs=1e-6), name


def test_an_unlimited_quota_of_cores_is_all_there_is_to_each() -> None:
    small = replace(node("n1"), allocatable={**node("n1").allocatable, "cpu": 4000})
    work = [job(name, name, 8, least=1) for name in ("a", "b")]
    found = stand(cluster([small], [queue("a"), queue("b", created=1.0)], work))
    assert {name: found[name].fair[CPU] for name in ("a", "b")} == {"a": 4000, "b": 4000}


def test_parents_hold_what_those_below_them_hold() -> None:
    state = cluster(
        [node("n1")], [queue("dept", 4), queue("a", 2, parent="dept")], [job("x", "a", on=["n1"])]
    )
    found = stand(state)
    assert [found[name].held[GPU] for name in ("a", "dept", "root")] == [1, 1, 1]
    assert found["a"].parent == "dept"


def test_victims_come_lowest_priority_first_and_then_youngest() -> None:
    jobs = [
        job("important", "b", 4, on=["n1"] * 4, priority=75, created=9.0),
        job("old", "b", 4, on=["n1"] * 4, created=1.0),
        job("young", "b", 4, on=["n2"] * 4, created=5.0),
        job("firm", "b", 4, on=["n2"] * 4, created=8.0, preemptible=False),
    ]
    assert stand(cluster([node("n1"), node("n2")], [A, B], jobs))["b"].goes_first == "young"
    assert stand(cluster([node("n1"), node("n2")], [A, B], jobs[:1]))["b"].goes_first == ""


def test_the_line_of_a_queue() -> None:
    jobs = [job("late", "a", created=2.0), job("early", "a", created=1.0), job("first", "a", priority=99)]
    assert stand(cluster([node("n1")], [A, B], jobs))["a"].line == ("first", "early", "late")


def test_what_is_decided_is_carried_out_and_books_are_straight() -> None:
    jobs = [job("x", "b", 8, least=1, on=["n1"] * 8), job("y", "a", 4, least=1)]
    state = cluster([node("n1")], [queue("a", 4), queue("b", 4, created=1.0)], jobs)
    memory = Memory(Settings())
    for number in range(12):
        decisions, memory = decide(state, memory, NOW + number)
        evicted = {pod.id for pod in state.pod_groups["x"].pods}
        state = stopped(applied(state, decisions), evicted, NOW + number)
    found = stand(state)
    assert {name: (found[name].held[GPU], found[name].asked[GPU]) for name in ("a", "b")} == {
        "a": (4, 4),
        "b": (4, 8),
    }
    assert {pod.status for group in state.pod_groups.values() for pod in group.pods} == {
        PodStatus.RUNNING,
        PodStatus.PENDING,
    }


def test_what_is_not_made_anew_is_gone_and_gives_back_its_claim() -> None:
    held = job("x", "a", on=["n1"])
    pod = replace(held.pods[0], status=PodStatus.RELEASING, claims=("c",))
    claim = Claim("c", "gpu.example.org", allocation=Allocation("n1", ("d",)), reserved_for=(pod.id,))
    state = replace(cluster([node("n1")], [A], [replace(held, pods=(pod,))]), claims={"c": claim})
    for after in (stopped(state, (), NOW), ended(state, ["x"])):
        assert after.claims["c"].allocation is None
        assert after.claims["c"].reserved_for == ()
        assert [pod for group in after.pod_groups.values() for pod in group.pods] == []
