"""Long: servers that die under a watch and a window controller, and two who send the same at once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from allotment.kubernetes.kinds import CLAIM, CLAIM_TEMPLATE, CONFIG_MAP, JOB, LEASE, POD
from tests.buckets.moto_server import moto
from tests.controlplane.conftest import MEMBERS, running
from tests.controlplane.histories import burnt, starts
from tests.controlplane.operating import operating, running_indexes
from tests.controlplane.plane import Plane, Settings
from tests.controlplane.processes import die_with_parent, until
from tests.controlplane.team import TEAM, Said, Team, ending, held, slow, team_on

pytestmark = pytest.mark.soak
RIGHT_WITHIN = 30


@pytest.fixture(scope="module")
def fragile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Plane]:
    yield from running(tmp_path_factory.mktemp("fragile"), Settings(users=MEMBERS), "2 nodes of 2 x A100-80")


@pytest.fixture
def team(fragile: Plane, tmp_path: Path) -> Iterator[Team]:
    with moto() as store, team_on(fragile, tmp_path, store, "default") as found:
        yield found


def die_and_come_back(plane: Plane) -> None:
    """The API server and the store end without a word, and are there again after a moment."""
    for name in ("apiserver", "etcd"):
        plane.program(name).stop(hard=True)
    time.sleep(2)
    plane.start_etcd()
    plane.start_apiserver()


class Watch:
    """A running `allot status --watch`."""

    def __init__(self, team: Team) -> None:
        self._log = team.folder.parent / "watch.log"
        environment = {
            **os.environ,
            "KUBECONFIG": str(team.plane.kubeconfig(TEAM, TEAM)),
            "ALLOT_PLATFORM": str(team.folder.parent / "platform.yaml"),
            "AWS_SHARED_CREDENTIALS_FILE": str(team.folder.parent / "credentials"),
        }
        with self._log.open("wb") as log:
            self.process = subprocess.Popen(
                [str(Path(sys.executable).parent / "allot"), "status", "--watch", "--cluster", "-o", "json"],
                cwd=team.folder,
                env=environment,
                stdout=log,
                stderr=subprocess.STDOUT,
                preexec_fn=die_with_parent,  # noqa: PLW1509 - one call of the kernel, found beforehand
            )

    @property
    def told(self) -> str:
        """How the first campaign stands, as was said last."""
        lines = [line for line in self._log.read_text(encoding="utf-8").split("\n")[:-1] if line[:1] == "{"]
        return _state(lines[-1]) if lines else ""


@pytest.fixture
def watch(team: Team) -> Iterator[Callable[[], Watch]]:
    begun: list[Watch] = []

    def begin() -> Watch:
        begun.append(Watch(team))
        return begun[-1]

    yield begin
    for each in begun:
        each.process.kill()
        each.process.wait()


def test_a_watch_and_a_status_are_right_again_soon(team: Team, watch: Callable[[], Watch]) -> None:
    go = team.folder.parent / "go"
    team.write("pipelines/pages.yaml", held(go))
    volumes = [f"book-{number}" for number in range(4)]
    for each in volumes:
        team.scan(each, 2)
    team.campaign("books", volumes, window=2)
    team.applied()
    until(lambda: len(running_indexes(team, "books")) == 2, "two workers", seconds=60)
    watching = watch()
    until(lambda: watching.told == "running", "the watch to say something", seconds=60)
    die_and_come_back(team.plane)
    began = time.monotonic()
    go.touch()
    assert ending(team.finished("books", seconds=120)) == "Complete"
    ended = time.monotonic()
    until(lambda: watching.told == "finished", "the watch to be right", seconds=RIGHT_WITHIN)
    print("watch_right_after_seconds", round(time.monotonic() - ended))
    asked = time.monotonic()
    assert _told(team, "books") == "finished"
    print("status_took_seconds", round(time.monotonic() - asked))
    print("ended_after_seconds", round(ended - began))
    assert watching.process.poll() is None
    assert [(len(starts(team, each)), burnt(team, each)) for each in volumes] == [(1, 0)] * 4


def _told(team: Team, name: str) -> str:
    return _state(team.allot("status", name, "--cluster", "-o", "json").out)


def _state(text: str) -> str:
    return str(json.loads(text)["found"][0]["state"])


def test_a_window_controller_goes_on_when_the_servers_come_back(team: Team) -> None:
    go = team.folder.parent / "go"
    team.write("pipelines/pages.yaml", held(go))
    volumes = [f"book-{number}" for number in range(6)]
    for each in volumes:
        team.scan(each, 1)
    team.campaign("books", volumes, window={"min": 1, "max": 4})
    team.applied()
    until(lambda: len(running_indexes(team, "books")) == 4, "four workers", seconds=60)
    with operating(team) as controller:
        _told_at_most(team, "2")
        until(lambda: len(running_indexes(team, "books")) == 2, "two workers", seconds=60)
        die_and_come_back(team.plane)
        _told_at_most(team, None)
        until(lambda: len(running_indexes(team, "books")) == 4, "four workers", seconds=120)
        assert controller.moves == [("shrinks", 4, 2), ("grows", 2, 4)]
        go.touch()
        job = team.finished("books", seconds=180)
    assert (ending(job), job["status"]["succeeded"], job["status"].get("failed", 0)) == ("Complete", 6, 0)
    assert team.complete() == set(volumes)


def _told_at_most(team: Team, most: str | None) -> None:
    note = {"metadata": {"annotations": {"allotment/at-most": most}}}
    team.plane.client().patch(JOB, "books", TEAM, note, manager="somebody")


@pytest.mark.parametrize("dies", [False, True])
def test_two_who_send_at_once_lose_and_double_nothing(team: Team, *, dies: bool) -> None:
    names = [f"part-{number}" for number in range(6)]
    team.scan("book-1", 1)
    for each in names:
        team.campaign(each, ["book-1"])
    said: list[Said] = []
    both = [threading.Thread(target=lambda: said.append(team.allot("apply"))) for _ in range(2)]
    for sender in both:
        sender.start()
    admin = team.plane.client()
    if dies:
        until(lambda: admin.listed(LEASE, TEAM), "somebody to send", pause=0.01)
        die_and_come_back(team.plane)
    for sender in both:
        sender.join()
    assert len(said) == 2
    assert {each.code for each in said} <= {0, 1, 3}, said
    until(lambda: team.allot("apply").code == 0, "an apply that goes well", seconds=120)
    jobs = [each["metadata"]["name"] for each in team.client.listed(JOB, TEAM)]
    assert sorted(jobs) == names
    for each in names:
        assert ending(team.finished(each, seconds=300)) == "Complete"
    assert team.complete() == {"book-1"}
    until(lambda: not team.client.listed(CLAIM, TEAM), "the claims to be gone")
    _nothing_is_orphaned(team, (*names, "pipeline-pages"))


def _nothing_is_orphaned(team: Team, ours: tuple[str, ...]) -> None:
    uids = {each["metadata"]["uid"] for each in team.client.listed(JOB, TEAM)}
    pods = team.client.listed(POD, TEAM)
    assert {each["metadata"]["ownerReferences"][0]["uid"] for each in pods} <= uids
    for kind in (CONFIG_MAP, CLAIM_TEMPLATE):
        names = [each["metadata"]["name"] for each in team.client.listed(kind, TEAM)]
        told = [each for each in names if each != "kube-root-ca.crt"]
        assert [each for each in told if not each.startswith(ours)] == []


def test_workers_go_on_without_servers(team: Team) -> None:
    team.write("pipelines/pages.yaml", slow())
    team.scan("long", 40)
    team.campaign("books", ["long"])
    team.applied()
    until(lambda: running_indexes(team, "books") == [0], "the worker", seconds=60)
    die_and_come_back(team.plane)
    assert ending(team.finished("books", seconds=120)) == "Complete"
    assert (len(starts(team, "long")), burnt(team, "long")) == (1, 0)
