"""The language against the tests of its own specification, all of them that need no declared messages."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from allotment.devices.cel import CompileError, EvaluationError
from allotment.devices.cel import cel_types as t
from allotment.devices.cel.expressions import compile_expression, language
from tests.devices.cel.spec_package import cases, spec_tests
from tests.devices.cel.spec_values import alike, read_declarations, read_type, read_value

pytestmark = pytest.mark.network

LEAST = 1_740
"""So many tests need no messages but the well-known ones."""
RATE = 0.99
FILES = (
    "basic",
    "bindings_ext",
    "block_ext",
    "comparisons",
    "conversions",
    "dynamic",
    "encoders_ext",
    "fields",
    "fp_math",
    "integer_math",
    "lists",
    "logic",
    "macros",
    "macros2",
    "math_ext",
    "namespace",
    "optionals",
    "parse",
    "plumbing",
    "proto2",
    "string",
    "string_ext",
    "timestamps",
    "type_deductions",
)
_NOT_THERE = "cel-go finds nothing in a value that has no fields, where the specification has an error"
_OUTSIDE = "cel-go finds nothing behind the end of a text, where the specification has an error"
KNOWN: Mapping[str, str] = {
    "optionals/optionals/map_null_entry_no_such_key": _NOT_THERE,
    "optionals/optionals/map_present_key_invalid_field": _NOT_THERE,
    "string_ext/value_errors/indexof_out_of_range": _OUTSIDE,
    "string_ext/value_errors/lastindexof_out_of_range": _OUTSIDE,
    "timestamps/duration_converters/get_milliseconds": (
        "cel-go counts all milliseconds of a duration, the specification those of its last second"
    ),
    "type_deductions/legacy_nullable_types/null_assignable_to_abstract_parameter_candidate": (
        "cel-go takes the type of null for the more general one"
    ),
}
"""What is otherwise here, as it is in Kubernetes, and why."""
_MESSAGES = ("cel.expr.conformance.", "TestAllTypes", '"enumValue"')
"""Whoever speaks of these needs messages that a program declares, of which selectors know none."""


@pytest.fixture(scope="module")
def files() -> Mapping[str, Mapping[str, Any]]:
    return {suite["name"]: suite for suite in spec_tests()["conformance"]["suites"]}


def judge(case: Mapping[str, Any]) -> str | None:
    """What is wrong with our answer, if anything is."""
    variables, libraries = read_declarations(case.get("typeEnv", []))
    bound = {name: read_value(each["value"]) for name, each in case.get("bindings", {}).items()}
    names = language(
        {**dict.fromkeys(bound, t.DYN), **variables}, container=case.get("container", ""), libraries=libraries
    )
    try:
        expression = compile_expression(case["expr"], names, forgiving=case.get("disableCheck", False))
    except CompileError as error:
        return f"refused: {error.text}"
    typed = case.get("typedResult")
    if typed and expression.type != read_type(typed["deducedType"]):
        return f"is of type {expression.type}"
    if case.get("checkOnly"):
        return None
    try:
        found = expression.evaluate(bound)
    except EvaluationError as error:
        return None if "evalError" in case else f"error: {error}"
    if "evalError" in case:
        return f"is {found!r}, and no error"
    wanted = typed["result"] if typed else case.get("value", {"boolValue": True})
    return None if alike(found, read_value(wanted)) else f"is {found!r}"


def apart(suite: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """The tests of a file that need no declared messages."""
    found = {f"{suite['name']}/{name}": test["original"] for name, test in cases(suite)}
    return {name: case for name, case in found.items() if not _needs_messages(case)}


def _needs_messages(case: Mapping[str, Any]) -> bool:
    text = json.dumps(case)
    return any(word in text for word in _MESSAGES)


@pytest.mark.parametrize("name", FILES)
def test_a_file_is_answered_as_it_says(name: str, files: Mapping[str, Mapping[str, Any]]) -> None:
    judged = {case: judge(test) for case, test in apart(files[name]).items()}
    assert judged
    assert {case: why for case, why in judged.items() if why and case not in KNOWN} == {}
    assert [case for case in judged if case in KNOWN and not judged[case]] == [], "no longer otherwise"


def test_no_file_is_left_out_and_hardly_anything_is_otherwise(files: Mapping[str, Mapping[str, Any]]) -> None:
    ran = {name: len(apart(suite)) for name, suite in files.items()}
    assert [name for name, count in ran.items() if count and name not in FILES] == []
    assert sum(ran.values()) >= LEAST
    assert len(KNOWN) <= sum(ran.values()) * (1 - RATE)
