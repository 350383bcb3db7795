"""A live Job that somebody took our label from is there: no apply and no status calls it gone."""

from __future__ import annotations

import pytest

from allotment.kubernetes.apply.reading import read_live
from allotment.kubernetes.client import Client
from allotment.kubernetes.cluster.reading import read_snapshot
from allotment.kubernetes.follow import State, follow
from allotment.kubernetes.follow.again import again
from allotment.kubernetes.kinds import JOB
from allotment.kubernetes.render.context import context_for
from allotment.kubernetes.testing.transport import FakeTransport
from allotment.platform.model import SCHEDULERS
from allotment.platform.need import Need
from allotment.repository.model import Gang
from tests.kubernetes.apply.stage import IMAGE, SPACE, TEAM, Stage, campaign, refusals

MANAGED = "app.kubernetes.io/managed-by"
GANG = Gang("g", 3, 3, image=IMAGE, gpu=Need())


def unlabel(stage: Stage, name: str, *keys: str) -> None:
    labels = dict.fromkeys(keys or (MANAGED,))
    stage.client.patch(JOB, name, SPACE, {"metadata": {"labels": labels}}, manager="kubectl-label")


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_an_apply_says_that_it_is_there_and_how_it_gets_its_label_back(scheduler: str) -> None:
    stage = Stage(scheduler)
    stage.apply(campaign(), GANG)
    stage.kueue()
    for name, group in (("a", "campaigns/a"), ("g", "gangs/g")):
        unlabel(stage, name)
        told = stage.apply(campaign(), GANG)
        assert not told.is_fine
        assert f"jobs.batch/{name} is there, and somebody took our label" in refusals(told, group)
        assert f"kubectl label -n {SPACE} jobs.batch/{name} {MANAGED}=allotment" in refusals(told, group)
        patch = {"metadata": {"labels": {MANAGED: "allotment"}}}
        stage.client.patch(JOB, name, SPACE, patch, manager="kubectl-label")
        assert stage.apply(campaign(), GANG).is_fine
        assert stage.apply(campaign(), GANG).is_nothing


@pytest.mark.parametrize("keys", [(MANAGED,), (MANAGED, "allotment/campaign")])
def test_a_status_shows_it_and_says_what_it_lacks_at_every_look(keys: tuple[str, ...]) -> None:
    stage = Stage()
    stage.apply(campaign())
    unlabel(stage, "a", *keys)
    seen = read_snapshot(stage.client, now=stage.clock)
    for look in (seen, again(stage.client, seen, stage.clock + 5)):
        (found,) = follow(look, SPACE)
        assert (found.name, found.jobs) == ("a", ("a",))
        assert found.state is not State.ABSENT
        assert any("somebody took our label" in note for note in found.notes)


def test_one_that_is_gone_is_asked_for_once_and_one_whose_end_was_seen_never() -> None:
    stage = Stage()
    stage.apply(campaign())
    stage.gone()
    told = stage.apply(campaign())
    assert "its Job is gone" in told.outcomes[1].said[0]
    asked = [each.path for each in stage.server.requests if each.path.endswith("/jobs/a")]
    assert len(asked) == 1
    other = Stage()
    other.apply(campaign())
    other.end()
    other.apply(campaign())
    other.gone()
    other.apply(campaign())
    assert not [each.path for each in other.server.requests if each.path.endswith("/jobs/a")]


def test_many_that_are_missed_are_listed_and_not_asked_for_one_by_one() -> None:
    stage = Stage()
    parts = [campaign(name, 2) for name in (f"c{n}" for n in range(12))]
    stage.apply(*parts)
    for each in parts:
        unlabel(stage, each.name)
    stage.server.requests.clear()
    context = context_for(stage.platform, TEAM, "default")
    live = read_live(Client(FakeTransport(stage.server)), context, lambda: stage.clock)
    assert {each["metadata"]["name"] for each in live.of(JOB, SPACE)} == {each.name for each in parts}
    assert len(stage.server.requests) < 20
