"""Ctrl-Z stops an engine, but not while the others wait for it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from tests.running.engine.harness import eventually

PROGRAM = """
import sys
from allotment.running.engine.signals import Signals

with Signals() as signals:
    with signals.unstopped():
        print("busy", flush=True)
        sys.stdin.readline()
        print("still busy", flush=True)
    print("free", flush=True)
    sys.stdin.readline()
"""


def is_stopped(pid: int) -> bool:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"


def test_a_process_is_stopped_once_it_is_free() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None

        def say() -> None:
            assert process.stdin is not None
            process.stdin.write("go on\n")
            process.stdin.flush()

        try:
            assert process.stdout.readline() == "busy\n"
            os.kill(process.pid, signal.SIGTSTP)
            say()
            assert process.stdout.readline() == "still busy\n"
            assert eventually(lambda: is_stopped(process.pid))
            os.kill(process.pid, signal.SIGCONT)
            assert process.stdout.readline() == "free\n"
            os.kill(process.pid, signal.SIGTSTP)
            assert eventually(lambda: is_stopped(process.pid))
            os.kill(process.pid, signal.SIGCONT)
            say()
            assert process.wait(timeout=30) == 0
        finally:
            process.kill()
