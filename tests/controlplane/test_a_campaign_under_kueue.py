"""A campaign from `allot apply` to its last manifest, admitted, held and let go by Kueue's own manager."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from allotment.kubernetes.kinds import CLUSTER_QUEUE, POD, WORKLOAD
from tests.buckets.moto_server import moto
from tests.controlplane.plane import Plane
from tests.controlplane.processes import until
from tests.controlplane.team import PIPELINE, TEAM, Team, ending, held, team_on

SCHEDULER = "kueue"
BY_CLASS = {**PIPELINE, "gpu": {"card": "a100"}}
"""A need that its device class says alone: the published version of Kueue admits no claim with selectors."""


@pytest.fixture
def team(with_kueue: Plane, tmp_path: Path) -> Iterator[Team]:
    with moto() as store, team_on(with_kueue, tmp_path, store, SCHEDULER) as found:
        until(lambda: active(found), "the team's queue to be active")
        found.write("pipelines/pages.yaml", BY_CLASS)
        yield found


def active(team: Team) -> bool:
    found = team.plane.client().get(CLUSTER_QUEUE, TEAM) or {}
    told = found.get("status", {}).get("conditions") or ()
    return any((each["type"], each["status"]) == ("Active", "True") for each in told)


def workloads(team: Team) -> list[dict[str, Any]]:
    return [dict(each) for each in team.client.listed(WORKLOAD, TEAM)]


def pods(team: Team) -> list[dict[str, Any]]:
    return [dict(each) for each in team.client.listed(POD, TEAM)]


@pytest.mark.smoke
def test_every_volume_is_complete_within_the_quota(team: Team) -> None:
    volumes = [f"book-{number}" for number in range(1, 9)]
    for each in volumes:
        team.scan(each, 2)
    team.campaign("books", volumes, window={"min": 2, "max": 4})
    team.applied()
    job = team.finished("books", seconds=120)
    assert (ending(job), job["status"]["completedIndexes"]) == ("Complete", "0-7")
    assert team.complete() == set(volumes)
    (workload,) = workloads(team)
    assert workload["spec"]["queueName"] == TEAM
    told = {each["type"] for each in workload["status"]["conditions"]}
    assert told >= {"QuotaReserved", "Admitted", "Finished"}


def test_an_apply_of_what_runs_changes_nothing(team: Team, tmp_path: Path) -> None:
    team.scan("long", 3)
    team.write("pipelines/pages.yaml", held(tmp_path / "go", BY_CLASS))
    team.campaign("long", ["long"], window=1)
    team.applied()
    until(lambda: running(team), "the worker to run")
    before = team.job("long")["spec"]
    (worker,) = pods(team)
    assert "nothing to do" in team.applied()
    assert team.job("long")["spec"] == before
    assert [each["metadata"]["uid"] for each in pods(team)] == [worker["metadata"]["uid"]]
    (tmp_path / "go").touch()
    assert ending(team.finished("long")) == "Complete"


def test_a_pause_holds_and_ends(team: Team, tmp_path: Path) -> None:
    team.scan("long", 3)
    team.write("pipelines/pages.yaml", held(tmp_path / "go", BY_CLASS))
    team.campaign("paused", ["long"], window=1)
    team.applied()
    until(lambda: running(team), "the worker to run")
    team.campaign("paused", ["long"], window=1, suspend=True)
    team.applied()
    until(lambda: not pods(team), "the worker to be gone")
    assert [each["spec"].get("active") for each in workloads(team)] == [False]
    assert "nothing to do" in team.applied()
    assert not pods(team)
    team.campaign("paused", ["long"], window=1)
    team.applied()
    (tmp_path / "go").touch()
    job = team.finished("paused")
    assert (ending(job), job["status"].get("failed", 0)) == ("Complete", 0)
    assert team.complete() == {"long"}


def test_a_window_that_no_quota_admits_is_refused_with_its_numbers(team: Team) -> None:
    team.campaign("wide", [f"book-{number}" for number in range(6)], window={"min": 6, "max": 6})
    said = team.allot("apply")
    assert said.code == 1
    assert "6" in said.out
    assert "4" in said.out
    assert not team.job("wide")


def test_a_claim_with_selectors_is_not_admitted_by_this_version_and_kueue_says_so(team: Team) -> None:
    team.scan("book-1", 1)
    team.write("pipelines/pages.yaml", PIPELINE)
    team.campaign("chosen", ["book-1"], window=1)
    team.applied()
    until(lambda: "CEL selectors are not supported" in str(workloads(team)), "the reason")
    assert not pods(team)


def running(team: Team) -> bool:
    return any(each["status"].get("phase") == "Running" for each in pods(team))
