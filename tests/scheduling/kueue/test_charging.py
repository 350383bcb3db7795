"""What claims and extended resources are charged to quota, and which claims are refused."""

from __future__ import annotations

from typing import Any

import pytest

from allotment.devices.classes import DeviceClass
from allotment.devices.slices import (
    Capacity,
    CounterConsumption,
    Device,
    Pool,
    RequestPolicy,
    ResourceSlice,
    ValidRange,
)
from allotment.scheduling.kueue.dra.charging import Charger, ClaimError, FaultKind
from allotment.scheduling.kueue.dra.claimed import ClaimReader
from allotment.scheduling.kueue.dra.extended import ExtendedClass, extended_charges
from allotment.scheduling.kueue.dra.mapping import read_mapping
from allotment.scheduling.kueue.gates import Gate
from allotment.scheduling.state.workloads import Workload
from tests.scheduling.kueue.scenes import Cluster, group, queue

GI = 1024**3
DRIVER = "gpu.example.com"
MAPPINGS: list[dict[str, Any]] = [
    {"name": "whole", "deviceClassNames": ["gpu", "fast-gpu"]},
    {
        "name": "slots",
        "deviceClassNames": ["part"],
        "sources": [{"counter": {"driver": DRIVER, "name": "slots"}}],
    },
    {
        "name": "memory",
        "deviceClassNames": ["shared"],
        "sources": [{"capacity": {"driver": DRIVER, "name": "memory"}}],
    },
]
POLICY = RequestPolicy("10Gi", (), ValidRange("5Gi", "40Gi", "5Gi"))
DEVICES = (
    Device(
        "d0",
        {"kind": "old"},
        {"memory": Capacity("80Gi", POLICY)},
        (CounterConsumption("card", {"slots": "2"}),),
    ),
    Device(
        "d1", {"kind": "new"}, {"memory": Capacity("40Gi")}, (CounterConsumption("card", {"slots": "4"}),)
    ),
)
SLICES = (ResourceSlice("s", DRIVER, Pool("p"), node_name="n", devices=DEVICES),)
CLASSES = {name: DeviceClass(name, ()) for name in ("gpu", "fast-gpu", "part", "shared", "other")}


def exactly(device_class: str, count: int = 1, **more: Any) -> dict[str, Any]:
    found = {"deviceClassName": device_class, "allocationMode": "ExactCount", "count": count, **more}
    return {"name": "r", "exactly": found}


def selected(expression: str) -> dict[str, Any]:
    return {"selectors": [{"cel": {"expression": expression}}]}


def charges(*requests: dict[str, Any]) -> dict[str, int]:
    charger = Charger(
        read_mapping(MAPPINGS),
        {"team/t": {"devices": {"requests": list(requests)}}},
        CLASSES,
        SLICES,
        frozenset({Gate.COUNTERS, Gate.CAPACITY}),
    )
    claim = {"name": "c", "resourceClaimTemplateName": "t"}
    pod_set = {"name": "main", "template": {"spec": {"resourceClaims": [claim]}}}
    return charger.charges("team", [pod_set]).get("main", {})


KIND = f"device.attributes['{DRIVER}'].kind"
CHARGED = [
    pytest.param([exactly("gpu", 2)], {"whole": 2}, id="by number"),
    pytest.param([exactly("gpu"), exactly("fast-gpu", 2)], {"whole": 3}, id="classes of one resource"),
    pytest.param([exactly("gpu", adminAccess=True)], {}, id="a look costs nothing"),
    pytest.param([exactly("part", 2)], {"slots": 8}, id="by a counter: the most that any device draws"),
    pytest.param(
        [exactly("part", **selected(f"{KIND} == 'old'"))], {"slots": 2}, id="of those that are meant"
    ),
    pytest.param([exactly("shared")], {"memory": 40 * GI}, id="by a capacity: the most of any device"),
    pytest.param(
        [exactly("shared", capacity={"requests": {"memory": "12Gi"}})],
        {"memory": 15 * GI},
        id="what is asked for, rounded as a device's policy has it",
    ),
]


@pytest.mark.parametrize(("requests", "charged"), CHARGED)
def test_what_is_charged(requests: list[dict[str, Any]], charged: dict[str, int]) -> None:
    assert charges(*requests) == charged


FAULTS = [
    pytest.param(
        {"name": "r", "firstAvailable": [{"name": "a", "deviceClassName": "gpu"}]},
        FaultKind.INVALID,
        "FirstAvailable device selection is not supported",
        id="alternatives",
    ),
    pytest.param(
        exactly("gpu", allocationMode="All"),
        FaultKind.INVALID,
        "AllocationMode 'All' is not supported",
        id="all",
    ),
    pytest.param(
        exactly("other"),
        FaultKind.NOT_FOUND,
        "DeviceClass other is not mapped in DRA configuration",
        id="a class that is charged to nothing",
    ),
    pytest.param(
        exactly("gpu", **selected("device.")), FaultKind.INVALID, "CEL compilation failed", id="no CEL"
    ),
    pytest.param(
        exactly("gpu", 3, **selected(f"{KIND} == 'new'")),
        FaultKind.RETRY,
        "1 device(s) match in the cluster but 3 requested",
        id="more than there are, which may change",
    ),
    pytest.param(
        exactly("part", 3), FaultKind.RETRY, "2 device(s) match but 3 requested", id="counted ones too"
    ),
]


@pytest.mark.parametrize(("request_", "kind", "detail"), FAULTS)
def test_claims_that_cannot_be_charged(request_: dict[str, Any], kind: FaultKind, detail: str) -> None:
    with pytest.raises(ClaimError) as caught:
        charges(request_)
    assert caught.value.kind is kind
    assert detail in caught.value.detail
    assert caught.value.passes is (kind is FaultKind.RETRY)


def test_an_extended_resource_is_charged_as_its_class_and_not_a_second_time() -> None:
    spec = {
        "initContainers": [{"resources": {"requests": {"example.com/gpu": "3"}}}],
        "containers": [{"resources": {"requests": {"example.com/gpu": "1", "cpu": "1"}}} for _ in range(2)],
    }
    classes = [ExtendedClass("gpu", "example.com/gpu", 1.0), ExtendedClass("other", "example.com/gpu", 0.0)]
    found = extended_charges(spec, classes, read_mapping(MAPPINGS), frozenset())
    assert dict(found.charges) == {"whole": 3}
    assert found.replaced == {"example.com/gpu"}


def test_an_extended_resource_cannot_stand_for_a_class_that_is_measured() -> None:
    spec = {"containers": [{"resources": {"requests": {"example.com/part": "1"}}}]}
    classes = [ExtendedClass("part", "example.com/part")]
    with pytest.raises(ClaimError, match="use ResourceClaimTemplates"):
        extended_charges(spec, classes, read_mapping(MAPPINGS), frozenset({Gate.COUNTERS}))


def workload(name: str, request_: dict[str, Any] | None, **spec: Any) -> Workload:
    reader = ClaimReader(
        Charger(
            read_mapping(MAPPINGS),
            {"team/t": {"devices": {"requests": [request_] if request_ else []}}},
            CLASSES,
            SLICES,
            frozenset({Gate.COUNTERS, Gate.EXTENDED}),
        ),
        (ExtendedClass("gpu", "example.com/gpu"),),
    )
    claims = [{"name": "c", "resourceClaimTemplateName": "t"}] if request_ else []
    template = {"spec": {"resourceClaims": claims, **spec}}
    return reader.read(
        {
            "metadata": {"namespace": "team", "name": name, "uid": name},
            "spec": {"queueName": "a", "podSets": [{"name": "main", "count": 2, "template": template}]},
        }
    )


def test_claims_are_charged_to_the_quota_of_their_class() -> None:
    cluster = Cluster(queue("a", group("whole", x=5)), workload("one", exactly("gpu", 2)))
    assert cluster.cycle().admitted["one"].pod_sets[0].usage == {"whole": 4}
    cluster.add(workload("two", exactly("gpu", 1)))
    assert (
        cluster.cycle()
        .waits["two"]
        .endswith("insufficient unused quota for whole in flavor x, 1 more needed")
    )


def test_an_extended_resource_takes_quota_of_the_class_that_it_stands_for() -> None:
    asks = {"containers": [{"name": "c", "resources": {"requests": {"example.com/gpu": "2"}}}]}
    cluster = Cluster(queue("a", group("whole", x=5)), workload("one", None, **asks))
    assert cluster.cycle().admitted["one"].pod_sets[0].usage == {"whole": 4}


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        pytest.param(
            exactly("gpu", allocationMode="All"), "AllocationMode 'All' is not supported", id="refused"
        ),
        pytest.param(
            None, "KueueDRAIntegration feature does not support use of resource claims", id="by name"
        ),
    ],
)
def test_a_workload_with_a_wrong_claim_is_not_tried(wrong: dict[str, Any] | None, message: str) -> None:
    by_name = {} if wrong else {"resourceClaims": [{"name": "c", "resourceClaimName": "mine"}]}
    one = workload("one", wrong, **by_name)
    cluster = Cluster(queue("a", group("whole", x=5)), one)
    assert one.waiting is not None
    assert one.waiting.reason == "Misconfigured"
    assert message in one.waiting.message
    assert cluster.cycles(2) == [[], []]
    assert set(cluster.memory.line("a").aside) == {"team/one"}
