"""A bucket that takes connections and says nothing keeps nobody from ending: commands, engines, workers."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.buckets.moto_server import KEYS
from tests.buckets.tiny_s3 import TinyS3
from tests.running.engine.harness import Repository, eventually
from tests.running.processes import Repository as Workers
from tests.running.processes import until

A_FEW_SECONDS = 8.0
GRACE = 30.0


@pytest.fixture
def store() -> TinyS3:
    return TinyS3()


@pytest.fixture
def repository(tmp_path: Path, store: TinyS3) -> Iterator[Repository]:
    with store.serving() as endpoint:
        bucket = (
            "bucket: s3://bucket/here\n"
            f"bucket_options: {{endpoint: '{endpoint}', allow_http: true, timeout: 60s}}\n"
        )
        defaults = {"grace_seconds": int(GRACE)}
        yield Repository(tmp_path, 2, 6, bucket=bucket, defaults=defaults, variables=KEYS).write()


def everything(_method: str, _path: str) -> bool:
    return True


def printed(repository: Repository) -> str:
    return (repository.root / "output.log").read_text()


def interrupted(
    repository: Repository, store: TinyS3, number: signal.Signals, *words: str
) -> tuple[float, int]:
    """How long a command takes to end once the bucket has kept silent and a signal has come; its code."""
    process: subprocess.Popen[str] = repository.start(*words)
    try:
        assert eventually(lambda: store.unanswered), printed(repository)
        began = time.monotonic()
        process.send_signal(number)
        code = process.wait(60)
        return time.monotonic() - began, code
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize(
    "words",
    [
        ("run", "c"),
        ("status",),
        ("status", "-w"),
        ("results", "c"),
        ("retry", "c"),
        ("logs", "v0"),
        ("doctor",),
    ],
    ids=" ".join,
)
def test_ctrl_c_ends_a_command_that_waits_for_the_bucket(
    repository: Repository, store: TinyS3, words: tuple[str, ...]
) -> None:
    store.is_silent = everything
    seconds, code = interrupted(repository, store, signal.SIGINT, *words)
    assert (code, seconds < A_FEW_SECONDS) == (130, True), printed(repository)
    assert "interrupted" in printed(repository)
    assert "Traceback" not in printed(repository)


@pytest.mark.parametrize(
    ("number", "when"),
    [(signal.SIGINT, "starting"), (signal.SIGINT, "working"), (signal.SIGTERM, "working")],
)
def test_a_run_whose_bucket_falls_silent_ends_in_a_few_seconds(
    repository: Repository, store: TinyS3, number: signal.Signals, when: str
) -> None:
    falls_silent: dict[str, Callable[[str, str], bool]] = {
        "starting": lambda _method, path: "_probe" not in path,
        "working": lambda _method, path: any("/pages/0003" in key for key in (path, *list(store.objects))),
    }
    store.is_silent = falls_silent[when]
    seconds, code = interrupted(repository, store, number, "run", "c", "--plain")
    assert (code, seconds < A_FEW_SECONDS + 5) == (130, True), (seconds, printed(repository))
    assert "interrupted" in printed(repository)
    assert "Traceback" not in printed(repository)
    assert eventually(lambda: not repository.processes())
    store.is_silent = lambda _method, _path: False
    assert repository.allot("run", "c", "--plain").returncode == 0


@pytest.fixture
def workers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workers]:
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    repository = Workers(tmp_path / "worker")
    yield repository
    repository.clean_up()


@pytest.mark.parametrize(
    "silent_to",
    ["manifest.json", "/leases/", "/pages/0001.", "/pages/0002.json", "list-type"],
)
def test_a_worker_keeps_its_grace_whatever_the_bucket_does(
    workers: Workers, store: TinyS3, silent_to: str
) -> None:
    store.is_silent = lambda _method, path: silent_to in path or bool(store.unanswered)
    with store.serving() as endpoint:
        options = {"endpoint": endpoint, "allow_http": True, "timeout": "60s"}
        assignment = workers.assignment(
            bucket="s3://bucket", bucket_options=options, limits={"grace_seconds": GRACE}
        )
        started = workers.start(assignment)
        until(lambda: store.unanswered)
        began = time.monotonic()
        started.process.terminate()
        assert started.wait() == 143
        assert time.monotonic() - began < GRACE / 2
        assert workers.living() == []
        assert "Traceback" not in started.output()


def test_the_end_of_a_hung_page_is_not_waited_for_past_the_grace(workers: Workers, store: TinyS3) -> None:
    """The guardian writes that end, and the bucket has fallen silent by then."""
    store.is_silent = lambda method, path: method == "PUT" and ".end.json" in path
    with store.serving() as endpoint:
        assignment = workers.assignment(
            "steps:hang",
            bucket="s3://bucket",
            bucket_options={"endpoint": endpoint, "allow_http": True, "timeout": "60s"},
            limits={"grace_seconds": GRACE, "page_seconds": 0.5},
        )
        started = workers.start(assignment)
        until(lambda: store.unanswered)
        began = time.monotonic()
        os.kill(started.process.pid, signal.SIGTERM)
        assert started.wait() == 1
        assert time.monotonic() - began < GRACE / 2
        assert workers.living() == []
