"""`python -m allotment.running.commanding … -- PROGRAM ARGUMENTS`: a replica of a fleet, a worker of a gang.

The program is somebody's own and knows nothing of us. It is started below the same two small processes as a
worker that reads pages: a guardian that outlives everything and holds the devices' locks, and this
supervisor, which dies with the engine, passes SIGTERM on, and kills what has not ended when the grace is
over. It ends with 0 when the program did, with 143 when it was told to end, and with 1 for everything else;
the last line of the log says how the program ended.
"""

from __future__ import annotations

import argparse
import os
import secrets
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NoReturn

from allotment.running.assignment import WorkerSpec
from allotment.running.endings import EXIT_COMPLETE, EXIT_FAILED, EXIT_TERMINATED
from allotment.running.guardian import MARK, open_files, post_guardian
from allotment.running.limits import set_limits
from allotment.running.processes import adopt_orphans, die_with_parent, end_group
from allotment.running.supervisor import SIGNALS, clean_up

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
    inherited = _inherited()
    mark, workdir = secrets.token_hex(8), tempfile.mkdtemp(prefix="allotment-")
    guardian = post_guardian(mark, inherited, workdir)
    adopt_orphans()
    supervisor = os.getpid()
    pid = os.fork()
    if pid == 0:
        os.close(guardian.pipe)
        _become(task, mark=mark, workdir=workdir, supervisor=supervisor)
    guardian.tell_group(pid)
    code = _watch(pid, task.grace_seconds)
    if clean_up(pid, guardian):
        shutil.rmtree(workdir, ignore_errors=True)
        guardian.dismiss()
    return code


def command_line(task: Task) -> list[str]:
    """The arguments of this module that mean the task."""
    worker = task.worker
    words = ["--grace", f"{task.grace_seconds:g}", "--threads", str(worker.threads)]
    words += [] if worker.parent_pid is None else ["--parent", str(worker.parent_pid)]
    words += ["--cpus", ",".join(map(str, worker.cpus))] if worker.cpus else []
    words += ["--memory", str(worker.memory_limit)] if worker.memory_limit else []
    return [*words, "--", *task.command]


def read_task(arguments: Sequence[str]) -> Task:
    """The task that the arguments mean."""
    parser = argparse.ArgumentParser(prog="python -m allotment.running.commanding")
    parser.add_argument("--grace", type=float, default=30.0)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--parent", type=int, default=None)
    parser.add_argument("--cpus", type=lambda text: tuple(map(int, text.split(","))), default=None)
    parser.add_argument("--memory", type=int, default=None)
    parser.add_argument("command", nargs="+")
    asked = parser.parse_args(arguments)
    worker = WorkerSpec(
        cpus=asked.cpus, threads=asked.threads, memory_limit=asked.memory, parent_pid=asked.parent
    )
    return Task(tuple(asked.command), worker, asked.grace)


def _inherited() -> set[int]:
    """The open files that were handed to this process, the devices' locks: the program does not get them."""
    inherited = set()
    for number in open_files():
        if number > 2:
            try:
                os.set_inheritable(number, number <= 2)
            except OSError:
                continue
            inherited.add(number)
    return inherited


def _become(task: Task, *, mark: str, workdir: str, supervisor: int) -> NoReturn:
    """Become the program, in a process group of its own that dies with the supervisor."""
    try:
        os.setpgid(0, 0)
        die_with_parent(supervisor)
        os.environ[MARK] = mark
        os.environ[WORKDIR] = workdir
        for complaint in set_limits(task.worker):
            _say(complaint)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
        os.execvp(task.command[0], task.command)  # noqa: S606 - no shell is wanted
    except OSError as error:
        _say(f"{task.command[0]} cannot be started: {error.strerror}")
    finally:
        os._exit(NOT_STARTED)


def _watch(pid: int, grace_seconds: float, monotonic: Callable[[], float] = time.monotonic) -> int:
    """Wait for the program's end; returns the exit code to end with."""
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
        if told is not None and monotonic() >= told + grace_seconds:
            end_group(pid)
        heard = signal.sigtimedwait(SIGNALS, LOOK_SECONDS)
        if heard is not None and heard.si_signo != signal.SIGCHLD and told is None:
            told = monotonic()
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
