"""Where our allocator and the published one differ about a scenario."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tests.conformance.dra import compare_scenario
from tests.conformance.outcomes import Outcome
from tests.oracle.go_oracle import Oracle

SINCE_FIXED = frozenset({"FractionalCapacityRange"})
ASKED = 6  # where it walks a map, one answer in two is another


def as_known(behaviour: str, scenario: Mapping[str, Any]) -> dict[str, Any]:
    """The scenario with what the behaviour's version of the module can be asked.

    Before ``fixed`` an amount that is kept as a decimal (``1.5Gi``) grew in the claim itself each time that
    it was compared; that is not imitated, and such amounts are written as whole numbers.
    """
    if behaviour == "fixed":
        return dict(scenario)
    features = {name: on for name, on in scenario["features"].items() if name not in SINCE_FIXED}
    claims = json.loads(json.dumps(scenario["claims"]).replace('"1.5Gi"', '"1536Mi"'))
    return {**scenario, "features": features, "claims": claims}


def answered(oracle: Oracle, behaviour: str, scenario: Mapping[str, Any]) -> dict[str, Any]:
    """The scenario with the published allocator's answers, where it has one: no panic, and in time."""
    scenario = as_known(behaviour, scenario)
    answers = {
        f"{behaviour}/{variant}": answer
        for variant, answer in oracle.ask(scenario).items()
        if not answer.get("timedOut") and not answer.get("panicked")
    }
    return {**scenario, "answers": answers}


def differences(oracle: Oracle, behaviour: str, scenario: Mapping[str, Any]) -> list[Outcome]:
    """Everything in which the answers differ, each time that the published allocator is asked."""
    differing: list[Outcome] = []
    for _ in range(ASKED):
        compared = compare_scenario(answered(oracle, behaviour, scenario))
        differing = [outcome for outcome in compared if not outcome.agrees]
        if not differing:
            break
    return differing
