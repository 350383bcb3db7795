"""Pods of a higher priority have those of lower ones leave where that makes room, and only there."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allotment.devices.slices import Device, Pool, ResourceSlice
from allotment.scheduling.default import Bound, Decision, Memory, Preempted, Settings, applied, decide
from allotment.scheduling.state.nodes import ClusterNode
from allotment.scheduling.state.pods import Pod, PodClaim
from allotment.scheduling.state.shelf import Shelf
from allotment.scheduling.state.state import State
from tests.devices.worlds import driver_class, one, world

PREEMPTS = Settings(is_early=True, preempts=True)
ROOM = {"cpu": 64_000, "memory": 2**40, "pods": 10}
GPU = "nvidia.com/gpu"


def node(name: str, cards: int = 4, **more: Any) -> ClusterNode:
    return ClusterNode(name, allocatable={**ROOM, GPU: cards}, **more)


def pod(name: str, cards: int = 1, priority: int = 0, on: str | None = None, **more: Any) -> Pod:
    return Pod("team", name, {"cpu": 1000, GPU: cards}, priority, node=on, **more)


class Cluster:
    """Nodes and pods, and the rounds of the scheduler over them."""

    def __init__(self, *parts: ClusterNode | Pod, settings: Settings = PREEMPTS, **more: Any) -> None:
        nodes = {each.name: each for each in parts if isinstance(each, ClusterNode)}
        pods = {each.key: each for each in parts if isinstance(each, Pod)}
        self.state = State(nodes=nodes, pods=Shelf(pods), **more)
        self.memory, self.now = Memory(settings), 0.0

    def round(self) -> tuple[Decision, ...]:
        decisions, self.memory = decide(self.state, self.memory, self.now)
        self.state = applied(self.state, decisions)
        self.now += 1.0
        return decisions

    def leave(self) -> None:
        """Those that were told to have left."""
        gone = [key for key, each in self.state.pods.items() if each.leaving]
        self.state = self.state.with_pods(dict.fromkeys(gone))


def victims(decisions: tuple[Decision, ...]) -> dict[str, str]:
    """Who has to leave, and for whom."""
    made = [each for each in decisions if isinstance(each, Preempted)]
    return {each.pod.partition("/")[2]: each.by.partition("/")[2] for each in made}


def bound(decisions: tuple[Decision, ...]) -> dict[str, str]:
    return {each.pod.partition("/")[2]: each.node for each in decisions if isinstance(each, Bound)}


def test_the_pod_has_its_place_once_those_have_left() -> None:
    seen = Cluster(node("a", 2), pod("low", 2, on="a"), pod("high", 1, priority=5), pod("other", 1))
    assert victims(seen.round()) == {"low": "high"}
    assert victims(seen.round()) == {}  # on its way out
    seen.leave()
    decisions = seen.round()
    assert bound(decisions) == {"high": "a", "other": "a"}


def test_nobody_less_important_takes_the_place_that_is_kept() -> None:
    seen = Cluster(node("a", 2), pod("low", 2, on="a"), pod("high", 2, priority=5))
    seen.round()
    seen.leave()
    seen.state = seen.state.with_pods({"team/quick": pod("quick", 1, priority=4)})
    seen.memory = replace(seen.memory, failed={})  # whoever is tried first
    assert bound(seen.round()) == {"high": "a"}


def test_a_more_important_one_takes_the_place_that_is_kept() -> None:
    seen = Cluster(node("a", 2), pod("low", 2, on="a"), pod("high", 2, priority=5))
    seen.round()
    seen.state = seen.state.with_pods({"team/highest": pod("highest", 2, priority=9)})
    seen.round()
    seen.leave()
    assert bound(seen.round()) == {"highest": "a"}


@pytest.mark.parametrize(
    ("settings", "low"),
    [
        pytest.param(Settings(is_early=True), 0, id="whose class says never"),
        pytest.param(PREEMPTS, 5, id="of the same priority"),
        pytest.param(PREEMPTS, 6, id="of a higher one"),
    ],
)
def test_nobody_has_to_leave(settings: Settings, low: int) -> None:
    seen = Cluster(node("a"), pod("low", 4, priority=low, on="a"), pod("high", priority=5), settings=settings)
    assert victims(seen.round()) == {}


def test_where_it_would_not_help_nobody_has_to_leave() -> None:
    cordoned = node("cordoned", schedulable=False)
    seen = Cluster(node("small"), cordoned, pod("low", 4, on="cordoned"), pod("high", 5, priority=5))
    assert victims(seen.round()) == {}


def test_devices_that_are_claimed_are_taken_from_nobody() -> None:
    claim = (PodClaim("gpu", one("gpu")),)
    seen = Cluster(
        node("a"),
        Pod("team", "low", {"cpu": 1000}, claims=claim),
        published=world(
            ResourceSlice("s", "gpu", Pool("a"), node_name="a", devices=(Device("d"),)),
            classes=[driver_class("gpu")],
        ),
    )
    assert bound(seen.round()) == {"low": "a"}
    high = Pod("team", "high", {"cpu": 1000}, 5, claims=claim)
    seen.state = seen.state.with_pods({high.key: high})
    assert victims(seen.round()) == {}


@pytest.mark.parametrize(
    ("standing", "expected"),
    [
        pytest.param(
            [pod("a1", 4, 3, "a"), pod("b1", 4, 2, "b")], {"b1"}, id="whose most important is least important"
        ),
        pytest.param(
            [pod("a1", 2, 2, "a"), pod("a2", 2, 2, "a"), pod("b1", 4, 2, "b")], {"b1"}, id="of the fewest"
        ),
        pytest.param(
            [pod("a1", 4, 2, "a", started=5.0), pod("b1", 4, 2, "b", started=9.0)], {"b1"}, id="the youngest"
        ),
        pytest.param(
            [pod("a1", 4, 2, "a"), pod("b1", 2, 2, "b"), pod("b2", 2, 1, "b")],
            {"a1"},
            id="of the least sum of importance",
        ),
    ],
)
def test_the_least_is_lost(standing: list[Pod], expected: set[str]) -> None:
    seen = Cluster(node("a"), node("b"), *standing, pod("high", 4, priority=9))
    assert set(victims(seen.round())) == expected


def test_the_more_important_stay_where_one_is_enough() -> None:
    low = [pod(f"p{priority}", 1, priority, "a") for priority in range(4)]
    assert set(victims(Cluster(node("a"), *low, pod("high", 1, priority=9)).round())) == {"p0"}
    old = [pod("young", 2, 0, "a", started=9.0), pod("old", 2, 0, "a", started=1.0)]
    assert set(victims(Cluster(node("a"), *old, pod("high", 1, priority=9)).round())) == {"young"}


PODS = st.lists(st.tuples(st.integers(1, 3), st.integers(0, 3)), max_size=12)


@given(PODS, PODS)
def test_only_who_must_leaves_and_whoever_took_gets_in(
    first: list[tuple[int, int]], then: list[tuple[int, int]]
) -> None:
    low = [pod(f"low-{number}", cards, priority) for number, (cards, priority) in enumerate(first)]
    high = [pod(f"high-{number}", cards, priority) for number, (cards, priority) in enumerate(then)]
    seen = Cluster(node("a"), node("b", 3), node("c", 2), *low)
    for _ in range(3):
        seen.round()
        seen.leave()
    seen.state = seen.state.with_pods({each.key: each for each in high})
    for _ in range(2 * len(high) + 2):
        before = seen.state.pods
        for each in seen.round():
            if isinstance(each, Preempted):
                assert before[each.pod].priority < before[each.by].priority
                assert before[each.pod].node == each.node
        for place in seen.state.nodes.values():
            assert held(seen.state, place.name, 0) <= place.allocatable[GPU]
        seen.leave()
    for waits in [known for known in seen.state.pods.values() if known.node is None]:
        for place in seen.state.nodes.values():  # it would not fit though all less important ones went
            kept = held(seen.state, place.name, waits.priority)
            assert kept + waits.requests[GPU] > place.allocatable[GPU]


def held(state: State, node: str, priority: int) -> int:
    """How many cards pods of at least a priority have on a node."""
    here = (each for each in state.pods.values() if each.node == node and each.priority >= priority)
    return sum(each.requests[GPU] for each in here)
