"""Killed at any instant and started again, a campaign ends as if nothing had happened.

Page outputs are the same bytes, manifests the same values, no page is written twice, the step is repeated for
at most one page per ended worker, no process and no device is left behind.
"""

from __future__ import annotations

import random
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.running.engine.harness import Repository, disturb, eventually, waits

ACTIONS = ("kill engine", "kill worker", "kill both", "terminate engine", "terminate worker")
MOST_DISTURBANCES = 6
VOLUMES, PAGES = 4, 40


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    repository = Repository(tmp_path_factory.mktemp("undisturbed"), volumes=VOLUMES, pages=PAGES).write()
    ended = repository.allot("run", "c", "--plain")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return repository


def killed_and_restarted(repository: Repository, undisturbed: Repository, seed: int) -> None:
    rng = random.Random(seed)
    repository.write()
    ended_workers = 0
    pauses: Iterator[float] = waits(rng)
    disturbed = 0
    code = None
    while code != 0:
        engine = repository.start("run", "c", "--plain")
        while disturbed < MOST_DISTURBANCES:
            try:
                engine.wait(timeout=next(pauses))
            except subprocess.TimeoutExpired:
                pass
            else:
                break
            done = disturb(repository, engine, rng.choice(ACTIONS), rng)
            ended_workers += done.workers
            disturbed += 1
            if engine.poll() is not None:
                break
        code = engine.wait(timeout=120)
        assert eventually(lambda: not repository.processes()), repository.processes()
        assert eventually(lambda: not repository.taken()), repository.taken()
        assert code in {0, 130, -signal.SIGKILL, -signal.SIGTERM}, (
            repository.root / "output.log"
        ).read_text()
    assert disturbed > 0
    outputs, expected = repository.outputs(), undisturbed.outputs()
    assert sorted(outputs) == sorted(expected)
    assert [key for key in expected if outputs[key] != expected[key]] == []
    assert repository.manifests() == undisturbed.manifests()
    assert repository.repeated() <= ended_workers


@pytest.mark.parametrize("seed", range(20))
def test_a_campaign_that_is_killed_at_random_instants(
    tmp_path: Path, undisturbed: Repository, seed: int
) -> None:
    killed_and_restarted(Repository(tmp_path, volumes=VOLUMES, pages=PAGES), undisturbed, seed)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(1000, 1100))
def test_a_hundred_campaigns_that_are_killed_at_random_instants(
    tmp_path: Path, undisturbed: Repository, seed: int
) -> None:
    killed_and_restarted(Repository(tmp_path, volumes=VOLUMES, pages=PAGES), undisturbed, seed)
