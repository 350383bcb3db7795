"""Workers killed at random instants, each in its own way, and started again until the volume is complete."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.running.processes import Repository, Started

PAGES = 30
STEP = """
import os, time

def create(settings, context):
    def step(page, earlier):
        with open("calls", "a") as file:
            file.write(page.name + "\\n")
        until = time.perf_counter() + 0.004
        while time.perf_counter() < until:
            pass
        return {"txt": page.data.upper(), "json": b"{}"}
    return step
"""
WAYS = ("kill", "kill group", "kill the working process", "kill the guardian too", "term")


@pytest.fixture
def repository(tmp_path: Path) -> Iterator[Repository]:
    repository = Repository(tmp_path / "repository")
    (repository.root / "slowly.py").write_text(STEP)
    repository.volume("book", PAGES)
    yield repository
    repository.clean_up()


def end(started: Started, way: str) -> None:
    """End a worker in one way."""
    worker = started.process.pid
    try:
        children = {pid for pid in started.repository.living() if pid != worker}
        working = {pid for pid in children if os.getpgid(pid) != os.getsid(pid)}
        if way == "term":
            started.process.terminate()
        elif way == "kill group":
            os.killpg(worker, signal.SIGKILL)
        elif way == "kill the working process" and working:
            os.kill(working.pop(), signal.SIGKILL)
        elif way == "kill the guardian too":
            for pid in (*(children - working), worker):
                os.kill(pid, signal.SIGKILL)
        else:
            started.process.kill()
    except ProcessLookupError:
        return


def contents(repository: Repository) -> dict[str, Any]:
    """What is in the bucket of the volume but for what was measured, leases and attempts."""
    found: dict[str, Any] = {}
    for key, data in repository.objects().items():
        if "/leases/" in key or "/attempts/" in key:
            continue
        if key.endswith("manifest.json") or Path(key).name.count(".") == 1:
            found[key] = {**json.loads(data), "measured": None}
        else:
            found[key] = data
    return found


def kill_until_complete(repository: Repository, dice: random.Random) -> None:
    assignment = repository.assignment(
        "slowly:create", volumes=("book",), limits={"reclaims": 1000, "retries": 0}
    )
    began = time.monotonic()
    assert repository.start(assignment).wait() == 0
    whole = time.monotonic() - began
    undisturbed = contents(repository)
    (repository.root / "results").rename(repository.root / "undisturbed")
    (repository.root / "calls").unlink()
    written: dict[str, tuple[int, int]] = {}
    killed = 0
    while True:
        started = repository.start(assignment)
        try:
            code = started.wait(dice.uniform(0.3, 1.2) * whole)
        except subprocess.TimeoutExpired:
            end(started, dice.choice(WAYS))
            code = started.wait()
            killed += 1
        repository.nothing_lives()
        for path in (repository.root / "results").rglob("*.*"):
            about = path.stat()
            was = written.setdefault(str(path), (about.st_ino, about.st_mtime_ns))
            assert was == (about.st_ino, about.st_mtime_ns), f"{path} was written twice"
        if code == 0:
            break
        assert code in {-signal.SIGKILL, 143, 1, -signal.SIGTERM}, started.output()
    assert contents(repository) == undisturbed
    calls = Counter((repository.root / "calls").read_text().split())
    assert set(calls) == {f"{number:04d}" for number in range(1, PAGES + 1)}
    assert sum(calls.values()) <= PAGES + killed
    outcomes = [
        json.loads(data)["outcome"] for key, data in repository.objects().items() if key.endswith(".end.json")
    ]
    assert set(outcomes) <= {"complete", "reclaimed"}


@pytest.mark.parametrize("seed", range(4))
def test_a_volume_survives_kills_at_random_instants(repository: Repository, seed: int) -> None:
    kill_until_complete(repository, random.Random(seed))


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(100, 200))
def test_a_volume_survives_kills_at_random_instants_for_long(repository: Repository, seed: int) -> None:
    kill_until_complete(repository, random.Random(seed))
