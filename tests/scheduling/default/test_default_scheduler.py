"""The default scheduler's rules by name: filters, scores, devices, waiting, and the gangs of each version."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from allotment.devices.claims import ClaimSpec, ExactRequest
from allotment.devices.slices import Device, Pool, ResourceSlice
from allotment.devices.world import World
from allotment.scheduling.default import Bound, Gangs, Memory, Settings, Ties, Waits, applied, decide
from allotment.scheduling.default.settings import gangs_of, is_early
from allotment.scheduling.state.nodes import ClusterNode, Taint, Toleration
from allotment.scheduling.state.pods import Gang, Pod, PodClaim
from allotment.scheduling.state.shelf import Shelf
from allotment.scheduling.state.state import State
from tests.devices.worlds import driver_class, first_of, one, world

ROOM = {"cpu": 4000, "memory": 8 * 1024**3, "pods": 10}
BIG, SMALL = ExactRequest("gpu", selectors=("tag:big",)), ExactRequest("gpu", selectors=("tag:small",))


def node(name: str, **more: Any) -> ClusterNode:
    return ClusterNode(name, allocatable={**ROOM, **more.pop("room", {})}, **more)


def pod(name: str, claim: ClaimSpec | None = None, *, cpu: int = 1000, **more: Any) -> Pod:
    claims = () if claim is None else (PodClaim("gpu", claim, more.pop("shared", None)),)
    return Pod("team", name, {"cpu": cpu} if cpu else {}, claims=claims, **more)


def devices(**nodes: int) -> World:
    """Nodes with so many devices of the class ``gpu`` each."""
    slices = [
        ResourceSlice(
            f"s-{name}",
            "gpu",
            Pool(name),
            node_name=name,
            devices=tuple(Device(f"d{n}") for n in range(count)),
        )
        for name, count in nodes.items()
    ]
    return world(*slices, classes=[driver_class("gpu")])


class Cluster:
    def __init__(
        self,
        *parts: ClusterNode | Pod | Gang,
        published: World | None = None,
        ties: Ties = Ties.FIRST,
        **settings: Any,
    ) -> None:
        self.state = State(
            nodes={each.name: each for each in parts if isinstance(each, ClusterNode)},
            pods=Shelf({each.key: each for each in parts if isinstance(each, Pod)}),
            gangs={each.name: each for each in parts if isinstance(each, Gang)},
            published=published,
        )
        self.memory, self.ties, self.now = Memory(Settings(**settings)), ties, 1000.0

    def round(self, after: float = 0.0) -> tuple[dict[str, str], dict[str, str]]:
        """Where pods were bound, and what those are told who wait."""
        self.now += after
        decisions, self.memory = decide(self.state, self.memory, self.now, self.ties)
        self.state = applied(self.state, decisions)
        bound = {each.pod.partition("/")[2]: each.node for each in decisions if isinstance(each, Bound)}
        waits = {each.pod.partition("/")[2]: each.message for each in decisions if isinstance(each, Waits)}
        return bound, waits

    def change(self, *pods: Pod, gone: str | None = None) -> None:
        changes: dict[str, Pod | None] = {each.key: each for each in pods}
        if gone is not None:
            changes[f"team/{gone}"] = None
        self.state = self.state.with_pods(changes)

    def given(self, name: str) -> list[str]:
        allocations = self.state.pods[f"team/{name}"].allocations
        return [each.device for allocation in allocations for each in allocation.ids]


REFUSED = [
    pytest.param(node("n", schedulable=False), pod("p"), "1 node(s) were unschedulable", id="closed"),
    pytest.param(
        node("n", taints=(Taint("gpu", "yes", "NoSchedule"),)),
        pod("p"),
        "1 node(s) had untolerated taint {gpu: yes}",
        id="tainted",
    ),
    pytest.param(
        node("n"),
        pod("p", node_selector={"zone": "a"}),
        "1 node(s) didn't match Pod's node affinity/selector",
        id="another zone",
    ),
    pytest.param(node("n"), pod("p", cpu=5000), "1 Insufficient cpu", id="too few processors"),
    pytest.param(node("n", room={"pods": 0}), pod("p"), "1 Too many pods", id="too many pods"),
    pytest.param(node("n"), pod("p", one("gpu", 3)), "1 cannot allocate all claims", id="too few devices"),
]


@pytest.mark.parametrize(("where", "who", "reason"), REFUSED)
def test_why_a_node_will_not_do(where: ClusterNode, who: Pod, reason: str) -> None:
    cluster = Cluster(where, who, published=devices(n=2))
    assert cluster.round() == ({}, {"p": f"0/1 nodes are available: {reason}."})


def test_a_taint_that_is_tolerated_keeps_nobody_away() -> None:
    tainted = node("n", taints=(Taint("gpu", "yes", "NoSchedule"),))
    assert Cluster(tainted, pod("p", tolerations=(Toleration("gpu", "Exists"),))).round()[0] == {"p": "n"}


def test_a_class_that_is_not_there_is_told_before_any_node() -> None:
    cluster = Cluster(node("n"), pod("p", one("tpu")), published=devices(n=2))
    message = "0/1 nodes are available: request r: device class tpu does not exist."
    assert cluster.round()[1] == {"p": message}


def test_priority_goes_first_and_then_who_has_waited_longest() -> None:
    cluster = Cluster(
        node("n", room={"cpu": 2000}),
        pod("late", created=2),
        pod("early", created=1),
        pod("dear", created=3, priority=1),
    )
    assert set(cluster.round()[0]) == {"dear", "early"}


def test_the_emptiest_node_is_taken() -> None:
    cluster = Cluster(node("a"), node("b"), pod("there", node="a"), pod("p"))
    assert cluster.round()[0] == {"p": "b"}


@pytest.mark.parametrize(("ties", "name"), [(Ties.FIRST, "z"), (Ties.NAME, "a"), (Ties.LAST, "a")])
def test_ties_have_a_rule(ties: Ties, name: str) -> None:
    assert Cluster(node("z"), node("a"), pod("p"), ties=ties).round()[0] == {"p": name}


def test_the_first_devices_by_name_are_given_and_none_twice() -> None:
    cluster = Cluster(node("n"), *(pod(f"p{n}", one("gpu"), cpu=0) for n in range(3)), published=devices(n=2))
    bound, waits = cluster.round()
    assert (set(bound), set(waits)) == ({"p0", "p1"}, {"p2"})
    assert [cluster.given("p0"), cluster.given("p1")] == [["d0"], ["d1"]]


def test_the_node_on_which_the_earlier_alternative_is_to_be_had() -> None:
    nodes = ["a", "b"]
    slices = [
        ResourceSlice(f"s-{name}", name, Pool(name), node_name=name, devices=(Device("d"),)) for name in nodes
    ]
    claim = first_of(ExactRequest("b"), ExactRequest("a"))
    cluster = Cluster(node("a"), node("b", room={"cpu": 2000}), pod("p", claim), published=world(*slices))
    assert cluster.round()[0] == {"p": "b"}


def test_a_claim_with_a_name_binds_its_pods_to_one_node() -> None:
    pods = [pod(f"p{n}", one("gpu"), shared="team/card", created=n) for n in range(3)]
    cluster = Cluster(node("a"), node("b"), *pods, published=devices(a=1, b=1))
    bound, _ = cluster.round()
    assert len(set(bound.values())) == 1
    assert len(bound) == 3
    assert cluster.given("p0") == cluster.given("p2") == ["d0"]


def test_who_failed_waits_until_something_happens_and_the_back_off_is_over() -> None:
    cluster = Cluster(node("n", room={"cpu": 1000}), pod("first"), pod("second", created=1))
    assert set(cluster.round()[1]) == {"second"}
    assert cluster.round(after=30) == ({}, {})
    cluster.change(gone="first")
    assert cluster.round()[0] == {"second": "n"}


def test_room_is_made_by_a_pod_that_began_and_ended_between_two_rounds() -> None:
    cluster = Cluster(node("n", room={"cpu": 1000}), pod("first"), pod("second", created=1))
    cluster.round()
    cluster.change(gone="first")
    assert cluster.round(after=30)[0] == {"second": "n"}


def test_the_back_off_doubles() -> None:
    cluster = Cluster(node("n", room={"cpu": 0}), pod("p"))
    waits = []
    for _ in range(6):
        cluster.round()
        cluster.state = replace(cluster.state, nodes=dict(cluster.state.nodes))  # something happens to nodes
        cluster.round()
        waits.append(cluster.memory.next_time(cluster.now) - cluster.now)  # type: ignore[operator]
        cluster.now += waits[-1]
    assert waits == [1.0, 2.0, 4.0, 8.0, 10.0, 10.0]


def test_from_1_33_on_nobody_backs_off_while_there_is_nothing_else_to_try() -> None:
    assert (is_early((1, 32)), is_early((1, 36))) == (False, True)
    cluster = Cluster(node("n", room={"cpu": 1000}), pod("first"), pod("second", created=1))
    cluster.memory = Memory(Settings(is_early=True))
    assert set(cluster.round()[1]) == {"second"}
    assert cluster.round() == ({}, {})
    cluster.change(gone="first")
    assert cluster.round()[0] == {"second": "n"}


def test_after_five_minutes_it_is_tried_in_any_case() -> None:
    cluster = Cluster(node("n", room={"cpu": 0}), pod("p"))
    cluster.round()
    assert cluster.memory.next_time(cluster.now) == cluster.now + 300
    assert set(cluster.round(after=300)[1]) == {"p"}


def test_only_a_part_of_many_nodes_is_looked_at_and_the_next_pod_goes_on_there() -> None:
    cluster = Cluster(*(node(f"n{n:03}") for n in range(300)), pod("p0"), pod("p1"))
    bound, _ = cluster.round()
    assert bound == {"p0": "n000", "p1": "n144"}  # 50 - 300/125 % of 300
    assert cluster.memory.start == 288


def gang(size: int, **more: Any) -> list[Pod]:
    return [pod(f"g{n}", one("gpu"), cpu=0, gang="team/g", created=n, **more) for n in range(size)]


GANGS = [
    pytest.param(Gangs.UNKNOWN, {"g0", "g1"}, id="each for itself"),
    pytest.param(Gangs.HELD, set(), id="places are kept, and nobody starts"),
    pytest.param(Gangs.TOGETHER, set(), id="nobody starts"),
]


@pytest.mark.parametrize(("gangs", "started"), GANGS)
def test_a_gang_that_does_not_fit(gangs: Gangs, started: set[str]) -> None:
    cluster = Cluster(node("n"), *gang(3), Gang("team/g", 3), published=devices(n=2), gangs=gangs)
    assert set(cluster.round()[0]) == started


@pytest.mark.parametrize("gangs", list(Gangs))
def test_a_gang_that_fits(gangs: Gangs) -> None:
    cluster = Cluster(node("n"), *gang(3), Gang("team/g", 2), published=devices(n=3), gangs=gangs)
    assert set(cluster.round()[0]) == {"g0", "g1", "g2"}


def test_places_that_are_kept_are_lost_to_others_until_they_are_given_up() -> None:
    other = pod("other", one("gpu"), cpu=0, created=9)
    cluster = Cluster(node("n"), *gang(3), other, Gang("team/g", 3), published=devices(n=2), gangs=Gangs.HELD)
    assert cluster.round()[0] == {}
    assert cluster.round(after=299)[0] == {}
    assert cluster.round(after=1)[0] == {"other": "n"}


def test_a_gang_tried_together_leaves_nothing_taken_when_it_fails() -> None:
    other = pod("other", one("gpu", 2), cpu=0, created=9)
    cluster = Cluster(
        node("n"), *gang(3), other, Gang("team/g", 3), published=devices(n=2), gangs=Gangs.TOGETHER
    )
    assert cluster.round()[0] == {"other": "n"}


@pytest.mark.parametrize("gangs", [Gangs.HELD, Gangs.TOGETHER])
def test_a_gang_waits_for_its_pods_to_appear(gangs: Gangs) -> None:
    cluster = Cluster(node("n"), *gang(1), Gang("team/g", 2), published=devices(n=2), gangs=gangs)
    assert cluster.round()[1] == {"g0": "waiting for minCount pods from a gang to appear in scheduling queue"}
    cluster.change(gang(2)[1])
    assert set(cluster.round(after=2)[0]) == {"g0", "g1"}


@pytest.mark.parametrize(
    ("version", "gangs"),
    [((1, 34), Gangs.UNKNOWN), ((1, 35), Gangs.HELD), ((1, 36), Gangs.TOGETHER), ((1, 37), Gangs.TOGETHER)],
)
def test_versions(version: tuple[int, int], gangs: Gangs) -> None:
    assert gangs_of(version, enabled=True) is gangs
    assert gangs_of(version) is Gangs.UNKNOWN
