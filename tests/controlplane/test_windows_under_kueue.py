"""Windows that move under Kueue's own manager: up, back, down for a peer, after an eviction, killed.

The published version does not start a Job again that has grown and is evicted, so what an eviction does is
shown with Jobs that were admitted as wide as they are.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from allotment.kubernetes.kinds import JOB, LEASE
from tests.buckets.moto_server import moto
from tests.controlplane.operating import (
    Controller,
    active,
    live_slices,
    operating,
    peer,
    queue_is,
    running_indexes,
)
from tests.controlplane.plane import Plane
from tests.controlplane.processes import until
from tests.controlplane.team import TEAM, Team, ending, team_on
from tests.controlplane.test_a_campaign_under_kueue import BY_CLASS
from tests.controlplane.test_a_campaign_under_kueue import active as queue_is_active


@pytest.fixture
def team(with_kueue: Plane, tmp_path: Path) -> Iterator[Team]:
    with moto() as store, team_on(with_kueue, tmp_path, store, "kueue") as found:
        until(lambda: queue_is_active(found), "the team's queue to be active")
        yield found


@pytest.fixture
def gate(team: Team) -> Path:
    """A file without which no page gets done."""
    found = team.folder.parent / "gate"
    run = f'until [ -e {found} ]; do sleep 0.2; done; cp "$0" "$1/text"'
    command = {"run": ["sh", "-c", run, "{page}", "{out}"]}
    team.write("pipelines/pages.yaml", {**BY_CLASS, "steps": [{"step": "command", "settings": command}]})
    return found


def begun(team: Team, name: str, volumes: int, **more: Any) -> None:
    names = [f"{name}-{number}" for number in range(volumes)]
    for each in names:
        team.scan(each, 1)
    team.campaign(name, names, **more)
    team.applied()


def ended(team: Team, name: str, gate: Path, volumes: int) -> None:
    gate.touch()
    job = team.finished(name, seconds=180)
    assert ending(job) == "Complete"
    assert (job["status"]["succeeded"], job["status"].get("failed", 0)) == (volumes, 0)
    assert len({each for each in team.complete() if each.startswith(name)}) == volumes


def width(team: Team, name: str) -> int:
    return int(team.job(name)["spec"]["parallelism"])


def test_a_window_grows_to_what_is_free_and_ends_all_its_volumes(team: Team, gate: Path) -> None:
    begun(team, "books", 6, window={"min": 1, "max": 6})
    until(lambda: active(team, "books") == 1, "the first worker", seconds=60)
    with operating(team) as controller:
        until(lambda: len(running_indexes(team, "books")) == 4, "four workers", seconds=90)
        assert controller.moves == [("grows", 1, 2), ("grows", 2, 4)]
        time.sleep(3)
        assert width(team, "books") == 4
        assert "nothing to do" in team.applied()
        ended(team, "books", gate, 6)
        assert controller.end() == 0


def test_a_growth_that_kueue_does_not_grant_is_taken_back(team: Team, gate: Path) -> None:
    begun(team, "maps", 8, window={"min": 4, "max": 8})
    until(lambda: len(running_indexes(team, "maps")) == 4, "four workers", seconds=60)
    before = running_indexes(team, "maps")
    push = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "maps", "namespace": TEAM}}
    team.plane.client().apply({**push, "spec": {"parallelism": 6}}, manager="allotment-window")
    until(lambda: len(live_slices(team, "maps")) == 2, "a second Workload")
    with operating(team) as controller:
        until(lambda: width(team, "maps") == 4, "the growth to be taken back", seconds=30)
        until(lambda: len(live_slices(team, "maps")) == 1, "one Workload")
        assert controller.moves == [("is taken back", 6, 4)]
        assert running_indexes(team, "maps") == before
        ended(team, "maps", gate, 8)


def test_it_shrinks_for_a_peer_whose_quota_it_holds(team: Team, gate: Path) -> None:
    queue_is(team, "laboratory", {"preemption": {"reclaimWithinCohort": "Never"}})
    begun(team, "plays", 6, window={"min": 1, "max": 4})
    with operating(team) as controller:
        until(lambda: len(running_indexes(team, "plays")) == 4, "four workers", seconds=90)
        with peer(team, 1):
            until(lambda: width(team, "plays") == 3, "a card for the peer", seconds=30)
            client = team.plane.client()
            until(lambda: (client.get(JOB, "peer", "laboratory") or {})["status"].get("ready"), "the peer")
            time.sleep(6)
            assert len(running_indexes(team, "plays")) == 3
            assert controller.moves[-1] == ("shrinks", 4, 3)
            assert width(team, "plays") == 3
        until(lambda: len(running_indexes(team, "plays")) == 4, "the card to come back", seconds=60)
        ended(team, "plays", gate, 6)


def test_after_an_eviction_it_comes_back_as_wide_as_it_fits(team: Team, gate: Path) -> None:
    begun(team, "psalms", 8, window={"min": 4, "max": 4})
    until(lambda: len(running_indexes(team, "psalms")) == 4, "four workers", seconds=60)
    (workload,) = live_slices(team, "psalms")
    names = [f"psalms-{number}" for number in range(8)]
    team.campaign("psalms", names, window={"min": 1, "max": 4})
    assert "the window controller moves Job psalms" in team.applied()
    with peer(team, 2), operating(team, "--no-grow") as controller:
        until(lambda: controller.moves == [("is lowered", 4, 2)], "it to be lowered", seconds=30)
        until(lambda: len(running_indexes(team, "psalms")) == 2, "two workers", seconds=60)
        assert [each["metadata"]["uid"] for each in live_slices(team, "psalms")] == [
            workload["metadata"]["uid"]
        ]
        assert team.job("psalms")["status"].get("failed", 0) == 0
        ended(team, "psalms", gate, 8)


def test_the_last_volume_after_an_eviction_is_not_held_by_its_least(team: Team, gate: Path) -> None:
    run = f'case "${{0##*/}}" in *2*) until [ -e {gate} ]; do sleep 0.2; done;; esac; cp "$0" "$1/text"'
    command = {"run": ["sh", "-c", run, "{page}", "{out}"]}
    team.write("pipelines/pages.yaml", {**BY_CLASS, "steps": [{"step": "command", "settings": command}]})
    for volume, pages in (("letters-a", 1), ("letters-b", 1), ("letters-c", 2)):
        team.scan(volume, pages)
    team.campaign("letters", ["letters-a", "letters-b", "letters-c"], window={"min": 3, "max": 3})
    team.applied()
    until(lambda: team.job("letters")["status"].get("completedIndexes") == "0,1", "two volumes", seconds=90)
    until(lambda: running_indexes(team, "letters") == [2], "the last one alone")
    queue_is(team, TEAM, {"stopPolicy": "HoldAndDrain"})
    until(lambda: not running_indexes(team, "letters"), "it to be evicted", seconds=30)
    with peer(team, 3), operating(team) as controller:
        queue_is(team, TEAM, {"stopPolicy": "None"})
        until(lambda: running_indexes(team, "letters") == [2], "the last volume", seconds=60)
        assert not controller.moves
        ended(team, "letters", gate, 3)


def test_a_job_that_grew_and_was_evicted_needs_somebody_by_this_version_and_is_told_what_to_do(
    team: Team, gate: Path
) -> None:
    begun(team, "hymns", 6, window={"min": 1, "max": 4})
    with operating(team) as controller:
        until(lambda: len(running_indexes(team, "hymns")) == 4, "four workers", seconds=90)
        with peer(team, 2):
            until(lambda: any("needs you" in each["message"] for each in controller.said), "word", seconds=60)
            told = next(each["message"] for each in controller.said if "needs you" in each["message"])
            assert "kubectl -n archive patch job hymns --type merge" in told
            old = {"kueue.x-k8s.io/workload": None, "kueue.x-k8s.io/workload-slice-name": None}
            change = {"spec": {"template": {"metadata": {"annotations": old}}}}
            team.plane.client().patch(JOB, "hymns", TEAM, change, manager="somebody")
            until(lambda: len(running_indexes(team, "hymns")) == 2, "two workers", seconds=60)
            ended(team, "hymns", gate, 6)


def test_killed_at_any_moment_it_loses_and_doubles_nothing(team: Team, gate: Path) -> None:
    begun(team, "verses", 6, window={"min": 1, "max": 4})
    chance = random.Random(7)
    for _ in range(30):
        if width(team, "verses") == 4:
            break
        controller = Controller(team)
        until(lambda: team.plane.client().get(LEASE, "allotment-window", TEAM), "it to be at work")
        time.sleep(chance.uniform(0, 6))
        controller.kill()
        team.plane.client().delete(LEASE, "allotment-window", TEAM)  # instead of waiting until it runs out
    until(lambda: len(running_indexes(team, "verses")) == 4, "four workers", seconds=60)
    until(lambda: len(live_slices(team, "verses")) == 1, "one Workload")
    ended(team, "verses", gate, 6)
