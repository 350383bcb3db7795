"""Who is evicted for whom: within a queue, to get quota back, while borrowing, and to share fairly."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from allotment.scheduling.kueue import Evicted, Settings, Waits, applied, decide
from allotment.scheduling.kueue.settings import BOTH_RULES, FairRule
from allotment.scheduling.state.workloads import Workload
from tests.scheduling.kueue.scenes import Cluster, group, job, queue


def running(cluster: Cluster, *workloads: Workload) -> Cluster:
    """The cluster with these admitted one after the other."""
    for each in workloads:
        cluster.add(each)
        assert list(cluster.cycle().admitted) == [each.name]
    return cluster


def policies(**given: Any) -> dict[str, Any]:
    return {"preemption": given}


WITHIN = [
    pytest.param("Never", 5, [], id="never"),
    pytest.param("LowerPriority", 5, ["low"], id="lower priority"),
    pytest.param("LowerPriority", 1, [], id="not of equal priority"),
    pytest.param("LowerOrNewerEqualPriority", 1, ["low"], id="newer of equal priority"),
]


@pytest.mark.parametrize(("policy", "priority", "evicted"), WITHIN)
def test_within_a_queue(policy: str, priority: int, evicted: list[str]) -> None:
    cluster = Cluster(queue("a", group(x=2), **policies(withinClusterQueue=policy)))
    running(cluster, job("low", cpu=2, priority=1, at=5))
    cluster.add(job("new", cpu=1, priority=priority, at=1))
    told = cluster.cycle()
    assert list(told.evicted) == evicted
    assert set(told.evicted.values()) <= {"InClusterQueue"}


def test_the_preemptor_waits_for_those_who_go_and_is_admitted_when_they_are_gone() -> None:
    cluster = Cluster(queue("a", group(x=2), **policies(withinClusterQueue="LowerPriority")))
    running(cluster, job("low", cpu=2))
    cluster.add(job("high", cpu=2, priority=1))
    told = cluster.cycle()
    assert told.waits["high"].endswith("Pending the preemption of 1 workload(s)")
    assert told.reasons["high"] == "WaitingForPreemptedWorkloads"
    assert list(cluster.cycle().admitted) == ["high"]
    assert cluster.holders == {"high"}


def test_as_few_as_are_needed_and_the_least_important_and_newest_of_them() -> None:
    cluster = Cluster(queue("a", group(x=4), **policies(withinClusterQueue="LowerPriority")))
    running(
        cluster,
        job("old", cpu=1, priority=1),
        job("newer", cpu=1, priority=1),
        job("least", cpu=1),
        job("dear", cpu=1, priority=8),
    )
    cluster.add(job("high", cpu=2, priority=5))
    assert sorted(cluster.cycle().evicted) == ["least", "newer"]


RECLAIM = [
    pytest.param("Never", 9, [], id="never"),
    pytest.param("LowerPriority", 0, [], id="only from lower priority"),
    pytest.param("LowerPriority", 9, ["borrows"], id="from lower priority"),
    pytest.param("Any", 0, ["borrows"], id="from anybody"),
]


@pytest.mark.parametrize(("policy", "priority", "evicted"), RECLAIM)
def test_quota_that_was_lent_is_taken_back(policy: str, priority: int, evicted: list[str]) -> None:
    cluster = Cluster(
        queue("a", group(x=2), cohort="all", **policies(reclaimWithinCohort=policy)),
        queue("b", group(x=2), cohort="all"),
    )
    running(cluster, job("own", "b", cpu=2, priority=1), job("borrows", "b", cpu=2, priority=1))
    cluster.add(job("mine", "a", cpu=2, priority=priority))
    told = cluster.cycle()
    assert list(told.evicted) == evicted
    assert set(told.evicted.values()) <= {"InCohortReclamation"}


def test_who_does_not_borrow_is_not_evicted_for_another_queue() -> None:
    cluster = Cluster(
        queue("a", group(x=2), cohort="all", **policies(reclaimWithinCohort="Any")),
        queue("b", group(x=2), cohort="all"),
    )
    running(cluster, job("own", "b", cpu=2))
    cluster.add(job("large", "a", cpu=4, priority=9))
    assert not cluster.cycle().evicted


BORROWING = [
    pytest.param({}, []),
    pytest.param({"borrowWithinCohort": {"policy": "LowerPriority", "maxPriorityThreshold": 3}}, ["borrows"]),
    pytest.param({"borrowWithinCohort": {"policy": "LowerPriority", "maxPriorityThreshold": 0}}, []),
]


@pytest.mark.parametrize(("more", "evicted"), BORROWING)
def test_evicting_while_borrowing_is_for_what_matters_little(
    more: dict[str, Any], evicted: list[str]
) -> None:
    cluster = Cluster(
        queue("a", group(x=1), cohort="all", **policies(reclaimWithinCohort="LowerPriority", **more)),
        queue("b", group(x=1), cohort="all"),
        queue("c", group(x=2), cohort="all"),
    )
    running(cluster, job("borrows", "b", cpu=3, priority=2))
    cluster.add(job("mine", "a", cpu=2, priority=9))
    told = cluster.cycle()
    assert list(told.evicted) == evicted
    assert set(told.evicted.values()) <= {"InCohortReclaimWhileBorrowing"}


@pytest.mark.parametrize(
    ("rules", "evicted"),
    [
        pytest.param(None, 0, id="without fair sharing nobody goes for one who borrows"),
        pytest.param(BOTH_RULES, 1, id="with fair sharing the larger share gives way"),
        pytest.param((FairRule.INITIAL,), 1, id="by the share before"),
    ],
)
def test_fair_sharing(rules: tuple[FairRule, ...] | None, evicted: int) -> None:
    any_of_all = policies(reclaimWithinCohort="Any")
    cluster = Cluster(
        queue("a", group(x=1), cohort="all", **any_of_all),
        queue("b", group(x=1), cohort="all", **any_of_all),
        queue("c", group(x=4), cohort="all"),
        settings=Settings(fair=rules),
    )
    running(cluster, *(job(f"b{n}", "b", cpu=1, at=n) for n in range(5)), job("a0", "a", cpu=1))
    cluster.add(job("a1", "a", cpu=1, at=9))
    told = cluster.cycle()
    assert len(told.evicted) == evicted
    assert set(told.evicted.values()) <= {"InCohortFairSharing"}


def test_queues_of_unlike_weight_get_unlike_shares() -> None:
    queues = [
        queue(
            "a", group(x=0), cohort="all", fairSharing={"weight": "2"}, **policies(reclaimWithinCohort="Any")
        ),
        queue("b", group(x=0), cohort="all", fairSharing={"weight": "1"}),
        queue("c", group(x=6), cohort="all"),
    ]
    jobs = [job(f"{name}{n}", name, cpu=1, at=n) for name in "ab" for n in range(6)]
    cluster = Cluster(*queues, *jobs, settings=Settings(fair=BOTH_RULES))
    cluster.cycles(8)
    assert sorted(name[0] for name in cluster.holders) == ["a"] * 4 + ["b"] * 2


def test_who_is_leaving_already_is_not_evicted_once_more() -> None:
    cluster = Cluster(queue("a", group(x=2), **policies(withinClusterQueue="LowerPriority")))
    running(cluster, job("low", cpu=2))
    cluster.add(job("high", cpu=2, priority=1))
    decisions, memory = decide(cluster.state, cluster.memory, cluster.now + 1)
    assert [each.workload for each in decisions if isinstance(each, Evicted)] == ["team/low"]
    leaving = applied(cluster.state, decisions, cluster.now + 1)
    again, _ = decide(leaving, memory, cluster.now + 2)
    assert [type(each) for each in again] == [Waits]


def test_a_workload_evicted_for_another_stands_in_line_again_at_its_old_place() -> None:
    cluster = Cluster(queue("a", group(x=2), **policies(withinClusterQueue="LowerPriority")))
    running(cluster, job("low", cpu=2))
    cluster.add(job("high", cpu=2, priority=1))
    cluster.cycles(2)
    assert not cluster.state.workloads["team/low"].reserved
    cluster.add(replace(job("later", cpu=2), created=cluster.now))
    cluster.end("high")
    assert cluster.cycles(2) == [["low"], []]
