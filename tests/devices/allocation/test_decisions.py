"""What is given for each kind of request, and in which words it is refused."""

from __future__ import annotations

from dataclasses import replace

import pytest

from allotment.devices.allocation import Features, Taken
from allotment.devices.allocation.features import NEWEST
from allotment.devices.claims import AllocationMode, ClaimSpec, Constraint, Request, SubRequest, Toleration
from allotment.devices.nodes import NodeSelector, NodeSelectorTerm, Requirement
from allotment.devices.slices import Device, DeviceId, Pool, ResourceSlice, Taint
from tests.devices.allocation.scenes import NODE, Scene, card, claim, exact, one, part, pool, shared_part

ALL = AllocationMode.ALL
OFF = Features()
NO_SHARES = "has capacity requests, but the DRAConsumableCapacity feature is disabled"
NO_CLASS = 'could not retrieve device class gone: deviceclass.resource.k8s.io "gone" not found'
SAME = Constraint(match_attribute="d/model")


def plain(*names: str) -> tuple[ResourceSlice, ...]:
    return pool(*map(Device, names))


def models(text: str) -> tuple[ResourceSlice, ...]:
    return pool(*(Device(f"x{at}", {"model": letter}) for at, letter in enumerate(text)))


def test_all_are_given_or_none() -> None:
    scene = Scene(plain("x", "y", "z"))
    assert scene.devices(one(mode=ALL)) == ["x", "y", "z"]
    scene.taken.add_device(DeviceId("d", "p", "y"))
    assert scene.devices(one(mode=ALL)) is None
    assert Scene(()).devices(one(mode=ALL)) is None


def test_all_need_every_pool_to_be_whole() -> None:
    unfinished = ResourceSlice("s", "d", Pool("q", resource_slice_count=2), NODE, devices=(Device("y"),))
    doubled = pool(Device("y"), Device("y"), name="q")
    words = "claim c0, request r: asks for all devices, but resource pool d/q is currently"
    assert Scene((*plain("x"), unfinished)).error(one(mode=ALL)) == f"{words} being updated"
    assert Scene((*plain("x"), *doubled)).error(one(mode=ALL)) == f"{words} invalid"
    assert Scene((*plain("x"), *doubled)).devices(one()) == ["x"]
    refused = Scene(doubled).attempt(one()).error
    assert refused is not None
    assert (refused.text, refused.only_this_node) == ("invalid resource pools were encountered", True)


def test_all_that_a_constraint_forbids_are_an_error() -> None:
    words = "claim c0, request r: cannot add device d/p/x1 because a claim constraint would not be satisfied"
    assert Scene(models("ab")).error(with_rule(one(mode=ALL))) == words
    assert Scene(models("aa")).devices(with_rule(one(mode=ALL))) == ["x0", "x1"]


def with_rule(spec: ClaimSpec) -> ClaimSpec:
    return replace(spec, constraints=(SAME,))


def test_administrators_get_what_others_hold_once_for_each_claim() -> None:
    scene = Scene(plain("x", "y"), taken=Taken([DeviceId("d", "p", "x")]))
    admin = one(admin_access=True)
    (allocation,) = scene.attempt(admin).allocations or ()
    assert allocation.ids[0].device == "x"
    assert allocation.results[0].admin_access is True
    assert scene.devices(admin, admin) == ["x", "x"]
    assert scene.devices(one(2, admin_access=True)) == ["x", "y"]
    assert scene.devices(one(3, admin_access=True)) is None
    scene.taken.take(allocation)
    assert scene.taken == Taken([DeviceId("d", "p", "x")])


def test_parts_share_the_counters_of_their_card() -> None:
    devices = (part("whole", 4), part("half-0", 2), part("half-1", 2), part("quarter"))
    scene = Scene(pool(*devices, counters=[card(4)]))
    assert scene.devices(one()) == ["whole"]
    assert scene.devices(one(2)) == ["half-0", "half-1"]
    assert scene.devices(one(3)) is None
    scene.taken.add_device(DeviceId("d", "p", "half-0"))
    assert scene.devices(one()) == ["half-1"]
    assert scene.devices(one(2)) is None


def test_devices_that_this_node_cannot_reach_draw_on_the_counters_too() -> None:
    of = Pool("p", resource_slice_count=3)
    selector = NodeSelector((NodeSelectorTerm(match_fields=(Requirement("metadata.name", "In", ("far",)),)),))
    slices = (
        ResourceSlice("a", "d", of, NODE, devices=(part("near", 3),)),
        ResourceSlice("b", "d", of, node_selector=selector, devices=(part("far", 2),)),
        ResourceSlice("c", "d", of, all_nodes=True, shared_counters=(card(4),)),
    )
    assert Scene(slices).devices(one()) == ["near"]
    assert Scene(slices, taken=Taken([DeviceId("d", "p", "far")])).devices(one()) is None


def test_shares_of_one_part_take_its_counters_once() -> None:
    scene = Scene(pool(shared_part("x", 3), part("y", 2), counters=[card(4)]))
    half = one(capacity={"memory": "4"})
    assert scene.devices(half, half) == ["x", "x"]
    assert scene.devices(half, half, one()) is None


def test_a_counter_that_is_not_declared_makes_the_pool_invalid() -> None:
    assert Scene(pool(part("x"), counters=[card(4, "other")])).error(one()) == (
        "invalid resource pools were encountered"
    )


@pytest.mark.parametrize(
    ("effect", "toleration", "given"),
    [
        ("NoSchedule", None, False),
        ("NoExecute", None, False),
        ("None", None, True),
        ("Whatever", None, True),
        ("NoSchedule", Toleration("k", "Exists"), True),
        ("NoSchedule", Toleration("k", "Equal", "v"), True),
        ("NoSchedule", Toleration("k", "", "v"), True),
        ("NoSchedule", Toleration("k", "Equal", "other"), False),
        ("NoSchedule", Toleration("", "Exists"), True),
        ("NoSchedule", Toleration("k", "Exists", effect="NoExecute"), False),
    ],
)
def test_taints_that_are_not_tolerated_keep_claims_off(
    effect: str, toleration: Toleration | None, given: bool
) -> None:
    scene = Scene(pool(Device("x", taints=(Taint("k", effect, "v"),))))
    tolerations = () if toleration is None else (toleration,)
    assert (scene.devices(one(tolerations=tolerations)) is not None) is given
    assert replace(scene, features=OFF).devices(one(tolerations=tolerations)) == ["x"]


def test_a_device_may_say_for_itself_which_nodes_it_is_for() -> None:
    devices = (Device("far", node_name="far"), Device("near", node_name=NODE), Device("any", all_nodes=True))
    scene = Scene(pool(*devices, per_device_node_selection=True))
    assert scene.devices(one(2)) == ["near", "any"]
    assert scene.devices(one(3)) is None
    assert replace(scene, features=OFF).devices(one()) is None


def test_binding_conditions_are_passed_on() -> None:
    device = Device("x", binding_conditions=("ready",), binding_failure_conditions=("broken",))
    scene = Scene((*pool(device, name="a"), *pool(Device("y"), name="b")))
    assert scene.devices(one(2)) == ["y", "x"]
    (allocation,) = scene.attempt(one(2)).allocations or ()
    assert allocation.results[1].binding_conditions == ("ready",)
    assert allocation.results[1].binding_failure_conditions == ("broken",)
    assert replace(scene, features=OFF).devices(one(2)) is None


def test_claims_of_one_pod_are_met_together_or_not_at_all() -> None:
    scene = Scene(plain("x", "y", "z"))
    assert scene.devices(one(), one(2)) == ["x", "y", "z"]
    assert scene.devices(one(2), one(2)) is None
    either = claim(Request("r", first_available=(SubRequest("two", exact(2)), SubRequest("one", exact()))))
    assert scene.devices(either, one(2)) == ["x", "y", "z"]


@pytest.mark.parametrize(
    ("spec", "features", "words"),
    [
        (
            claim(Request("r", first_available=(SubRequest("s", exact()),))),
            OFF,
            "claim c0, request r: has subrequests, but the DRAPrioritizedList feature is disabled",
        ),
        (
            one(capacity={"memory": "1"}),
            Features(device_binding_and_status=True),
            f"claim c0, request r: {NO_SHARES}",
        ),
        (
            claim(Request("r", first_available=(SubRequest("s", exact(capacity={"memory": "1"})),))),
            Features(device_binding_and_status=True, prioritized_list=True),
            f"claim c0, subrequest s: {NO_SHARES}",
        ),
        (
            one(admin_access=False),
            OFF,
            "claim c0, request r: admin access is requested, but the feature is disabled",
        ),
        (
            one(selectors=("",)),
            NEWEST,
            "claim c0, request r, selector #0: CEL expression empty (unsupported selector type?)",
        ),
        (
            claim(Request("r", replace(exact(), device_class=""))),
            NEWEST,
            "claim c0, request r: missing device class name (unsupported request type?)",
        ),
        (
            claim(Request("r", replace(exact(), device_class="gone"))),
            NEWEST,
            f"claim c0, request r: {NO_CLASS}",
        ),
        (one(mode="Some"), NEWEST, "claim c0, request r: unsupported count mode Some"),
        (one(33), NEWEST, "claim c0: number of requested devices 33 exceeds the claim limit of 32"),
        (
            replace(one(), constraints=(Constraint(),)),
            NEWEST,
            "claim c0, constraint #0: empty constraint (unsupported constraint type?)",
        ),
    ],
)
def test_what_can_never_be_right_is_an_error(spec: ClaimSpec, features: Features, words: str) -> None:
    assert Scene(plain("x"), features=features).error(spec) == words


@pytest.mark.parametrize(
    ("selector", "words"),
    [
        (
            "device.attributes['d'].size > 3",
            "claim c0: selector #0 on device d/p/x: CEL runtime error: no such key: size. consider ",
        ),
        ("device.attributes['d'].model > 3", "claim c0: selector #0 on device d/p/x: CEL runtime error: "),
        ("gone", "claim c0: selector #0: CEL compile error: compilation failed: ERROR: <input>:1:1: "),
    ],
)
def test_a_selector_that_fails_is_fatal_on_the_device_that_is_met(selector: str, words: str) -> None:
    scene = Scene(pool(Device("x", {"model": "a"}), Device("y", {"model": "a", "size": 4})))
    assert scene.error(one(selectors=(selector,))).startswith(words)
    if "size" in selector:
        scene.taken.add_device(DeviceId("d", "p", "x"))
        assert scene.devices(one(selectors=(selector,))) == ["y"]
