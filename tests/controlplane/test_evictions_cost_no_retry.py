"""Evictions burn no retry and lose no more than the page in flight; deadlines and reclaims end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from allotment.kubernetes.client import Client
from allotment.kubernetes.kinds import POD, Object
from tests.buckets.moto_server import moto
from tests.controlplane.histories import Counted, burnt, starts, with_defaults
from tests.controlplane.operating import peer
from tests.controlplane.plane import Plane
from tests.controlplane.processes import until
from tests.controlplane.team import TEAM, Team, ending, team_on
from tests.controlplane.test_a_campaign_under_kueue import active as queue_is_active

NODES = "1 nodes of 2 x A100-80"

PAGES = 30


@pytest.fixture
def queued(with_kueue: Plane, tmp_path: Path) -> Iterator[Team]:
    with moto() as store, team_on(with_kueue, tmp_path, store, "kueue") as found:
        until(lambda: queue_is_active(found), "the team's queue to be active")
        yield found


def by_eviction(client: Client, pod: Object) -> None:
    metadata = {"name": pod["metadata"]["name"], "namespace": TEAM}
    value = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": metadata}
    client.ask(POD.path(TEAM, metadata["name"], "eviction"), value)


def by_deletion(client: Client, pod: Object) -> None:
    client.delete(POD, pod["metadata"]["name"], TEAM)


WAYS = (by_eviction, by_deletion)


def running(team: Team) -> list[Object]:
    found = team.plane.client().listed(POD, TEAM)
    return [
        each
        for each in found
        if each["status"].get("phase") == "Running" and not each["metadata"].get("deletionTimestamp")
    ]


@pytest.mark.parametrize("way", WAYS)
def test_a_worker_that_is_taken_burns_nothing_and_loses_a_page_at_most(
    way: Callable[[Client, Object], None], team: Team
) -> None:
    counted = Counted(team, "pages")
    team.scan("long", PAGES)
    team.write("pipelines/pages.yaml", counted.pipeline())
    team.campaign("taken", ["long"])
    team.applied()
    for number in (1, 2):
        until(lambda least=8 * number: counted.begun >= least, "some pages", seconds=60)  # type: ignore[misc]
        (pod,) = running(team)
        way(team.plane.client(), pod)
    job = team.finished("taken")
    assert (ending(job), job["status"]["completedIndexes"]) == ("Complete", "0")
    assert team.complete() == {"long"}
    assert (len(starts(team, "long")), burnt(team, "long")) == (3, 0)
    assert starts(team, "long")[-1]["failures"] == 0
    assert PAGES <= counted.begun <= PAGES + 2


def test_workers_that_kueue_takes_for_a_peer_burn_nothing(queued: Team) -> None:
    counted = Counted(queued, "pages")
    volumes = [f"book-{number}" for number in range(4)]
    for each in volumes:
        queued.scan(each, PAGES)
    queued.write("pipelines/pages.yaml", counted.pipeline(gpu={"card": "a100"}))
    queued.campaign("books", volumes, window={"min": 4, "max": 4})
    queued.applied()
    until(lambda: counted.begun >= 12, "some pages", seconds=60)
    assert len(running(queued)) == 4
    with peer(queued, 2):
        until(lambda: not running(queued), "the team's workers to be gone", seconds=60)
    job = queued.finished("books", seconds=180)
    assert (ending(job), job["status"]["completedIndexes"]) == ("Complete", "0-3")
    assert (job["status"].get("failed", 0), queued.complete()) == (0, set(volumes))
    assert [burnt(queued, each) for each in volumes] == [0, 0, 0, 0]
    assert 4 * PAGES <= counted.begun <= 4 * PAGES + len(volumes)


def test_a_volume_over_its_deadline_ends_after_its_retries(team: Team) -> None:
    counted = Counted(team, "pages", wait="sleep 0.5")
    with_defaults(team, retries=1)
    team.scan("long", 40)
    team.write("pipelines/pages.yaml", counted.pipeline(max_seconds=3))
    team.campaign("late", ["long"])
    team.applied()
    job = team.finished("late", seconds=120)
    assert (ending(job), job["status"]["failedIndexes"]) == ("Failed", "0")
    assert [each["end"]["reason"] for each in starts(team, "long")] == ["deadline", "deadline"]
    assert not team.complete()


def test_reclaims_without_end_are_capped(team: Team) -> None:
    with_defaults(team, reclaims=2)
    counted = Counted(team, "pages", wait="sleep 600")
    team.scan("stuck", 1)
    team.write("pipelines/pages.yaml", counted.pipeline())
    team.campaign("endless", ["stuck"])
    team.applied()
    for number in (1, 2):
        until(lambda least=number: counted.begun >= least, "the page to begin", seconds=60)  # type: ignore[misc]
        by_eviction(team.plane.client(), running(team)[0])
        until(lambda: not running(team) or ending(team.job("endless")), "the worker to be gone")
    job = team.finished("endless", seconds=120)
    assert (ending(job), job["status"]["failedIndexes"]) == ("Failed", "0")
    assert (len(starts(team, "stuck")), burnt(team, "stuck"), counted.begun) == (2, 0, 2)
    said = team.allot("status", "endless", "--cluster")
    assert "reclaimed 2 times" in said.out, said
