"""`python -m allotment.running.commanding … -- PROGRAM ARGUMENTS`: a replica of a fleet, a worker of a gang.

The program is somebody's own and knows nothing of us. It is started below the same two small processes as a
worker that reads pages: this supervisor, which dies with the engine and passes SIGTERM on, and a guardian,
which holds the devices' locks, kills what has not ended when the grace is over, and leaves nothing. It ends
with 0 when the program did, with 143 when it was told to end, and with 1 for everything else; the last line
of the log says how the program ended.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import NoReturn

from allotment.running.assignment import WorkerSpec
from allotment.running.board import Board
from allotment.running.endings import EXIT_COMPLETE, EXIT_FAILED, EXIT_TERMINATED
from allotment.running.guardian import keep_to_ourselves
from allotment.running.limits import set_limits
from allotment.running.processes import (
    adopt_orphans,
    die_with_parent,
    end_below,
    for_a_moment,
    hear_of_parents_end,
    heard_within,
)
from allotment.running.supervisor import Supervision
from allotment.running.watching import SIGNALS

LOOK_SECONDS = 0.5
NOT_STARTED = 127
WORKDIR = "ALLOT_WORKDIR"


@dataclass(frozen=True, slots=True)
class Task:
    """What to run, and under which limits."""

    command: tuple[str, ...]
    worker: WorkerSpec
    grace_seconds: float


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program that the command line names, to its end; returns the exit code."""
    signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    task = read_task(sys.argv[1:] if arguments is None else arguments)
    if task.worker.parent_pid is not None:
        die_with_parent(task.worker.parent_pid)
    keep_to_ourselves()
    drain = _hidden(task.worker.masked)
    adopt_orphans()
    supervisor = os.getpid()
    pid = os.fork()
    if pid == 0:
        code = EXIT_FAILED
        try:
            code = _guard(task, supervisor)
        finally:
            os._exit(code)
    try:
        return Supervision(pid, Board()).wait()
    finally:
        drain()


def _hidden(names: Sequence[str]) -> Callable[[], None]:
    """Keep the values of these variables out of everything that is printed from here on."""
    if not names:
        return lambda: None
    from allotment.running.masking import hide_output

    return hide_output(names, os.environ)


def _guard(task: Task, supervisor: int) -> int:
    """Start the program, watch it to its end, and leave nothing of it; returns the exit code."""
    os.setsid()
    hear_of_parents_end()
    adopt_orphans()
    guardian, workdir = os.getpid(), tempfile.mkdtemp(prefix="allotment-")
    pid = os.fork()
    if pid == 0:
        _become(task, workdir=workdir, guardian=guardian)
    code = _watch(pid, task.grace_seconds, supervisor)
    end_below(guardian, pauses=for_a_moment())
    shutil.rmtree(workdir, ignore_errors=True)
    return code


def command_line(task: Task) -> list[str]:
    """The arguments of this module that mean the task."""
    worker = task.worker
    words = ["--grace", f"{task.grace_seconds:g}", "--threads", str(worker.threads)]
    words += [] if worker.parent_pid is None else ["--parent", str(worker.parent_pid)]
    words += ["--cpus", ",".join(map(str, worker.cpus))] if worker.cpus else []
    words += ["--memory", str(worker.memory_limit)] if worker.memory_limit else []
    words += ["--masked", ",".join(worker.masked)] if worker.masked else []
    return [*words, "--", *task.command]


def read_task(arguments: Sequence[str]) -> Task:
    """The task that the arguments mean."""
    parser = argparse.ArgumentParser(prog="python -m allotment.running.commanding")
    parser.add_argument("--grace", type=float, default=30.0)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--parent", type=int, default=None)
    parser.add_argument("--cpus", type=lambda text: tuple(map(int, text.split(","))), default=None)
    parser.add_argument("--memory", type=int, default=None)
    parser.add_argument("--masked", type=lambda text: tuple(text.split(",")), default=())
    parser.add_argument("command", nargs="+")
    asked = parser.parse_args(arguments)
    worker = WorkerSpec(
        cpus=asked.cpus,
        threads=asked.threads,
        memory_limit=asked.memory,
        parent_pid=asked.parent,
        masked=asked.masked,
    )
    return Task(tuple(asked.command), worker, asked.grace)


def _become(task: Task, *, workdir: str, guardian: int) -> NoReturn:
    """Become the program, in a process group of its own that dies with the guardian."""
    try:
        os.setpgid(0, 0)
        die_with_parent(guardian)
        os.environ[WORKDIR] = workdir
        for complaint in set_limits(task.worker):
            _say(complaint)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
        os.execvp(task.command[0], task.command)  # noqa: S606 - no shell is wanted
    except OSError as error:
        _say(f"{task.command[0]} cannot be started: {error.strerror}")
    finally:
        os._exit(NOT_STARTED)


def _watch(
    pid: int, grace_seconds: float, supervisor: int, monotonic: Callable[[], float] = time.monotonic
) -> int:
    """Wait for the program's end, or the supervisor's; returns the exit code to end with."""
    told: float | None = None
    while True:
        status = _reaped(pid)
        if status is not None:
            code = os.waitstatus_to_exitcode(status)
            how = f"with exit code {code}" if code >= 0 else f"by signal {-code}"
            _say(f"the program ended {how}" + (", as it was told to" if told is not None else ""))
            if told is not None:
                return EXIT_TERMINATED
            return EXIT_COMPLETE if code == 0 else EXIT_FAILED
        if os.getppid() != supervisor:
            return EXIT_TERMINATED
        if told is not None and monotonic() >= told + grace_seconds:
            with suppress(ProcessLookupError):
                os.killpg(pid, signal.SIGKILL)
        heard = heard_within(SIGNALS, LOOK_SECONDS)
        if heard not in {None, signal.SIGCHLD, signal.SIGHUP} and told is None:
            told = monotonic()
            with suppress(ProcessLookupError):
                os.killpg(pid, signal.SIGTERM)


def _reaped(pid: int) -> int | None:
    """Take note of every child that has ended; returns the program's status once it has."""
    while True:
        try:
            ended, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return int(signal.SIGKILL)
        if ended == pid:
            return status
        if ended == 0:
            return None


def _say(message: str) -> None:
    print(message, file=sys.stderr, flush=True)  # noqa: T201 - standard error is the log here


if __name__ == "__main__":
    sys.exit(main())
