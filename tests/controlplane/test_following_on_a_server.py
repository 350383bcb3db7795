"""What `status`, `why`, `logs`, `queues`, `devices` and `snapshot` say of campaigns on a real cluster."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from allotment.kubernetes.kinds import POD
from tests.buckets.moto_server import moto
from tests.controlplane.plane import Plane
from tests.controlplane.processes import until
from tests.controlplane.team import PIPELINE, TEAM, Team, held, team_on

BY_CLASS = {**PIPELINE, "gpu": {"card": "a100"}}


@pytest.fixture
def team(with_kueue: Plane, tmp_path: Path) -> Iterator[Team]:
    with moto() as store, team_on(with_kueue, tmp_path, store, "kueue") as found:
        found.write("pipelines/pages.yaml", held(tmp_path / "go", BY_CLASS))
        yield found


def running(team: Team) -> int:
    return sum(each["status"].get("phase") == "Running" for each in team.client.listed(POD, TEAM))


def told(team: Team, *words: str) -> dict[str, Any]:
    said = team.allot(*words, "-o", "json")
    assert said.code == 0, (said.out, said.err)
    found: dict[str, Any] = json.loads(said.out)
    return found


def test_one_runs_and_one_waits_for_the_quota_that_it_holds(team: Team, tmp_path: Path) -> None:
    volumes = [f"book-{number}" for number in range(1, 5)]
    for each in (*volumes, "late"):
        team.scan(each, 2)
    team.campaign("first", volumes, window={"min": 4, "max": 4})
    team.applied()
    until(lambda: running(team) == 4, "four workers", seconds=120)
    team.campaign("second", ["late"], window=1)
    team.applied()

    first, second = told(team, "status", "--cluster")["found"]
    assert (first["state"], first["counts"]["running"], first["window"]["now"]) == ("running", 4, 4)
    assert {each["node"] for each in first["indexes"]} == {"node-1", "node-2"}
    assert len({card for each in first["indexes"] for card in each["devices"]}) == 4
    assert second["state"] == "waiting"
    assert "quota" in second["sentence"]
    assert "1 more `gpus`" in second["sentence"]

    why = team.allot("why", "second", "--cluster")
    assert "4 in use, 2 of them borrowed" in why.out
    assert "held by first/book-1" in why.out
    assert "book-1" in team.allot("logs", "book-1", "--cluster").out
    assert "archive" in team.allot("queues", "--cluster").out
    assert "4 held" in team.allot("devices", "--cluster").out

    snapshot = tmp_path / "snapshot.yaml"
    assert team.allot("snapshot", "--out", str(snapshot)).code == 0
    stored = told(team, "status", "--snapshot", str(snapshot))["found"]
    assert [each["state"] for each in stored] == ["running", "waiting"]


def test_a_need_that_this_kueue_refuses_is_told_as_what_never_starts(team: Team) -> None:
    team.scan("book-1", 1)
    team.write("pipelines/pages.yaml", PIPELINE)
    team.campaign("chosen", ["book-1"], window=1)
    team.applied()
    until(lambda: "CEL selectors" in team.allot("why", "chosen", "--cluster").out, "the reason", seconds=120)
