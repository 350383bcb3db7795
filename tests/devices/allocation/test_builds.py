"""Where builds of upstream differ: each switch on a case that tells it, and what each version turns on."""

from __future__ import annotations

from dataclasses import replace

import pytest

from allotment.devices.allocation import BEHAVIOURS, FIXED, Behaviour, Variant, features_of, variant_for
from allotment.devices.allocation.features import NEWEST
from allotment.devices.claims import AllocationMode, ClaimSpec, Constraint, ExactRequest, Request, SubRequest
from allotment.devices.classes import OpaqueConfig
from allotment.devices.server import Server
from allotment.devices.slices import Device, DeviceId, Taint
from tests.devices.allocation.scenes import Scene, card, claim, exact, one, part, pool, shared, shared_part

LISTS = replace(NEWEST, list_type_attributes=True)


def with_rule(spec: ClaimSpec, **rule: str) -> ClaimSpec:
    return replace(spec, constraints=(Constraint(**rule),))  # type: ignore[arg-type]


def numbers(*each: int | tuple[int, ...]) -> Scene:
    devices = (Device(f"x{at}", {"n": value}) for at, value in enumerate(each))
    return Scene(pool(*devices), features=LISTS)


def leaking() -> Scene:
    tainted = part("tainted", 3, taints=(Taint("k", "NoSchedule"),))
    return Scene(pool(tainted, part("clean", 3), counters=[card(4)]))


def colliding() -> Scene:
    other = pool(part("x", 1), counters=[card(8)], driver="other")
    return Scene((*other, *pool(part("y", 6), counters=[card(4)])))


def held_by_share() -> Scene:
    device = replace(part("x", 3), allow_multiple_allocations=True)
    scene = Scene(pool(device, counters=[card(4)]))
    scene.taken.add_share(DeviceId("d", "p", "x"))
    return scene


OF_BOTH_DRIVERS = claim(Request("a", ExactRequest("other")), Request("b", exact()))
BOTH_OR_THE_LAST = claim(
    Request(
        "r",
        first_available=(
            SubRequest("both", exact(2)),
            SubRequest("last", exact(selectors=("!device.allowMultipleAllocations",))),
        ),
    )
)
TOO_MUCH_OR_LESS = claim(
    Request("a", exact(capacity={"memory": "5"})),
    Request(
        "b",
        first_available=(
            SubRequest("all", exact(mode=AllocationMode.ALL, capacity={"memory": "5"})),
            SubRequest("one", exact(capacity={"memory": "3"})),
        ),
    ),
    constraints=(Constraint(("b",), distinct_attribute="d/n"),),
)


@pytest.mark.parametrize(
    ("switch", "scene", "spec", "right", "wrong"),
    [
        (
            "distinct_by_request",
            numbers(1, 2, 1),
            with_rule(one(3), distinct_attribute="d/n"),
            None,
            ["x0", "x1", "x2"],
        ),
        (
            "intersection_kept",
            numbers((1, 2), (1,), (2,), (2,)),
            with_rule(one(3), match_attribute="d/n"),
            ["x0", "x2", "x3"],
            None,
        ),
        ("refusals_keep_counters", leaking(), one(), ["clean"], None),
        (
            "refusals_keep_devices",
            Scene(pool(replace(shared("x"), attributes={"n": 1}))),
            TOO_MUCH_OR_LESS,
            ["x", "x"],
            None,
        ),
        (
            "shares_keep_counters",
            Scene(pool(shared_part("shared", 3), part("alone", 3), counters=[card(4)])),
            BOTH_OR_THE_LAST,
            ["alone"],
            None,
        ),
        ("counters_by_pool_name", colliding(), OF_BOTH_DRIVERS, None, ["x", "y"]),
        ("shares_charged_again", held_by_share(), one(), ["x"], None),
    ],
)
def test_each_defect_by_its_switch(
    switch: str, scene: Scene, spec: ClaimSpec, right: list[str] | None, wrong: list[str] | None
) -> None:
    for is_set, expected in ((False, right), (True, wrong)):
        behaviour = replace(FIXED, **{switch: is_set})  # type: ignore[arg-type]
        assert replace(scene, behaviour=behaviour).devices(spec) == expected


@pytest.mark.parametrize("build", sorted(BEHAVIOURS))
def test_the_builds_have_the_names_they_are_asked_for_by(build: str) -> None:
    assert BEHAVIOURS[build].name == build


CONFIGURED = replace(
    claim(Request("a", exact()), Request("b", exact())),
    config=(
        OpaqueConfig("d", {"for": "both"}, ("a", "b")),
        OpaqueConfig("d", {"for": "one"}, ("b",)),
        OpaqueConfig("d", {"for": "all"}),
        OpaqueConfig("d", {"for": "none"}, ("c",)),
    ),
)


@pytest.mark.parametrize(
    ("behaviour", "expected"),
    [
        (FIXED, [("both", ()), ("one", ("b",)), ("all", ())]),
        (
            BEHAVIOURS["1.36.3"],
            [("both", ("a", "b")), ("both", ("a", "b")), ("one", ("b",)), ("all", ())],
        ),
    ],
)
def test_configuration_for_every_request_names_none(behaviour: Behaviour, expected: object) -> None:
    scene = Scene(pool(Device("x"), Device("y")), behaviour=behaviour)
    (allocation,) = scene.attempt(CONFIGURED).allocations or ()
    assert [(each.config.parameters["for"], each.config.requests) for each in allocation.config] == expected


def test_kubernetes_1_36_does_not_say_on_which_device_a_selector_failed() -> None:
    scene = Scene(pool(Device("x")), behaviour=BEHAVIOURS["1.36.3"])
    words = "claim c0: selector #0: CEL runtime error: no such key: n"
    assert scene.error(one(selectors=("device.attributes['d'].n > 1",))) == words


def test_selectors_of_kubernetes_1_36_meet_no_lists() -> None:
    scene = Scene(pool(Device("x", {"n": (1, 2)})), behaviour=BEHAVIOURS["1.36.3"])
    words = "class d: selector #0: CEL runtime error: attribute n: unsupported attribute value"
    assert scene.error(one()) == words
    assert replace(scene, features=LISTS).devices(one()) == ["x"]
    assert replace(scene, behaviour=FIXED).devices(one()) == ["x"]


def test_the_stable_variant_searches_permutations_in_the_order_of_the_slices() -> None:
    a, b = pool(Device("x"), name="p")[0], pool(Device("y"), name="p")[0]
    slices = [replace(each, name=name, pool=replace(each.pool, resource_slice_count=2))
              for each, name in ((a, "s-2"), (b, "s-1"))]  # fmt: skip
    none = replace(NEWEST, consumable_capacity=False)
    assert Scene(slices, none, variant=Variant.STABLE).devices(one()) == ["x"]
    assert Scene(slices, none, variant=Variant.INCUBATING).devices(one()) == ["y"]
    three = pool(*(Device(name) for name in "xyz"))
    steps = [Scene(three, none, variant=variant).attempt(one(4)).steps for variant in Variant]
    assert steps == [16, 8, 8]


@pytest.mark.parametrize(
    ("minor", "gates", "on", "off", "variant"),
    [
        (34, {}, "admin_access prioritized_list", "device_taints consumable_capacity", "stable"),
        (35, {"DRADeviceTaints": True}, "device_taints", "partitionable_devices", "stable"),
        (36, {}, "consumable_capacity device_binding_and_status", "list_type_attributes", "incubating"),
        (36, {"DRAListTypeAttributes": True}, "device_taints", "list_type_attributes", "incubating"),
        (36, {"DRAResourceClaimDeviceStatus": False}, "", "device_binding_and_status", "incubating"),
        (37, {}, "device_binding_and_status", "compatibility_groups fractional_capacity_range", "incubating"),
        (37, {"DRAListTypeAttributes": True}, "list_type_attributes", "", "experimental"),
    ],
)
def test_what_a_version_turns_on_and_which_variant_runs(
    minor: int, gates: dict[str, bool], on: str, off: str, variant: str
) -> None:
    features = features_of(Server((1, minor), gates))
    assert all(getattr(features, name) for name in on.split())
    assert not any(getattr(features, name) for name in off.split())
    assert variant_for(features) == variant
