"""Made-up scenarios with what KAI decided, in four runs each: equal to one of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tests.conformance.kai_cases import compared, look_at
from tests.conformance.outcomes import ALL, Outcome, Share, attempt, read_json_lines


def run_scenarios(path: Path, share: Share = ALL) -> Iterator[Outcome]:
    """Every scenario; of one that is like no run, the first difference to the first run is shown."""
    for case in read_json_lines(path, share):
        looked = attempt(lambda case=case: look_at(case))  # type: ignore[misc]
        feature = "+".join(case["actions"]) if len(case["actions"]) < 5 else f"all, {case['mode']}"
        differences = []
        for variant in case["variants"]:
            wrong = [
                (name, expected, found)
                for name, expected, found in compared(variant, looked)
                if expected != found
            ]
            differences.append(wrong[0] if wrong else None)
        first = None if None in differences else differences[0]
        expected, found = ("same", "same") if first is None else ((first[0], first[1]), (first[0], first[2]))
        yield Outcome(case["id"], feature, expected, found)
