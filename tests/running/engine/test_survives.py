"""Killed at any instant and started again, a campaign ends as if nothing had happened.

Page outputs are the same bytes, manifests the same values, no page is written twice, the step is repeated for
at most one page per ended worker, no process and no device is left behind.
"""

from __future__ import annotations

import random
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.running.engine.harness import Repository, disturb, eventually, waits

ACTIONS = ("kill engine", "kill worker", "kill both", "terminate engine", "terminate worker")
MOST_DISTURBANCES = 8


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    repository = Repository(tmp_path_factory.mktemp("undisturbed")).write()
    ended = repository.allot("run", "c", "--plain")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return repository


def killed_and_restarted(root: Path, undisturbed: Repository, seed: int) -> None:
    rng = random.Random(seed)
    repository = Repository(root).write()
    ended_workers = 0
    pauses: Iterator[float] = waits(rng)
    for turn in range(MOST_DISTURBANCES + 1):
        engine = repository.start("run", "c", "--plain")
        while turn < MOST_DISTURBANCES and engine.poll() is None:
            try:
                engine.wait(timeout=next(pauses))
            except subprocess.TimeoutExpired:
                pass
            else:
                break
            done = disturb(repository, engine, rng.choice(ACTIONS), rng)
            ended_workers += done.workers
        code = engine.wait(timeout=120)
        assert eventually(lambda: not repository.processes()), repository.processes()
        assert repository.taken() == []
        if code == 0:
            break
    assert code == 0, (root / "output.log").read_text()
    assert repository.outputs() == undisturbed.outputs()
    assert repository.manifests() == undisturbed.manifests()
    assert repository.repeated() <= ended_workers


@pytest.mark.parametrize("seed", range(20))
def test_a_campaign_that_is_killed_at_random_instants(
    tmp_path: Path, undisturbed: Repository, seed: int
) -> None:
    killed_and_restarted(tmp_path, undisturbed, seed)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(1000, 1100))
def test_a_hundred_campaigns_that_are_killed_at_random_instants(
    tmp_path: Path, undisturbed: Repository, seed: int
) -> None:
    killed_and_restarted(tmp_path, undisturbed, seed)
