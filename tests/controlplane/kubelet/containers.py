"""A container as a process of this machine: started once, told to end, killed when its time is over."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.controlplane.processes import die_with_parent

NOT_STARTED: Final = 128


@dataclass(frozen=True, slots=True)
class Command:
    """What is to run, where, and with which variables."""

    words: Sequence[str]
    folder: Path
    environment: Mapping[str, str]
    log: Path


class Container:
    """A process and all that it starts."""

    def __init__(self, command: Command) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self.started_code: int | None = None
        with command.log.open("ab") as log:
            try:
                self._process = subprocess.Popen(
                    list(command.words),
                    cwd=command.folder,
                    env=dict(command.environment),
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                    preexec_fn=die_with_parent,  # noqa: PLW1509 - one call of the kernel, found beforehand
                )
            except OSError as error:
                log.write(f"{error}\n".encode())
                self.started_code = NOT_STARTED

    @property
    def exit_code(self) -> int | None:
        """As a runtime tells it: 128 and the signal for what was killed, 128 for what never started."""
        if self._process is None:
            return self.started_code
        code = self._process.poll()
        return code if code is None or code >= 0 else 128 - code

    def tell(self, signal_number: int = signal.SIGTERM) -> None:
        """A signal to its first process alone."""
        if self._process is not None and self._process.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self._process.pid, signal_number)

    def kill(self) -> None:
        """End everything in it."""
        if self._process is not None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
