"""The process that is known as the worker: it forwards what it is told, and ends as its guardian says.

    engine -> supervisor -> guardian -> working process -> whatever the steps start

Steps are foreign code. They may call `exit`, crash, hang, kill or stop their parent, and leave processes
behind. So the exit code of the worker is that of a process that runs none of it, is no parent of what does,
and ends with 0, 1, 13 or 143. Each of the two lower processes is looked after by the one above it:

- The supervisor dies with whoever started it. Its own death, however it comes, is heard by the guardian,
  which then ends everything below.
- A guardian that is stopped is continued. One that is killed takes the working process with it (parent-death
  signal); what is left has the supervisor for its parent then, is ended by it, and the worker counts as
  reclaimed. A supervisor that is stopped delays the exit code alone: limits are kept by the guardian.

Nothing can be done for what a step has started when the supervisor and the guardian are killed in the same
instant: the working process dies then, and its children live on.
"""

from __future__ import annotations

import contextlib
import os
import signal
from dataclasses import dataclass

from allotment.running.board import Board
from allotment.running.endings import EXIT_FAILED, EXIT_TERMINATED
from allotment.running.processes import end_below, for_a_moment, heard_within

LOOK_SECONDS = 0.5
SIGNALS = frozenset({signal.SIGTERM, signal.SIGINT, signal.SIGCHLD})


@dataclass(frozen=True, slots=True)
class Supervision:
    """What the supervisor watches: its guardian, and the board on which that one may leave a verdict."""

    guardian: int
    board: Board

    def wait(self) -> int:
        """Wait for the guardian's end, or its verdict; returns the exit code to end with."""
        while True:
            code = self._reap()
            if code is not None and code < 0:
                end_below(os.getpid(), pauses=for_a_moment())
                return EXIT_TERMINATED
            code = self.board.verdict if code is None else code
            if code is not None:
                return code
            heard = heard_within(SIGNALS, LOOK_SECONDS)
            if heard is not None and heard != signal.SIGCHLD:
                self._pass_on(heard)

    def _reap(self) -> int | None:
        """How the guardian ended (minus the signal that killed it), if so; one that is stopped goes on."""
        while True:
            try:
                ended, status = os.waitpid(-1, os.WNOHANG | os.WUNTRACED)
            except ChildProcessError:
                return EXIT_FAILED
            if ended == 0:
                return None
            if ended != self.guardian:
                continue
            if not os.WIFSTOPPED(status):
                return os.waitstatus_to_exitcode(status)
            self._pass_on(signal.SIGCONT)

    def _pass_on(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.guardian, number)
