"""Topology-aware placement: the domains that pods are put into."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from allotment.scheduling.kueue import Settings
from allotment.scheduling.kueue.gates import Gate, gates_of
from tests.scheduling.kueue.scenes import Cluster, Raw, flavor, group, job, node, queue

LEVELS = ("block", "rack", "kubernetes.io/hostname")
#        block   rack  hosts: processors
ROOMS: dict[str, dict[str, tuple[int, ...]]] = {
    "b1": {"r1": (4, 4), "r2": (2, 2)},
    "b2": {"r3": (4, 4), "r4": (4,)},
}
HOSTS = tuple(
    node(f"{rack}n{n}", cpu=cpu, block=block, rack=rack)
    for block, racks in ROOMS.items()
    for rack, hosts in racks.items()
    for n, cpu in enumerate(hosts)
)


def cluster(*nodes: Raw, **more: Any) -> Cluster:
    return Cluster(
        queue("a", group(x=99)),
        flavors=(flavor("x", topologyName="rooms"),),
        nodes=nodes or HOSTS,
        levels=LEVELS,
        **more,
    )


def places(found: Any, name: str = "one") -> dict[str, int]:
    placement = found.admitted[name].pod_sets[0].placement
    return {"/".join(each.values): each.count for each in placement.domains}


PLACES = [
    pytest.param(8, {"required": "rack"}, {"r1n0": 4, "r1n1": 4}, id="a rack that is required"),
    pytest.param(3, {"required": "rack"}, {"r2n0": 2, "r2n1": 1}, id="the rack that is left the fullest"),
    pytest.param(4, {"required": "kubernetes.io/hostname"}, {"r1n0": 4}, id="one host"),
    pytest.param(12, {"required": "block"}, {"r1n0": 4, "r1n1": 4, "r2n0": 2, "r2n1": 2}, id="a block"),
    pytest.param(
        10, {"preferred": "rack"}, {"r1n0": 4, "r1n1": 4, "r2n0": 2}, id="more racks where one is small"
    ),
    pytest.param(2, {"unconstrained": True}, {"r2n0": 2}, id="anywhere: what is left the fullest"),
    pytest.param(
        6,
        {"required": "block", "podSetSliceRequiredTopology": "rack", "podSetSliceSize": 3},
        {"r1n0": 4, "r1n1": 2},
        id="slices that stay in a rack",
    ),
]


@pytest.mark.parametrize(("pods", "topology", "expected"), PLACES)
def test_where_pods_are_put(pods: int, topology: dict[str, Any], expected: dict[str, int]) -> None:
    world = cluster()
    world.add(job("one", pods=pods, cpu=1, topology=topology))
    assert places(world.cycle()) == expected


REFUSED = [
    pytest.param(9, {"required": "rack"}, "allows to fit only 8 out of 9 pod(s)", id="no rack is so large"),
    pytest.param(99, {"preferred": "rack"}, "allows to fit only 24 out of 99 pod(s)", id="nor the whole"),
    pytest.param(
        1,
        {"required": "room"},
        'Flavor "x" does not contain the requested level',
        id="a level that is not there",
    ),
]


@pytest.mark.parametrize(("pods", "topology", "message"), REFUSED)
def test_where_pods_do_not_fit(pods: int, topology: dict[str, Any], message: str) -> None:
    world = cluster()
    world.add(job("one", pods=pods, cpu=1, topology=topology))
    told = world.cycle()
    assert not told.admitted
    assert message in told.waits["one"]


def test_places_that_are_taken_are_not_given_twice() -> None:
    world = cluster()
    world.add(*(job(f"j{n}", pods=4, cpu=1, at=n, topology={"required": "rack"}) for n in range(9)))
    used: dict[str, int] = {}
    for _ in range(9):
        told = world.cycle()
        for name in told.admitted:
            for host, count in places(told, name).items():
                used[host] = used.get(host, 0) + count
    assert sum(used.values()) == 24
    assert all(count <= (2 if host.startswith("r2") else 4) for host, count in used.items())


def test_pods_of_others_on_a_node_leave_less_room() -> None:
    busy = [replace_usage(each) for each in HOSTS[:1]]
    world = cluster(*busy, *HOSTS[1:])
    world.add(job("one", pods=8, cpu=1, topology={"required": "rack"}))
    assert places(world.cycle()) == {"r3n0": 4, "r3n1": 4}


def replace_usage(raw: Raw) -> Raw:
    status = {**raw["status"], "allocatable": {"cpu": "3", "pods": "110"}}
    return {**raw, "status": status}


def test_nodes_that_are_closed_or_tainted_are_left_out() -> None:
    closed = [
        {**each, "spec": {"unschedulable": True}} for each in HOSTS if each["metadata"]["name"][:2] == "r1"
    ]
    rest = [each for each in HOSTS if each["metadata"]["name"][:2] != "r1"]
    world = cluster(*closed, *rest)
    world.add(job("one", pods=8, cpu=1, topology={"required": "rack"}))
    assert places(world.cycle()) == {"r3n0": 4, "r3n1": 4}


@pytest.mark.parametrize(
    ("wish", "expected"),
    [
        pytest.param("block", {"r1n0": 4, "r2n0": 2}, id="another node of the block"),
        pytest.param("rack", None, id="none where the rack has no other room"),
    ],
)
def test_a_failed_node_is_replaced_within_what_is_required(
    wish: str, expected: dict[str, int] | None
) -> None:
    world = cluster()
    world.add(job("one", pods=6, cpu=1, topology={"required": wish}))
    assert places(world.cycle()) == {"r1n0": 4, "r1n1": 2}
    world.add(replace(world.state.workloads["team/one"], unhealthy=("r1n1",)))
    left = {name: each for name, each in world.state.nodes.items() if name != "r1n1"}
    world.state = replace(world.state, nodes=left)
    told = [each for each in (world.cycle() for _ in range(2)) if each.admitted]
    assert [places(each) for each in told] == ([expected] if expected else [])


def with_gates(*gates: Gate) -> Settings:
    return Settings(gates=gates_of() | {*gates})


def test_a_placed_elastic_workload_keeps_its_places_when_it_grows() -> None:
    world = cluster(settings=with_gates(Gate.ELASTIC, Gate.ELASTIC_PLACED))
    anywhere = {"unconstrained": True}
    world.add(replace(job("small", pods=3, cpu=1, topology=anywhere), elastic=True))
    before = places(world.cycle(), "small")
    grown = replace(job("grown", pods=6, cpu=1, topology=anywhere, at=1), elastic=True, replaces="team/small")
    world.add(grown)
    after = places(world.cycle(), "grown")
    assert sum(after.values()) == 6
    assert all(after[host] >= count for host, count in before.items())
    assert world.holders == {"grown"}


@pytest.mark.parametrize("way", ["required", "preferred"])
def test_an_elastic_workload_that_is_placed_has_to_be_free_to_stand_anywhere(way: str) -> None:
    world = cluster(settings=with_gates(Gate.ELASTIC, Gate.ELASTIC_PLACED))
    world.add(replace(job("one", pods=2, cpu=1, topology={way: "rack"}), elastic=True))
    message = f"{way} topology is not supported with ElasticJobsViaWorkloadSlices"
    assert message in world.cycle().waits["one"]


def test_balanced_placement_gives_each_host_alike() -> None:
    asked = job("one", pods=6, cpu=1, topology={"preferred": "rack"})
    plain, balanced = cluster(), cluster(settings=with_gates(Gate.BALANCED))
    plain.add(asked)
    balanced.add(asked)
    assert places(plain.cycle()) == {"r1n0": 4, "r1n1": 2}
    assert places(balanced.cycle()) == {"r1n0": 3, "r1n1": 3}


def test_nodes_that_pods_prefer_go_first_where_the_gate_is_on() -> None:
    wants = {"key": "rack", "operator": "In", "values": ["r3"]}
    terms = [{"weight": 5, "preference": {"matchExpressions": [wants]}}]
    affinity = {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": terms}}
    asked = job("one", pods=2, cpu=1, topology={"preferred": "rack"}, spec={"affinity": affinity})
    plain, preferring = cluster(), cluster(settings=with_gates(Gate.PREFERRED_NODES))
    plain.add(asked)
    preferring.add(asked)
    assert places(plain.cycle()) == {"r2n0": 2}
    assert places(preferring.cycle()) == {"r3n0": 2}
