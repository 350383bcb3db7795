"""The process between the supervisor and the one that works: it sees to it that nothing of a step is left.

It leads a session of its own, so that no signal meant for the worker's group reaches it, and adopts orphans
(prctl(2), ``PR_SET_CHILD_SUBREAPER``): whatever a step starts stays below it, in whatever session, with
whatever environment, and is found there by descent. When the working process has ended, or the supervisor
has, it kills all of that. It keeps the inherited locks of devices open until nothing is left, so that no
device is free while anything may still use it.
"""

from __future__ import annotations

import itertools
import os
import shutil
import signal
import sys
import tempfile
import traceback
from collections.abc import Iterator
from contextlib import suppress

from allotment.running.assignment import Assignment, VolumeSpec
from allotment.running.board import Board
from allotment.running.endings import EXIT_FAILED
from allotment.running.processes import adopt_orphans, end_below, for_a_moment, hear_of_parents_end
from allotment.running.watching import SIGNALS, Death, Watch, WorkerEnd
from allotment.running.working import begin_process


def post_guardian(
    assignment: Assignment, pack: tuple[VolumeSpec, ...] | None, board: Board, deadline: float | None
) -> int:
    """Fork the guardian, which starts the working process; returns its process id."""
    supervisor = os.getpid()
    pid = os.fork()
    if pid:
        return pid
    code = EXIT_FAILED
    try:
        code = _guard(assignment, pack, board, deadline, supervisor)
    except BaseException:  # noqa: BLE001 - this process must not go on as its parent
        traceback.print_exc()
        end_below(os.getpid(), pauses=_for_long())
    finally:
        os._exit(code)


def open_files() -> tuple[int, ...]:
    """The numbers of this process's open files."""
    folder = "/proc/self/fd" if sys.platform == "linux" else "/dev/fd"
    return tuple(int(name) for name in os.listdir(folder))  # noqa: PTH208 - pathlib is not needed here


def keep_to_ourselves() -> None:
    """Keep the open files that were handed to this process, the devices' locks, from what it starts."""
    for number in open_files():
        with suppress(OSError):
            os.set_inheritable(number, number <= 2)


def _guard(
    assignment: Assignment,
    pack: tuple[VolumeSpec, ...] | None,
    board: Board,
    deadline: float | None,
    supervisor: int,
) -> int:
    """Start the working process, watch it to its end, and leave nothing of it; returns the exit code."""
    os.setsid()
    signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    hear_of_parents_end()
    adopt_orphans()
    guardian, workdir = os.getpid(), tempfile.mkdtemp(prefix="allotment-")
    pid = os.fork()
    if pid == 0:
        begin_process(assignment, pack, board, workdir=workdir, deadline=deadline, guardian=guardian)
    watch = Watch(pid, board, assignment.limits.grace_seconds, deadline, supervisor)
    if assignment.worker.device_share is not None:
        from allotment.running.share_guard import share_guard

        watch.guard = share_guard(os.environ, guardian, assignment.worker.device_share)
    end = watch.wait()
    nothing_left = end_below(guardian, pauses=for_a_moment())
    code = end.code if end.death is Death.ABANDONED else _close(assignment, board, end)
    if not nothing_left:
        board.judge(code)
        end_below(guardian, pauses=_for_long())
    shutil.rmtree(workdir, ignore_errors=True)
    return code


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


def _for_long() -> Iterator[float]:
    """Short pauses at first; without end, for what cannot be killed yet still uses its devices."""
    return itertools.chain(for_a_moment(), itertools.repeat(1.0))
