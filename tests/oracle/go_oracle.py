"""The published allocator of Kubernetes (``k8s.io/dynamic-resource-allocation``) as something to ask.

``main.go`` is built against one version of the module for each behaviour: the version that decides as the
behaviour says it does, found by asking all of them about the same scenarios.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.go_programs import NoProgram, Program, built

HERE = Path(__file__).parent
MODULES = {
    "fixed": HERE / "go.mod",  # v0.37.0-beta.0
    "snapshot": HERE / "snapshot.mod",  # v0.37.0-alpha.3
    "1.36.3": HERE / "1.36.3.mod",  # v0.36.3
}
VARIANTS = ("stable", "incubating", "experimental")


def program(behaviour: str, *, download: bool) -> Path:
    """The built program; ``download`` says whether Go may fetch the module where it is not at hand."""
    return built(Program(behaviour, MODULES[behaviour]), download=download)


class Oracle:
    """A running program, asked one scenario after the other."""

    def __init__(self, program: Path, limit_seconds: float = 5.0) -> None:
        options = ["-variants", ",".join(VARIANTS), "-limit", f"{limit_seconds}s"]
        self._process = subprocess.Popen(
            [program, *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.communicate()

    def ask(self, scenario: Mapping[str, Any]) -> dict[str, Any]:
        """The answer of each variant."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(scenario) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise NoProgram("the published allocator has ended; what it said stands on the error stream")
        answers: dict[str, Any] = json.loads(line)["answers"]
        return answers
