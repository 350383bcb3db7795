"""Rules of the API on claims and templates, each broken once: the place, and the kind of the problem."""

from __future__ import annotations

from typing import Any

import pytest

from allotment.devices.claims import ClaimSpec, ExactRequest, Request
from allotment.devices.limits import claim_problems
from allotment.devices.validation import Server, validate
from tests.devices.validation.held import ALTERNATIVES, CLAIM, REQUEST, TEMPLATE, put, told

EXACT = "spec.devices.requests.0.exactly"
AT = "spec.devices.requests[0].exactly"
COSTLY = "true"
for _letter in "abcde":
    COSTLY = f"[{', '.join(['1'] * 20)}].all({_letter}, {COSTLY})"


def selector(expression: str) -> dict[str, Any]:
    return {"cel": {"expression": expression}}


def requests(count: int) -> list[dict[str, Any]]:
    return [{**REQUEST, "name": f"r{number}"} for number in range(count)]


@pytest.mark.parametrize(
    ("path", "value", "expected"),
    [
        (f"{EXACT}.count", 0, []),
        (f"{EXACT}.count", -1, [f"{AT}.count Invalid"]),
        (f"{EXACT}.allocationMode", "All", []),
        (EXACT, {"deviceClassName": "x", "allocationMode": "All", "count": 2}, [f"{AT}.count Invalid"]),
        (f"{EXACT}.allocationMode", "Some", [f"{AT}.allocationMode NotSupported"]),
        (f"{EXACT}.deviceClassName", "", [f"{AT}.deviceClassName Required"]),
        (f"{EXACT}.deviceClassName", "Bad_", [f"{AT}.deviceClassName Invalid"]),
        (f"{EXACT}.deviceClassName", "a" * 64, []),
        (f"{EXACT}.selectors", [{}], [f"{AT}.selectors[0].cel Required"]),
        (f"{EXACT}.selectors", [selector("")], [f"{AT}.selectors[0].cel.expression Invalid"]),
        (f"{EXACT}.selectors", [selector("foo")], [f"{AT}.selectors[0].cel.expression Invalid"]),
        (f"{EXACT}.selectors", [selector("device.driver")], [f"{AT}.selectors[0].cel.expression Invalid"]),
        (f"{EXACT}.selectors", [selector("x" * 10241)], [f"{AT}.selectors[0].cel.expression TooLong"]),
        (f"{EXACT}.selectors", [selector(COSTLY)], [f"{AT}.selectors[0].cel.expression Forbidden"]),
        (f"{EXACT}.selectors", [selector("true")] * 32, []),
        (f"{EXACT}.selectors", [selector("")] * 33, [f"{AT}.selectors TooMany"]),
        (f"{EXACT}.tolerations", [{}], []),
        (f"{EXACT}.tolerations", [{"key": "k"}] * 17, []),
        (f"{EXACT}.tolerations", [{"key": "a b"}], [f"{AT}.tolerations[0].key Invalid"]),
        (f"{EXACT}.tolerations", [{"operator": "Like"}], [f"{AT}.tolerations[0].operator NotSupported"]),
        (f"{EXACT}.tolerations", [{"value": "a b"}], [f"{AT}.tolerations[0].value Invalid"]),
        (
            f"{EXACT}.tolerations",
            [{"operator": "Exists", "value": "v"}],
            [f"{AT}.tolerations[0].value Invalid"],
        ),
        (f"{EXACT}.tolerations", [{"effect": "Never"}], [f"{AT}.tolerations[0].effect NotSupported"]),
        (f"{EXACT}.capacity", {"requests": {"memory": "10Gi", "bad key": "1"}}, []),
        (
            f"{EXACT}.capacity",
            {"requests": {"memory": "10GB"}},
            [f"{AT}.capacity.requests.memory BadRequest"],
        ),
        ("spec.devices.requests.0.name", "A_", ["spec.devices.requests[0].name Invalid"]),
        ("spec.devices.requests.0.exactly", None, ["spec.devices.requests[0] Required"]),
        ("spec.devices.requests.1.exactly", {}, ["spec.devices.requests[1] Invalid"]),
        ("spec.devices.requests.1.firstAvailable", [], ["spec.devices.requests[1] Required"]),
        (
            "spec.devices.requests.1.firstAvailable.1.name",
            "big",
            ["spec.devices.requests[1].firstAvailable[1] Duplicate"],
        ),
        (
            "spec.devices.requests.1.firstAvailable.1.name",
            "",
            ["spec.devices.requests[1].firstAvailable[1].name Invalid"],
        ),
        (
            "spec.devices.requests.1.firstAvailable",
            [{"name": f"s{number}", "deviceClassName": "x"} for number in range(9)],
            ["spec.devices.requests[1].firstAvailable TooMany"],
        ),
        ("spec.devices.requests", [REQUEST, REQUEST], ["spec.devices.requests[1] Duplicate"]),
        ("spec.devices.requests", requests(32), []),
        ("spec.devices.requests", requests(33), ["spec.devices.requests TooMany"]),
        ("spec.devices", {}, []),
        ("metadata.name", "Bad_", ["metadata.name Invalid"]),
        ("metadata", {}, ["metadata.name Required"]),
        ("metadata", {"generateName": "c-"}, []),
        ("metadata.labels", {"a b": "c"}, ["metadata.labels Invalid"]),
        ("metadata.annotations", {"a/b/c": "d"}, ["metadata.annotations Invalid"]),
        ("metadata.annotations", {"a": "d" * 262_144}, ["metadata.annotations TooLong"]),
    ],
)
def test_a_request_that_breaks_a_rule(path: str, value: Any, expected: list[str]) -> None:
    assert told(put(CLAIM, (path, value))) == expected


@pytest.mark.parametrize(
    ("constraint", "expected"),
    [
        ({"matchAttribute": "x.example/a"}, []),
        ({"distinctAttribute": "x.example/a", "requests": ["a", "b/small", "b"]}, []),
        ({}, [" Required"]),
        ({"matchAttribute": "a"}, [".matchAttribute Invalid"]),
        ({"matchAttribute": ""}, [".matchAttribute Invalid"]),
        ({"matchAttribute": "/a"}, [".matchAttribute Invalid"]),
        ({"matchAttribute": f"x/{'a' * 33}"}, [".matchAttribute TooLong"]),
        ({"matchAttribute": "a/b/c"}, []),
        ({"distinctAttribute": "x y/a"}, [".distinctAttribute Invalid"]),
        ({"matchAttribute": "x/a", "distinctAttribute": "no name"}, []),
        ({"matchAttribute": "x/a", "requests": ["zz"]}, [".requests[0] Invalid"]),
        ({"matchAttribute": "x/a", "requests": ["b/zz"]}, [".requests[0] Invalid"]),
        ({"matchAttribute": "x/a", "requests": ["a/b/c"]}, [".requests[0] Invalid"]),
        ({"matchAttribute": "x/a", "requests": ["a", "a"]}, [".requests[1] Duplicate"]),
        ({"matchAttribute": "x/a", "requests": ["a"] * 33}, [".requests TooMany"]),
    ],
)
def test_a_constraint(constraint: dict[str, Any], expected: list[str]) -> None:
    at = "spec.devices.constraints[0]"
    assert told(put(CLAIM, ("spec.devices.constraints", [constraint]))) == [
        f"{at}{each}" for each in expected
    ]


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({"opaque": {"driver": "d.example", "parameters": {}}}, []),
        ({"opaque": {"driver": "D.Example", "parameters": {}}, "requests": ["a"]}, []),
        ({}, [".opaque Required"]),
        ({"opaque": {"parameters": {}}}, [".opaque.driver Required"]),
        ({"opaque": {"driver": "Bad_", "parameters": {}}}, [".opaque.driver Invalid"]),
        ({"opaque": {"driver": "d" * 64, "parameters": {}}}, [".opaque.driver TooLong"]),
        ({"opaque": {"driver": "d"}}, [".opaque.parameters Required"]),
        ({"opaque": {"driver": "d", "parameters": [1]}}, [".opaque.parameters Invalid"]),
        ({"opaque": {"driver": "d", "parameters": {"a": "x" * 10_240}}}, [".opaque.parameters TooLong"]),
        ({"opaque": {"driver": "d", "parameters": {}}, "requests": [""]}, [".requests[0] Invalid"]),
    ],
)
def test_a_configuration(config: dict[str, Any], expected: list[str]) -> None:
    at = "spec.devices.config[0]"
    assert told(put(CLAIM, ("spec.devices.config", [config]))) == [f"{at}{each}" for each in expected]


@pytest.mark.parametrize("name", ["constraints", "config"])
def test_of_a_list_that_is_too_long_nothing_else_is_said(name: str) -> None:
    assert told(put(CLAIM, (f"spec.devices.{name}", [{}] * 33))) == [f"spec.devices.{name} TooMany"]


@pytest.mark.parametrize(
    ("derived", "constraint", "expected"),
    [
        ([{"name": "d/x", "expression": "1"}], {"matchAttribute": "d/x"}, []),
        ([{"name": "d/x", "expression": "1"}], {"matchAttribute": "d/x", "requests": ["a"]}, []),
        (
            [{"name": "d/x", "expression": "1"}],
            {"matchAttribute": "d/x", "requests": ["b"]},
            ["[0].name Invalid"],
        ),
        ([{"name": "x", "expression": "1"}], {"matchAttribute": "d/x"}, ["[0].name Invalid"]),
        ([{}], {"matchAttribute": "d/x"}, ["[0].expression Required", "[0].name Required"]),
        ([{"name": "d/x", "expression": "1"}] * 2, {"matchAttribute": "d/x"}, ["[1] Duplicate"]),
    ],
)
def test_derived_attributes(derived: list[Any], constraint: dict[str, Any], expected: list[str]) -> None:
    claim = put(CLAIM, (f"{EXACT}.derivedAttributes", derived), ("spec.devices.constraints", [constraint]))
    assert told(claim) == [f"{AT}.derivedAttributes{each}" for each in expected]


def test_more_tolerations_than_documented_are_taken_and_told() -> None:
    claim = put(CLAIM, (f"{EXACT}.tolerations", [{"key": "k"}] * 17))
    (problem,) = validate("ResourceClaim", claim).problems
    assert (problem.path, problem.tolerated) == (f"{AT}.tolerations", "no server refuses more so far")


@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        ({"labels": {"a": "b"}, "annotations": {"a": "b"}}, []),
        (
            {"labels": {"a b": "c"}, "name": "x"},
            ["spec.metadata.labels Invalid", "spec.metadata.name Forbidden"],
        ),
        ({"namespace": "n"}, ["spec.metadata.namespace Forbidden"]),
    ],
)
def test_a_template_gives_labels_and_annotations(metadata: dict[str, Any], expected: list[str]) -> None:
    assert told(put(TEMPLATE, ("spec.metadata", metadata))) == expected


def test_a_template_is_held_to_the_rules_of_claims() -> None:
    template = put(TEMPLATE, ("spec.spec.devices.requests.0.name", "A_"))
    assert told(template) == ["spec.spec.devices.requests[0].name Invalid"]


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (None, []),
        ({"resource.kubernetes.io/admin-access": "true"}, []),
        ({}, ["spec.devices.requests[0].adminAccess"]),
    ],
)
def test_admin_access_wants_a_label_of_the_namespace(
    labels: dict[str, str] | None, expected: list[str]
) -> None:
    claim = put(CLAIM, (f"{EXACT}.adminAccess", True))
    problems = validate("ResourceClaim", claim, namespace_labels=labels).problems
    assert [each.path for each in problems] == expected


def test_words_and_hints() -> None:
    claim = put(CLAIM, ("spec.devices.constraints", [{"matchAttribute": "x/a", "requests": ["b/smal"]}]))
    (problem,) = validate("ResourceClaim", claim).problems
    assert "`b/smal` must be the name of a request" in problem.text
    assert problem.hint == "did you mean `b/small`?"
    mode = put(CLAIM, (f"{EXACT}.allocationMode", "Exact"))
    (problem,) = validate("ResourceClaim", mode).problems
    assert problem.hint == "did you mean `ExactCount`?"


def test_a_flat_request_of_the_older_version() -> None:
    flat = {"name": "a", "deviceClassName": "", "count": -1}
    both = {"name": "b", "deviceClassName": "x", "firstAvailable": ALTERNATIVES["firstAvailable"]}
    nothing = {"name": "c", "deviceClassName": "", "count": 0}
    claim = put(CLAIM, ("spec.devices.requests", [flat, both, nothing]))
    problems = validate("ResourceClaim", claim, version="v1beta1").problems
    assert sorted(each.path for each in problems) == [
        f"{AT}.count",
        f"{AT}.deviceClassName",
        "spec.devices.requests[1]",
        "spec.devices.requests[2]",
    ]


@pytest.mark.parametrize("minor", [34, 35, 36, 37])
def test_what_every_version_takes(minor: int) -> None:
    assert told(CLAIM, Server.of(f"1.{minor}")) == told(TEMPLATE, Server.of(f"1.{minor}")) == []


def test_a_claim_of_our_own() -> None:
    spec = ClaimSpec((Request("R", ExactRequest("a", count=-1)),))
    assert [each.partition(":")[0] for each in claim_problems(spec)] == [
        "spec.devices.requests[0].name",
        "spec.devices.requests[0].exactly.count",
    ]
