"""How many requests a host gets at once from this machine, whichever of its processes makes them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from allotment.running.assignment import Network
from allotment.running.sources.web.client import Client, World
from allotment.running.sources.web.turns import SharedTurns, TooLateError
from tests.running.processes import until
from tests.running.sources.archive import Archive, Talk, answer, in_turn, silent

HOST = "archive.test"
PATIENCE = 30.0
BOUNDS: dict[str, Any] = {"most_bytes": 1000, "headers": {}}

FETCHING = """
import sys, threading
from pathlib import Path
from allotment.running.assignment import Network
from allotment.running.sources.web.client import Client, World

folder, host, name, pages = sys.argv[1:]
client = Client(
    Network(hosts=(host,), private=("127.0.0.0/8",), per_host=2), World(shared=Path(folder))
)
failed = []

def fetch(page):
    try:
        client.get(f"{host}/{name}/{page}", most_bytes=1000, headers={})
    except BaseException as error:
        failed.append(error)

print("ready", flush=True)
sys.stdin.readline()
threads = [threading.Thread(target=fetch, args=(page,)) for page in range(int(pages))]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
sys.exit(f"failed: {failed}" if failed else 0)
"""


@dataclass
class Fetching:
    """A process that fetches so many pages under a name when it is told to, all at once as far as it may."""

    process: subprocess.Popen[str]

    def go(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write("go\n")
        self.process.stdin.flush()

    def ended(self) -> bool:
        return self.process.poll() is not None

    def wait(self, seconds: float = PATIENCE) -> int:
        return self.process.wait(seconds)


@pytest.fixture
def fetching(archive: Archive, tmp_path: Path) -> Iterator[Callable[[str, int], Fetching]]:
    """Makes processes that are ready to fetch."""
    with ExitStack() as started:

        def make(name: str, pages: int) -> Fetching:
            words = (str(tmp_path / "shared"), archive.host, name, str(pages))
            process = started.enter_context(
                subprocess.Popen(
                    [sys.executable, "-c", FETCHING, *words],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    text=True,
                )
            )
            started.callback(process.kill)
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            return Fetching(process)

        yield make


Make = Callable[[str, int], Fetching]


class Slowly:
    """An answer that takes its time; ``most`` is how many requests ever waited for it at once.

    A request counts until its answer is sent, and not longer: whoever has it may ask for the next.
    """

    def __init__(self, seconds: float = 0.03) -> None:
        self.most = 0
        self._seconds = seconds
        self._now = 0
        self._lock = threading.Lock()

    def __call__(self, talk: Talk) -> None:
        with self._lock:
            self._now += 1
            self.most = max(self.most, self._now)
        talk.closing.wait(self._seconds)
        with self._lock:
            self._now -= 1
        answer(b"x")(talk)


def test_two_processes_together_ask_no_more_at_once_than_one_may(archive: Archive, fetching: Make) -> None:
    archive.default = slowly = Slowly()
    both = [fetching(name, 16) for name in ("a", "b")]
    for one in both:
        one.go()
    assert [one.wait() for one in both] == [0, 0]
    assert len(archive.asked) == 32
    assert slowly.most == 2


def test_a_process_that_came_first_does_not_keep_the_other_waiting_to_its_end(
    archive: Archive, fetching: Make
) -> None:
    archive.default = Slowly()
    first, second = fetching("a", 300), fetching("b", 3)
    first.go()
    until(lambda: len(archive.asked) > 4)
    second.go()
    assert second.wait() == 0
    assert not first.ended()


def test_a_process_that_is_killed_leaves_its_turns_to_others(archive: Archive, fetching: Make) -> None:
    archive.answers = {f"/a/{page}": silent() for page in range(4)}
    archive.default = answer(b"x")
    first, second = fetching("a", 4), fetching("b", 3)
    first.go()
    until(lambda: len(archive.asked) == 2)
    second.go()
    with pytest.raises(subprocess.TimeoutExpired):
        second.wait(1.0)
    first.process.send_signal(signal.SIGKILL)
    assert second.wait() == 0
    assert sorted(archive.paths()[2:]) == ["/b/0", "/b/1", "/b/2"]


def test_what_a_host_asks_of_one_client_holds_for_the_others(archive: Archive, tmp_path: Path) -> None:
    archive.default = in_turn(
        answer(status="503 Service Unavailable", retry_after="1"), answer(b"x"), answer(b"x")
    )
    network = Network(hosts=(archive.host,), private=("127.0.0.0/8",))
    told, other = (Client(network, World(shared=tmp_path / "shared")) for _ in range(2))
    try:
        thread = threading.Thread(target=told.get, args=(archive.url("/1"),), kwargs=BOUNDS)
        began = time.monotonic()
        thread.start()
        while not archive.asked:
            assert time.monotonic() < began + PATIENCE
        thread.join(0.2)
        other.get(archive.url("/2"), **BOUNDS)
        assert time.monotonic() - began > 0.95
        thread.join()
    finally:
        told.close()
        other.close()
    assert len(archive.asked) == 3


def test_hosts_have_turns_of_their_own(tmp_path: Path) -> None:
    turns = SharedTurns(tmp_path / "shared", 1)
    soon = time.monotonic() + PATIENCE
    with turns.turn(HOST, soon), turns.turn("another.test", soon), pytest.raises(TooLateError):
        with turns.turn(HOST, time.monotonic()):
            pass
    with turns.turn(HOST, soon):
        pass


def test_a_pause_of_before_the_last_start_of_the_machine_is_void(tmp_path: Path) -> None:
    after = SharedTurns(tmp_path / "shared", 1, monotonic=lambda: 10_000.0)
    after.leave_alone(HOST, 10_050.0)
    before = SharedTurns(tmp_path / "shared", 1, monotonic=lambda: 5.0)
    with before.turn(HOST, 5.0):
        pass


def test_a_folder_that_cannot_be_used_is_told_once_and_holds_nothing_up(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "shared").write_text("not a folder")
    turns = SharedTurns(tmp_path / "shared", 1)
    for _ in range(2):
        with turns.turn(HOST, time.monotonic()):
            turns.leave_alone(HOST, 1.0)
    assert len(caplog.records) == 1
    assert "without regard for other workers" in caplog.text


@pytest.mark.parametrize("spoil", ["link", "open"])
def test_a_part_of_the_folder_that_is_not_ours_alone_is_not_used(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, spoil: str
) -> None:
    own = tmp_path / "shared" / f"hosts-{os.geteuid()}"
    own.parent.mkdir()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    if spoil == "link":
        own.symlink_to(elsewhere)
    else:
        own.mkdir()
        own.chmod(0o777)
    with SharedTurns(tmp_path / "shared", 1).turn(HOST, time.monotonic()):
        pass
    assert "without regard for other workers" in caplog.text
    assert not list(elsewhere.iterdir())
    assert not list(own.iterdir())
