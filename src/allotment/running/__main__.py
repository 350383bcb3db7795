"""`python -m allotment.running --assignment FILE… [--index N | --prepare]`: a worker, here or in a pod.

A pod's assignment is in several files, each with keys of its own, and its secrets are files in a folder.

Three small things come before anything large is imported: the supervisor, which is this process; the
guardian, which outlives everything; and the limits of the process that works. A wrong call or a bad
assignment ends with 13, as everything that no other start can mend.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import NoReturn

from allotment.running.assignment import Assignment, AssignmentError, VolumeSpec
from allotment.running.board import Board
from allotment.running.endings import EXIT_FAILED, EXIT_PERMANENT
from allotment.running.guardian import keep_to_ourselves, post_guardian
from allotment.running.processes import adopt_orphans, die_with_parent
from allotment.running.reading_assignment import read_assignment
from allotment.running.supervisor import SIGNALS, Supervision
from allotment.running.withheld import secret_names


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
        drain = _hidden((*assignment.worker.masked, *secret_names(assignment.bucket)))
        try:
            return _supervise(assignment, pack)
        finally:
            drain()
    except AssignmentError as error:
        print(f"this worker cannot be started: {error}", file=sys.stderr)  # noqa: T201 - there is no log yet
        return EXIT_PERMANENT
    except OSError as error:
        print(f"this worker cannot be started here: {error}", file=sys.stderr)  # noqa: T201 - as above
        return EXIT_FAILED


def _asked(arguments: Sequence[str]) -> tuple[Assignment, tuple[VolumeSpec, ...] | None]:
    """The assignment, and the pack of volumes in it that this worker is to do; None: it is to prepare."""
    parser = _Arguments(prog="python -m allotment.running", description="Run volumes of a campaign.")
    parser.add_argument(
        "--assignment",
        required=True,
        action="append",
        metavar="FILE",
        help="what to do, as JSON; given several times, the keys of all files together",
    )
    parser.add_argument("--secrets", metavar="DIR", help="a folder of files that become variables")
    parser.add_argument("--index", type=int, default=0, metavar="N", help="which pack of it (default: 0)")
    parser.add_argument("--prepare", action="store_true", help="prepare its recipe, and do no volume")
    asked = parser.parse_args(arguments)
    assignment = read_assignment(_of_files(asked.assignment))
    if asked.secrets is not None:
        os.environ.update(_secrets_in(asked.secrets))
    if not os.path.isdir(assignment.root):  # noqa: PTH112 - as above
        raise AssignmentError(f"root: there is no folder {assignment.root}")
    return assignment, None if asked.prepare else assignment.pack(asked.index)


def _of_files(paths: Sequence[str]) -> object:
    """What the files say together; a key that two of them have is refused."""
    values = [_json_of(path) for path in paths]
    if len(values) == 1:
        return values[0]
    together: dict[str, object] = {}
    for path, value in zip(paths, values, strict=True):
        if not isinstance(value, dict):
            raise AssignmentError(f"{path}: a mapping is needed")
        if twice := sorted(together.keys() & value.keys()):
            raise AssignmentError(f"{path}: {twice[0]} is in another file too")
        together |= value
    return together


def _json_of(path: str) -> object:
    """The value of one file."""
    try:
        with open(path, encoding="utf-8") as file:  # noqa: PTH123 - nothing large is imported here
            value: object = json.load(file, parse_constant=_no_number)
    except OSError as error:
        raise AssignmentError(f"{path} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise AssignmentError(f"{path} is no JSON: {error}") from error
    except RecursionError:
        raise AssignmentError(f"{path} is nested too deeply") from None
    return value


def _secrets_in(folder: str) -> dict[str, str]:
    """The secrets of a folder, each a file that is called as its variable."""
    found: dict[str, str] = {}
    try:
        for name in sorted(os.listdir(folder)):  # noqa: PTH208 - as above
            if not name.startswith("."):
                with open(os.path.join(folder, name), encoding="utf-8") as file:  # noqa: PTH118, PTH123 - as above
                    found[name] = file.read().removesuffix("\n")
    except (OSError, ValueError) as error:
        raise AssignmentError(f"the secrets in {folder} cannot be read: {error}") from None
    return found


def _no_number(word: str) -> NoReturn:
    raise ValueError(f"{word} is no number")


def _log_to(path: str) -> None:
    """Send everything that this process and those below it print to the log."""
    log = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.close(log)


def _hidden(names: Sequence[str]) -> Callable[[], None]:
    """Keep the values of these variables out of everything that is printed from here on."""
    if not any(os.environ.get(name) for name in names):
        return lambda: None
    from allotment.running.masking import hide_output

    return hide_output(names, os.environ)


def _supervise(assignment: Assignment, pack: tuple[VolumeSpec, ...] | None) -> int:
    """The guardian, which has the work done, and the wait for its end."""
    keep_to_ourselves()
    board, most = Board(), assignment.limits.max_seconds
    deadline = None if most is None else time.monotonic() + most
    adopt_orphans()
    guardian = post_guardian(assignment, pack, board, deadline)
    if assignment.worker.events_fd is not None:
        with suppress(OSError):
            os.close(assignment.worker.events_fd)  # its end is the end of what works, whatever comes of us
    return Supervision(guardian, board).wait()


if __name__ == "__main__":
    sys.exit(main())
