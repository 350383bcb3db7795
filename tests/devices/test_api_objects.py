"""Slices, classes and claims as the objects of ``resource.k8s.io/v1`` that they stand for."""

from __future__ import annotations

import json
from dataclasses import FrozenInstanceError, replace

import pytest

from allotment.devices.claims import (
    AllocatedConfig,
    AllocatedDevice,
    Allocation,
    AllocationMode,
    ClaimSpec,
    ConfigSource,
    Constraint,
    DerivedAttribute,
    ExactRequest,
    Request,
    SubRequest,
    Toleration,
)
from allotment.devices.classes import DeviceClass, OpaqueConfig
from allotment.devices.limits import claim_problems
from allotment.devices.nodes import Node, NodeSelector, NodeSelectorTerm, Requirement
from allotment.devices.slices import (
    Capacity,
    CounterConsumption,
    CounterSet,
    Device,
    DeviceId,
    Pool,
    RequestPolicy,
    ResourceSlice,
    Taint,
    ValidRange,
    Version,
    attribute_to_dict,
)

ON_RACK_1 = NodeSelector((NodeSelectorTerm(match_expressions=(Requirement("rack", "In", ("r1",)),)),))
FULL = Device(
    name="gpu-0",
    attributes={
        "type": "gpu",
        "index": 0,
        "ecc": False,
        "driverVersion": Version("580.126.9"),
        "roots": ("a", "b"),
    },
    capacity={
        "memory": Capacity("81559Mi"),
        "shares": Capacity("10", RequestPolicy("1", valid_range=ValidRange("1", "10", "1"))),
        "slots": Capacity("4", RequestPolicy("2", valid_values=("2", "4"))),
    },
    consumes_counters=(CounterConsumption("gpu-0-counters", {"memory-slice-0": "1"}, ("halves",)),),
    taints=(Taint("gpu.nvidia.com/xid", "NoSchedule", "48", "2026-01-02T03:04:05Z"),),
    node_selector=ON_RACK_1,
    binds_to_node=True,
    binding_conditions=("ready",),
    binding_failure_conditions=("broken",),
    allow_multiple_allocations=True,
    node_allocatable={"cpu": {"mapping": {"capacityKey": "cores"}}},
)


def test_a_device_with_everything() -> None:
    assert FULL.to_dict() == {
        "name": "gpu-0",
        "attributes": {
            "type": {"string": "gpu"},
            "index": {"int": 0},
            "ecc": {"bool": False},
            "driverVersion": {"version": "580.126.9"},
            "roots": {"strings": ["a", "b"]},
        },
        "capacity": {
            "memory": {"value": "81559Mi"},
            "shares": {
                "value": "10",
                "requestPolicy": {"default": "1", "validRange": {"min": "1", "max": "10", "step": "1"}},
            },
            "slots": {"value": "4", "requestPolicy": {"default": "2", "validValues": ["2", "4"]}},
        },
        "consumesCounters": [
            {
                "counterSet": "gpu-0-counters",
                "counters": {"memory-slice-0": {"value": "1"}},
                "compatibilityGroups": ["halves"],
            }
        ],
        "nodeSelector": {
            "nodeSelectorTerms": [{"matchExpressions": [{"key": "rack", "operator": "In", "values": ["r1"]}]}]
        },
        "taints": [
            {
                "key": "gpu.nvidia.com/xid",
                "value": "48",
                "effect": "NoSchedule",
                "timeAdded": "2026-01-02T03:04:05Z",
            }
        ],
        "bindsToNode": True,
        "bindingConditions": ["ready"],
        "bindingFailureConditions": ["broken"],
        "allowMultipleAllocations": True,
        "nodeAllocatableResources": {"cpu": {"mapping": {"capacityKey": "cores"}}},
    }


def test_a_slice_of_devices_and_a_slice_of_counters() -> None:
    pool = Pool("node-1", generation=0, resource_slice_count=2)
    devices = ResourceSlice("a", "gpu.example.org", pool, per_device_node_selection=True, devices=(FULL,))
    counters = ResourceSlice(
        "b",
        "gpu.example.org",
        pool,
        "node-1",
        shared_counters=(CounterSet("gpu-0-counters", {"memory-slice-0": "1"}),),
        partition_type_attribute="gpu.example.org/profile",
        skip_node_operations=("*",),
    )
    assert devices.to_dict() == {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": "a"},
        "spec": {
            "driver": "gpu.example.org",
            "pool": {"name": "node-1", "generation": 0, "resourceSliceCount": 2},
            "perDeviceNodeSelection": True,
            "devices": [FULL.to_dict()],
        },
    }
    assert counters.to_dict()["spec"] == {
        "driver": "gpu.example.org",
        "pool": {"name": "node-1", "generation": 0, "resourceSliceCount": 2},
        "nodeName": "node-1",
        "sharedCounters": [{"name": "gpu-0-counters", "counters": {"memory-slice-0": {"value": "1"}}}],
        "partitionTypeAttribute": "gpu.example.org/profile",
        "skipNodeOperations": ["*"],
    }


def test_a_class_with_everything() -> None:
    config = OpaqueConfig("gpu.example.org", {"kind": "GpuConfig"})
    full = DeviceClass("big", ("device.driver == 'gpu.example.org'",), (config,), "example.org/gpu")
    assert full.to_dict() == {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceClass",
        "metadata": {"name": "big"},
        "spec": {
            "selectors": [{"cel": {"expression": "device.driver == 'gpu.example.org'"}}],
            "config": [{"opaque": {"driver": "gpu.example.org", "parameters": {"kind": "GpuConfig"}}}],
            "extendedResourceName": "example.org/gpu",
        },
    }
    assert DeviceClass("any").to_dict()["spec"] == {}


def test_a_claim_with_everything() -> None:
    exact = ExactRequest(
        "big",
        ("true",),
        count=2,
        tolerations=(Toleration("k", "Exists", effect="NoExecute", toleration_seconds=0),),
        capacity={"memory": "8Gi"},
        derived_attributes=(DerivedAttribute("x/z", "1"),),
    )
    everything = ExactRequest("any", mode=AllocationMode.ALL, admin_access=True)
    claim = ClaimSpec(
        (
            Request("one", exact),
            Request("two", everything),
            Request("three", first_available=(SubRequest("a", ExactRequest("big")),)),
        ),
        (Constraint(("one", "three/a"), match_attribute="x/y"), Constraint(distinct_attribute="x/z")),
        (OpaqueConfig("d", {"a": 1}, ("one",)),),
    )
    assert claim.to_dict() == {
        "devices": {
            "requests": [
                {
                    "name": "one",
                    "exactly": {
                        "deviceClassName": "big",
                        "selectors": [{"cel": {"expression": "true"}}],
                        "allocationMode": "ExactCount",
                        "count": 2,
                        "tolerations": [
                            {"key": "k", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 0}
                        ],
                        "capacity": {"requests": {"memory": "8Gi"}},
                        "derivedAttributes": [{"name": "x/z", "expression": "1"}],
                    },
                },
                {
                    "name": "two",
                    "exactly": {"deviceClassName": "any", "allocationMode": "All", "adminAccess": True},
                },
                {
                    "name": "three",
                    "firstAvailable": [
                        {"name": "a", "deviceClassName": "big", "allocationMode": "ExactCount", "count": 1}
                    ],
                },
            ],
            "constraints": [
                {"requests": ["one", "three/a"], "matchAttribute": "x/y"},
                {"distinctAttribute": "x/z"},
            ],
            "config": [{"requests": ["one"], "opaque": {"driver": "d", "parameters": {"a": 1}}}],
        }
    }
    assert claim_problems(claim) == ()
    assert len({claim, replace(claim)}) == 1


def test_an_allocation() -> None:
    allocation = Allocation((AllocatedDevice("one", DeviceId("d", "p/q", "x")),))
    assert allocation.to_dict() == {
        "devices": {"results": [{"request": "one", "driver": "d", "pool": "p/q", "device": "x"}]}
    }


def test_an_allocation_with_everything() -> None:
    device = AllocatedDevice(
        "one/big",
        DeviceId("d", "p", "x"),
        admin_access=False,
        tolerations=(Toleration("k", "Exists"),),
        binding_conditions=("ready",),
        binding_failure_conditions=("broken",),
        share_id="a-share",
        consumed_capacity={"memory": "10Gi"},
        skip_node_operations=("*",),
    )
    config = AllocatedConfig(ConfigSource.FROM_CLASS, OpaqueConfig("d", {"a": 1}, ("one/big",)))
    allocation = Allocation((device,), (config,), ON_RACK_1, "2026-01-02T03:04:05Z")
    assert allocation.to_dict() == {
        "devices": {
            "results": [
                {
                    "request": "one/big",
                    "driver": "d",
                    "pool": "p",
                    "device": "x",
                    "adminAccess": False,
                    "tolerations": [{"key": "k", "operator": "Exists"}],
                    "bindingConditions": ["ready"],
                    "bindingFailureConditions": ["broken"],
                    "shareID": "a-share",
                    "consumedCapacity": {"memory": "10Gi"},
                    "skipNodeOperations": ["*"],
                }
            ],
            "config": [
                {
                    "source": "FromClass",
                    "requests": ["one/big"],
                    "opaque": {"driver": "d", "parameters": {"a": 1}},
                }
            ],
        },
        "nodeSelector": ON_RACK_1.to_dict(),
        "allocationTimestamp": "2026-01-02T03:04:05Z",
    }


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (True, {"bool": True}),
        (1, {"int": 1}),
        ("1", {"string": "1"}),
        (Version("1.0.0"), {"version": "1.0.0"}),
        ((True, False), {"bools": [True, False]}),
        ((1, 2), {"ints": [1, 2]}),
        ((Version("1.0.0"),), {"versions": ["1.0.0"]}),
    ],
)
def test_attributes_keep_their_type(value: object, expected: dict[str, object]) -> None:
    assert attribute_to_dict(value) == expected  # type: ignore[arg-type]


def test_an_empty_list_has_no_type() -> None:
    with pytest.raises(ValueError, match="at least one value"):
        attribute_to_dict(())


@pytest.mark.parametrize("text", ["driver/pool/device", "d/a/b/x"])
def test_a_device_by_its_full_name(text: str) -> None:
    assert str(DeviceId.parse(text)) == text
    assert json.loads(json.dumps(str(DeviceId.parse(text)))) == text


@pytest.mark.parametrize("text", ["", "a", "a/b", "/b/c", "a//c", "a/b/"])
def test_what_is_no_full_name(text: str) -> None:
    with pytest.raises(ValueError, match="driver/pool/device"):
        DeviceId.parse(text)


def test_devices_are_ordered_by_driver_pool_and_name() -> None:
    ids = [DeviceId("b", "a", "a"), DeviceId("a", "b", "a"), DeviceId("a", "a", "b"), DeviceId("a", "a", "a")]
    assert [str(each) for each in sorted(ids)] == ["a/a/a", "a/a/b", "a/b/a", "b/a/a"]


def test_values_are_frozen() -> None:
    with pytest.raises(FrozenInstanceError):
        FULL.name = "other"  # type: ignore[misc]


ONE_OF_ALTERNATIVES = (SubRequest("s", ExactRequest("a")),)


@pytest.mark.parametrize(
    "both_or_none", [{}, {"exactly": ExactRequest("a"), "first_available": ONE_OF_ALTERNATIVES}]
)
def test_a_request_is_exact_or_has_alternatives(both_or_none: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="exactly one of `exactly` or `firstAvailable` is required"):
        Request("r", **both_or_none)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("requirement", "labels", "matches"),
    [
        (Requirement("a", "In", ("1", "2")), {"a": "2"}, True),
        (Requirement("a", "In", ("1",)), {}, False),
        (Requirement("a", "NotIn", ("1",)), {"a": "1"}, False),
        (Requirement("a", "NotIn", ("1",)), {}, True),
        (Requirement("a", "Exists"), {"a": ""}, True),
        (Requirement("a", "Exists"), {}, False),
        (Requirement("a", "DoesNotExist"), {}, True),
        (Requirement("a", "Gt", ("5",)), {"a": "6"}, True),
        (Requirement("a", "Gt", ("5",)), {"a": "5"}, False),
        (Requirement("a", "Lt", ("5",)), {"a": "-1"}, True),
        (Requirement("a", "Lt", ("x",)), {"a": "1"}, False),
        (Requirement("a", "Lt", ()), {"a": "1"}, False),
        (Requirement("a", "Gt", ("1",)), {}, False),
        (Requirement("a", "Near", ("1",)), {"a": "1"}, False),
    ],
)
def test_node_selectors(requirement: Requirement, labels: dict[str, str], *, matches: bool) -> None:
    selector = NodeSelector((NodeSelectorTerm(), NodeSelectorTerm(match_expressions=(requirement,))))
    assert selector.matches(Node("n", labels)) is matches


@pytest.mark.parametrize(
    ("toleration", "covered"),
    [
        (Toleration("k", "Equal", "v"), True),
        (Toleration("k", "", "v", "NoSchedule"), True),
        (Toleration("k", "Equal", "w"), False),
        (Toleration("k", "Exists"), True),
        (Toleration(operator="Exists"), True),
        (Toleration("k", "Exists", effect="NoExecute"), False),
        (Toleration("other", "Exists"), False),
        (Toleration("k", "Like", "v"), False),
    ],
)
def test_tolerations(toleration: Toleration, *, covered: bool) -> None:
    assert toleration.covers(Taint("k", "NoSchedule", "v")) is covered
