"""Windows that move under the default scheduler: narrowed when told, widened again, killed in between."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest

from allotment.kubernetes.kinds import JOB, LEASE, kind_of
from allotment.kubernetes.render.platform.controller import SYSTEM, controller_objects
from tests.controlplane.operating import Controller, as_installed, operating, running_indexes
from tests.controlplane.processes import until
from tests.controlplane.team import PIPELINE, TEAM, Team, ending, platform_for
from tests.kubernetes.stored import CONTROLLER

NODES = "1 nodes of 4 x A100-80"


@pytest.fixture
def gate(team: Team) -> Path:
    """A file without which no page gets done; the campaign `books` has six volumes, four at once."""
    found = team.folder.parent / "gate"
    run = f'until [ -e {found} ]; do sleep 0.2; done; cp "$0" "$1/text"'
    command = {"run": ["sh", "-c", run, "{page}", "{out}"]}
    team.write("pipelines/pages.yaml", {**PIPELINE, "steps": [{"step": "command", "settings": command}]})
    names = [f"book-{number}" for number in range(6)]
    for each in names:
        team.scan(each, 1)
    team.campaign("books", names, window={"min": 1, "max": 4})
    team.applied()
    until(lambda: len(running_indexes(team, "books")) == 4, "four workers", seconds=60)
    return found


def told(team: Team, most: str | None) -> None:
    note = {"metadata": {"annotations": {"allotment/at-most": most}}}
    team.plane.client().patch(JOB, "books", TEAM, note, manager="somebody")


def ended(team: Team, gate: Path) -> None:
    gate.touch()
    job = team.finished("books", seconds=180)
    assert ending(job) == "Complete"
    assert (job["status"]["succeeded"], job["status"].get("failed", 0)) == (6, 0)
    assert len(team.complete()) == 6


def narrowed_and_widened(controller: Controller) -> bool:
    """In one step down, and up as fast as devices come free."""
    first, *others = controller.moves
    return first == ("shrinks", 4, 2) and {verb for verb, *_ in others} == {"grows"} and others[-1][2] == 4


def test_it_is_narrowed_when_told_and_widened_again(team: Team, gate: Path) -> None:
    with operating(team) as controller:
        told(team, "2")
        until(lambda: len(running_indexes(team, "books")) == 2, "two workers", seconds=30)
        told(team, None)
        until(lambda: len(running_indexes(team, "books")) == 4, "four workers", seconds=60)
        assert narrowed_and_widened(controller)
        assert "nothing to do" in team.applied()
        ended(team, gate)
        assert controller.end() == 0


def test_killed_at_any_moment_it_loses_and_doubles_nothing(team: Team, gate: Path) -> None:
    chance = random.Random(11)
    told(team, "1")
    for _ in range(30):
        if len(running_indexes(team, "books")) == 1:
            break
        controller = Controller(team)
        until(lambda: team.plane.client().get(LEASE, "allotment-window", TEAM), "it to be at work")
        time.sleep(chance.uniform(0, 6))
        controller.kill()
        team.plane.client().delete(LEASE, "allotment-window", TEAM)  # instead of waiting until it runs out
    until(lambda: len(running_indexes(team, "books")) == 1, "one worker")
    told(team, None)
    with operating(team):
        until(lambda: len(running_indexes(team, "books")) == 4, "four workers", seconds=60)
    ended(team, gate)


def test_what_somebody_else_moves_is_left_to_them(team: Team, gate: Path) -> None:
    team.plane.client().patch(JOB, "books", TEAM, {"spec": {"parallelism": 3}}, manager="scaler")
    with operating(team) as controller:
        until(lambda: any("scaler moves its width" in each["message"] for each in controller.said), "word")
        until(lambda: len(running_indexes(team, "books")) == 3, "three workers")
        assert controller.moves == []
    ended(team, gate)


def test_the_account_that_is_installed_may_do_it_and_no_more(team: Team, gate: Path) -> None:
    platform = platform_for(team.folder.parent / "another.yaml", "default")
    added = controller_objects(platform, CONTROLLER).objects
    client = team.plane.client()
    for each in added:
        client.apply(each, manager="administrator", force=True, dry_run=each["kind"] == "Deployment")
    told(team, "2")
    try:
        with operating(team, f"--lease-namespace={SYSTEM}", kubeconfig=as_installed(team)) as controller:
            until(lambda: len(running_indexes(team, "books")) == 2, "two workers", seconds=30)
            told(team, None)
            until(lambda: len(running_indexes(team, "books")) == 4, "four workers", seconds=60)
            assert narrowed_and_widened(controller)
            assert not [each for each in controller.said if each["level"] == "error"]
            assert controller.end() == 0
        ended(team, gate)
    finally:
        for each in reversed(added):
            client.delete(kind_of(each), each["metadata"]["name"], each["metadata"].get("namespace"))
