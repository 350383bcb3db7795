"""The process that does the work, from its fork to its end: its place, its limits, its log, the pages.

It leads a process group of its own, dies with its guardian, and announces the exit code that it means
before it ends; an end that was not announced is no end of its own.
"""

from __future__ import annotations

import faulthandler
import logging
import os
import signal
import sys
from collections.abc import Callable
from io import TextIOBase
from pathlib import Path
from typing import NoReturn, cast

from allotment.running.assignment import Assignment, VolumeSpec
from allotment.running.board import Board
from allotment.running.endings import EXIT_FAILED
from allotment.running.limits import set_limits
from allotment.running.logs import begin_log
from allotment.running.masking import MaskedStream, hide
from allotment.running.processes import die_with_parent
from allotment.running.withheld import secret_names, withhold


def begin_process(
    assignment: Assignment,
    pack: tuple[VolumeSpec, ...] | None,
    board: Board,
    *,
    workdir: str,
    deadline: float | None,
    guardian: int,
) -> NoReturn:
    """Do the work in this freshly forked process, and end it; without a pack, prepare the recipe."""

    def do() -> int:
        os.setpgid(0, 0)
        die_with_parent(guardian)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGHUP})
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        faulthandler.enable()
        faulthandler.register(signal.SIGUSR1)
        withhold(assignment.bucket, given=assignment.worker.masked)
        names = (*assignment.worker.masked, *secret_names(assignment.bucket))
        mask = hide(os.environ[name] for name in names if os.environ.get(name))
        if names:
            sys.stdout = MaskedStream(cast("TextIOBase", sys.stdout), mask)
            sys.stderr = MaskedStream(cast("TextIOBase", sys.stderr), mask)
        begin_log(os.environ, assignment.team, assignment.campaign, mask)
        for complaint in set_limits(assignment.worker):
            logging.getLogger(__name__).warning("%s", complaint)
        if pack is None:
            from allotment.running.prepare.worker import prepare

            return prepare(assignment, board, Path(workdir), deadline)
        from allotment.running.worker import work

        return work(assignment, pack, board, Path(workdir), deadline)

    _end_with(do, board)


def _end_with(do: Callable[[], int], board: Board) -> NoReturn:
    """Run to the announced end; threads that still hang, and handlers of foreign code, do not hold it up."""
    code = EXIT_FAILED
    try:
        code = do()
    except BaseException:
        logging.getLogger(__name__).exception("the worker failed")
    finally:
        board.announce(code)
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except (OSError, ValueError):
                continue
        os._exit(code)
