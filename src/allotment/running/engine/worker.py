"""A worker process: started on its devices, listened to, ended.

A worker leads a process group of its own, so that Ctrl-C at the terminal reaches the engine alone, and it
inherits the open locks of its devices, so that the kernel frees them when the last process of it is gone.
The engine closes its own copies at once: a device is held by whoever works on it, never by an engine.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO

from allotment.devices.claims import Allocation
from allotment.devices.ledger import Hold
from allotment.errors import WorldError
from allotment.events.event import Event, parse_line
from allotment.running.assignment import Assignment
from allotment.running.limits import THREAD_VARIABLES

READ_SIZE = 1 << 16
LAST_WORDS_BYTES = 4096
MOST_UNREAD = 1 << 22
LINE_BEGINNING = re.compile(r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d [a-z]+ ")


@dataclass(slots=True)
class Worker:
    """One worker: what it runs, on which devices, and the pipe on which it tells what it does.

    ``whom`` is the team that it was told to end for, if it was, and ``why`` says so in words. ``lends`` says
    that it may be taken back for another team, as it was when it started.
    """

    campaign: str
    index: int
    volumes: tuple[str, ...]
    allocation: Allocation
    started: float
    process: subprocess.Popen[bytes]
    pipe: int
    log: Path
    begun: bool = False
    held: bool = False
    asked_to_end: float | None = None
    killed: bool = False
    at_end: bool = False
    silent_since: float | None = None
    pause: float = 0.0
    whom: str = ""
    why: str = ""
    lends: bool = True
    mask: Callable[[str], str] = str
    _unread: bytearray = field(default_factory=bytearray)

    @property
    def pid(self) -> int:
        """The worker's process id, which is its group's too."""
        return self.process.pid

    def events(self) -> Iterator[Event]:
        """What the worker has told since the last call; does not wait."""
        while True:
            try:
                part = os.read(self.pipe, READ_SIZE)
            except BlockingIOError:
                break
            if not part:
                self.at_end = True
                break
            self._unread += part
        if len(self._unread) > MOST_UNREAD and b"\n" not in self._unread:
            self._unread.clear()  # no event is as long as that
        *lines, rest = bytes(self._unread).split(b"\n")
        self._unread[:] = rest
        for line in lines:
            event = parse_line(line)
            if event is not None:
                yield event

    def ask_to_end(self, now: float) -> None:
        """Ask it to end after the page in flight (SIGTERM, to the worker alone)."""
        if self.asked_to_end is None:
            self.asked_to_end = now
            self._signal(signal.SIGTERM, group=False)

    def kill(self) -> None:
        """End it and everything that it started, at once."""
        self.killed = True
        self._signal(signal.SIGKILL, group=True)

    def ended(self) -> int | None:
        """How it ended, once it has: its exit code, or minus the signal that killed it.

        What a step may have left in its process group is killed while the group's id is still the
        worker's.
        """
        if os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
            return None
        self._signal(signal.SIGKILL, group=True)
        return self.process.wait()

    def last_words(self, lines: int = 1) -> str:
        """The last line of its log, or so many of them, or nothing."""
        try:
            with self.log.open("rb") as file:
                file.seek(max(0, file.seek(0, os.SEEK_END) - LAST_WORDS_BYTES))
                said = file.read().decode("utf-8", errors="replace").splitlines()
        except OSError:
            return ""
        last = [LINE_BEGINNING.sub("", line.strip()) for line in said if line.strip()][-lines:]
        return self.mask(" | ".join(last))

    def close(self) -> None:
        """Let go of its pipe."""
        os.close(self.pipe)

    def _signal(self, number: signal.Signals, *, group: bool) -> None:
        try:
            if group:
                os.killpg(self.pid, number)
            else:
                self.process.send_signal(number)
        except (ProcessLookupError, PermissionError):
            return


def start_worker(
    assignment: Assignment,
    *,
    campaign: str,
    index: int,
    allocation: Allocation,
    hold: Hold,
    folder: Path,
    log: Path,
    now: float,
    environment: Mapping[str, str],
    mask: Callable[[str], str] = str,
    prepare: bool = False,
) -> Worker:
    """Start a worker on the devices of ``hold``; the hold is handed over and closed here.

    With ``prepare`` it prepares the recipe and does no volume. ``folder`` takes the assignment file. Raises
    WorldError when no process can be started.
    """
    path = folder / f"{campaign}-{'prepare' if prepare else index}.json"
    try:
        for needed in (folder, log.parent):  # somebody may have tidied up meanwhile
            needed.mkdir(mode=0o700, parents=True, exist_ok=True)
        reading, writing = os.pipe()
    except OSError as error:
        hold.close()
        raise WorldError(f"cannot start a worker: {error.strerror}", where=str(path)) from error
    os.set_blocking(reading, False)
    words = ["--prepare"] if prepare else []
    try:
        told = replace(
            assignment, worker=replace(assignment.worker, parent_pid=os.getpid(), events_fd=writing)
        )
        path.write_text(json.dumps(told.to_json()), encoding="utf-8")
        with private_log(log) as output:
            process = subprocess.Popen(
                [sys.executable, "-P", "-m", "allotment.running", "--assignment", str(path), *words],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                pass_fds=(writing, *hold.fds),
                process_group=0,
                env=dict(environment),
                cwd=assignment.root,
            )
    except OSError as error:
        os.close(reading)
        raise WorldError(f"cannot start a worker: {error.strerror}", where=str(path)) from error
    finally:
        os.close(writing)
        hold.close()
    volumes = tuple(volume.id for volume in assignment.pack(0))
    return Worker(campaign, index, volumes, allocation, now, process, reading, log, mask=mask)


def private_log(path: Path) -> IO[bytes]:
    """A log to write on, which is its user's alone: what programs print may be anything."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
    return os.fdopen(os.open(path, flags, 0o600), "ab")


def worker_environment(
    own: Mapping[str, str], pipeline: Mapping[str, str], threads: int, cards: Mapping[str, str]
) -> dict[str, str]:
    """The environment of a worker: ours, the pipeline's plain values, how many threads libraries may use,
    and the cards that it sees, which nothing of the pipeline can widen."""
    libraries = dict.fromkeys(THREAD_VARIABLES, str(threads))
    return {**own, **libraries, "PYTHONUNBUFFERED": "1", **pipeline, **cards}
