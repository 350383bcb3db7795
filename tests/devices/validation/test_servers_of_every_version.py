"""What one version takes and another does not: gates, limits, and where a problem is told."""

from __future__ import annotations

from typing import Any

import pytest

from allotment.devices.validation import Gate, Server, validate
from tests.devices.validation.held import CLAIM, CLASS, DEVICE, SLICE, put, told

TAINT = {"key": "k", "effect": "NoSchedule"}
COUNTERS = [{"name": "c", "counters": {"m": {"value": "1"}}}]
PARTITIONABLE = {"DRAPartitionableDevices": True}


@pytest.mark.parametrize(
    ("text", "number"),
    [("1.34", (1, 34)), ("1.36.2", (1, 36)), ("v1.37.0", (1, 37)), ("1.30", (1, 34)), ("1.40", (1, 37))],
)
def test_versions(text: str, number: tuple[int, int]) -> None:
    assert Server.of(text).version == number


@pytest.mark.parametrize(
    ("gate", "on"),
    [
        (Gate.ADMIN_ACCESS, [34, 35, 36, 37]),
        (Gate.PRIORITIZED_LIST, [34, 35, 36, 37]),
        (Gate.DEVICE_STATUS, [34, 35, 36, 37]),
        (Gate.DEVICE_TAINTS, [36, 37]),
        (Gate.PARTITIONABLE_DEVICES, [36, 37]),
        (Gate.CONSUMABLE_CAPACITY, [36, 37]),
        (Gate.BINDING_CONDITIONS, [36, 37]),
        (Gate.EXTENDED_RESOURCE, [36, 37]),
        (Gate.LIST_ATTRIBUTES, []),
        (Gate.NODE_ALLOCATABLE, []),
        (Gate.DERIVED_ATTRIBUTES, []),
        (Gate.COMPATIBILITY_GROUPS, []),
        (Gate.PARTITION_TYPE, []),
        (Gate.OPTIONAL_NODE_OPERATIONS, []),
        (Gate.FRACTIONAL_RANGE, []),
    ],
)
def test_gates_that_are_on(gate: Gate, on: list[int]) -> None:
    assert [minor for minor in range(34, 38) if Server.of(f"1.{minor}").has(gate)] == on


def test_a_gate_is_on_where_somebody_turned_it_on_and_where_it_exists() -> None:
    assert Server.of("1.36", {"DRAListTypeAttributes": True}).has(Gate.LIST_ATTRIBUTES)
    assert not Server.of("1.35", {"DRAListTypeAttributes": True}).has(Gate.LIST_ATTRIBUTES)
    assert not Server.of("1.37", {"DRADeviceTaints": False}).has(Gate.DEVICE_TAINTS)


@pytest.mark.parametrize(
    ("base", "path", "value", "dropped", "kept_from"),
    [
        (SLICE, "spec.devices.0.taints", [TAINT], "spec.devices.0.taints", 36),
        (SLICE, "spec.devices.0.bindsToNode", True, "spec.devices.0.bindsToNode", 36),
        (
            SLICE,
            "spec.devices.0.capacity",
            {"m": {"value": "1", "requestPolicy": {"default": "1"}}},
            "spec.devices.0.capacity.m.requestPolicy",
            36,
        ),
        (SLICE, "spec.skipNodeOperations", ["*"], "spec.skipNodeOperations", None),
        (
            SLICE,
            "spec.devices.0.attributes",
            {"a": {"ints": [1]}},
            "spec.devices.0.attributes.a.ints",
            None,
        ),
        (
            SLICE,
            "spec.devices.0.nodeAllocatableResourceMappings",
            {"cpu": {}},
            "spec.devices.0.nodeAllocatableResourceMappings",
            None,
        ),
        (
            CLAIM,
            "spec.devices.requests.0.exactly.tolerations",
            [{"key": "k"}],
            "spec.devices.requests.0.exactly.tolerations",
            36,
        ),
        (
            CLAIM,
            "spec.devices.requests.1.firstAvailable.0.capacity",
            {"requests": {"m": "1"}},
            "spec.devices.requests.1.firstAvailable.0.capacity",
            36,
        ),
        (CLASS, "spec.extendedResourceName", "example.com/gpu", "spec.extendedResourceName", 36),
    ],
)
def test_fields_that_a_server_takes_out(
    base: dict[str, Any], path: str, value: Any, dropped: str, kept_from: int | None
) -> None:
    changed = put(base, (path, value))
    for minor in range(34, 38):
        verdict = validate(changed["kind"], changed, server=Server.of(f"1.{minor}"))
        places = [".".join(map(str, each.loc)) for each in verdict.dropped]
        assert places == ([] if kept_from and minor >= kept_from else [dropped])


def test_why_a_field_is_taken_out() -> None:
    changed = put(SLICE, ("spec.devices.0.taints", [TAINT]), ("spec.skipNodeOperations", ["*"]))
    said = [each.text for each in validate("ResourceSlice", changed, server=Server.of("1.35")).dropped]
    assert said == [
        "Kubernetes 1.35 takes `taints` out: the feature gate DRADeviceTaints is off",
        "Kubernetes 1.35 does not know `skipNodeOperations` and takes it out: it came with 1.37",
    ]
    former = put(SLICE, ("spec.devices.0.nodeAllocatableResourceMappings", {"cpu": {}}))
    (dropped,) = validate("ResourceSlice", former, server=Server.of("1.37")).dropped
    assert "1.36 was the last" in dropped.text


def test_an_attribute_that_loses_its_list_has_no_value() -> None:
    changed = put(SLICE, ("spec.devices.0.attributes", {"a": {"ints": [1]}}))
    assert told(changed, Server.of("1.37")) == ["spec.devices[0].attributes[a] Invalid"]
    assert told(changed, Server.of("1.37", {"DRAListTypeAttributes": True})) == []
    assert told(changed, Server.of("1.34")) == ["spec.devices[0].attributes[a] Required"]
    assert changed["spec"]["devices"][0]["attributes"] == {"a": {"ints": [1]}}


@pytest.mark.parametrize(
    ("minor", "expected"),
    [
        (34, ["spec.devices[0].taints TooMany"]),
        (35, []),
        (36, []),
    ],
)
def test_how_many_taints_a_device_may_have(minor: int, expected: list[str]) -> None:
    changed = put(SLICE, ("spec.devices.0.taints", [TAINT] * 5))
    assert told(changed, Server.of(f"1.{minor}", {"DRADeviceTaints": True})) == expected


@pytest.mark.parametrize(("minor", "taken"), [(34, False), (35, True), (36, True), (37, True)])
def test_the_effect_none(minor: int, *, taken: bool) -> None:
    changed = put(SLICE, ("spec.devices.0.taints", [{"key": "k", "effect": "None"}]))
    found = told(changed, Server.of(f"1.{minor}", {"DRADeviceTaints": True}))
    assert found == ([] if taken else ["spec.devices[0].taints[0].effect NotSupported"])


@pytest.mark.parametrize(("minor", "taken"), [(34, True), (35, False), (36, False)])
def test_counters_and_devices_in_one_slice(minor: int, *, taken: bool) -> None:
    changed = put(SLICE, ("spec.sharedCounters", COUNTERS))
    assert told(changed, Server.of(f"1.{minor}", PARTITIONABLE)) == ([] if taken else ["spec Invalid"])


def test_counters_of_the_first_version() -> None:
    server = Server.of("1.34", PARTITIONABLE)
    consumed = [{"counterSet": "zz", "counters": {"m": {"value": "1"}}}]
    other = [{"counterSet": "c", "counters": {"n": {"value": "1"}}}]
    at = "spec.devices[0].consumesCounters[0]"
    for found, expected in ((consumed, f"{at}.counterSet Invalid"), (other, f"{at}.counters Invalid")):
        changed = put(SLICE, ("spec.sharedCounters", COUNTERS), ("spec.devices.0.consumesCounters", found))
        assert told(changed, server) == [expected]
    many = {f"m{number}": {"value": "1"} for number in range(33)}
    changed = put(SLICE, ("spec.sharedCounters", [{"name": "c", "counters": many}]))
    assert told(changed, server) == ["spec.sharedCounters Invalid"]
    changed = put(changed, ("spec.devices.0.consumesCounters", [{"counterSet": "c", "counters": many}]))
    assert told(changed, server) == ["spec.devices[0] Invalid", "spec.sharedCounters Invalid"]


@pytest.mark.parametrize(
    ("minor", "expected"),
    [
        (34, ["spec.devices.requests[1].name Duplicate"]),
        (35, ["spec.devices.requests[1] Duplicate"]),
        (37, ["spec.devices.requests[1] Duplicate"]),
    ],
)
def test_where_two_names_are_told(minor: int, expected: list[str]) -> None:
    request = CLAIM["spec"]["devices"]["requests"][0]  # type: ignore[index]
    assert told(put(CLAIM, ("spec.devices.requests", [request] * 2)), Server.of(f"1.{minor}")) == expected


@pytest.mark.parametrize(
    ("minor", "path"), [(35, "spec.devices[0].attributes[a-b]"), (36, "spec.devices[0].attributes")]
)
def test_where_a_key_is_told(minor: int, path: str) -> None:
    changed = put(SLICE, ("spec.devices", [{**DEVICE, "attributes": {"a-b": {"int": 1}}}]))
    (problem,) = validate("ResourceSlice", changed, server=Server.of(f"1.{minor}")).problems
    assert problem.path == path
    assert problem.place == ("spec", "devices", 0, "attributes", "a-b")


def test_a_constraint_without_an_attribute() -> None:
    changed = put(CLAIM, ("spec.devices.constraints", [{}]))
    assert told(changed, Server.of("1.35")) == ["spec.devices.constraints[0].matchAttribute Required"]
    assert told(changed, Server.of("1.36")) == ["spec.devices.constraints[0] Required"]


def test_the_default_of_a_range_is_told_elsewhere_since() -> None:
    policy = {"default": "1", "validRange": {"min": "2", "max": "4"}}
    changed = put(
        SLICE,
        ("spec.devices.0.allowMultipleAllocations", True),
        ("spec.devices.0.capacity", {"m": {"value": "4", "requestPolicy": policy}}),
    )
    at = "spec.devices[0].capacity[m].requestPolicy.validRange"
    assert told(changed, Server.of("1.36")) == [f"{at}.min Invalid"]
    assert told(changed, Server.of("1.37")) == [f"{at}.default Invalid"]
