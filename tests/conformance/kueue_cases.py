"""The cases of Kueue's own unit tests, by test: a table of adapters that say what is expected and found."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.conformance import (
    kueue_claims,
    kueue_cycles,
    kueue_flavors,
    kueue_lines,
    kueue_places,
    kueue_preempting,
    kueue_quota,
)
from tests.conformance.kueue_scene import Case
from tests.conformance.outcomes import ALL, Fault, Outcome, Share, attempt, read_json

TESTS: Mapping[str, Callable[[Case], tuple[object, object]]] = {
    **kueue_claims.TESTS,
    **kueue_cycles.TESTS,
    **kueue_flavors.TESTS,
    **kueue_lines.TESTS,
    **kueue_places.TESTS,
    **kueue_preempting.TESTS,
    **kueue_quota.TESTS,
}


def _needs_server(raw: Mapping[str, Any]) -> bool:
    """Whether a case is about a server that fails to write, which a pure function knows nothing of."""
    given, want = raw["input"], raw["expect"].get("want")
    fails = bool(given.get("apiFaults") or given.get("patchStatusErr"))
    return fails or (isinstance(want, dict) and want.get("error") is True)


def run_tables(path: Path, share: Share = ALL) -> Iterator[Outcome]:
    """Every case of a test that there is an adapter for."""
    document = read_json(path)
    for raw in share(raw for raw in document["cases"] if raw["test"] in TESTS and not _needs_server(raw)):
        case = Case(raw, document["fixtures"])
        answer = attempt(lambda case=case: TESTS[case.raw["test"]](case))  # type: ignore[misc]
        expected, found = ("an answer", answer) if isinstance(answer, Fault) else answer
        yield Outcome(raw["id"], raw["kind"], expected, found)
