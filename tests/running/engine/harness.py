"""A made-up repository whose step keeps a tally, and the real `allot` over it, to be killed at will."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from allotment.devices.ledger import Ledger

MARK = "ALLOT_TEST_MARK"
DEADLINE = 120.0

STEP = """
import os, time

def create(settings, context):
    def step(page, earlier):
        tally = os.open("tally", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        device = ",".join(context.devices)
        what = f"{page.volume} {page.name} {os.getpid()} {device}"
        os.write(tally, f"start {what} {time.monotonic()}\\n".encode())
        time.sleep(settings.get("seconds", 0.01))
        os.write(tally, f"end {what} {time.monotonic()}\\n".encode())
        os.close(tally)
        return {"txt": page.data * 3, "upper.txt": page.data.upper()}
    return step
"""


@dataclass(frozen=True, slots=True)
class Execution:
    """One time that the step ran over a page; ``ended`` is None when it did not come to its end."""

    volume: str
    page: str
    pid: int
    device: str
    begun: float
    ended: float | None


@dataclass
class Repository:
    """A repository in a folder of its own, with a ledger, a state folder and a mark of its own.

    ``bucket`` are lines of the platform's file, ``variables`` what its processes have in their environment.
    """

    root: Path
    volumes: int = 3
    pages: int = 12
    seconds: float = 0.01
    window: str = "4"
    pack: int = 1
    defaults: Mapping[str, object] = field(default_factory=dict)
    bucket: str = ""
    variables: Mapping[str, str] = field(default_factory=dict)

    def write(self) -> Repository:
        """Lay it out; returns itself."""
        for name in ("pipelines", "campaigns"):
            (self.root / name).mkdir(parents=True, exist_ok=True)
        defaults = {"grace_seconds": 20, **self.defaults}
        lines = "".join(f"  {key}: {value}\n" for key, value in defaults.items())
        (self.root / "platform.yaml").write_text(f"engine: local\n{self.bucket}defaults:\n{lines}")
        (self.root / "tallying.py").write_text(STEP)
        settings = f"    settings: {{seconds: {self.seconds}}}\n"
        (self.root / "pipelines" / "tally.yaml").write_text(
            f"gpu: {{cpu: 1}}\nsteps:\n  - step: tallying:create\n{settings}"
        )
        for volume in range(self.volumes):
            folder = self.root / "scans" / f"v{volume}"
            folder.mkdir(parents=True, exist_ok=True)
            for page in range(self.pages):
                (folder / f"p{page:03d}.txt").write_text(f"volume {volume} page {page} åäö\n")
        self.campaign("c", range(self.volumes))
        return self

    def campaign(self, name: str, volumes: range, extra: str = "") -> None:
        """Write a campaign over some of the volumes."""
        listed = "".join(f"  - {{id: v{volume}, folder: scans/v{volume}}}\n" for volume in volumes)
        (self.root / "campaigns" / f"{name}.yaml").write_text(
            f"pipeline: tally\nwindow: {self.window}\npack: {self.pack}\n{extra}volumes:\n{listed}"
        )

    @property
    def environment(self) -> dict[str, str]:
        """What a process of this repository has in its environment."""
        return {
            **os.environ,
            **self.variables,
            "ALLOT_LEDGER": str(self.root / "ledger"),
            "ALLOT_STATE": str(self.root / "state"),
            MARK: str(self.root),
            "PYTHONWARNINGS": "error",
        }

    def allot(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a command to its end."""
        return subprocess.run(
            [sys.executable, "-m", "allotment.cli", *words],
            cwd=self.root,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=DEADLINE,
        )

    def start(self, *words: str) -> subprocess.Popen[str]:
        """Start a command, its output in a file beside the repository."""
        with (self.root / "output.log").open("a") as output:
            return subprocess.Popen(
                [sys.executable, "-m", "allotment.cli", *words],
                cwd=self.root,
                env=self.environment,
                stdout=output,
                stderr=output,
                text=True,
                start_new_session=True,
            )

    def results(self) -> dict[str, bytes]:
        """Everything in the bucket."""
        folder = self.root / "results"
        return {
            str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()
        }

    def outputs(self) -> dict[str, bytes]:
        """Every output of every page, by its key."""
        return {
            key: data
            for key, data in self.results().items()
            if "/pages/" in key
            and key.rpartition("/")[2].count(".") > 1
            and not key.endswith(".refused.json")
        }

    def manifests(self) -> dict[str, object]:
        """Every manifest without what was measured."""
        return {
            key: without_measured(json.loads(data))
            for key, data in self.results().items()
            if key.endswith("/manifest.json")
        }

    def executions(self) -> list[Execution]:
        """Every time that the step ran, from its tally."""
        begun: dict[tuple[str, str, str], tuple[str, float]] = {}
        found: list[Execution] = []
        path = self.root / "tally"
        for line in path.read_text().splitlines() if path.exists() else ():
            what, volume, page, pid, device, moment = line.split(" ")
            key = (volume, page, pid)
            if what == "start":
                begun[key] = (device, float(moment))
            else:
                found.append(Execution(volume, page, int(pid), device, begun.pop(key)[1], float(moment)))
        found += [
            Execution(volume, page, int(pid), device, moment, None)
            for (volume, page, pid), (device, moment) in begun.items()
        ]
        return found

    def repeated(self) -> int:
        """How often the step ran over a page that it had begun before."""
        counts = Counter((run.volume, run.page) for run in self.executions())
        return sum(count - 1 for count in counts.values())

    def processes(self) -> list[int]:
        """Living processes that carry this repository's mark, this one and its like left out."""
        found = []
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit() or int(entry.name) == os.getpid():
                continue
            try:
                marked = f"{MARK}={self.root}".encode() in (entry / "environ").read_bytes().split(b"\0")
                dead = (entry / "stat").read_text().rpartition(")")[2].split()[0] in "ZX"
            except OSError:
                continue
            if marked and not dead:
                found.append(int(entry.name))
        return found

    def workers(self, engine: int) -> list[int]:
        """The workers of an engine: its children."""
        found = []
        for pid in self.processes():
            try:
                parent = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
            if parent == engine:
                found.append(pid)
        return found

    def taken(self) -> list[str]:
        """Devices that the ledger says are held."""
        return [str(device) for device in Ledger(self.root / "ledger").holders()]


def without_measured(value: object) -> object:
    """A record without everything under ``measured``."""
    if isinstance(value, dict):
        return {key: without_measured(item) for key, item in value.items() if key != "measured"}
    if isinstance(value, list):
        return [without_measured(item) for item in value]
    return value


def eventually(condition: object, *, seconds: float = 15.0) -> bool:
    """Whether a condition (a function) comes true before a deadline; looked at often."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():  # type: ignore[operator]
            return True
        time.sleep(0.01)
    return False


@dataclass(frozen=True, slots=True)
class Disturbance:
    """What was done to a run: how many workers were ended by it at most."""

    action: str
    workers: int


def disturb(
    repository: Repository, engine: subprocess.Popen[str], action: str, rng: random.Random
) -> Disturbance:
    """Do something to a running engine at this instant; waits for its end when it was ended."""
    workers = repository.workers(engine.pid)
    if action in {"kill worker", "kill both"} and workers:
        victims = workers if action == "kill both" else [rng.choice(workers)]
        for pid in victims:
            _signal(pid, signal.SIGKILL)
    if action in {"kill engine", "kill both"}:
        _signal(engine.pid, signal.SIGKILL)
    if action == "terminate engine":
        _signal(engine.pid, signal.SIGTERM)
    if action == "terminate worker" and workers:
        _signal(rng.choice(workers), signal.SIGTERM)
    if action in {"kill engine", "kill both", "terminate engine"}:
        engine.wait(timeout=DEADLINE)
    ended = {"kill worker": min(1, len(workers)), "kill engine": 99, "kill both": 99}
    return Disturbance(action, min(ended.get(action, 0), max(1, len(os.sched_getaffinity(0)))))


def _signal(pid: int, number: signal.Signals) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return


def waits(rng: random.Random) -> Iterator[float]:
    """Random instants between two disturbances, in seconds: often while it starts, mostly while it works."""
    while True:
        yield rng.choice((0.05, 0.3, 0.6)) + rng.random() * 0.6
