"""Long: servers that die while a campaign is sent and runs, on many nodes."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from allotment.kubernetes.kinds import JOB
from tests.buckets.moto_server import moto
from tests.controlplane.conftest import MEMBERS, running
from tests.controlplane.plane import Plane, Settings
from tests.controlplane.processes import until
from tests.controlplane.team import TEAM, Said, Team, ending, team_on

pytestmark = pytest.mark.soak


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Plane]:
    yield from running(tmp_path_factory.mktemp("large"), Settings(users=MEMBERS), "50 nodes of 1 x A100-80")


@pytest.fixture
def team(large: Plane, tmp_path: Path) -> Iterator[Team]:
    with moto() as store, team_on(large, tmp_path, store, "default") as found:
        yield found


def test_an_api_server_that_dies_while_things_are_sent_loses_and_doubles_nothing(team: Team) -> None:
    names = [f"part-{number}" for number in range(1, 7)]
    team.scan("book-1", 1)
    for each in names:
        team.campaign(each, ["book-1"])
    said: list[Said] = []
    sending = threading.Thread(target=lambda: said.append(team.allot("apply")))
    sending.start()
    until(lambda: team.client.listed(JOB, TEAM), "the first Job", pause=0.01)
    team.plane.program("apiserver").stop(hard=True)
    team.plane.start_apiserver()
    sending.join()
    assert said[0].code in {0, 1, 3}, said
    until(
        lambda: team.allot("apply").code == 0,
        "an apply, once the right of the dead one has ended",
        seconds=120,
    )
    assert {each["metadata"]["name"] for each in team.client.listed(JOB, TEAM)} == set(names)
    for each in names:
        assert ending(team.finished(each, seconds=300)) == "Complete"


def test_a_store_and_a_server_that_die_while_volumes_run_lose_no_volume(team: Team) -> None:
    volumes = [f"book-{number}" for number in range(1, 9)]
    for each in volumes:
        team.scan(each, 20)
    team.campaign("books", volumes, window=2)
    team.applied()
    until(team.complete, "the first volume", seconds=60)
    for name in ("apiserver", "etcd"):
        team.plane.program(name).stop(hard=True)
    team.plane.start_etcd()
    team.plane.start_apiserver()
    job = team.finished("books", seconds=300)
    assert (ending(job), job["status"].get("failed", 0)) == ("Complete", 0)
    assert team.complete() == set(volumes)
