"""`allot why` of what is running: who holds the devices, what the engine says, and whom to wait for."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.running.engine.harness import Repository, eventually


@pytest.fixture
def repository(tmp_path: Path) -> Iterator[Repository]:
    made = Repository(tmp_path, volumes=1, pages=1, defaults={"grace_seconds": 2}).write()
    folder = made.root / "fleets"
    folder.mkdir()
    cores = len(os.sched_getaffinity(0))
    (folder / "web.yaml").write_text(
        f"command: ['{sys.executable}', -c, 'import time; time.sleep(1000)']\nreplicas: {cores}\n"
    )
    yield made
    for pid in made.processes():
        os.kill(pid, signal.SIGKILL)


def test_a_campaign_that_waits_is_told_with_its_engine_and_with_whom_it_waits_for(
    repository: Repository,
) -> None:
    cores = len(os.sched_getaffinity(0))
    serving = repository.start("run", "web")
    assert eventually(lambda: len(repository.taken()) == cores)
    engine = repository.start("run", "c")
    assert eventually(lambda: "c waits" in repository.allot("status", "c").stdout)
    said = json.loads(repository.allot("why", "c", "-o", "json").stdout)
    (answer,) = said["answers"]
    assert (answer["state"], answer["cause"]["kind"]) == ("waits", "in-use")
    assert f"{cores} x processor, held by web/fleet-0" in answer["sentence"]
    assert answer["run"]["state"] == "running"
    assert "cpu" in answer["run"]["waits"]
    assert answer["changes"][0]["words"].startswith("wait for web/fleet-")
    assert (answer["nothing_waits"], answer["share"]) == (False, None)
    all_up = f"web: running, {cores} of {cores} up; nothing of it waits"
    assert repository.allot("why", "web").stdout.startswith(all_up)
    assert repository.allot("stop", "web").returncode == 0
    assert (serving.wait(timeout=30), engine.wait(timeout=30)) == (130, 0)
    assert "c: finished, 1 of 1 volume" in (text := repository.allot("why", "c").stdout)
    assert "held against this machine" in text
    (answer,) = json.loads(repository.allot("why", "c", "-o", "json").stdout)["answers"]
    assert answer["nothing_waits"] is True
