"""A run is never held up by whoever looks on: full pipes, closed pipes, closed terminals, no output."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.running.engine.harness import Repository, eventually

ALLOT = [sys.executable, "-m", "allotment.cli"]


def started(
    repository: Repository, output: int, *words: str, unbuffered: str = ""
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [*ALLOT, *words],
        cwd=repository.root,
        env={**repository.environment, "PYTHONUNBUFFERED": unbuffered},
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def all_done(repository: Repository) -> bool:
    return len(repository.manifests()) == repository.volumes


def test_a_pipe_that_nobody_reads_holds_up_nothing(tmp_path: Path) -> None:
    repository = Repository(tmp_path, volumes=6, pages=2).write()
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    try:
        while True:
            os.write(writing, b"x" * 4096)  # the pipe is full from the start
    except BlockingIOError:
        os.set_blocking(writing, True)
    engine = started(repository, writing, "run", "c")
    os.close(writing)
    assert eventually(lambda: all_done(repository), seconds=60)
    engine.send_signal(signal.SIGINT)
    os.close(reading)
    assert engine.wait(timeout=30) in {0, 1, 130}
    assert eventually(lambda: not repository.processes())


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_reader_that_goes_away_ends_nothing(tmp_path: Path, unbuffered: str) -> None:
    repository = Repository(tmp_path, volumes=3, pages=4).write()
    reading, writing = os.pipe()
    engine = started(repository, writing, "run", "c", unbuffered=unbuffered)
    os.close(writing)
    os.read(reading, 1)
    os.close(reading)
    assert engine.wait(timeout=60) == 0
    assert all_done(repository)


def test_a_terminal_that_is_closed_ends_the_run_after_the_pages_in_hand(tmp_path: Path) -> None:
    repository = Repository(tmp_path, volumes=4, pages=40, seconds=0.05).write()
    mine, theirs = pty.openpty()
    engine = started(repository, theirs, "run", "c")
    os.close(theirs)
    assert eventually(lambda: len(repository.executions()) > 2)
    os.close(mine)
    engine.send_signal(signal.SIGHUP)
    assert engine.wait(timeout=60) == 130
    assert repository.repeated() == 0
    assert repository.allot("run", "c").returncode == 0
    assert repository.repeated() == 0


@pytest.mark.parametrize(
    "words", [("--help",), ("status",), ("results", "c"), ("check",), ("check", "-o", "json"), ("devices",)]
)
def test_closed_outputs_are_no_fault(tmp_path: Path, words: tuple[str, ...]) -> None:
    repository = Repository(tmp_path, volumes=1, pages=1).write()
    script = 'exec "$0" -m allotment.cli "$@" <&- >&- 2>"$ERRORS"'
    ended = subprocess.run(
        ["sh", "-c", script, sys.executable, *words],
        cwd=tmp_path,
        env={**repository.environment, "ERRORS": str(tmp_path / "errors")},
    )
    assert ended.returncode == 0
    assert "Traceback" not in (tmp_path / "errors").read_text()


def test_a_run_without_any_output_does_its_work(tmp_path: Path) -> None:
    repository = Repository(tmp_path, volumes=2, pages=2).write()
    script = 'exec "$0" -m allotment.cli run c <&- >&- 2>&-'
    subprocess.run(["sh", "-c", script, sys.executable], cwd=tmp_path, env=repository.environment)
    assert all_done(repository)


def test_state_that_is_tidied_away_ends_nothing(tmp_path: Path) -> None:
    repository = Repository(tmp_path, volumes=4, pages=10, seconds=0.05).write()
    engine = repository.start("run", "c")
    assert eventually(lambda: len(repository.executions()) > 2)
    subprocess.run(["rm", "-rf", str(tmp_path / "state")], check=True)
    assert engine.wait(timeout=60) == 0, (tmp_path / "output.log").read_text()
    assert all_done(repository)
