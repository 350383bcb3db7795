"""Which devices are taken first, and what a claim may not do."""

from __future__ import annotations

from dataclasses import replace

import pytest

from allotment.devices.allocator import allocate
from allotment.devices.claims import (
    Allocation,
    ClaimSpec,
    Constraint,
    ExactRequest,
    Request,
    Toleration,
)
from allotment.devices.funnel import NoFit
from allotment.devices.nodes import NodeSelector, NodeSelectorTerm, Requirement
from allotment.devices.slices import Device, DeviceId, Pool, ResourceSlice, Taint
from allotment.devices.world import World
from tests.devices.worlds import NODE, by_tag, first_of, one, pool, world


def given_to(claim: ClaimSpec, here: World, taken: frozenset[DeviceId] = frozenset()) -> list[str]:
    answer = allocate(claim, here, NODE, taken, by_tag)
    assert isinstance(answer, Allocation), str(answer)
    return [f"{each.request} {each.id}" for each in answer.results]


def refused(claim: ClaimSpec, here: World, taken: frozenset[DeviceId] = frozenset()) -> NoFit:
    answer = allocate(claim, here, NODE, taken, by_tag)
    assert isinstance(answer, NoFit)
    return answer


def split(pool_of: Pool, *slices: tuple[str, str]) -> list[ResourceSlice]:
    return [ResourceSlice(name, "d", pool_of, NODE, devices=(Device(device),)) for name, device in slices]


def test_pools_by_driver_and_name_slices_by_name_devices_as_listed() -> None:
    two = Pool("p", resource_slice_count=2)
    here = world(
        pool("d", ["z", "a"], name="q", slice_name="q"),
        *split(two, ("slice-2", "x"), ("slice-10", "y")),
        pool("c", ["m"], name="zz"),
    )
    assert given_to(one("d", 4), here) == ["r d/p/y", "r d/p/x", "r d/q/z", "r d/q/a"]


def test_pools_with_binding_conditions_come_last() -> None:
    bound = pool("d", ["early"], name="a")
    bound = replace(bound, devices=(Device("early", binding_conditions=("ready",)), Device("plain")))
    here = world(bound, pool("d", ["late"], name="b"))
    assert given_to(one("d", 2), here) == ["r d/b/late", "r d/a/early"]


def test_the_first_alternative_that_fits_is_taken() -> None:
    here = world(pool("gpu", {"g0": []}), pool("cpu", ["c0", "c1"]))
    claim = first_of(ExactRequest("gpu", ("tag:big",)), ExactRequest("gpu", count=2), ExactRequest("cpu"))
    assert given_to(claim, here) == ["r/c cpu/p/c0"]


def test_an_alternative_gives_way_when_the_rest_would_not_fit() -> None:
    here = world(pool("gpu", ["g0"]), pool("cpu", ["c0"]))
    either = first_of(ExactRequest("gpu"), ExactRequest("cpu")).requests[0]
    claim = ClaimSpec((either, Request("card", ExactRequest("gpu"))))
    assert given_to(claim, here) == ["r/b cpu/p/c0", "card gpu/p/g0"]


def test_thirty_two_devices_and_no_more() -> None:
    here = world(pool("d", [f"x{place}" for place in range(40)]))
    assert len(given_to(one("d", 32), here)) == 32
    assert "33 exceeds the claim limit of 32" in str(refused(one("d", 33), here))
    fits_second = first_of(ExactRequest("d", count=33), ExactRequest("d", count=2))
    assert given_to(fits_second, here) == ["r/b d/p/x0", "r/b d/p/x1"]


def test_an_alternative_that_passes_the_limit_together_with_others_is_passed_over() -> None:
    here = world(pool("d", [f"x{place}" for place in range(60)]))
    first = Request("first", ExactRequest("d", count=30))
    claim = ClaimSpec((first, *first_of(ExactRequest("d", count=3), ExactRequest("d", count=2)).requests))
    assert given_to(claim, here)[-1] == "r/b d/p/x31"


def test_hopeless_searches_end_at_once() -> None:
    names = [f"x{place}" for place in range(30)]
    here = world(pool("d", names))
    singles = ClaimSpec(tuple(Request(f"r{place}", ExactRequest("d")) for place in range(31)))
    assert not refused(singles, here).waiting
    taken = frozenset(DeviceId("d", "p", name) for name in names[:10])
    assert refused(one("d", 21), here, taken).waiting
    halves = ClaimSpec((Request("a", ExactRequest("d", count=16)), Request("b", ExactRequest("d", count=15))))
    assert not refused(halves, here).waiting
    together = "each request would fit alone, but not all together: 16 of class d, 15 of class d"
    too_long = "the Kubernetes scheduler would search until its limit of 10 s on a node"
    assert str(refused(halves, here)) == f"{together}; {too_long}"


def test_an_unfinished_pool_is_not_used_and_said() -> None:
    here = world(*split(Pool("p", resource_slice_count=2), ("only", "x")))
    answer = refused(one("d"), here)
    assert str(answer) == "no device of class d among 0; pool d/p is being updated"
    assert answer.waiting


def test_a_pool_with_a_doubled_name_is_not_used_and_said() -> None:
    here = world(*split(Pool("p", resource_slice_count=2), ("a", "x"), ("b", "x")))
    assert "pool d/p is invalid" in str(refused(one("d"), here))


def test_only_the_newest_generation_counts() -> None:
    old, new = Pool("p", generation=1), Pool("p", generation=2)
    here = world(*split(new, ("new", "x")), *split(old, ("old", "y")))
    assert given_to(one("d"), here) == ["r d/p/x"]


def test_a_pool_that_was_renewed_for_other_nodes_is_obsolete_here() -> None:
    here_before = ResourceSlice("old", "d", Pool("p", 1, 2), NODE, devices=(Device("x"),))
    elsewhere = ResourceSlice("new", "d", Pool("p", 2, 1), "elsewhere", devices=(Device("x"),))
    assert "among 0" in str(refused(one("d"), world(here_before, elsewhere)))


@pytest.mark.parametrize(
    ("reaches", "there"),
    [
        (ResourceSlice("s", "d", Pool("p"), all_nodes=True, devices=(Device("x"),)), True),
        (ResourceSlice("s", "d", Pool("p"), "elsewhere", devices=(Device("x"),)), False),
        (ResourceSlice("s", "d", Pool("p"), devices=(Device("x"),)), False),
        (
            ResourceSlice(
                "s",
                "d",
                Pool("p"),
                node_selector=NodeSelector(
                    (NodeSelectorTerm(match_fields=(Requirement("metadata.name", "In", (NODE,)),)),)
                ),
                devices=(Device("x"),),
            ),
            True,
        ),
    ],
)
def test_only_slices_that_serve_the_node_are_looked_at(reaches: ResourceSlice, *, there: bool) -> None:
    assert isinstance(allocate(one("d"), world(reaches), NODE), Allocation) is there


def test_a_selector_that_fails_is_fatal_only_on_a_device_that_is_met() -> None:
    here = world(pool("d", {"x": ["big"], "y": ["big", "odd"]}))
    assert "selector #1 on device d/p/y: no such key: memory" in str(
        refused(one("d", 2, "tag:big", "fault:odd"), here)
    )
    assert "no such key" not in str(refused(one("d", 1, "tag:none", "fault:odd"), here))
    odd_last = world(pool("d", {"x": ["fine"], "y": ["odd"]}))
    either = first_of(ExactRequest("d", ("tag:fine",)), ExactRequest("d", ("fault:odd",)))
    assert given_to(either, odd_last) == ["r/a d/p/x"]


def test_a_selector_that_fails_on_a_taken_device_is_said_before_it_is_free() -> None:
    here = world(pool("d", {"y": ["odd"]}))
    answer = refused(one("d", 1, "fault:odd"), here, frozenset({DeviceId("d", "p", "y")}))
    assert "no such key" in str(answer)
    assert not answer.waiting


def test_class_selectors_come_first_so_foreign_devices_never_meet_a_request() -> None:
    here = world(pool("a-cards", {"x": ["odd"]}), pool("b-cards", {"y": []}))
    assert str(refused(one("b-cards", 1, "fault:odd"), here)).startswith("1 of class b-cards needed")


def test_a_taint_keeps_claims_off_unless_tolerated() -> None:
    sick = Device("x", taints=(Taint("gpu.example.org/xid", "NoSchedule", "48"), Taint("seen", "None")))
    here = world(ResourceSlice("s", "d", Pool("p"), NODE, devices=(sick,)))
    assert str(refused(one("d"), here)) == "1 of class d needed, none would do, 1 tainted"
    tolerant = ExactRequest("d", tolerations=(Toleration("gpu.example.org/xid", "Exists"),))
    assert given_to(ClaimSpec((Request("r", tolerant),)), here) == ["r d/p/x"]


@pytest.mark.parametrize(
    ("exact", "words"),
    [
        (ExactRequest("unknown"), "request r: device class unknown does not exist"),
        (ExactRequest("d", count=0), "count must be greater than zero"),
        (ExactRequest("d", mode="Some"), "request r: unsupported count mode Some"),
        (
            ExactRequest("d", capacity={"memory": "1Gi"}),
            "1 of class d needed, none would do, 1 without the capacity asked for",
        ),
    ],
)
def test_what_cannot_be_placed_is_refused_aloud(exact: ExactRequest, words: str) -> None:
    answer = refused(ClaimSpec((Request("r", exact),)), world(pool("d", ["x"])))
    assert words in str(answer)
    assert not answer.waiting


def test_a_constraint_on_nothing_is_refused_aloud() -> None:
    claim = replace(one("d"), constraints=(Constraint(("r",)),))
    assert "constraint #0: empty constraint" in str(refused(claim, world(pool("d", ["x"]))))


def test_the_funnel_counts_each_device_once() -> None:
    here = world(pool("cpu", ["c0"]), pool("gpu", {"g0": ["big"], "g1": ["big"], "g2": []}))
    answer = refused(one("gpu", 2, "tag:big"), here, frozenset({DeviceId("gpu", "p", "g1")}))
    funnel = answer.funnels[0]
    assert (funnel.seen, funnel.other_class, funnel.refused, funnel.taken, funnel.free) == (4, 1, 1, 1, 1)
    assert str(answer) == "2 of class gpu needed, 1 free, 1 taken, 1 refused by the selector"
    assert answer.waiting
