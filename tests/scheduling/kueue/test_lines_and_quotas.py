"""Who is next in a ClusterQueue, who is put aside and what wakes them; what a tree of quotas lets through."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from allotment.scheduling.kueue import Settings
from allotment.scheduling.kueue.settings import UsageFairness
from allotment.scheduling.state.workloads import Waiting
from tests.scheduling.kueue.scenes import MINUTE, Cluster, cohort, flavor, group, job, queue

STRICT: dict[str, Any] = {"queueingStrategy": "StrictFIFO"}


def test_priority_goes_before_age() -> None:
    jobs = job("late", cpu=1, at=2), job("early", cpu=1, at=1), job("dear", cpu=1, at=3, priority=9)
    assert Cluster(queue("a", group(x=3)), *jobs).cycles(4) == [["dear"], ["early"], ["late"], []]


@pytest.mark.parametrize(
    ("spec", "admitted"),
    [
        pytest.param({}, [[], ["small"], []], id="best effort: what fits behind a head is let through"),
        pytest.param(STRICT, [[], [], []], id="strict: a head that does not fit holds up all behind it"),
    ],
)
def test_strategies(spec: dict[str, str], admitted: list[list[str]]) -> None:
    cluster = Cluster(
        queue("a", group(x=4), **spec),
        job("first", cpu=3),
        job("large", cpu=2, at=1),
        job("small", cpu=1, at=2),
    )
    assert cluster.cycles(1) == [["first"]]
    assert cluster.cycles(3) == admitted


def test_a_workload_put_aside_tries_again_once_quota_comes_back() -> None:
    cluster = Cluster(queue("a", group(x=4)), job("first", cpu=3), job("large", cpu=4, at=1))
    assert cluster.cycles(4) == [["first"], [], [], []]
    assert set(cluster.memory.line("a").aside) == {"team/large"}
    cluster.end("first")
    assert cluster.cycles(1) == [["large"]]


def test_quota_that_comes_back_anywhere_in_a_tree_of_cohorts_wakes_all_of_it() -> None:
    cluster = Cluster(
        cohort("top"),
        cohort("left", parent="top"),
        cohort("right", parent="top"),
        queue("a", group(x=2), cohort="left"),
        queue("b", group(x=2), cohort="right"),
        job("first", "b", cpu=2),
        job("large", "a", cpu=4),
    )
    assert cluster.cycles(3) == [["first"], [], []]
    cluster.end("first")
    assert cluster.cycles(1) == [["large"]]


def test_workloads_that_are_alike_are_put_aside_together() -> None:
    cluster = Cluster(queue("a", group(x=1)), *(job(f"j{n}", cpu=2, at=n) for n in range(5)))
    cluster.cycle()
    assert not cluster.memory.line("a").active
    assert len(cluster.memory.line("a").aside) == 5


def test_a_workload_that_backs_off_is_tried_when_its_time_has_come() -> None:
    late = replace(job("late", cpu=1), requeue_at=0.0)
    cluster = Cluster(queue("a", group(x=1)))
    cluster.add(replace(late, requeue_at=cluster.now + 2.5 * MINUTE))
    assert cluster.cycles(4) == [[], [], ["late"], []]


def test_a_stopped_queue_admits_nobody() -> None:
    cluster = Cluster(queue("a", group(x=1), stopPolicy="Hold"), job("one", cpu=1))
    assert cluster.cycles(2) == [[], []]


def test_a_workload_that_is_moved_to_another_queue_leaves_the_old_one() -> None:
    cluster = Cluster(queue("a", group(x=0)), queue("b", group(x=1)), job("one", cpu=1))
    assert cluster.cycles(1) == [[]]
    cluster.add(replace(cluster.state.workloads["team/one"], queue="b"))
    assert cluster.cycles(2) == [["one"], []]
    assert not cluster.memory.line("a").aside


def test_a_local_queue_that_is_led_elsewhere_takes_its_workloads_along() -> None:
    cluster = Cluster(queue("a", group(x=0)), queue("b", group(x=1)), job("one", cpu=1))
    assert cluster.cycles(1) == [[]]
    lines = dict(cluster.state.local_queues)
    lines["team/a"] = replace(lines["team/a"], cluster_queue="b")
    cluster.state = replace(cluster.state, local_queues=lines)
    assert cluster.cycles(2) == [["one"], []]
    assert not cluster.memory.line("a").aside


def test_a_local_queue_that_is_stopped_and_goes_on() -> None:
    cluster = Cluster(queue("a", group(x=1)), job("one", cpu=1))
    lines = dict(cluster.state.local_queues)
    cluster.state = replace(
        cluster.state, local_queues={name: replace(line, stopped=True) for name, line in lines.items()}
    )
    assert cluster.cycles(1) == [[]]
    cluster.state = replace(cluster.state, local_queues=lines)
    assert cluster.cycles(1) == [["one"]]


def test_more_quota_and_new_nodes_wake_those_who_wait() -> None:
    cluster = Cluster(queue("a", group(x=1)), job("large", cpu=3))
    assert cluster.cycles(2) == [[], []]
    cluster.state = replace(cluster.state, cluster_queues={"a": queue("a", group(x=3))})
    assert cluster.cycles(1) == [["large"]]


def test_a_queue_that_comes_later_finds_those_who_wait_for_it() -> None:
    cluster = Cluster(queue("a", group(x=1)), job("one", "b", cpu=1))
    assert cluster.cycles(1) == [[]]
    grown = Cluster(queue("a", group(x=1)), queue("b", group(x=1))).state
    cluster.state = replace(
        cluster.state, cluster_queues=grown.cluster_queues, local_queues=grown.local_queues
    )
    assert cluster.cycles(1) == [["one"]]


def test_every_queue_has_a_head_in_each_cycle() -> None:
    queues = [queue(name, group(x=2)) for name in "abc"]
    jobs = [job(f"{name}{n}", name, cpu=1, at=n) for name in "abc" for n in range(2)]
    assert Cluster(*queues, *jobs).cycles(2) == [["a0", "b0", "c0"], ["a1", "b1", "c1"]]


TREES = [
    pytest.param((2,), (2,), (), 4, id="what a cohort's other queue does not use may be borrowed"),
    pytest.param((2, 1), (2,), (), 3, id="no more than the borrowing limit"),
    pytest.param((2, 0), (2,), (), 2, id="nothing at a borrowing limit of nothing"),
    pytest.param((2,), (2, None, 1), (), 3, id="no more than others lend"),
    pytest.param((2,), (2, None, 0), (), 2, id="nothing of one that lends nothing"),
    pytest.param((2,), (2,), (3,), 7, id="the cohort's own quota is everybody's"),
    pytest.param((0,), (0,), (3,), 3, id="a cohort's quota alone"),
]


@pytest.mark.parametrize(("mine", "theirs", "common", "room"), TREES)
def test_quota_of_a_cohort(
    mine: tuple[int, ...], theirs: tuple[int, ...], common: tuple[int, ...], room: int
) -> None:
    cluster = Cluster(
        cohort("all", *([group(x=common)] if common else [])),
        queue("a", group(x=mine), cohort="all"),
        queue("b", group(x=theirs), cohort="all"),
        *(job(f"j{n}", cpu=1, at=n) for n in range(9)),
    )
    cluster.cycles(10)
    assert len(cluster.holders) == room


def test_of_two_heads_the_one_that_does_not_borrow_goes_first() -> None:
    cluster = Cluster(
        queue("a", group(x=1), cohort="all"),
        queue("b", group(x=2), cohort="all"),
        job("borrows", "a", cpu=2, at=0),
        job("own", "b", cpu=2, at=1),
    )
    assert cluster.cycles(1) == [["own"]]


MESSAGES = [
    pytest.param(
        {"cpu": 3},
        "couldn't assign flavors to pod set main: insufficient quota for cpu in flavor x, "
        "previously considered podsets requests (0) + current podset request (3) > maximum capacity (2)",
        "ExceedsMaxQuota",
        id="more than there can ever be",
    ),
    pytest.param(
        {"cpu": 2},
        "couldn't assign flavors to pod set main: "
        "insufficient unused quota for cpu in flavor x, 1 more needed",
        "WaitingForQuota",
        id="more than is free now",
    ),
    pytest.param(
        {"memory": "1Gi"},
        "couldn't assign flavors to pod set main: resource memory unavailable in ClusterQueue",
        "NoMatchingFlavor",
        id="a resource that the queue does not have",
    ),
]


@pytest.mark.parametrize(("asked", "message", "reason"), MESSAGES)
def test_what_those_who_wait_are_told(asked: dict[str, Any], message: str, reason: str) -> None:
    cluster = Cluster(queue("a", group(x=2)), job("first", cpu=1))
    cluster.cycle()
    cluster.add(job("waits", **asked))
    told = cluster.cycle()
    assert (told.waits["waits"], told.reasons["waits"]) == (message, reason)
    assert cluster.state.workloads["team/waits"].waiting == Waiting(reason, message)


FLAVORS = [
    pytest.param({}, 1, "reserved", id="the first flavor that has room"),
    pytest.param({}, 3, "spot", id="the next where the first is too small"),
    pytest.param({}, 2, "reserved", id="all of the first"),
    pytest.param({"nodeSelector": {"kind": "spot"}}, 1, "spot", id="the one whose nodes are meant"),
    pytest.param(
        {"nodeSelector": {"other": "spot"}}, 1, "reserved", id="labels that no flavor has do not matter"
    ),
]


@pytest.mark.parametrize(("spec", "cpu", "flavor_name"), FLAVORS)
def test_the_flavor_that_is_taken(spec: dict[str, object], cpu: int, flavor_name: str) -> None:
    cluster = Cluster(
        queue("a", group(reserved=2, spot=9)),
        job("one", cpu=cpu, spec=spec),
        flavors=(
            flavor("reserved", nodeLabels={"kind": "reserved"}),
            flavor("spot", nodeLabels={"kind": "spot"}),
        ),
    )
    assert cluster.cycle().flavor("one") == flavor_name


TAINT = {"key": "spot", "value": "yes", "effect": "NoSchedule"}


def test_a_tainted_flavor_is_only_for_those_who_tolerate_it() -> None:
    bears = {"tolerations": [{"key": "spot", "operator": "Exists"}]}
    cluster = Cluster(
        queue("a", group(spot=9, dear=9)),
        job("fine", cpu=1),
        job("bears", cpu=1, spec=bears, at=1),
        flavors=(flavor("spot", nodeTaints=[TAINT]),),
    )
    assert [cluster.cycle().flavor("fine"), cluster.cycle().flavor("bears")] == ["dear", "spot"]


@pytest.mark.parametrize(
    ("fungibility", "taken"),
    [
        pytest.param({}, "first", id="a flavor is borrowed rather than another one tried"),
        pytest.param(
            {"whenCanBorrow": "TryNextFlavor"}, "second", id="the next one is tried before borrowing"
        ),
    ],
)
def test_borrowing_or_the_next_flavor(fungibility: dict[str, str], taken: str) -> None:
    cluster = Cluster(
        queue("a", group(first=1, second=2), cohort="all", flavorFungibility=fungibility),
        queue("b", group(first=1), cohort="all"),
        job("one", cpu=2),
    )
    assert cluster.cycle().flavor("one") == taken


def test_resource_groups_give_each_resource_its_own_flavor() -> None:
    asked: dict[str, Any] = {"cpu": 1, "nvidia.com/gpu": 1}
    cluster = Cluster(
        queue("a", group(x=2), group("nvidia.com/gpu", l4=0, h100=1)),
        job("one", **asked),
    )
    assert cluster.cycle().admitted["one"].pod_sets[0].flavors == {"cpu": "x", "nvidia.com/gpu": "h100"}


def test_fewer_pods_start_where_that_is_allowed_and_all_do_not_fit() -> None:
    cluster = Cluster(queue("a", group(x=5)), job("wide", pods=8, least=2, cpu=1))
    assert cluster.cycle().admitted["wide"].pod_sets[0].count == 5


def test_pods_that_are_done_give_their_quota_back() -> None:
    cluster = Cluster(queue("a", group(x=3)), job("wide", pods=3, cpu=1), job("next", cpu=2, at=1))
    assert cluster.cycles(2) == [["wide"], []]
    done = replace(cluster.state.workloads["team/wide"], reclaimable={"main": 2})
    cluster.add(done)
    assert cluster.cycles(1) == [["next"]]


def test_a_local_queue_that_had_less_goes_first_where_past_use_counts() -> None:
    fair = UsageFairness(half_life=600.0, interval=60.0)
    scope: dict[str, Any] = {"admissionScope": {"admissionMode": "UsageBasedAdmissionFairSharing"}}
    cluster = Cluster(
        queue("a", group(x=1), **scope), job("one", cpu=1), settings=Settings(usage_fairness=fair)
    )
    assert cluster.cycles(2) == [["one"], []]
    assert cluster.memory.uses["team/a"].used


def test_an_elastic_workload_grows_into_a_new_slice_that_replaces_the_old_one() -> None:
    elastic = replace(job("small", pods=1, cpu=1), elastic=True)
    cluster = Cluster(queue("a", group(x=3)), elastic)
    cluster.cycle()
    cluster.add(replace(job("grown", pods=3, cpu=1, at=1), elastic=True, replaces="team/small"))
    assert sorted(cluster.cycle().admitted) == ["grown"]
    assert cluster.holders == {"grown"}


def test_a_local_queue_that_is_deleted_takes_its_workloads_out_of_line() -> None:
    cluster = Cluster(queue("a", group(x=0)), job("one", cpu=1))
    cluster.cycle()
    cluster.state = replace(cluster.state, local_queues={}, cluster_queues={"a": queue("a", group(x=1))})
    assert cluster.cycles(1) == [[]]


def test_those_of_a_namespace_that_is_closed_stay_aside_when_the_others_are_woken() -> None:
    selector: dict[str, Any] = {"namespaceSelector": {"matchLabels": {"open": "yes"}}}
    cluster = Cluster(queue("a", group(x=1), **selector), job("one", cpu=1), job("two", cpu=1, at=1))
    assert cluster.cycles(2) == [[], []]
    cluster.state = replace(cluster.state, namespaces={"team": {"open": "yes"}})
    assert cluster.cycles(1) == [["one"]]
    cluster.state = replace(cluster.state, namespaces={"team": {}})
    cluster.end("one")
    assert cluster.cycles(2) == [[], []]
    assert set(cluster.memory.line("a").aside) == {"team/two"}


def test_one_that_was_skipped_goes_on_with_the_next_flavor_and_may_be_left_aside() -> None:
    """As Kueue has it: the search goes on where it stopped, and nothing wakes it when the first has room."""
    cluster = Cluster(
        cohort("all"),
        queue("a", group(x=1), cohort="all", **STRICT),
        queue("b", group(x=0, y=0), cohort="all"),
        job("runs", "a", cpu=1),
        job("never", "a", cpu=2, at=1),
        job("borrows", "b", cpu=1),
    )
    first = cluster.cycle()
    assert list(first.admitted) == ["runs"]
    assert first.waits == {"borrows": "Workload no longer fits after processing another workload"}
    cluster.end("runs")
    assert "for cpu in flavor y" in cluster.cycle().waits["borrows"]
    assert cluster.cycles(3) == [[], [], []]
    assert set(cluster.memory.line("b").aside) == {"team/borrows"}
