"""Real workers for tests: a small repository with steps of its own, and what a worker leaves behind."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from allotment.events.event import Event, parse_line

PATIENCE = 30.0

STEPS = '''
import os, pathlib, subprocess, sys, threading, time

def copy(settings, context):
    return lambda page, earlier: {"txt": page.data.upper()}

def told(name):
    """Say that something has come so far, once."""
    pathlib.Path("told", name).touch()

def on_second(act):
    """A factory of a step that does something on the second page."""
    def create(settings, context):
        def step(page, earlier):
            if page.name == "0002":
                told("second")
                act()
            return {"txt": page.data.upper()}
        return step
    return create

def hang_in_c():
    import collections, itertools
    collections.deque(itertools.repeat(0), maxlen=0)

def swallow():
    while True:
        try:
            time.sleep(1000)
        except BaseException:
            pass

def crash():
    import ctypes
    ctypes.string_at(0)

def spawn(settings, context):
    """A step that leaves processes behind: one in the group, one that has left it, one of a forked child."""
    def step(page, earlier):
        subprocess.Popen(["sh", "-c", "sleep 1000 & wait"])
        subprocess.Popen(["setsid", "sleep", "1000"])
        subprocess.Popen(["sh", "-c", "setsid sh -c 'sleep 1000 & sleep 1000' & exit 0"])
        if settings.get("hang") and page.name == "0002":
            told("second")
            time.sleep(1000)
        return {"txt": page.data}
    return step

sleep = on_second(lambda: time.sleep(1000))
nap = on_second(lambda: time.sleep(0.3))
hang = on_second(hang_in_c)
stubborn = on_second(swallow)
leave = on_second(lambda: os._exit(0))
exits = on_second(lambda: sys.exit(13))
segfault = on_second(crash)
greedy = on_second(lambda: bytearray(4 << 30))

def detach(settings, context):
    """A step that leaves a process that is hard to find: in a session of its own, without a mark."""
    def forked():
        child = os.fork()
        if child == 0:
            os.setsid()
            if os.fork():
                os._exit(0)
            pathlib.Path("pid.new").write_text(str(os.getpid()))
            pathlib.Path("pid.new").rename("pid")
            while True:
                time.sleep(1)
        os.waitpid(child, 0)

    def unmarked():
        process = subprocess.Popen(["setsid", "env", "-i", "sleep", "1000"])
        pathlib.Path("pid.new").write_text(str(process.pid))
        pathlib.Path("pid.new").rename("pid")

    def step(page, earlier):
        if page.name == "0001":
            {"forked": forked, "unmarked": unmarked}[settings["how"]]()
            while not pathlib.Path("pid").exists():
                time.sleep(0.01)
        if page.name == "0002":
            told("second")
            time.sleep(settings["sleep"])
        return {"txt": page.data}
    return step

def slow_load(settings, context):
    told("loading")
    time.sleep(1000)

def wrapping_load(settings, context):
    told("loading")
    try:
        time.sleep(60)
    except BaseException as error:
        raise ImportError("the model's library is broken") from error

def slow_c_load(settings, context):
    told("loading")
    hang_in_c()

def raising(settings, context):
    raise RuntimeError("no luck today")

def exiting(settings, context):
    sys.exit(0)

def bad_settings(settings, context):
    from allotment.running.steps import StepSettingsError
    raise StepSettingsError("there is no setting `colour`")

def no_step(settings, context):
    return {"txt": b""}

def forks(settings, context):
    def step(page, earlier):
        child = os.fork()
        if child:
            os.waitpid(child, 0)
        return {"txt": str(bool(child)).encode()}
    return step

def lazy_import(settings, context):
    import no_such_module

def surroundings(settings, context):
    def step(page, earlier):
        child = subprocess.run(["ls", "/proc/self/fd"], capture_output=True, text=True).stdout.split()
        told = {
            "cpus": sorted(os.sched_getaffinity(0)),
            "threads": [context.threads, os.environ["OMP_NUM_THREADS"]],
            "devices": context.devices,
            "workdir": [str(context.workdir), context.workdir.is_dir()],
            "folder": os.getcwd(),
            "open_in_children": len(child),
            "main_thread": threading.current_thread() is threading.main_thread(),
        }
        import json
        return {"json": json.dumps(told).encode()}
    return step
'''


@dataclass
class Started:
    """A worker that runs."""

    process: subprocess.Popen[str]
    repository: Repository
    pipe: int | None = None
    _events: bytes = b""

    def wait(self, seconds: float = PATIENCE) -> int:
        """Its exit code."""
        return self.process.wait(seconds)

    def output(self) -> str:
        """Its exit awaited, and what it printed."""
        printed, _ = self.process.communicate(timeout=PATIENCE)
        return printed

    def until_told(self, name: str) -> None:
        """Wait until a step has said that it has come so far."""
        until((self.repository.root / "told" / name).exists)

    def events(self) -> list[Event]:
        """Everything that came on its pipe, to the pipe's end."""
        assert self.pipe is not None
        while select.select([self.pipe], [], [], PATIENCE)[0]:
            part = os.read(self.pipe, 65536)
            if not part:
                break
            self._events += part
        os.close(self.pipe)
        return [event for line in self._events.splitlines() if (event := parse_line(line)) is not None]


@dataclass
class Repository:
    """A repository with steps and volumes, and its bucket."""

    root: Path
    mark: str = field(default_factory=lambda: uuid.uuid4().hex)
    started: list[Started] = field(default_factory=list)

    def __post_init__(self) -> None:
        (self.root / "told").mkdir(parents=True)
        self.scratch.mkdir()
        (self.root / "steps.py").write_text(STEPS)
        self.volume("v1", 3)

    @property
    def scratch(self) -> Path:
        """Where temporary files go."""
        return self.root / "scratch"

    def volume(self, name: str, pages: int) -> None:
        """Lay out a volume."""
        folder = self.root / "scans" / name
        folder.mkdir(parents=True)
        for number in range(1, pages + 1):
            (folder / f"p{number}.txt").write_text(f"{name} page {number}")

    def assignment(
        self,
        step: str = "steps:copy",
        *,
        volumes: tuple[str, ...] = ("v1",),
        settings: Mapping[str, Any] | None = None,
        limits: Mapping[str, Any] | None = None,
        worker: Mapping[str, Any] | None = None,
        **others: Any,
    ) -> dict[str, Any]:
        """What a worker is told."""
        return {
            "format_version": 1,
            "team": "team",
            "campaign": "letters",
            "pipeline": "read",
            "recipe": "0123456789ab",
            "steps": [{"step": step, "settings": settings or {}}],
            "volumes": [{"id": name, "source": {"folder": f"scans/{name}"}} for name in volumes],
            "root": str(self.root),
            "bucket": "results",
            "limits": {"grace_seconds": 3, "look_ahead": 1, **(limits or {})},
            "worker": worker or {},
            **others,
        }

    def start(
        self, assignment: Mapping[str, Any], *, fds: tuple[int, ...] = (), events: bool = False
    ) -> Started:
        """Start a worker as an engine does."""
        worker = dict(assignment["worker"])
        pipe, writing = os.pipe() if events else (None, None)
        if writing is not None:
            worker["events_fd"] = writing
            fds += (writing,)
        path = self.root / f"assignment-{len(self.started)}.json"
        path.write_text(json.dumps({**assignment, "worker": {"parent_pid": os.getpid(), **worker}}))
        own = {name: value for name, value in os.environ.items() if "THREAD" not in name}
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "allotment.running", "--assignment", str(path)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            pass_fds=fds,
            process_group=0,
            env={**own, "ALLOT_TEST": self.mark, "TMPDIR": str(self.scratch)},
            text=True,
        )
        if writing is not None:
            os.close(writing)
        started = Started(process, self, pipe)
        self.started.append(started)
        return started

    def run(self, *arguments: Any, **options: Any) -> tuple[int, str]:
        """Run a worker to its end; its exit code, and what it printed."""
        started = self.start(self.assignment(*arguments, **options))
        printed = started.output()
        return started.wait(), printed

    def detached(self) -> int:
        """The process that the step `detach` has left."""
        return int((self.root / "pid").read_text())

    def living(self) -> list[int]:
        """The processes that descend from this repository's workers and still live."""
        wanted = f"ALLOT_TEST={self.mark}".encode()
        return [pid for pid in all_processes() if wanted in environment(pid) and not is_zombie(pid)]

    def nothing_lives(self) -> None:
        """Wait until no process of the workers is left."""
        until(lambda: not self.living())

    def objects(self) -> dict[str, bytes]:
        """Everything in the bucket, but for events."""
        results = self.root / "results" / "team" / "read"
        return {
            str(path.relative_to(results / "0123456789ab")): path.read_bytes()
            for path in results.rglob("*")
            if path.is_file()
        }

    def end(self, volume: str = "v1", number: int = 1) -> dict[str, Any]:
        """How an attempt ended."""
        end: dict[str, Any] = json.loads(self.objects()[f"{volume}/attempts/{number}.end.json"])
        return end

    def pages(self, volume: str = "v1") -> set[str]:
        """The pages that have a record."""
        return {
            Path(key).stem
            for key in self.objects()
            if key.startswith(f"{volume}/pages/") and Path(key).name.count(".") == 1
        }

    def clean_up(self) -> None:
        """End what a failed test may have left."""
        for started in self.started:
            if started.process.poll() is None:
                started.process.kill()
            started.process.communicate()
        for pid in self.living():
            os.kill(pid, signal.SIGKILL)


def until(true: Callable[[], object], seconds: float = PATIENCE) -> None:
    """Wait until something is true, or fail."""
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, "it did not come true in time"
        time.sleep(0.01)


def all_processes() -> Iterator[int]:
    """Every process that can be seen."""
    return (int(name) for name in os.listdir("/proc") if name.isdigit())


def environment(pid: int) -> list[bytes]:
    """What a process was started with."""
    try:
        return Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return []


def is_zombie(pid: int) -> bool:
    """Whether a process has ended and waits to be buried."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in {"Z", "X"}
    except OSError:
        return True
