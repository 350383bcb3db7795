"""Kubernetes' own evaluation of selectors (``k8s.io/dynamic-resource-allocation/cel``) as something to ask.

``published/main.go`` is built against one version of the module for each version of Kubernetes.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tests.go_programs import DEADLINE, Program, built

HERE = Path(__file__).parent / "published"
MODULES = {"1.37": "go.mod", "1.37.0-alpha.3": "snapshot.mod", "1.36": "1.36.mod"}
"""Files that name the version of the module, by version of Kubernetes."""


def program(version: str, *, download: bool) -> Path:
    """The built program; ``download`` says whether Go may fetch the module where it is not at hand."""
    return built(Program(f"selectors-{version}", HERE / MODULES[version]), download=download)


def ask(
    program: Path, devices: list[dict[str, Any]], questions: Iterable[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """The answers to all questions, about all devices."""
    lines = [json.dumps(devices), *map(json.dumps, questions)]
    ended = subprocess.run(
        [program], input="\n".join(lines), capture_output=True, text=True, check=True, timeout=DEADLINE
    )
    return [json.loads(line) for line in ended.stdout.splitlines()]
