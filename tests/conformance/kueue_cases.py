"""The cases of Kueue's own unit tests, by test: a table of adapters that say what is expected and found."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from tests.conformance import kueue_cycles, kueue_flavors, kueue_preempting, kueue_quota
from tests.conformance.kueue_scene import Case
from tests.conformance.outcomes import ALL, Fault, Outcome, Share, attempt, read_json

TESTS: Mapping[str, Callable[[Case], tuple[object, object]]] = {
    **kueue_cycles.TESTS,
    **kueue_flavors.TESTS,
    **kueue_preempting.TESTS,
    **kueue_quota.TESTS,
}


def run_tables(path: Path, share: Share = ALL) -> Iterator[Outcome]:
    """Every case of a test that there is an adapter for."""
    document = read_json(path)
    for raw in share(raw for raw in document["cases"] if raw["test"] in TESTS):
        case = Case(raw, document["fixtures"])
        answer = attempt(lambda case=case: TESTS[case.raw["test"]](case))  # type: ignore[misc]
        expected, found = ("an answer", answer) if isinstance(answer, Fault) else answer
        yield Outcome(raw["id"], raw["kind"], expected, found)
