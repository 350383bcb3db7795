"""Kueue and KAI together: one keeps quota, what is not admitted is not placed, KAI takes from nobody."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from allotment.scheduling import both, kai, kueue
from allotment.scheduling.kueue.applying import released
from allotment.scheduling.state.nodes import Flavor
from allotment.scheduling.state.pod_groups import PodGroup, PodStatus
from allotment.scheduling.state.queues import (
    ANY,
    LOWER,
    ClusterQueue,
    Cohort,
    LabelSelector,
    LocalQueue,
    Preemption,
    Quota,
    ResourceGroup,
)
from allotment.scheduling.state.shelf import Shelf
from allotment.scheduling.state.state import State
from allotment.scheduling.state.workloads import PodSet, Workload
from tests.scheduling.kai.kai_world import NOW, job, node, queue

TEAMS = ("a", "b")


def _world(*jobs: PodGroup, cards: int = 8, quota: int = 4, share: float = 0.0) -> State:
    """A node, a queue of both kinds for each team, and a Workload for each group."""
    group = ResourceGroup(("gpus",), ("any",), {("any", "gpus"): Quota(quota)})
    rule = Preemption(within=LOWER, reclaim=ANY)
    queues = {
        name: ClusterQueue(name, "all", (group,), namespaces=LabelSelector(), preemption=rule)
        for name in TEAMS
    }
    shares = {
        "root": queue("root", -1.0, parent=None),
        **{name: queue(name, share, limit=2.0) for name in TEAMS},
    }
    groups = {f"{each.queue}/{each.name}": replace(each, namespace=each.queue) for each in jobs}
    return State(
        nodes={"n": node("n", cards)},
        cluster_queues=queues,
        cohorts={"all": Cohort("all")},
        flavors={"any": Flavor("any")},
        local_queues={f"{name}/line": LocalQueue(name, "line", name) for name in TEAMS},
        share_queues=shares,
        pod_groups=Shelf(groups),
        workloads=Shelf({key: _workload(each, order) for order, (key, each) in enumerate(groups.items())}),
    )


def _workload(group: PodGroup, order: int) -> Workload:
    pods = PodSet("main", len(group.pods), {"gpus": 1}, shape=group.name)
    return Workload(group.queue, group.name, "line", (pods,), uid=group.name, created=float(order))


def _bound(decisions: tuple[both.Decision, ...]) -> list[str]:
    return [each.pod for each in decisions if isinstance(each, kai.Bound)]


def test_what_kueue_admits_is_placed_whatever_quota_and_limit_kai_has() -> None:
    decisions, _ = both.decide(_world(job("first", "a", 6)), both.Memory(), NOW)
    assert len(_bound(decisions)) == 6


def test_what_kueue_does_not_admit_is_not_placed_although_there_is_room() -> None:
    decisions, _ = both.decide(_world(job("huge", "a", 9), cards=16), both.Memory(), NOW)
    assert not _bound(decisions)
    assert any(isinstance(each, kueue.Waits) for each in decisions)


def test_kai_takes_nothing_back() -> None:
    running = job("lent", "a", 8, on=["n"] * 8)
    first, later = _world(running), _world(running, job("own", "b", 4))
    decisions, memory = both.decide(first, both.Memory(), NOW)
    assert [type(each) for each in decisions] == [kueue.Admitted]
    state = kueue.applied(first, [each for each in decisions if isinstance(each, kueue.Admitted)], NOW)
    state = state.with_pod_groups({"b/own": later.pod_groups["b/own"]})
    state = state.with_workloads({"b/own": later.workloads["b/own"]})
    decisions, _ = both.decide(state, memory, NOW + 1)
    assert not any(isinstance(each, kai.Evicted) for each in decisions)
    (evicted,) = (each for each in decisions if isinstance(each, kueue.Evicted))
    assert (evicted.workload, evicted.by) == ("a/lent", "b/own")  # whole, and by Kueue alone


def test_only_as_many_pods_as_are_admitted_are_in_line() -> None:
    group = both.placed_only(job("some", "a", 4), 2)
    assert [pod.status for pod in group.pods] == [PodStatus.PENDING] * 2 + [PodStatus.GATED] * 2
    assert not group.preemptible


@pytest.mark.parametrize(("quota", "limit"), [(0.0, 0.0), (3.0, 5.0)])
def test_no_queue_has_a_bound(quota: float, limit: float) -> None:
    made = both.unlimited({"a": queue("a", quota, limit=limit, reclaim_min_runtime=60.0)})["a"]
    for each in (made.cpu, made.memory, made.gpu):
        assert (each.quota, each.limit) == (-1.0, -1.0)
    assert made.reclaim_min_runtime is None


@given(
    sizes=st.lists(st.tuples(st.sampled_from(TEAMS), st.integers(1, 5)), min_size=1, max_size=6),
    quota=st.integers(1, 5),
)
@settings(max_examples=40, deadline=None)
def test_what_is_placed_is_admitted_and_never_more_than_all_quota(
    sizes: list[tuple[str, int]], quota: int
) -> None:
    jobs = [job(f"j{number}", team, count) for number, (team, count) in enumerate(sizes)]
    state, memory = _world(*jobs, quota=quota, cards=16), both.Memory()
    for step in range(6):
        decisions, memory = both.decide(state, memory, NOW + step)
        assert not any(isinstance(each, kai.Evicted) for each in decisions)
        bound = {each.pod: each.node for each in decisions if isinstance(each, kai.Bound)}
        state = kueue.applied(state, [each for each in decisions if isinstance(each, kueue.Decision)], NOW)
        state = state.with_pod_groups(
            {key: _started(group, bound) for key, group in state.pod_groups.items()}
        )
        for gone in (each.workload for each in decisions if isinstance(each, kueue.Evicted)):
            state = state.with_pod_groups({gone: _stopped(state.pod_groups[gone])})
            state = state.with_workloads({gone: released(state.workloads[gone])})
        held = [pod for group in state.pod_groups.values() for pod in group.pods if pod.node is not None]
        assert len(held) <= 2 * quota
    admitted = both.admitted_pods(state.workloads.values())
    for key, group in state.pod_groups.items():
        assert sum(pod.node is not None for pod in group.pods) <= admitted.get(key, 0)


def _started(group: PodGroup, bound: dict[str, str]) -> PodGroup:
    changes = {
        pod.id: replace(pod, status=PodStatus.RUNNING, node=bound[pod.id])
        for pod in group.pods
        if pod.id in bound
    }
    return group.with_pods(changes)


def _stopped(group: PodGroup) -> PodGroup:
    """A whole Job whose pods were deleted, and made anew."""
    pods = tuple(replace(pod, status=PodStatus.PENDING, node=None) for pod in group.pods)
    return replace(group, pods=pods)
