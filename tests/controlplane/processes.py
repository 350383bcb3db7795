"""Programs that run beside the tests: each with a log, ended when the tests are, however those end."""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

_PARENT_DEATH: Final = 1
_LIBC: Final = ctypes.CDLL(None, use_errno=True)
STOP_SECONDS: Final = 10.0


class NotReady(Exception):
    """A program ended, or did not become what was waited for."""


def free_ports(count: int) -> list[int]:
    """Ports of the loopback address at which nobody listens now."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


class Program:
    """A running program. Its output goes to ``log``."""

    def __init__(
        self,
        name: str,
        command: Sequence[str | Path],
        log: Path,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        self.name = name
        self.log = log
        with log.open("ab") as out:
            self._process = subprocess.Popen(
                [str(each) for each in command],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                env=None if environ is None else dict(environ),
                start_new_session=True,
                preexec_fn=die_with_parent,  # noqa: PLW1509 - one call of the kernel, found beforehand
            )

    @property
    def pid(self) -> int:
        """Its process."""
        return self._process.pid

    @property
    def ended(self) -> bool:
        """Whether it has ended."""
        return self._process.poll() is not None

    def stop(self, *, hard: bool = False) -> None:
        """End it and all that it started."""
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL if hard else signal.SIGTERM)
        try:
            self._process.wait(timeout=STOP_SECONDS)
        except subprocess.TimeoutExpired:
            with suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)
            self._process.wait()

    def last_words(self, lines: int = 12) -> str:
        """The end of its log."""
        said = self.log.read_text(encoding="utf-8", errors="replace").splitlines()
        return "\n".join(said[-lines:])


def until(
    look: Callable[[], object],
    what: str,
    *,
    seconds: float = 30.0,
    programs: Sequence[Program] = (),
    pause: float = 0.05,
) -> None:
    """Return once ``look`` finds something; NotReady where it does not, or where a program has ended."""
    ends = time.monotonic() + seconds
    while not look():
        for each in programs:
            if each.ended:
                raise NotReady(
                    f"{each.name} has ended; its log {each.log} says at last:\n{each.last_words()}"
                )
        if time.monotonic() > ends:
            words = "".join(f"\n{each.name}: {each.last_words(3)}" for each in programs)
            raise NotReady(f"{what}: not within {seconds:.0f} s{words}")
        time.sleep(pause)


def die_with_parent() -> None:
    """For a process that has just been made: end when the thread that made it does."""
    _LIBC.prctl(_PARENT_DEATH, signal.SIGKILL)
