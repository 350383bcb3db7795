"""Rules of the API on slices and their devices, each broken once: the place, and the kind of the problem."""

from __future__ import annotations

from typing import Any

import pytest

from allotment.devices.validation import Server, validate
from tests.devices.validation.held import DEVICE, SLICE, put, told

X = "spec.devices.0"
AT = "spec.devices[0]"
COUNTERS = [{"name": "c", "counters": {"m": {"value": "1"}}}]
CONSUMES = [{"counterSet": "c", "counters": {"m": {"value": "1"}}}]


def need(operator: str, *values: str, key: str = "rack") -> dict[str, Any]:
    return {
        "nodeSelectorTerms": [
            {"matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]}
        ]
    }


def on_field(operator: str, *values: str, key: str = "metadata.name") -> dict[str, Any]:
    return {
        "nodeSelectorTerms": [{"matchFields": [{"key": key, "operator": operator, "values": list(values)}]}]
    }


@pytest.mark.parametrize(
    ("path", "value", "expected"),
    [
        ("spec.driver", "", ["spec.driver Required"]),
        ("spec.driver", "Not_A_Name", ["spec.driver Invalid"]),
        ("spec.driver", "GPU.Example.com", []),
        ("spec.driver", "d" * 64, ["spec.driver TooLong"]),
        ("spec.pool.name", "", ["spec.pool.name Required"]),
        ("spec.pool.name", "a//b", ["spec.pool.name Invalid"]),
        ("spec.pool.name", "rack/10.0.0.1", []),
        ("spec.pool.name", "p" * 254, ["spec.pool.name Invalid", "spec.pool.name TooLong"]),
        ("spec.pool.generation", -1, ["spec.pool.generation Invalid"]),
        ("spec.pool.resourceSliceCount", 0, ["spec.pool.resourceSliceCount Invalid"]),
        ("spec.nodeName", None, ["spec Required"]),
        ("spec.nodeName", "", ["spec Required", "spec.nodeName Invalid"]),
        ("spec.nodeName", "A_", ["spec.nodeName Invalid"]),
        ("spec.allNodes", True, ["spec Invalid"]),
        ("spec.allNodes", False, ["spec.allNodes Invalid"]),
        ("spec.sharedCounters", COUNTERS, ["spec Invalid"]),
        (f"{X}.name", "X", [f"{AT}.name Invalid"]),
        ("spec.devices", [DEVICE, DEVICE], ["spec.devices[1] Duplicate"]),
        ("spec.devices", [{"name": f"x{n}"} for n in range(128)], []),
        ("spec.devices", [{"name": f"x{n}"} for n in range(129)], ["spec.devices TooMany"]),
        (
            "spec.devices",
            [{"name": f"x{n}", "taints": [{"key": "k", "effect": "None"}]} for n in range(65)],
            ["spec.devices TooMany"],
        ),
        (
            "spec.devices",
            [{"name": f"x{n}", "attributes": {"a": {"ints": [1]}}} for n in range(65)],
            ["spec.devices TooMany"],
        ),
        (
            "spec.devices",
            [{"name": f"x{n}", "consumesCounters": CONSUMES} for n in range(65)],
            ["spec.devices TooMany"],
        ),
        (f"{X}.attributes", {f"a{n}": {"int": 1} for n in range(32)}, [f"{AT} Invalid"]),
        (f"{X}.attributes", {"no-identifier": {"int": 1}}, [f"{AT}.attributes Invalid"]),
        (f"{X}.attributes", {"Bad_/a": {"int": 1}}, [f"{AT}.attributes Invalid"]),
        (f"{X}.attributes", {"a/b/c": {"int": 1}}, []),
        (f"{X}.attributes", {"resource.kubernetes.io/pciBusID": {"string": "0000:45:00.0"}}, []),
        (f"{X}.attributes", {"a" * 33: {"int": 1}}, [f"{AT}.attributes TooLong"]),
        (f"{X}.attributes", {"a": {}}, [f"{AT}.attributes[a] Invalid"]),
        (f"{X}.attributes", {"a": {"int": 1, "string": "b"}}, [f"{AT}.attributes[a] Invalid"]),
        (f"{X}.attributes", {"a": {"string": ""}}, []),
        (f"{X}.attributes", {"a": {"string": "å" * 33}}, [f"{AT}.attributes[a].string TooLong"]),
        (f"{X}.attributes", {"a": {"version": "9.0"}}, [f"{AT}.attributes[a].version Invalid"]),
        (f"{X}.attributes", {"a": {"version": "01.0.0"}}, [f"{AT}.attributes[a].version Invalid"]),
        (f"{X}.attributes", {"a": {"version": "1.2.3-rc.1+b.2"}}, []),
        (f"{X}.attributes", {"a": {"strings": []}}, [f"{AT}.attributes[a].strings Invalid"]),
        (f"{X}.attributes", {"a": {"versions": ["1.0.0", "x"]}}, [f"{AT}.attributes[a].versions[1] Invalid"]),
        (f"{X}.attributes", {"a": {"ints": list(range(48))}}, []),
        (f"{X}.attributes", {"a": {"ints": list(range(49))}}, [f"{AT} Invalid"]),
        (f"{X}.capacity", {"m": {"value": "40GB"}}, [f"{AT}.capacity[m].value BadRequest"]),
        (f"{X}.capacity", {"no-identifier": {"value": "1"}}, [f"{AT}.capacity Invalid"]),
        (f"{X}.taints", [{"key": "k", "effect": "None"}] * 16, []),
        (f"{X}.taints", [{"key": "k", "effect": "None"}] * 17, [f"{AT}.taints TooMany"]),
        (f"{X}.taints", [{"key": "a b", "effect": "None"}], [f"{AT}.taints[0].key Invalid"]),
        (f"{X}.taints", [{"key": "k", "value": "a b", "effect": "None"}], [f"{AT}.taints[0].value Invalid"]),
        (f"{X}.taints", [{"key": "k"}], [f"{AT}.taints[0].effect Required"]),
        (f"{X}.taints", [{"key": "k", "effect": "Never"}], [f"{AT}.taints[0].effect NotSupported"]),
        (f"{X}.consumesCounters", CONSUMES, []),
        (f"{X}.consumesCounters", CONSUMES * 2, [f"{AT}.consumesCounters[1] Duplicate"]),
        (
            f"{X}.consumesCounters",
            [{**CONSUMES[0], "counterSet": f"c{n}"} for n in range(3)],
            [f"{AT}.consumesCounters TooMany"],
        ),
        (
            f"{X}.consumesCounters",
            [{}],
            [f"{AT}.consumesCounters[0].counterSet Required", f"{AT}.consumesCounters[0].counters Required"],
        ),
        (
            f"{X}.consumesCounters",
            [{**CONSUMES[0], "compatibilityGroups": ["a", "a"]}],
            [f"{AT}.consumesCounters[0].compatibilityGroups[1] Duplicate"],
        ),
        (
            f"{X}.consumesCounters",
            [{**CONSUMES[0], "compatibilityGroups": ["a", "b", "c"]}],
            [f"{AT}.consumesCounters[0].compatibilityGroups TooMany"],
        ),
        (f"{X}.bindingConditions", ["ready"], [f"{AT}.bindingFailureConditions Invalid"]),
        (f"{X}.bindingFailureConditions", ["broken"], [f"{AT}.bindingConditions Invalid"]),
        (f"{X}.nodeName", "n", [f"{AT} Invalid"]),
        ("spec.partitionTypeAttribute", "x/profile", ["spec.partitionTypeAttribute Invalid"]),
        ("spec.skipNodeOperations", ["*"], []),
        ("spec.skipNodeOperations", ["NodePrepareResources"], ["spec.skipNodeOperations Invalid"]),
        ("spec.skipNodeOperations", ["NodePrepareResources", "NodeUnprepareResources"], []),
        ("spec.skipNodeOperations", ["Nothing"], ["spec.skipNodeOperations[0] NotSupported"]),
        ("spec.skipNodeOperations", ["*", "*"], ["spec.skipNodeOperations[1] Duplicate"]),
        ("metadata.namespace", "n", ["metadata.namespace Forbidden"]),
    ],
)
def test_a_slice_that_breaks_a_rule(path: str, value: Any, expected: list[str]) -> None:
    server = Server.of("1.37", dict.fromkeys(GATED, True))
    assert told(put(SLICE, (path, value)), server) == expected


GATED = (
    "DRADeviceCompatibilityGroups",
    "DRAListTypeAttributes",
    "DRANodeAllocatableResources",
    "DRAOptionalNodeOperations",
    "DRAPartitionableDevicesType",
)


@pytest.mark.parametrize(
    ("waited", "failed", "expected"),
    [
        (["a.example/b"], ["c"], []),
        (["a"], ["a"], [".bindingFailureConditions[0] Invalid"]),
        (["a", "a"], ["b"], [".bindingConditions[1] Duplicate"]),
        (["a"], ["b", "b"], [".bindingFailureConditions[1] Duplicate"]),
        (["a b"], ["c"], [".bindingConditions[0] Invalid"]),
        (list("abcde"), ["x"], [".bindingConditions TooMany"]),
    ],
)
def test_binding_conditions(waited: list[str], failed: list[str], expected: list[str]) -> None:
    published = put(SLICE, (f"{X}.bindingConditions", waited), (f"{X}.bindingFailureConditions", failed))
    assert told(published) == [f"{AT}{each}" for each in expected]


@pytest.mark.parametrize(
    ("sets", "expected"),
    [
        (COUNTERS, []),
        ([{**COUNTERS[0], "name": f"c{n}"} for n in range(9)], [" TooMany"]),
        (COUNTERS * 2, ["[1] Duplicate"]),
        ([{**COUNTERS[0], "name": ""}], ["[0].name Required"]),
        ([{**COUNTERS[0], "name": "C"}], ["[0].name Invalid"]),
        ([{"name": "c", "counters": {}}], ["[0].counters Required"]),
        ([{"name": "c", "counters": {"M": {"value": "1"}}}], ["[0].counters Invalid"]),
        ([{"name": "c", "counters": {"m": {"value": "x"}}}], ["[0].counters[m].value BadRequest"]),
        ([{"name": "c", "counters": {f"m{n}": {"value": "1"} for n in range(33)}}], ["[0].counters TooMany"]),
    ],
)
def test_counter_sets(sets: list[Any], expected: list[str]) -> None:
    published = put(SLICE, ("spec.devices", None), ("spec.sharedCounters", sets))
    assert told(published) == [f"spec.sharedCounters{each}" for each in expected]


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        (need("In", "r1", "r2"), []),
        (need("Exists"), []),
        (need("Gt", "1"), []),
        (on_field("In", "n"), []),
        ({"nodeSelectorTerms": [{}]}, []),
        ({"nodeSelectorTerms": []}, [" Invalid", " Required"]),
        ({"nodeSelectorTerms": [{}, {}]}, [" Invalid"]),
        (need("IN", "a"), ["[0].matchExpressions[0].operator Invalid"]),
        (need("In"), ["[0].matchExpressions[0].values Required"]),
        (need("Exists", "a"), ["[0].matchExpressions[0].values Forbidden"]),
        (need("Gt", "1", "2"), ["[0].matchExpressions[0].values Required"]),
        (need("In", "a b"), ["[0].matchExpressions[0].values[0] Invalid"]),
        (need("In", "a", key=""), ["[0].matchExpressions[0].key Invalid"]),
        (on_field("In", "a", "b"), ["[0].matchFields[0].values Required"]),
        (on_field("Gt", "a"), ["[0].matchFields[0].operator Invalid"]),
        (on_field("In", "a", key="spec.x"), ["[0].matchFields[0].key Invalid"]),
        (on_field("In", "A_"), ["[0].matchFields[0].values[0] Invalid"]),
    ],
)
def test_node_selectors_of_slices(selector: dict[str, Any], expected: list[str]) -> None:
    published = put(SLICE, ("spec.nodeName", None), ("spec.nodeSelector", selector))
    assert told(published) == [f"spec.nodeSelector.nodeSelectorTerms{each}" for each in expected]


@pytest.mark.parametrize(
    ("nodes", "expected"),
    [
        ({"nodeName": "n"}, []),
        ({"allNodes": True}, []),
        ({"nodeSelector": need("Exists")}, []),
        ({}, [" Required"]),
        ({"nodeName": "n", "allNodes": True}, [" Invalid"]),
        ({"nodeName": ""}, [" Required", ".nodeName Invalid"]),
        ({"nodeName": "A_"}, [".nodeName Invalid"]),
        ({"nodeName": "n", "allNodes": False}, [".allNodes Invalid"]),
        (
            {"nodeSelector": need("IN", "a")},
            [".nodeSelector.nodeSelectorTerms[0].matchExpressions[0].operator Invalid"],
        ),
    ],
)
def test_nodes_of_devices(nodes: dict[str, Any], expected: list[str]) -> None:
    published = put(
        SLICE,
        ("spec.nodeName", None),
        ("spec.perDeviceNodeSelection", True),
        ("spec.devices", [{**DEVICE, **nodes}]),
    )
    assert told(published) == [f"{AT}{each}" for each in expected]


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        ({"default": "1Gi"}, []),
        ({}, []),
        ({"default": "10Gi", "validRange": {"min": "10Gi", "max": "40Gi", "step": "5Gi"}}, []),
        ({"default": "5Gi", "validValues": ["5Gi", "10Gi", "20Gi"]}, []),
        ({"default": "1Gi", "validValues": ["1Gi"], "validRange": {"min": "1Gi"}}, [" Forbidden"]),
        ({"validValues": ["1Gi"]}, [".default Required"]),
        ({"validRange": {"min": "1Gi"}}, [".default Required"]),
        ({"default": "1Gi", "validValues": ["2Gi", "1Gi"]}, [".validValues[1] Invalid"]),
        ({"default": "1Gi", "validValues": ["1Gi", "1024Mi"]}, [".validValues[1] Duplicate"]),
        ({"default": "3Gi", "validValues": ["1Gi", "2Gi"]}, [".validValues Invalid"]),
        ({"default": "1Gi", "validValues": ["1Gi", "41Gi"]}, [".validValues[1] Invalid"]),
        (
            {"default": "1", "validValues": [str(n) for n in range(1, 12)]},
            [".validValues Invalid", ".validValues TooMany"],
        ),
        ({"default": "1Gi", "validRange": {"max": "2Gi"}}, [".validRange.min Required"]),
        ({"default": "1Gi", "validRange": {"min": "2Gi"}}, [".validRange.default Invalid"]),
        ({"default": "3Gi", "validRange": {"min": "1Gi", "max": "2Gi"}}, [".validRange.default Invalid"]),
        ({"default": "40Gi", "validRange": {"min": "1Gi", "max": "41Gi"}}, [".validRange.max Invalid"]),
        (
            {"default": "40Gi", "validRange": {"min": "41Gi"}},
            [".validRange.default Invalid", ".validRange.min Invalid"],
        ),
        (
            {"default": "4Gi", "validRange": {"min": "4Gi", "max": "3Gi"}},
            [".validRange.default Invalid", ".validRange.max Invalid"],
        ),
        (
            {"default": "2Gi", "validRange": {"min": "1Gi", "max": "40Gi", "step": "3Gi"}},
            [".validRange.step Invalid"],
        ),
        (
            {"default": "1Gi", "validRange": {"min": "1Gi", "max": "9Gi", "step": "3Gi"}},
            [".validRange.step Invalid"],
        ),
        ({"default": "1Gi", "validRange": {"min": "1Gi", "step": "40Gi"}}, [".validRange.step Invalid"]),
        ({"default": "1Gi", "validRange": {"min": "1Gi", "step": "0"}}, [".validRange.step Invalid"]),
        (
            {"default": "-1", "validRange": {"min": "-1", "step": "1"}},
            [".validRange.default Invalid", ".validRange.min Invalid"],
        ),
        ({"default": "x", "validRange": {"min": "1Gi"}}, [".default BadRequest"]),
    ],
)
def test_request_policies(policy: dict[str, Any], expected: list[str]) -> None:
    published = put(
        SLICE,
        (f"{X}.allowMultipleAllocations", True),
        (f"{X}.capacity", {"m": {"value": "40Gi", "requestPolicy": policy}}),
    )
    found = told(published, Server.of("1.37"))
    assert found == [f"{AT}.capacity[m].requestPolicy{each}" for each in expected]


@pytest.mark.parametrize(
    ("policy", "exact", "expected"),
    [
        ({"default": "500m", "validRange": {"min": "500m", "step": "500m"}}, True, []),
        (
            {"default": "750m", "validRange": {"min": "500m", "step": "500m"}},
            True,
            [".validRange.step Invalid"],
        ),
        ({"default": "750m", "validRange": {"min": "500m", "step": "500m"}}, False, []),
        ({"default": "1", "validRange": {"min": "100u"}}, True, [".validRange.min Invalid"]),
        ({"default": "1", "validRange": {"min": "100u"}}, False, []),
        ({"default": "400m", "validValues": ["400m", "500m"]}, True, []),
        ({"default": "400m", "validValues": ["400m", "500m"]}, False, [".validValues[1] Duplicate"]),
    ],
)
def test_fractions_of_capacities(policy: dict[str, Any], expected: list[str], *, exact: bool) -> None:
    published = put(
        SLICE,
        (f"{X}.allowMultipleAllocations", True),
        (f"{X}.capacity", {"m": {"value": "40Gi", "requestPolicy": policy}}),
    )
    found = told(published, Server.of("1.37", {"DRAFractionalCapacityRange": exact}))
    assert found == [f"{AT}.capacity[m].requestPolicy{each}" for each in expected]


def test_a_policy_is_for_devices_that_are_shared() -> None:
    published = put(SLICE, (f"{X}.capacity", {"m": {"value": "1", "requestPolicy": {"default": "1"}}}))
    assert told(published) == [f"{AT}.capacity[m].requestPolicy Forbidden"]


@pytest.mark.parametrize(
    ("resource", "expected"),
    [
        ({"cpu": {"overhead": {"perPod": "1"}}}, []),
        ({"hugepages-2Mi": {"mapping": {"deviceMultiplier": "8"}}}, []),
        ({"memory": {"mapping": {"capacityKey": "memory", "capacityMultiplier": "1"}}}, []),
        ({"gpu": {"overhead": {"perPod": "1"}}}, ["[gpu] Invalid"]),
        ({"cpu": {}}, ["[cpu] Required"]),
        ({"cpu": {"overhead": {}}}, ["[cpu].overhead Invalid"]),
        ({"cpu": {"overhead": {"perContainer": "-1"}}}, ["[cpu].overhead.perContainer Invalid"]),
        ({"cpu": {"mapping": {"deviceMultiplier": "0"}}}, ["[cpu].mapping.deviceMultiplier Invalid"]),
        (
            {"cpu": {"mapping": {"capacityKey": "zz", "capacityMultiplier": "1"}}},
            ["[cpu].mapping.capacityKey NotFound"],
        ),
        ({"cpu": {"mapping": {"capacityKey": "memory"}}}, ["[cpu].mapping.capacityMultiplier Required"]),
        ({"cpu": {"mapping": {}}}, ["[cpu].mapping Invalid"]),
    ],
)
def test_resources_of_the_node(resource: dict[str, Any], expected: list[str]) -> None:
    published = put(SLICE, (f"{X}.nodeAllocatableResources", resource))
    assert told(published) == [f"{AT}.nodeAllocatableResources{each}" for each in expected]


@pytest.mark.parametrize(
    ("attribute", "expected"),
    [
        ({"gpu.example.com/profile": {"string": "1g"}}, []),
        ({"profile": {"string": "1g"}}, []),
        ({}, ["spec.devices[0].attributes[gpu.example.com/profile] Required"]),
        ({"profile": {"int": 1}}, ["spec.devices[0].attributes[gpu.example.com/profile] Invalid"]),
    ],
)
def test_partitions_say_their_type(attribute: dict[str, Any], expected: list[str]) -> None:
    published = put(
        SLICE,
        ("spec.partitionTypeAttribute", "gpu.example.com/profile"),
        (f"{X}.consumesCounters", CONSUMES),
        (f"{X}.attributes", attribute),
    )
    assert told(published) == expected


def test_a_very_long_key_is_shortened_in_its_path() -> None:
    key = "d.example/" + "a" * 200
    (first, *_) = told(put(SLICE, (f"{X}.attributes", {key: {}})))
    assert first == f"{AT}.attributes TooLong"
    paths = [
        each.path for each in validate("ResourceSlice", put(SLICE, (f"{X}.attributes", {key: {}}))).problems
    ]
    assert f"{AT}.attributes[{key[:47]}...{key[-46:]}]" in paths


def test_a_device_of_the_older_version() -> None:
    older = put(
        SLICE, ("spec.devices", [{"name": "x", "basic": {"attributes": {"a": {}}}}]), ("spec.allNodes", False)
    )
    problems = validate("ResourceSlice", older, version="v1beta1").problems
    assert [each.path for each in problems] == [f"{AT}.attributes[a]"]
