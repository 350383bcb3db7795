"""Placing over many nodes: the same answers as asking every node anew, whatever is given back between."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from allotment.devices.allocator import Allocator
from allotment.devices.claims import Allocation, ClaimSpec, ExactRequest, Request
from allotment.devices.fleet import Fleet, Placed
from allotment.devices.funnel import NoFit
from allotment.devices.selectors import SelectorError
from allotment.devices.slices import Device, DeviceId, Pool, ResourceSlice
from allotment.devices.world import World
from tests.devices.worlds import by_tag, driver_class, first_of, one

CLAIMS = (
    one("d"),
    one("d", 2),
    one("d", 1, "tag:big"),
    one("d", 3),
    first_of(ExactRequest("d", ("tag:big",), 2), ExactRequest("d")),
    ClaimSpec((Request("a", ExactRequest("d", ("tag:big",))), Request("b", ExactRequest("d")))),
)


def node_slice(node: str, tags: list[bool]) -> ResourceSlice:
    devices = tuple(Device(f"x{place}", {"big": True} if big else {}) for place, big in enumerate(tags))
    return ResourceSlice(f"s-{node}", "d", Pool(node), node, devices=devices)


def fleet_world(nodes: list[list[bool]], shared: list[bool]) -> World:
    slices = [node_slice(f"n{place}", tags) for place, tags in enumerate(nodes)]
    if shared:
        devices = tuple(Device(f"x{place}") for place in range(len(shared)))
        slices.append(ResourceSlice("everywhere", "d", Pool("zz"), all_nodes=True, devices=devices))
    return World(tuple(slices), {"d": driver_class("d")}, "n0")


def naive(world: World, names: list[str], claim: ClaimSpec, taken: set[DeviceId]) -> Placed | None:
    for name in names:
        answer = Allocator(world, name, by_tag).allocate(claim, taken)
        if isinstance(answer, Allocation):
            return Placed(name, answer)
    return None


@settings(max_examples=60, deadline=None)
@given(
    nodes=st.lists(st.lists(st.booleans(), max_size=3), min_size=1, max_size=4),
    shared=st.lists(st.booleans(), max_size=2),
    steps=st.lists(st.integers(0, 99), max_size=25),
)
def test_answers_are_those_of_asking_every_node(
    nodes: list[list[bool]], shared: list[bool], steps: list[int]
) -> None:
    world = fleet_world(nodes, shared)
    names = [f"n{place}" for place in range(len(nodes))]
    fleet = Fleet(world, names, matches=by_tag)
    taken: set[DeviceId] = set()
    for step in steps:
        if step % 4 == 3 and taken:
            freed = sorted(taken)[step % len(taken)]
            fleet.give_back([freed])
            taken.remove(freed)
            continue
        claim = CLAIMS[step % len(CLAIMS)]
        expected, answer = naive(world, names, claim, taken), fleet.place(claim)
        assert (answer if isinstance(answer, Placed) else None) == expected
        if isinstance(answer, Placed):
            taken.update(answer.allocation.ids)
        assert set(fleet.taken) == taken


def test_devices_that_others_hold_can_be_given_back_too() -> None:
    world = fleet_world([[False]], [])
    held = DeviceId("d", "n0", "x0")
    fleet = Fleet(world, taken=[held])
    assert isinstance(fleet.place(one("d")), NoFit)
    fleet.give_back([held])
    placed = fleet.place(one("d"))
    assert isinstance(placed, Placed)
    assert (placed.node, placed.allocation.ids) == ("n0", (held,))


def test_what_stands_in_the_way_is_said_by_the_node_that_comes_closest() -> None:
    world = fleet_world([[], [False, False], [False]], [])
    refusal = Fleet(world).place(one("d", 3))
    assert str(refusal) == "3 of class d needed, only 2 would do"
    assert "device class gone does not exist" in str(Fleet(world).place(one("gone")))
    assert str(Fleet(World((), {}, "")).place(one("d"))) == "the world has no node that pods start on"


def test_a_selector_that_fails_ends_it_on_whichever_node() -> None:
    world = fleet_world([[], [True]], [])

    def matches(expression: str, driver: str, device: Device) -> bool:
        if expression == "broken":
            raise SelectorError("no such key: memory")
        return by_tag(expression, driver, device)

    refusal = Fleet(world, matches=matches).place(one("d", 1, "broken"))
    assert "no such key: memory" in str(refusal)


def test_only_nodes_that_can_still_take_it_are_asked() -> None:
    asked: list[str] = []

    def matches(expression: str, driver: str, device: Device) -> bool:
        asked.append(device.name)
        return by_tag(expression, driver, device)

    fleet = Fleet(fleet_world([[False] * 2] * 50, []), matches=matches)
    placed = [fleet.place(one("d")) for _ in range(100)]
    assert [answer.node for answer in placed if isinstance(answer, Placed)] == [
        f"n{place // 2}" for place in range(100)
    ]
    assert len(asked) == 1, "devices that look alike are decided once"
