"""Rules of the API on classes, taint rules, the status of claims, and changes."""

from __future__ import annotations

from typing import Any

import pytest

from allotment.devices.validation.classes import is_extended_resource
from allotment.devices.validation.defaults import with_defaults
from allotment.devices.validation.updates import of_change, of_status_change
from tests.devices.validation.held import CLAIM, CLASS, RULE, SLICE, TEMPLATE, put, told

RESULT = {"request": "a", "driver": "d.example", "pool": "p", "device": "x"}
UID = "11111111-2222-3333-4444-555555555555"
CONDITION = {"type": "Ready", "status": "True", "reason": "R", "lastTransitionTime": "2026-01-01T00:00:00Z"}


@pytest.mark.parametrize(
    ("path", "value", "expected"),
    [
        ("spec.selectors", [{"cel": {"expression": "true"}}], []),
        ("spec.selectors", [{"cel": {"expression": "foo"}}], ["spec.selectors[0].cel.expression Invalid"]),
        ("spec.selectors", [{}] * 33, ["spec.selectors TooMany"]),
        ("spec.config", [{}], ["spec.config[0].opaque Required"]),
        ("spec.config", [{}] * 33, ["spec.config TooMany"]),
        ("spec.extendedResourceName", "example.com/gpu", []),
        ("spec.extendedResourceName", "gpu", ["spec.extendedResourceName Invalid"]),
        ("metadata.name", "Bad_", ["metadata.name Invalid"]),
    ],
)
def test_a_class(path: str, value: Any, expected: list[str]) -> None:
    assert told(put(CLASS, (path, value))) == expected


@pytest.mark.parametrize(
    ("name", "is_one"),
    [
        ("example.com/gpu", True),
        ("nvidia.com/gpu", True),
        ("gpu", False),
        ("a.kubernetes.io/x", False),
        ("requests.example.com/x", False),
        ("example.com/", False),
        ("/x", False),
        ("example.com/a/b", False),
        ("e/" + "x" * 64, False),
        ("A_/x", False),
    ],
)
def test_names_of_extended_resources(name: str, *, is_one: bool) -> None:
    assert is_extended_resource(name) is is_one


@pytest.mark.parametrize(
    ("path", "value", "expected"),
    [
        ("spec.deviceSelector", {}, []),
        ("spec.deviceSelector.driver", "", ["spec.deviceSelector.driver Required"]),
        ("spec.deviceSelector.pool", "a//b", ["spec.deviceSelector.pool Invalid"]),
        ("spec.deviceSelector.device", "X", ["spec.deviceSelector.device Invalid"]),
        ("spec.taint", {}, ["spec.taint.effect Required", "spec.taint.key Invalid"]),
        ("spec.taint.effect", "Never", ["spec.taint.effect NotSupported"]),
    ],
)
def test_a_taint_rule(path: str, value: Any, expected: list[str]) -> None:
    assert told(put(RULE, (path, value))) == expected


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ({}, []),
        ({"allocation": {"devices": {"results": [RESULT]}}}, []),
        ({"allocation": {"devices": {"results": [{**RESULT, "request": "b/big", "shareID": UID}]}}}, []),
        (
            {"allocation": {"devices": {"results": [{**RESULT, "request": "zz", "shareID": "x"}]}}},
            [
                "allocation.devices.results[0].request Invalid",
                "allocation.devices.results[0].shareID Invalid",
            ],
        ),
        ({"allocation": {"devices": {"results": [RESULT] * 33}}}, ["allocation.devices.results TooMany"]),
        (
            {"allocation": {"devices": {"config": [{"source": "X"}]}}},
            [
                "allocation.devices.config[0].opaque Required",
                "allocation.devices.config[0].source NotSupported",
            ],
        ),
        (
            {"allocation": {"nodeSelector": {}}},
            ["allocation.nodeSelector.nodeSelectorTerms Required"],
        ),
        ({"reservedFor": [{"resource": "pods", "name": "p", "uid": "1"}]}, ["reservedFor Forbidden"]),
        (
            {"allocation": {}, "reservedFor": [{}, {}]},
            [
                "reservedFor[0].name Required",
                "reservedFor[0].resource Required",
                "reservedFor[0].uid Required",
                "reservedFor[1] Duplicate",
                "reservedFor[1].name Required",
                "reservedFor[1].resource Required",
                "reservedFor[1].uid Required",
            ],
        ),
        (
            {
                "allocation": {},
                "reservedFor": [{"resource": "p", "name": "p", "uid": str(n)} for n in range(257)],
            },
            ["reservedFor TooMany"],
        ),
        ({"devices": [{"driver": "d", "pool": "p", "device": "y"}]}, ["devices[0] Invalid"]),
    ],
)
def test_the_status_of_a_claim(status: dict[str, Any], expected: list[str]) -> None:
    assert told({**CLAIM, "status": status}) == [f"status.{each}" for each in expected]


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ({"conditions": [CONDITION], "data": {"a": 1}, "networkData": {"ips": ["10.9.8.7/24"]}}, []),
        ({"conditions": [CONDITION, CONDITION]}, [".conditions[1] Duplicate"]),
        ({"conditions": [{**CONDITION, "type": f"T{n}"} for n in range(9)]}, [".conditions TooMany"]),
        (
            {"conditions": [{}]},
            [
                ".conditions[0].lastTransitionTime Required",
                ".conditions[0].reason Required",
                ".conditions[0].status Required",
                ".conditions[0].type Required",
            ],
        ),
        ({"conditions": [{**CONDITION, "status": "Yes"}]}, [".conditions[0].status NotSupported"]),
        ({"data": [1]}, [".data Invalid"]),
        ({"data": {"a": "x" * 10_240}}, [".data TooLong"]),
        ({"networkData": {"interfaceName": "e" * 257}}, [".networkData.interfaceName TooLong"]),
        ({"networkData": {"ips": ["10.9.8.7"]}}, [".networkData.ips[0] Invalid"]),
        ({"networkData": {"ips": ["2001:DB8::1/64"]}}, [".networkData.ips[0] Invalid"]),
        ({"networkData": {"ips": ["10.9.8.7/24"] * 2}}, [".networkData.ips[1] Duplicate"]),
    ],
)
def test_what_drivers_say_of_a_device(said: dict[str, Any], expected: list[str]) -> None:
    device = {key: value for key, value in RESULT.items() if key != "request"}
    status = {"allocation": {"devices": {"results": [RESULT]}}, "devices": [{**device, **said}]}
    assert told({**CLAIM, "status": status}) == [f"status.devices[0]{each}" for each in expected]


@pytest.mark.parametrize(
    ("before", "path", "value", "expected"),
    [
        (CLAIM, "metadata.labels", {"a": "b"}, []),
        (CLAIM, "spec.devices.requests.0.name", "c", ["spec"]),
        (TEMPLATE, "spec.spec.devices.requests", [], ["spec"]),
        (SLICE, "spec.devices", [], []),
        (SLICE, "spec.driver", "other", ["spec.driver"]),
        (SLICE, "spec.pool.name", "other", ["spec.pool.name"]),
        (SLICE, "spec.pool.generation", 2, []),
        (SLICE, "spec.nodeName", "other", ["spec.nodeName"]),
        (CLASS, "spec.extendedResourceName", "a/b", []),
    ],
)
def test_what_may_not_change(before: dict[str, Any], path: str, value: Any, expected: list[str]) -> None:
    found = of_change(before["kind"], before, put(before, (path, value)))
    assert [each.path for each in found] == expected


def test_an_allocation_is_written_once() -> None:
    given = {**CLAIM, "status": {"allocation": {"devices": {"results": [RESULT]}}}}
    other = {**CLAIM, "status": {"allocation": {"devices": {"results": []}}}}
    assert [each.path for each in of_status_change(given, other)] == ["status.allocation"]
    assert not list(of_status_change(given, CLAIM))
    assert not list(of_status_change(CLAIM, given))


def test_defaults() -> None:
    exact = {"deviceClassName": "x", "tolerations": [{"key": "k"}, {"operator": "Exists"}]}
    sub = {"name": "s", "deviceClassName": "x", "allocationMode": "All"}
    requests = [{"name": "a", "exactly": exact}, {"name": "b", "firstAvailable": [sub]}]
    filled = with_defaults("ResourceClaim", put(CLAIM, ("spec.devices.requests", requests)))
    assert filled["spec"]["devices"]["requests"] == [
        {
            "name": "a",
            "exactly": {
                "deviceClassName": "x",
                "tolerations": [{"key": "k", "operator": "Equal"}, {"operator": "Exists"}],
                "allocationMode": "ExactCount",
                "count": 1,
            },
        },
        {"name": "b", "firstAvailable": [sub]},
    ]
    assert (
        with_defaults("ResourceClaimTemplate", TEMPLATE)["spec"]["spec"]
        == (with_defaults("ResourceClaim", CLAIM)["spec"])
    )
