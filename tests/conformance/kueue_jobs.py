"""What Kueue's webhook says of Jobs against Kueue's own table of tests: each refusal's place and kind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from allotment.kubernetes.kueue_jobs import GATES, change_faults, creation_faults
from tests.conformance.outcomes import ALL, Outcome, Share, attempt, read_json

TESTS = ("TestValidateCreate", "TestValidateUpdate")
KINDS = {
    "FieldValueInvalid": "invalid",
    "FieldValueForbidden": "forbidden",
    "FieldValueRequired": "required",
    "FieldValueTooLong": "too long",
}


def run_jobs(path: Path, share: Share = ALL) -> Iterator[Outcome]:
    """Every Job that is made or changed in the tests of the webhook."""
    cases = read_json(path)["cases"]
    for case in share(case for case in cases if case["kind"] == "job" and case["test"] in TESTS):
        refused = case["expect"].get("wantValidationErrs") or ()
        expected = tuple(sorted((each["Field"], KINDS[each["Type"]]) for each in refused))
        feature = "create" if case["test"] == TESTS[0] else "change"
        yield Outcome(case["id"], feature, expected, attempt(lambda case=case: _said(case)))  # type: ignore[misc]


def _said(case: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    switched: Mapping[str, bool] = case.get("featureGates") or {}
    gates = {gate for gate in GATES if switched.get(gate, True)} | {
        gate for gate, on in switched.items() if on
    }
    given = case["input"]
    if "job" in given:
        faults = creation_faults(given["job"], gates)
    else:
        faults = change_faults(given["oldJob"], given["newJob"], gates)
    return tuple(sorted((fault.field, fault.kind) for fault in faults))
