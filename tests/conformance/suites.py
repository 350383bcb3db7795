"""The table of suites: the file or folder of the cases, and the function that compares with it.

A new suite is one line here; ``outcomes`` says what the function is to do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from tests.conformance.outcomes import Outcome, Share

Run = Callable[[Path, Share], Iterator[Outcome]]


@dataclass(frozen=True)
class Suite:
    """``name`` is that of ``conformance.toml`` and ``--only``; ``function`` is named as ``module:function``.

    ``parts`` is how many shares it is worth running in; 1 is right for what takes a second or two. ``beside``
    is a file that the function reads as well.
    """

    name: str
    path: str
    function: str
    parts: int = 1
    beside: str = ""

    @property
    def group(self) -> str:
        """The part of the name that several suites have in common."""
        return self.name.partition("/")[0]

    def load(self) -> Run:
        """The function itself."""
        module, _, name = self.function.partition(":")
        run: Run = getattr(import_module(f"tests.conformance.{module}"), name)
        return run


SUITES = (
    Suite("cel/cases", "cel/cel_cases.json", "cel:run_cases"),
    Suite("cel/extra", "cel/cel_cases_extra.json", "cel:run_extra", parts=4),
    Suite("dra/cases", "dra/dra_cases.json", "dra:run_cases", parts=4),
    Suite("dra/scenarios", "dra/dra_fuzz_cases.jsonl.gz", "dra:run_scenarios", parts=8),
    Suite("apiserver/resources", "apiserver/apiserver_cases.json", "validation:run_validation"),
    Suite("apiserver/answers", "apiserver/apiserver_cases.json", "apiserver:run_cases"),
    Suite("kueue/cases", "kueue/kueue_cases.json", "kueue_cases:run_tables"),
    Suite("kueue/worlds", "kueue/kueue_fuzz_cases.jsonl.gz", "kueue_worlds:run_worlds", parts=4),
    Suite("kueue/jobs", "kueue/kueue_cases.json", "kueue_jobs:run_jobs"),
    Suite("kai/division", "kai/kai_division_golden.jsonl.gz", "kai_division:run_division"),
    Suite("kai/cases", "kai/kai_cases.json", "kai_cases:run_cases", parts=2),
    Suite("kai/seen", "kai/kai_cases.json", "kai_cases:run_seen", parts=2, beside="kai/kai_observed.json"),
    Suite("kai/scenarios", "kai/kai_fuzz_golden.jsonl.gz", "kai_scenarios:run_scenarios", parts=4),
    Suite("slices", "slices", "slices:run_slices"),
    Suite("slices/lint", "slices", "device_lint:run_lint"),
)
