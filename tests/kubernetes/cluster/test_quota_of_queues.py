"""What queues may use: tables by hand, and what must hold of any tree of cohorts."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allotment.kubernetes.cluster.quota import (
    KAI,
    KUEUE,
    Capacity,
    capacities_of,
    capacity_of,
    cluster_queue_of,
    scheduler_of,
)
from allotment.kubernetes.cluster.snapshot import Snapshot
from allotment.kubernetes.kinds import Object


def cluster_queue(
    name: str,
    nominal: int | str = 4,
    *,
    cohort: str | None = "all",
    used: int | None = None,
    borrow: int | None = None,
    lend: int | None = None,
    flavor: str = "any",
    **status: Any,
) -> dict[str, Any]:
    numbers = {"name": "gpus", "nominalQuota": str(nominal)}
    if borrow is not None:
        numbers["borrowingLimit"] = str(borrow)
    if lend is not None:
        numbers["lendingLimit"] = str(lend)
    groups = [{"coveredResources": ["gpus"], "flavors": [{"name": flavor, "resources": [numbers]}]}]
    found = _object("kueue.x-k8s.io/v1beta2", "ClusterQueue", name, {"resourceGroups": groups})
    if cohort is not None:
        found["spec"]["cohortName"] = cohort
    if used is not None:
        resources = [{"name": "gpus", "total": str(used)}]
        status["flavorsReservation"] = [{"name": flavor, "resources": resources}]
    return found | {"status": status}


def cohort(
    name: str, parent: str | None = None, nominal: int | None = None, **numbers: Any
) -> dict[str, Any]:
    spec: dict[str, Any] = {} if parent is None else {"parentName": parent}
    if nominal is not None:
        resources = [{"name": "gpus", "nominalQuota": nominal, **numbers}]
        flavors = [{"name": "any", "resources": resources}]
        spec["resourceGroups"] = [{"coveredResources": ["gpus"], "flavors": flavors}]
    return _object("kueue.x-k8s.io/v1beta2", "Cohort", name, spec)


def kai_queue(
    name: str,
    quota: float | None,
    limit: float | None,
    parent: str | None = None,
    **allocated: Any,
) -> dict[str, Any]:
    gpu = {"quota": quota, "limit": limit, "overQuotaWeight": 1}
    spec: dict[str, Any] = {
        "resources": {"gpu": {key: each for key, each in gpu.items() if each is not None}}
    }
    if parent is not None:
        spec["parentQueue"] = parent
    return _object("scheduling.run.ai/v2", "Queue", name, spec) | {"status": {"allocated": allocated}}


def _object(api_version: str, kind: str, name: str, spec: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name}, "spec": spec}


def snapshot_of(*objects: Object) -> Snapshot:
    return Snapshot(0.0, objects)


def found(name: str, *objects: Object, resource: str = "gpus") -> Capacity:
    capacity = capacity_of(snapshot_of(*objects), name, resource)
    assert capacity is not None
    return capacity


def told(capacity: Capacity, *names: str) -> tuple[Any, ...]:
    return tuple(getattr(capacity, name) for name in names)


ALONE = [cluster_queue("a", 4, cohort=None, used=3)]
PEERS = [cluster_queue("a", 4, used=0), cluster_queue("b", 4, used=6)]
KEPT = [cluster_queue("a", 4, used=0, lend=1), cluster_queue("b", 4, used=0)]
BOUND = [cluster_queue("a", 4, used=3, borrow=2), cluster_queue("b", 10, used=0)]
OF_COHORT = [cohort("all", nominal=3), cluster_queue("a", 1, used=0)]
NESTED = [
    cohort("all", nominal=2),
    cohort("left", "all"),
    cohort("right", "all", nominal=5, lendingLimit=1),
    cluster_queue("a", 4, cohort="left", used=1),
    cluster_queue("b", 4, cohort="right", used=0),
]
PULLED = [cluster_queue("a", 0, used=0), cluster_queue("b", 2, used=5)]


@pytest.mark.parametrize(
    ("objects", "name", "numbers"),  # quota, most, used, free, borrowed, lent
    [
        (ALONE, "a", (4, 4, 3, 1, 0, 0)),
        (PEERS, "a", (4, 8, 0, 2, 0, 2)),
        (PEERS, "b", (4, 8, 6, 2, 2, 0)),
        (KEPT, "a", (4, 8, 0, 8, 0, 0)),
        (KEPT, "b", (4, 5, 0, 5, 0, 0)),
        (BOUND, "a", (4, 6, 3, 3, 0, 0)),
        (OF_COHORT, "a", (1, 4, 0, 4, 0, 0)),
        (NESTED, "a", (4, 7, 1, 6, 0, 0)),
        (NESTED, "b", (4, 15, 0, 14, 0, 0)),
        (PULLED, "a", (0, 2, 0, 0, 0, 0)),
    ],
    ids=[
        "alone",
        "lender",
        "borrower",
        "keeps",
        "of one that keeps",
        "bound",
        "cohort's",
        "left",
        "right",
        "over",
    ],
)
def test_a_queue_may_use_what_its_cohorts_let_it(
    objects: list[Object], name: str, numbers: tuple[int, ...]
) -> None:
    assert told(found(name, *objects), "quota", "most", "used", "free", "borrowed", "lent") == numbers


def two_flavors() -> dict[str, Any]:
    queue = cluster_queue("a", 4, used=1, flavor="h100", cohort=None)
    (group,) = queue["spec"]["resourceGroups"]
    group["flavors"].append({"name": "a100", "resources": [{"name": "gpus", "nominalQuota": 10}]})
    cores = {"name": "cpu", "nominalQuota": "500m"}
    queue["spec"]["resourceGroups"].append(
        {"coveredResources": ["cpu"], "flavors": [{"name": "cores", "resources": [cores]}]}
    )
    return queue


def test_flavors_are_summed_and_one_takes_all_at_once() -> None:
    capacity = found("a", two_flavors())
    assert [part.flavor for part in capacity.parts] == ["h100", "a100"]
    assert told(capacity, "most", "most_at_once", "free") == (14, 10, 13)
    assert capacity.never_fits(11)
    assert not capacity.never_fits(10)
    assert found("a", two_flavors(), resource="cpu").quota == Fraction(1, 2)


def test_a_resource_that_is_not_covered_is_not_given_out() -> None:
    capacity = found("a", *ALONE, resource="nvidia.com/gpu")
    assert not capacity.is_covered
    assert capacity.never_fits(1)
    assert capacity.arithmetic(1) == "ClusterQueue `a` gives out no `nvidia.com/gpu`: it covers `gpus`"


@pytest.mark.parametrize(
    ("objects", "asked", "words"),
    [
        (
            ALONE,
            None,
            ("ClusterQueue `a` may have at most 4 `gpus`: its quota of 4, with no cohort to borrow from; "
            "3 in use; 1 more free now without taking any back"),
        ),
        (
            BOUND,
            7,
            ("ClusterQueue `a` may have at most 6 `gpus`: its quota of 4 and up to 2 borrowed in cohort "
            "`all` (borrowing limit 2; the others could lend 10); 3 in use; 3 more free now without taking "
            "any back; 7 at once are 1 more than it can ever have"),
        ),
        (
            PEERS,
            4,
            ("ClusterQueue `a` may have at most 8 `gpus`: its quota of 4 and up to 4 borrowed in cohort "
            "`all` (no borrowing limit; the others could lend 4); 0 in use; 2 more free now without taking "
            "any back (2 of its quota lent to others); 4 at once are 2 more than are free now"),
        ),
        (
            [two_flavors()],
            9,
            ("ClusterQueue `a` may have in flavor `h100` at most 4 `gpus`: its quota of 4, with no cohort to "
            "borrow from; 1 in use; 3 more free now without taking any back; in flavor `a100` at most 10 "
            "`gpus`: its quota of 10, with no cohort to borrow from; 0 in use; 10 more free now without "
            "taking any back; what a pod set requests of `gpus` comes from one flavor; 9 at once are within "
            "it now"),
        ),
        (
            [kai_queue("a", 4, 6, **{"nvidia.com/gpu": "5"})],
            2,
            ("Queue `a` has a quota of 4 and a limit of 6 of `gpus`; 5 in use, 1 of them above its quota; "
            "1 more within its limit; 2 at once are 1 more than are free now"),
        ),
        ([kai_queue("a", -1, -1)], 99, ("Queue `a` has an unlimited quota and no limit of `gpus`; 0 in use; "
         "99 at once are within it now")),
        ([kai_queue("a", -1, -1)], 1, ("Queue `a` has an unlimited quota and no limit of `gpus`; 0 in use; "
         "1 at once is within it now")),
    ],
    ids=["alone", "bound", "lender", "flavors", "kai", "kai unlimited", "one"],
)  # fmt: skip
def test_the_sum_is_said_in_words(objects: list[Object], asked: int | None, words: str) -> None:
    assert found("a", *objects).arithmetic(asked) == words


ADMITTED = {
    "apiVersion": "kueue.x-k8s.io/v1beta2",
    "kind": "Workload",
    "metadata": {"name": "w", "namespace": "n"},
    "status": {
        "admission": {
            "clusterQueue": "a",
            "podSetAssignments": [
                {"name": "main", "flavors": {"gpus": "any"}, "resourceUsage": {"gpus": "3"}}
            ],
        }
    },
}
FINISHED = {
    **ADMITTED,
    "status": {**ADMITTED["status"], "conditions": [{"type": "Finished", "status": "True"}]},  # type: ignore[dict-item]
}


@pytest.mark.parametrize(("workload", "used"), [(ADMITTED, 3), (FINISHED, 0)])
def test_without_a_status_what_workloads_hold_is_in_use(workload: Object, used: int) -> None:
    assert found("a", cluster_queue("a", 4), workload).used == used
    assert found("a", cluster_queue("a", 4, used=1), workload).used == 1


@pytest.mark.parametrize(
    ("queue", "why"),
    [
        (cluster_queue("a"), ""),
        (
            cluster_queue(
                "a",
                conditions=[
                    {
                        "type": "Active",
                        "status": "False",
                        "reason": "FlavorNotFound",
                        "message": "no flavor any",
                    }
                ],
            ),
            "FlavorNotFound: no flavor any",
        ),
        (cluster_queue("a", conditions=[{"type": "Active", "status": "True"}]), ""),
    ],
)
def test_an_inactive_queue_says_why(queue: Object, why: str) -> None:
    assert found("a", queue).inactive == why


def test_a_stopped_queue_is_inactive_before_its_status_says_so() -> None:
    queue = cluster_queue("a")
    queue["spec"]["stopPolicy"] = "HoldAndDrain"
    assert found("a", queue).inactive == "Stopped: its stopPolicy is HoldAndDrain"


def test_a_queue_that_no_server_would_take_is_inactive_and_no_error() -> None:
    queue = cluster_queue("a", "many")
    capacity = found("a", queue, *PEERS[1:])
    assert capacity.inactive == "its spec cannot be read"
    assert not capacity.is_covered
    assert found("b", queue, *PEERS[1:]).most == 4


def test_cohorts_in_a_circle_lend_nothing() -> None:
    capacity = found("a", cohort("all", "more"), cohort("more", "all"), cluster_queue("a", 4))
    assert told(capacity, "most", "parents") == (4, ("all", "more"))
    assert "circle" in capacity.inactive


@pytest.mark.parametrize(
    ("queues", "numbers"),  # quota, most, used, free, borrowed
    [
        ([kai_queue("a", 4, 8, **{"nvidia.com/gpu": "2"})], (4, 8, 2, 6, 0)),
        ([kai_queue("a", 4, 8, "p"), kai_queue("p", 2, 3, **{"gpu.nvidia.com": "2"})], (2, 3, 0, 1, 0)),
        ([kai_queue("a", -1, -1, "p"), kai_queue("p", -1, 3)], (None, 3, 0, 3, 0)),
        ([kai_queue("a", None, None)], (0, 0, 0, 0, 0)),
        ([kai_queue("a", 0.5, -1, **{"nvidia.com/gpu": "500m", "nvidia.com/mig-3g.20gb": "1", "cpu": "7"})],
         (Fraction(1, 2), None, Fraction(7, 2), None, 3)),
    ],
    ids=["alone", "parent", "unlimited below a limit", "left out", "parts of cards"],
)  # fmt: skip
def test_a_kai_queue_has_what_its_parents_let_it(queues: list[Object], numbers: tuple[Any, ...]) -> None:
    assert told(found("a", *queues), "quota", "most", "used", "free", "borrowed") == numbers


def test_kai_counts_cores_and_memory_in_its_own_units() -> None:
    queue = kai_queue("a", 1, 1, cpu="1500m", memory="2Gi")
    queue["spec"]["resources"] |= {
        "cpu": {"quota": 2000, "limit": -1},
        "memory": {"quota": 4000, "limit": -1},
    }
    cores, memory = (found("a", queue, resource=each) for each in ("cpu", "memory"))
    assert told(cores, "quota", "used") == (2, Fraction(3, 2))
    assert told(memory, "quota", "used") == (4 * 10**9, 2**31)


@pytest.mark.parametrize(
    ("queues", "why"),
    [
        ([kai_queue("a", 1, 1, "b")], "its parent `b` does not exist"),
        ([kai_queue("a", 1, 1, "b"), kai_queue("b", 1, 1, "a")], "circle"),
    ],
)
def test_a_kai_queue_without_its_parents_places_nothing(queues: list[Object], why: str) -> None:
    assert why in found("a", *queues).inactive


def test_the_quota_of_kueue_holds_where_both_are() -> None:
    both = snapshot_of(cluster_queue("a", 4), kai_queue("a", -1, -1))
    assert scheduler_of(both) == KUEUE
    assert capacities_of(both)["a"].quota == 4
    assert capacities_of(both, scheduler=KAI)["a"].quota is None
    assert scheduler_of(snapshot_of()) is None
    assert capacity_of(snapshot_of(), "a") is None


def test_a_namespaces_queue_leads_to_the_clusters() -> None:
    local = _object("kueue.x-k8s.io/v1beta2", "LocalQueue", "mine", {"clusterQueue": "a"})
    local["metadata"]["namespace"] = "team"
    assert cluster_queue_of(snapshot_of(local), "team", "mine") == "a"
    assert cluster_queue_of(snapshot_of(local), "other", "mine") is None


LIMITS = st.none() | st.integers(0, 6)
COHORTS = ("c0", "c1", "c2")


@st.composite
def trees(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Cohorts that hang below each other, and queues in them that use nothing yet."""
    objects: list[dict[str, Any]] = []
    for number, name in enumerate(COHORTS):
        parent = draw(st.sampled_from((None, *COHORTS[:number])))
        numbers = {} if parent is None else _limits(draw)
        objects.append(cohort(name, parent, draw(st.integers(0, 4)), **numbers))
    for number in range(draw(st.integers(1, 5))):
        nominal = draw(st.integers(0, 6))
        where = draw(st.sampled_from((None, *COHORTS)))
        borrow, lend = (draw(LIMITS), draw(LIMITS)) if where else (None, None)
        kept = None if lend is None else min(lend, nominal)
        objects.append(cluster_queue(f"q{number}", nominal, cohort=where, borrow=borrow, lend=kept, used=0))
    return objects


def _limits(draw: st.DrawFn) -> dict[str, int]:
    drawn = {"borrowingLimit": draw(LIMITS), "lendingLimit": draw(LIMITS)}
    return {key: value for key, value in drawn.items() if value is not None}


def _use(queue: dict[str, Any], amount: Any) -> None:
    (flavor,) = queue["status"]["flavorsReservation"]
    (told,) = flavor["resources"]
    told["total"] = str(int(told["total"]) + int(amount))


def _nominal(objects: list[dict[str, Any]]) -> int:
    return sum(
        int(each["spec"]["resourceGroups"][0]["flavors"][0]["resources"][0]["nominalQuota"])
        for each in objects
    )


@given(trees(), st.randoms(use_true_random=False))
def test_queues_that_take_what_is_free_never_have_more_than_there_is(
    objects: list[dict[str, Any]], random: Any
) -> None:
    queues = [each for each in objects if each["kind"] == "ClusterQueue"]
    for _ in range(8):
        capacities = capacities_of(snapshot_of(*objects))
        for capacity in capacities.values():
            assert capacity.free is not None
            assert capacity.most is not None
            assert 0 <= capacity.free <= capacity.most - capacity.used
        queue = random.choice(queues)
        free = capacities[queue["metadata"]["name"]].free
        assert free is not None
        _use(queue, random.randint(0, int(free)))
    capacities = capacities_of(snapshot_of(*objects))
    assert sum(each.used for each in capacities.values()) <= _nominal(objects)


@given(trees())
def test_the_most_of_a_queue_is_what_it_gets_when_nobody_else_uses_anything(
    objects: list[dict[str, Any]],
) -> None:
    for name, capacity in capacities_of(snapshot_of(*objects)).items():
        assert capacity.free == capacity.most == capacity.most_at_once
        assert capacity.most is not None
        assert capacity.quota is not None
        assert capacity.quota <= capacity.most <= _nominal(objects)
        assert capacity.limit is None or capacity.most <= capacity.limit, name
