"""Long: 200 volumes of a card each on 50 nodes of 8 cards, plain and under Kueue, each on an allowed card."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from allotment.kubernetes.kinds import CLAIM
from tests.buckets.moto_server import moto
from tests.controlplane.conftest import running_with_kueue
from tests.controlplane.histories import starts
from tests.controlplane.plane import Plane
from tests.controlplane.processes import until
from tests.controlplane.team import PIPELINE, TEAM, Team, ending, team_on
from tests.controlplane.test_a_campaign_under_kueue import active as queue_is_active

pytestmark = pytest.mark.soak
VOLUMES = [f"book-{number}" for number in range(1, 201)]
ALLOWED = {f"node-{number:02}" for number in range(1, 41)}
FLEET = "40 nodes of 8 x A100-80, 10 nodes of 8 x L4"
BY_CLASS = {**PIPELINE, "gpu": {"card": "a100"}}
WAYS: dict[str, tuple[dict[str, Any], Any]] = {
    "default": (dict(PIPELINE), 8),
    "kueue": (BY_CLASS, {"min": 4, "max": 4}),
}
"""By scheduler: the pipeline, and the window."""


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Plane]:
    yield from running_with_kueue(tmp_path_factory.mktemp("fifty"), FLEET)


@pytest.mark.parametrize("scheduler", WAYS)
def test_every_volume_is_complete_on_an_allowed_card_of_its_own(
    scheduler: str, large: Plane, tmp_path: Path
) -> None:
    with moto() as store, team_on(large, tmp_path, store, scheduler) as team:
        if scheduler == "kueue":
            until(lambda: queue_is_active(team), "the team's queue to be active")
        pipeline, window = WAYS[scheduler]
        team.write("pipelines/pages.yaml", pipeline)
        for each in VOLUMES:
            team.scan(each, 1)
        team.campaign("books", VOLUMES, window=window)
        began = time.monotonic()
        team.applied()
        print("apply_seconds", round(time.monotonic() - began))
        given = _cards_until_it_ends(team)
        print("seconds", round(time.monotonic() - began))
        print("cards", len(given))
        job = team.job("books")
        assert (ending(job), job["status"]["completedIndexes"]) == ("Complete", "0-199")
        assert job["status"].get("failed", 0) == 0
        assert team.complete() == set(VOLUMES)
        assert {len(starts(team, each)) for each in VOLUMES[::20]} == {1}
        assert {pool for pool, _ in given} <= ALLOWED
        until(lambda: not team.client.listed(CLAIM, TEAM), "the claims to be gone")


def _cards_until_it_ends(team: Team) -> set[tuple[str, str]]:
    """All cards that were given meanwhile; none was given twice at a time."""
    given: set[tuple[str, str]] = set()

    def ended() -> bool:
        held: Counter[tuple[str, str]] = Counter()
        for claim in team.client.listed(CLAIM, TEAM):
            allocation = claim.get("status", {}).get("allocation") or {}
            held.update(
                (each["pool"], each["device"]) for each in allocation.get("devices", {}).get("results") or ()
            )
        assert set(held.values()) <= {1}
        given.update(held)
        return ending(team.job("books")) is not None

    until(ended, "the campaign to end", seconds=1800, pause=0.2)
    return given
