"""Two engines on one machine: never two volumes on one device, never one volume twice."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from tests.running.engine.harness import Execution, Repository, eventually


def overlapping(executions: list[Execution], key: str) -> list[tuple[Execution, Execution]]:
    """Pairs of executions on one device (or of one volume) by different processes that overlap in time."""
    found = []
    ordered = sorted(executions, key=lambda run: (getattr(run, key), run.begun))
    for before, after in pairwise(ordered):
        same = getattr(before, key) == getattr(after, key)
        if same and before.pid != after.pid and after.begun < (before.ended or before.begun):
            found.append((before, after))
    return found


@pytest.mark.parametrize("pack", [1, 2])
def test_over_the_same_campaign(tmp_path: Path, pack: int) -> None:
    repository = Repository(tmp_path, volumes=5, pages=10, seconds=0.02, pack=pack).write()
    engines = [repository.start("run", "c", "--plain") for _ in range(2)]
    codes = [engine.wait(timeout=120) for engine in engines]
    assert codes == [0, 0], (tmp_path / "output.log").read_text()
    executions = repository.executions()
    assert len(executions) == 50
    assert repository.repeated() == 0
    assert overlapping(executions, "device") == []
    assert overlapping(executions, "volume") == []
    assert len(repository.manifests()) == 5
    assert eventually(lambda: not repository.processes())
    assert repository.taken() == []


def test_over_the_same_devices(tmp_path: Path) -> None:
    repository = Repository(tmp_path, volumes=6, pages=8, seconds=0.02).write()
    repository.campaign("a", range(3))
    repository.campaign("b", range(3, 6))
    engines = [repository.start("run", name, "--plain") for name in ("a", "b")]
    codes = [engine.wait(timeout=120) for engine in engines]
    assert codes == [0, 0], (tmp_path / "output.log").read_text()
    executions = repository.executions()
    assert overlapping(executions, "device") == []
    assert repository.repeated() == 0
    assert len(repository.manifests()) == 6
    assert repository.taken() == []
