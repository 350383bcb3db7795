"""Selectors against the answers of cel-go with Kubernetes' libraries.

``verdict``: compiles or not, with which type; true, false or an error. ``text``: errors to the character.
``estimate`` and ``cost``: exact. Where upstream walks a map its order is random, and so is the cost; such a
cost is compared only if it is the same in every answer that the data have for it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from allotment.devices.cel import CompileError, DeviceView, Environment, EvaluationError, compile_selector
from allotment.devices.cel.devices import device_view
from allotment.devices.slices import AttributeValue, Capacity, Device, Version
from tests.conformance.outcomes import ALL, Outcome, Share, read_json

RECORDED_FROM = "1.37.0-alpha.3"
"""The answers come from the middle of 1.37's making, with cel-go 0.27, which differs from the release."""


def _value(raw: Mapping[str, Any]) -> AttributeValue:
    ((kind, value),) = raw.items()
    if kind.startswith("version"):
        return tuple(map(Version, value)) if kind == "versions" else Version(value)
    return tuple(value) if isinstance(value, list) else value


def _view(raw: Mapping[str, Any]) -> DeviceView:
    device = Device(
        "device",
        attributes={name: _value(value) for name, value in raw.get("attributes", {}).items()},
        capacity={name: Capacity(value["value"]) for name, value in raw.get("capacity", {}).items()},
        allow_multiple_allocations=bool(raw.get("allowMultipleAllocations")),
    )
    return device_view(raw["driver"], device)


def _environment(kind: str, *, capacity: bool, lists: bool) -> Environment:
    return Environment(
        RECORDED_FROM,
        stored=kind == "stored",
        consumable_capacity=capacity,
        list_type_attributes=lists,
    )


def _compare(
    case: str,
    expression: str,
    environment: Environment,
    expected: Mapping[str, Any],
    evals: list[tuple[DeviceView, Any]],
) -> Iterator[Outcome]:
    """One expression in one environment, on some devices."""
    try:
        program = compile_selector(expression, environment)
    except CompileError as error:
        yield Outcome(case, "verdict", "compiles" if "compileError" not in expected else "refused", "refused")
        yield Outcome(case, "compile text", expected.get("compileError"), error.text)
        return
    yield Outcome(case, "verdict", expected.get("outputType", "refused"), str(program.output_type))
    yield Outcome(case, "estimate", expected.get("maxCost"), program.max_cost)
    for number, (view, wanted) in enumerate(evals):
        place = f"{case} [{number}]"
        problem = wanted.get("error") or wanted.get("matchError")
        counted = program.count(view)
        ways: tuple[tuple[str, Callable[[], bool]], ...] = (
            ("value", partial(program.evaluate, view)),
            ("counted value", counted.outcome),
        )
        for what, evaluate in ways:
            found, text = _answer(evaluate)
            yield Outcome(place, what, "error" if problem else wanted["match"], found)
            if problem:
                yield Outcome(place, f"{what} text", problem, text)
        if wanted.get("actualCost") is not None:
            yield Outcome(place, "cost", wanted["actualCost"], counted.cost)


def _answer(evaluate: Callable[[], bool]) -> tuple[bool | str, str | None]:
    """True, false or `error`, and the error's text."""
    try:
        return evaluate(), None
    except EvaluationError as error:
        return "error", error.message


def run_cases(path: Path, share: Share = ALL) -> Iterator[Outcome]:
    """Upstream's own table of selectors, and the combinations of gates."""
    data = read_json(path)
    for case in share(data["cases"]):
        for actual in case["actual"]:
            environment = _environment(
                case["envType"],
                capacity=case["features"]["consumableCapacity"],
                lists=actual["listTypeAttributes"],
            )
            name = f"{case['name']} lists={actual['listTypeAttributes']}"
            yield from _compare(
                name, case["expression"], environment, actual, [(_view(case["device"]), actual)]
            )
    for case in share(data["feature_combinations"]):
        features = case["features"]
        environment = _gated(case["envType"], features)
        view = _view(case["device"])
        evals = [(view, wanted) for wanted in case["actual"].get("evals", [])]
        yield from _compare(
            f"{case['name']} {features}", case["expression"], environment, case["actual"], evals
        )


def run_extra(path: Path, share: Share = ALL) -> Iterator[Outcome]:
    """Many expressions on a few devices in every environment."""
    data = read_json(path)
    views = [_view(device) for device in data["devices"]]
    costs: dict[tuple[str, int], set[int]] = defaultdict(set)
    for run in data["runs"]:
        for result in run["results"]:
            for number, wanted in enumerate(result.get("evals", ())):
                costs[result["expression"], number].add(wanted["actualCost"])
    for run in data["runs"]:
        environment = _gated(run["envType"], run["features"])
        for result in share(run["results"]):
            expression = result["expression"]
            evals = [
                (view, wanted if len(costs[expression, number]) == 1 else {**wanted, "actualCost": None})
                for number, (view, wanted) in enumerate(zip(views, result.get("evals", ()), strict=False))
            ]
            name = f"{run['envType']} {run['features']} {expression}"
            yield from _compare(name, expression, environment, result, evals)


def _gated(kind: str, features: Mapping[str, bool]) -> Environment:
    return _environment(
        kind,
        capacity=bool(features.get("ConsumableCapacity")),
        lists=bool(features.get("ListTypeAttributes")),
    )
