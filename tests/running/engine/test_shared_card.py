"""Real workers on one card that is made up: who takes too much is ended, and its neighbour loses nothing."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from allotment.quantities import GI
from allotment.repository.measured import FILE, Measured, PageSeconds, written
from allotment.repository.model import StepCall
from allotment.repository.recipe import recipe_digest
from tests.running.engine.harness import Repository

FAKE_LIBRARY = '''
"""NVIDIA's library over a folder: a file a process, which says what it uses."""
import os
from pathlib import Path
from types import SimpleNamespace

USED = Path(os.environ["ALLOT_TEST_USED"])

class NVMLError(Exception):
    pass

def nvmlInit():
    pass

def nvmlDeviceGetHandleByUUID(uuid):
    return uuid

def nvmlDeviceGetName(card):
    return "NVIDIA L4"

def nvmlDeviceGetComputeRunningProcesses(card):
    alive = [path for path in USED.iterdir() if Path("/proc", path.name).exists()]
    return [SimpleNamespace(pid=int(path.name), usedGpuMemory=int(path.read_text() or 0)) for path in alive]

def nvmlDeviceGetMemoryInfo(card):
    used = sum(each.usedGpuMemory for each in nvmlDeviceGetComputeRunningProcesses(card))
    return SimpleNamespace(total=23034 << 20, used=used, free=(23034 << 20) - used)
'''

STEP = """
import os, time
from pathlib import Path

GI = 1 << 30
USED = Path(os.environ["ALLOT_TEST_USED"])
TOLD = Path(os.environ["ALLOT_TEST_TOLD"])

class OutOfMemoryError(RuntimeError):
    pass

def use(amount):
    beside = TOLD / f".{os.getpid()}"
    beside.write_text(str(amount))
    beside.replace(USED / str(os.getpid()))

def others():
    found = 0
    for path in USED.iterdir():
        if path.name != str(os.getpid()) and Path("/proc", path.name).exists():
            found += int(path.read_text() or 0)
    return found

def until(condition):
    end = time.monotonic() + 60
    while not condition() and time.monotonic() < end:
        time.sleep(0.005)

def create(settings, context):
    seen = os.environ["CUDA_VISIBLE_DEVICES"]
    calls = []  # pages come in any order
    def step(page, earlier):
        calls.append(page)
        use(2 * GI)
        if len(calls) == 1:
            (TOLD / page.volume).touch()
            until(lambda: (TOLD / "v0").exists() and (TOLD / "v1").exists())
        if len(calls) == 2 and page.volume == "v0" and not (TOLD / "greedy").exists():
            (TOLD / "greedy").touch()
            until(lambda: (TOLD / "beside").exists())
            use(16 * GI)
            time.sleep(60)
        if len(calls) == 2 and page.volume == "v1" and not (TOLD / "crowded").exists():
            (TOLD / "beside").touch()
            until(lambda: others() > 8 * GI)
            (TOLD / "crowded").touch()
            raise OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB")
        return {"txt": page.data + seen.encode()}
    return step
"""

DRIVER = """
import os, sys
from pathlib import Path
from allotment.devices.describe import parse_description
from allotment.devices.ledger import Ledger
from allotment.platform.find import find_platform
from allotment.repository import load_repository
from allotment.running.engine.session import Session, run_works
from allotment.running.engine.work import works_for

class Nobody:
    def event(self, event): pass
    def turn(self, engine): pass

root = Path.cwd()
platform, _ = find_platform(root, option=root / "platform.yaml", environ=os.environ)
repository = load_repository(root, platform).checked()
works = works_for(repository, platform, platform.team_for((), None), ["c"])
session = Session("./results", root, parse_description("1 x L4"), Ledger(), os.environ, lambda name: None)
ran = run_works(works, session, Nobody())
sys.exit(bool(ran.campaigns[0].failures))
"""


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """Two volumes whose workers share a card by 8Gi each, on a card of 22.49Gi."""
    library, used, told = (tmp_path / name for name in ("library", "used", "told"))
    for folder in (library, used, told):
        folder.mkdir()
    (library / "pynvml.py").write_text(FAKE_LIBRARY)
    variables = {"PYTHONPATH": str(library), "ALLOT_TEST_USED": str(used), "ALLOT_TEST_TOLD": str(told)}
    repository = Repository(tmp_path, volumes=2, pages=3, variables=variables).write()
    (tmp_path / "sharing.py").write_text(STEP)
    (tmp_path / "driver.py").write_text(DRIVER)
    with (tmp_path / "platform.yaml").open("a") as file:
        file.write("sharing: [whole, fraction]\n")
    (tmp_path / "pipelines" / "tally.yaml").write_text(
        "gpu: {sharing: fraction, share: 8Gi}\nsteps: [{step: 'sharing:create'}]\n"
    )
    recipe = recipe_digest(None, None, [StepCall("sharing:create")])
    seconds = PageSeconds(0.1, 0.2, 0.3)
    entry = Measured("tally", recipe, "L4", 2 * GI, 0.95, 3, 90, seconds, 0.1, "2026-05-31T12:00:00Z")
    (tmp_path / FILE).write_text(written([entry]))
    return repository


def ends(repository: Repository, volume: str) -> list[tuple[str, str]]:
    """How the attempts at a volume ended, in their order, and why."""
    found = [
        json.loads(data)
        for key, data in sorted(repository.results().items())
        if f"/{volume}/attempts/" in key
        if key.endswith(".end.json")
    ]
    return [(end["outcome"], end["reason"]) for end in found]


def test_who_takes_too_much_is_ended_and_its_neighbour_burns_no_retry(repository: Repository) -> None:
    ended = subprocess.run(
        [sys.executable, "driver.py"],
        cwd=repository.root,
        env=repository.environment,
        capture_output=True,
        text=True,
        timeout=180,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert ends(repository, "v0") == [("failed", "share-exceeded"), ("complete", "")]
    assert ends(repository, "v1") == [("reclaimed", "crowded-out"), ("complete", "")]
    (end,) = [
        data
        for key, data in repository.results().items()
        if "/v0/attempts/" in key and key.endswith("1.end.json")
    ]
    assert "it used 16.00Gi of its card's memory, and its share is 8.00Gi" in json.loads(end)["message"]
    assert len(repository.outputs()) == 6
    assert all(b"GPU-" in data for data in repository.outputs().values())
    manifests = [
        json.loads(data) for key, data in repository.results().items() if key.endswith("manifest.json")
    ]
    peaks = [
        page["peak_device_memory_bytes"] >> 30
        for each in manifests
        for page in each["measured"]["pages"].values()
    ]
    assert peaks == [2] * 6
    assert repository.taken() == []
