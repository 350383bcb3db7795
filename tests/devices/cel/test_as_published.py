"""Made-up selectors, answered by Kubernetes itself and by us: verdict, texts, estimate, value, cost.

Where upstream walks a map its order is random, and so may be cost and message: it is asked three times, and
what differs is not compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from allotment.devices.cel import CompileError, DeviceView, Environment, EvaluationError, compile_selector
from allotment.devices.cel.devices import device_view
from allotment.devices.slices import Capacity, Device, Version
from tests.devices.cel.made_selectors import DEVICES, SELECTORS
from tests.devices.cel.published_selectors import MODULES, ask, program
from tests.go_programs import NoProgram

SOME = 1_500
MANY = 6_000
TIMES = 3
Answer = dict[str, Any]


def view(raw: Mapping[str, Any]) -> DeviceView:
    attributes = {
        name: Version(value["version"]) if "version" in value else next(iter(value.values()))
        for name, value in raw.get("attributes", {}).items()
    }
    capacity = {name: Capacity(value["value"]) for name, value in raw.get("capacity", {}).items()}
    shared = raw.get("allowMultipleAllocations", False)
    return device_view(
        raw["driver"], Device("device", attributes, capacity, allow_multiple_allocations=shared)
    )


VIEWS = [view(raw) for raw in DEVICES]


def answer(expression: str, environment: Environment) -> Answer:
    """What we say, in the form in which Kubernetes is asked."""
    try:
        selector = compile_selector(expression, environment)
    except CompileError as error:
        return {"compileError": error.text}
    evals = []
    for each in VIEWS:
        counted = selector.count(each)
        found: Answer = {"match": False, "actualCost": counted.cost}
        try:
            found["match"] = selector.evaluate(each)
        except EvaluationError as error:
            found["error"] = error.message
        evals.append(found)
    return {"outputType": str(selector.output_type), "maxCost": selector.max_cost, "evals": evals}


def made(count: int) -> list[str]:
    """So many selectors."""
    found: dict[str, None] = {}

    @given(st.lists(SELECTORS.expressions("bool"), min_size=20, max_size=20))
    @settings(
        max_examples=count // 10,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    def gather(expressions: list[str]) -> None:
        found.update(dict.fromkeys(expressions))

    gather()
    return list(found)[:count]


def differing(expected: list[Answer], found: Answer) -> Iterator[str]:
    """What differs, but for what upstream itself says differently from time to time."""
    first = expected[0]
    if "compileError" in first or "compileError" in found:
        if first.get("compileError") != found.get("compileError"):
            yield f"compile: {first.get('compileError')} != {found.get('compileError')}"
        return
    for key in ("outputType", "maxCost"):
        if first[key] != found[key]:
            yield f"{key}: {first[key]} != {found[key]}"
    for place, ours in enumerate(found["evals"]):
        for key in ("match", "error", "actualCost"):
            said = {str(each["evals"][place].get(key)) for each in expected}
            if len(said) == 1 and said != {str(ours.get(key))}:
                yield f"[{place}] {key}: {said.pop()} != {ours.get(key)}"


def compare(built: Path, version: str, count: int) -> None:
    expressions = made(count)
    for stored, gates in ((True, True), (False, True), (False, False)):
        environment = Environment(
            version, stored=stored, consumable_capacity=gates, list_type_attributes=gates
        )
        asked = [
            {
                "expression": expression,
                "stored": stored,
                "consumableCapacity": gates,
                "listTypeAttributes": gates,
            }
            for expression in expressions
        ]
        told = [ask(built, DEVICES, asked) for _ in range(TIMES)]
        wrong = {
            expression: differences
            for expression, *each in zip(expressions, *told, strict=True)
            if (differences := list(differing(each, answer(expression, environment))))
        }
        assert wrong == {}


@pytest.mark.parametrize("version", MODULES)
def test_some_selectors_are_answered_as_published(version: str) -> None:
    try:
        built = program(version, download=False)
    except NoProgram as reason:
        pytest.skip(str(reason))
    compare(built, version, SOME)


@pytest.mark.soak
@pytest.mark.network
@pytest.mark.parametrize("version", MODULES)
def test_many_selectors_are_answered_as_published(version: str) -> None:
    try:
        built = program(version, download=True)
    except NoProgram as reason:
        pytest.skip(str(reason))
    compare(built, version, MANY)
