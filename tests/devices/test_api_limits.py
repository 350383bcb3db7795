"""Rules of the API on slices, each broken once: the words, and the place in the spec."""

from __future__ import annotations

from dataclasses import replace

import pytest

from allotment.devices.limits import located_slice_problems
from allotment.devices.nodes import NodeSelector, NodeSelectorTerm, Requirement
from allotment.devices.slices import (
    Capacity,
    CounterConsumption,
    CounterSet,
    Device,
    Pool,
    RequestPolicy,
    ResourceSlice,
    Taint,
    ValidRange,
    Version,
)

PLAIN = ResourceSlice("s", "d", Pool("p"), "n", devices=(Device("x"),))
ONE = (CounterConsumption("c", {"m": "1"}),)


def selector(operator: str, *values: str, terms: int = 1) -> NodeSelector:
    term = NodeSelectorTerm((Requirement("k", operator, values),))
    return NodeSelector((term,) * terms)


def of_device(device: Device, **of_slice: object) -> ResourceSlice:
    return replace(PLAIN, devices=(device,), **of_slice)  # type: ignore[arg-type]


def of_policy(policy: RequestPolicy, *, shared: bool = True) -> ResourceSlice:
    return of_device(Device("x", capacity={"m": Capacity("40Gi", policy)}, allow_multiple_allocations=shared))


def counters(*sets: CounterSet) -> ResourceSlice:
    return replace(PLAIN, devices=(), shared_counters=sets)


@pytest.mark.parametrize(
    ("published", "loc", "words"),
    [
        (of_device(Device("x", {"v": Version("9.0")})), "devices.0.attributes.v", "semver.org spec 2.0.0"),
        (of_device(Device("x", {"v": Version("01.0.0")})), "devices.0.attributes.v", "semver.org"),
        (of_device(Device("x", {"l": ("a" * 65,)})), "devices.0.attributes.l", "longer than 64 bytes"),
        (of_device(Device("x", {"l": tuple(range(49))})), "devices.0.attributes", "must not exceed 48"),
        (
            of_device(Device("x", capacity={"m": Capacity("40GB")})),
            "devices.0.capacity.m.value",
            "no quantity",
        ),
        (
            replace(PLAIN, devices=tuple(Device(f"x{n}", {"l": (1,)}) for n in range(65))),
            "devices",
            "at most 64",
        ),
        (of_device(Device("x", consumes_counters=ONE * 2)), "devices.0.consumesCounters", "Duplicate value"),
        (
            of_device(
                Device(
                    "x", consumes_counters=tuple(CounterConsumption(f"c{n}", {"m": "1"}) for n in range(3))
                )
            ),
            "devices.0.consumesCounters",
            "at most 2 items",
        ),
        (
            of_device(Device("x", consumes_counters=(CounterConsumption("c", {}),))),
            "devices.0.consumesCounters.0.counters",
            "at least one counter",
        ),
        (counters(*(CounterSet(f"c{n}", {"m": "1"}) for n in range(9))), "sharedCounters", "at most 8"),
        (counters(CounterSet("c", {"m": "1"}), CounterSet("c", {"m": "2"})), "sharedCounters", "Duplicate"),
        (counters(CounterSet("C", {"m": "1"})), "sharedCounters.0.name", "no DNS label"),
        (counters(CounterSet("c", {"M": "1"})), "sharedCounters.0.counters.M", "no DNS label"),
        (counters(CounterSet("c", {"m": "x"})), "sharedCounters.0.counters.m.value", "no quantity"),
        (
            counters(CounterSet("c", {f"m{n}": "1" for n in range(33)})),
            "sharedCounters.0.counters",
            "at most 32",
        ),
        (
            of_device(Device("x", taints=(Taint("k", "NoSchedule"),) * 17)),
            "devices.0.taints",
            "at most 16",
        ),
        (
            of_device(Device("x", taints=(Taint("a b", "None"),))),
            "devices.0.taints.0.key",
            "no name of a label",
        ),
        (of_device(Device("x", taints=(Taint("k", "None", "a b"),))), "devices.0.taints.0.value", "no value"),
        (of_device(Device("x", taints=(Taint("k", "Never"),))), "devices.0.taints.0.effect", "no effect"),
        (of_device(Device("x", node_name="n")), "devices.0", "only when `perDeviceNodeSelection`"),
        (
            of_device(Device("x"), node_name=None, per_device_node_selection=True),
            "devices.0",
            "exactly one of `nodeName`, `nodeSelector`, or `allNodes`",
        ),
        (
            of_device(
                Device("x", node_selector=selector("IN", "a")), node_name=None, per_device_node_selection=True
            ),
            "devices.0.nodeSelector.nodeSelectorTerms.0.matchExpressions.0.operator",
            "`IN` is no operator",
        ),
        (
            replace(PLAIN, node_name=None, node_selector=selector("Exists", terms=2)),
            "nodeSelector.nodeSelectorTerms",
            "exactly one node selector term",
        ),
        (
            replace(PLAIN, node_name=None, node_selector=selector("Gt", "1", "2")),
            "nodeSelector.nodeSelectorTerms.0.matchExpressions.0",
            "does not go with 2 values",
        ),
        (
            of_device(Device("x", binding_conditions=("ready",))),
            "devices.0",
            "`bindingFailureConditions` is required",
        ),
        (
            of_device(Device("x", binding_conditions=("a",), binding_failure_conditions=("a",))),
            "devices.0.bindingFailureConditions",
            "must not overlap",
        ),
        (
            of_device(Device("x", binding_conditions=("a", "a"), binding_failure_conditions=("b",))),
            "devices.0.bindingConditions",
            "Duplicate value",
        ),
        (
            of_policy(RequestPolicy("1Gi"), shared=False),
            "devices.0.capacity.m.requestPolicy",
            "allowMultipleAllocations must be true",
        ),
        (
            of_policy(RequestPolicy("1Gi", ("2Gi", "1Gi"))),
            "devices.0.capacity.m.requestPolicy.validValues",
            "ascending",
        ),
        (
            of_policy(RequestPolicy("3Gi", ("1Gi", "2Gi"))),
            "devices.0.capacity.m.requestPolicy.default",
            "default value is not valid",
        ),
        (
            of_policy(RequestPolicy("1Gi", ("1Gi", "41Gi"))),
            "devices.0.capacity.m.requestPolicy.validValues",
            "more than the capacity",
        ),
        (
            of_policy(RequestPolicy(None, ("1Gi",))),
            "devices.0.capacity.m.requestPolicy",
            "default is required",
        ),
        (
            of_policy(RequestPolicy("2Gi", valid_range=ValidRange("1Gi", "40Gi", "3Gi"))),
            "devices.0.capacity.m.requestPolicy.validRange.step",
            "not a multiple of a given step",
        ),
        (
            of_policy(RequestPolicy("1Gi", valid_range=ValidRange("2Gi"))),
            "devices.0.capacity.m.requestPolicy.validRange",
            "must not decrease",
        ),
        (
            of_policy(RequestPolicy("x", valid_range=ValidRange("1Gi"))),
            "devices.0.capacity.m.requestPolicy",
            "`x` is no quantity",
        ),
        (
            of_policy(RequestPolicy("1Gi", ("1Gi",), ValidRange("1Gi"))),
            "devices.0.capacity.m.requestPolicy",
            "exactly one value",
        ),
    ],
)
def test_a_broken_rule_with_its_place(published: ResourceSlice, loc: str, words: str) -> None:
    problems = located_slice_problems(published)
    assert (loc, True) in [(".".join(map(str, each.loc)), words in each.text) for each in problems]


@pytest.mark.parametrize(
    "published",
    [
        of_policy(RequestPolicy("10Gi", valid_range=ValidRange("10Gi", "40Gi", "5Gi"))),
        of_policy(RequestPolicy("5Gi", ("5Gi", "10Gi", "20Gi"))),
        of_policy(RequestPolicy("1Gi")),
        of_device(Device("x", {"a/b/c": 1, "resource.kubernetes.io/pciBusID": "0000:45:00.0"})),
        of_device(Device("x", capacity={"m": Capacity("0"), "n": Capacity("1k"), "o": Capacity("0.5Gi")})),
        of_device(Device("x", {"empty": ""}, taints=(Taint("gpu.nvidia.com/xid", "None", "43"),))),
        of_device(Device("x", binding_conditions=("a.example/b",), binding_failure_conditions=("c",))),
        replace(PLAIN, pool=Pool("10.0.0.1"), node_name="10.0.0.1"),
        replace(PLAIN, pool=Pool("rack/node"), node_name=None, all_nodes=True),
    ],
)
def test_what_drivers_really_publish_is_right(published: ResourceSlice) -> None:
    assert located_slice_problems(published) == ()
