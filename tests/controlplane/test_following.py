"""`allot status`, `why` and `logs` of what a real control plane and Kueue's own manager do."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.buckets.moto_server import moto
from tests.controlplane.plane import Plane
from tests.controlplane.processes import until
from tests.controlplane.team import PIPELINE, Team, slow, team_on
from tests.controlplane.test_a_campaign_under_kueue import BY_CLASS, active, running, workloads

LONG = 400


@pytest.fixture
def team(with_kueue: Plane, tmp_path: Path) -> Iterator[Team]:
    with moto() as store, team_on(with_kueue, tmp_path, store, "kueue") as found:
        until(lambda: active(found), "the team's queue to be active")
        found.write("pipelines/pages.yaml", BY_CLASS)
        yield found


def told(team: Team, *words: str) -> str:
    said = team.allot(*words)
    assert said.code == 0, (said.out, said.err)
    return said.out


def refusal(team: Team, words: str) -> bool:
    return words in str([each["status"].get("conditions") for each in workloads(team)])


def test_what_runs_what_waits_and_what_is_paused_is_told(team: Team) -> None:
    for number in range(1, 6):
        team.scan(f"book-{number}", LONG if number < 4 else 1)
    team.write("pipelines/pages.yaml", slow(BY_CLASS))
    team.campaign("first", ["book-1", "book-2", "book-3"], window={"min": 3, "max": 3})
    team.applied()
    until(lambda: running(team), "a worker to run")
    team.campaign("second", ["book-4", "book-5"], window={"min": 2, "max": 2})
    team.applied()
    until(lambda: refusal(team, "1 more needed"), "Kueue to hold the second back")
    until(lambda: "3 running, window 3" in told(team, "status", "first", "--cluster"), "all three to run")
    first = told(team, "status", "first", "--cluster")
    assert "it runs 3 volumes at once" in first
    assert "book-1 running, on node-" in first
    assert "in the bucket: 0 of 3 volumes" in first
    second = told(team, "why", "second", "--cluster")
    assert "second: it waits: the quota of `archive` is used up: 1 more `gpus` is needed" in second
    assert "2 gpus: ClusterQueue `archive` may have at most 4 `gpus`" in second
    assert "2 at once are 1 more than are free now" in second
    assert "volume book-1: attempt 1" in told(team, "logs", "book-1", "--cluster")
    team.campaign("second", ["book-4", "book-5"], window={"min": 2, "max": 2}, suspend=True)
    team.applied()
    paused = told(team, "status", "second", "--cluster")
    assert "it is paused: its file says `suspend: true`" in paused
    assert "also:" not in paused


def test_what_kueue_does_not_take_is_told_with_what_to_write(team: Team) -> None:
    team.scan("book-1", 1)
    team.write("pipelines/pages.yaml", PIPELINE)
    team.campaign("chosen", ["book-1"], window=1)
    team.applied()
    until(lambda: refusal(team, "CEL selectors are not supported"), "the reason")
    said = told(team, "why", "chosen", "--cluster")
    assert "it will never start as it is: this Kueue admits no claims with selectors" in said
    assert "ask for a `card` alone" in said
