"""`python -m allotment.running --assignment FILE [--index N | --prepare]`: a worker, here or in a pod.

Three small things come before anything large is imported: the guardian, which outlives everything; the
supervisor, which is this process; and the limits of the process that works. A wrong call or a bad
assignment ends with 13, as everything that no other start can mend.
"""

from __future__ import annotations

import argparse
import json
import os
import secrets
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from typing import NoReturn

from allotment.running.assignment import Assignment, AssignmentError, VolumeSpec, read_assignment
from allotment.running.board import Board
from allotment.running.endings import EXIT_FAILED, EXIT_PERMANENT
from allotment.running.guardian import open_files, post_guardian
from allotment.running.processes import adopt_orphans, die_with_parent
from allotment.running.supervisor import SIGNALS, Death, Watch, WorkerEnd, clean_up
from allotment.running.working import begin_process


class _Arguments(argparse.ArgumentParser):
    """A parser whose complaints end the process as a wrong call does here."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong with the call."""
        raise AssignmentError(f"{message} ({' '.join(self.format_usage().split())})")


def main() -> int:
    """Start the worker that the command line asks for, and watch it to its end; returns the exit code."""
    signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        assignment, pack = _asked(sys.argv[1:])
        if assignment.worker.parent_pid is not None:
            die_with_parent(assignment.worker.parent_pid)
        if assignment.worker.log is not None:
            _log_to(assignment.worker.log)
        return _supervise(assignment, pack)
    except AssignmentError as error:
        print(f"this worker cannot be started: {error}", file=sys.stderr)  # noqa: T201 - there is no log yet
        return EXIT_PERMANENT
    except OSError as error:
        print(f"this worker cannot be started here: {error}", file=sys.stderr)  # noqa: T201 - as above
        return EXIT_FAILED


def _asked(arguments: Sequence[str]) -> tuple[Assignment, tuple[VolumeSpec, ...] | None]:
    """The assignment, and the pack of volumes in it that this worker is to do; None: it is to prepare."""
    parser = _Arguments(prog="python -m allotment.running", description="Run volumes of a campaign.")
    parser.add_argument("--assignment", required=True, metavar="FILE", help="what to do, as JSON")
    parser.add_argument("--index", type=int, default=0, metavar="N", help="which pack of it (default: 0)")
    parser.add_argument("--prepare", action="store_true", help="prepare its recipe, and do no volume")
    asked = parser.parse_args(arguments)
    try:
        with open(asked.assignment, encoding="utf-8") as file:  # noqa: PTH123 - nothing large is imported here
            assignment = read_assignment(json.load(file, parse_constant=_no_number))
    except OSError as error:
        raise AssignmentError(f"{asked.assignment} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise AssignmentError(f"{asked.assignment} is no JSON: {error}") from error
    except RecursionError:
        raise AssignmentError(f"{asked.assignment} is nested too deeply") from None
    if not os.path.isdir(assignment.root):  # noqa: PTH112 - as above
        raise AssignmentError(f"root: there is no folder {assignment.root}")
    return assignment, None if asked.prepare else assignment.pack(asked.index)


def _no_number(word: str) -> NoReturn:
    raise ValueError(f"{word} is no number")


def _log_to(path: str) -> None:
    """Send everything that this process and those below it print to the log."""
    log = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.close(log)


def _supervise(assignment: Assignment, pack: tuple[VolumeSpec, ...] | None) -> int:
    """Guardian, working process, and what comes after its end."""
    limits = assignment.limits
    inherited = _inherited()
    mark, workdir, board = secrets.token_hex(8), tempfile.mkdtemp(prefix="allotment-"), Board()
    deadline = None if limits.max_seconds is None else time.monotonic() + limits.max_seconds
    guardian = post_guardian(mark, inherited - {assignment.worker.events_fd}, workdir)
    adopt_orphans()
    supervisor = os.getpid()
    pid = os.fork()
    if pid == 0:
        os.close(guardian.pipe)
        begin_process(
            assignment,
            pack,
            board,
            workdir=workdir,
            deadline=deadline,
            mark=mark,
            supervisor=supervisor,
        )
    guardian.tell_group(pid)
    end = Watch(pid, board, limits.grace_seconds, deadline).wait()
    nothing_left = clean_up(pid, guardian)
    code = _close(assignment, board, end)
    if nothing_left:
        shutil.rmtree(workdir, ignore_errors=True)
        guardian.dismiss()
    return code


def _inherited() -> set[int]:
    """The open files that were handed to this process; what the steps start is not to have them."""
    inherited = set()
    for number in open_files():
        try:
            os.set_inheritable(number, number <= 2)
        except OSError:
            continue
        if number > 2:
            inherited.add(number)
    return inherited


def _close(assignment: Assignment, board: Board, end: WorkerEnd) -> int:
    """Write the end of an attempt that the working process could not end itself, if there is time."""
    about = board.volume
    if about is None or end.death is Death.GRACE_OVER or (end.death is None and "reason" not in about):
        return end.code
    from allotment.running.aftermath import close_attempt, close_unwritten

    if "reason" in about:
        close_unwritten(assignment, about)
        return end.code
    assert end.death is not None  # noqa: S101 - said above
    return close_attempt(assignment, about, end.death, end.how, board.page)


if __name__ == "__main__":
    sys.exit(main())
