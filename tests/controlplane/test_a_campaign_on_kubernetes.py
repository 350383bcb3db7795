"""A campaign from `allot apply` to its last manifest, by Kubernetes' own controllers and scheduler."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from allotment.kubernetes.kinds import CLAIM, CLAIM_TEMPLATE, CONFIG_MAP, JOB, POD, Object
from tests.controlplane.processes import until
from tests.controlplane.team import TEAM, Team, ending, held

NODES = "2 nodes of 2 x A100-80, 1 nodes of 4 x L4"


@pytest.mark.smoke
def test_every_volume_is_complete_on_cards_that_the_need_allows(team: Team) -> None:
    volumes = [f"book-{number}" for number in range(1, 21)]
    for each in volumes:
        team.scan(each, 2)
    team.campaign("books", volumes, window=4)
    assert "created" in team.applied()
    given: set[str] = set()

    def ended() -> bool:
        for claim in team.client.listed(CLAIM, TEAM):
            allocation = claim.get("status", {}).get("allocation") or {}
            given.update(each["pool"] for each in allocation.get("devices", {}).get("results") or ())
        return ending(team.job("books")) is not None

    until(ended, "the campaign to end", seconds=180)
    job = team.job("books")
    assert (ending(job), job["status"]["completedIndexes"]) == ("Complete", "0-19")
    assert team.complete() == set(volumes)
    assert given <= {"node-1", "node-2"}
    until(lambda: not team.client.listed(CLAIM, TEAM), "the claims to be gone")


def test_a_second_apply_says_that_there_is_nothing_to_do(team: Team, tmp_path: Path) -> None:
    team.scan("book-1", 2)
    team.write("pipelines/pages.yaml", held(tmp_path / "go"))
    team.campaign("once", ["book-1"])
    team.applied()
    before = ours(team)
    assert "nothing to do" in team.applied()
    assert ours(team) == before
    (tmp_path / "go").touch()
    team.finished("once")
    team.applied()
    assert "nothing to do" in team.applied()


def test_a_campaign_that_has_ended_stays_so_after_its_job_is_gone(team: Team) -> None:
    team.scan("book-1", 1)
    team.campaign("once", ["book-1"])
    team.applied()
    team.finished("once")
    team.applied()
    team.client.delete(JOB, "once", TEAM)
    until(lambda: not team.job("once"), "the Job to be gone")
    assert "nothing to do" in team.applied()
    assert not team.job("once")
    team.applied("--again", "once")
    assert ending(team.finished("once")) == "Complete"


def ours(team: Team) -> dict[str, str]:
    """Versions of what was sent and moves by itself no further."""
    kinds = (CONFIG_MAP, CLAIM_TEMPLATE)
    found = [each["metadata"] for kind in kinds for each in team.client.listed(kind, TEAM)]
    return {each["uid"]: each["resourceVersion"] for each in found}


def test_prune_takes_what_the_repository_no_longer_has_and_nothing_else(team: Team) -> None:
    team.scan("book-1", 1)
    for name in ("kept", "dropped"):
        team.campaign(name, ["book-1"])
    foreign = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "mine", "namespace": TEAM}}
    team.client.create(foreign, manager="somebody")
    team.applied()
    (team.folder / "campaigns" / "dropped.yaml").unlink()
    assert "dropped" in team.applied("--prune")
    until(lambda: not team.job("dropped"), "the Job to be gone")
    assert team.job("kept")
    names = {each["metadata"]["name"] for each in team.client.listed(CONFIG_MAP, TEAM)}
    assert "mine" in names
    assert not [each for each in names if each.startswith("dropped")]
    team.client.delete(CONFIG_MAP, "mine", TEAM)


def test_an_evicted_worker_costs_no_retry_and_the_volume_is_finished(team: Team, tmp_path: Path) -> None:
    team.scan("long", 3)
    team.write("pipelines/pages.yaml", held(tmp_path / "go"))
    team.campaign("slow", ["long"])
    team.applied()
    until(lambda: [each for each in team.client.listed(POD, TEAM) if running(each)], "the worker")
    (pod,) = team.client.listed(POD, TEAM)
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": pod["metadata"]}
    metadata = {"name": pod["metadata"]["name"], "namespace": TEAM}
    team.plane.client().ask(POD.path(TEAM, metadata["name"], "eviction"), {**eviction, "metadata": metadata})
    uid = pod["metadata"]["uid"]
    until(lambda: uid not in {each["metadata"]["uid"] for each in team.client.listed(POD, TEAM)}, "its end")
    (tmp_path / "go").touch()
    job = team.finished("slow")
    assert ending(job) == "Complete"
    assert job["status"].get("failed", 0) == 0
    assert team.complete() == {"long"}


def running(pod: Object) -> bool:
    return bool(pod["status"].get("phase") == "Running")


@pytest.fixture(autouse=True)
def no_jobs_are_left(team: Team) -> Iterator[None]:
    yield
    assert {each["metadata"]["namespace"] for each in team.client.listed(JOB, TEAM)} <= {TEAM}
