"""What is no longer in the repository is left and told, and with ``--prune`` deleted: ours alone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from allotment.kubernetes.kinds import CLAIM_TEMPLATE, CONFIG_MAP, DEPLOYMENT, JOB, SERVICE
from allotment.platform.model import SCHEDULERS
from allotment.platform.need import Need
from allotment.repository.model import Fleet, Gang
from tests.kubernetes.apply.stage import IMAGE, PIPELINE, SPACE, Stage, campaign, verbs

FLEET = Fleet("f", image=IMAGE, gpu=Need())
UNUSED = replace(PIPELINE, id="unused")
GANG = Gang("g", 2, 2, image=IMAGE, gpu=Need())


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_without_the_option_it_is_left_and_told(scheduler: str) -> None:
    stage = Stage(scheduler)
    stage.apply(campaign("a"), campaign("b"), FLEET, GANG)
    before = stage.state()
    report = stage.apply(campaign("b"))
    assert report.is_nothing
    assert verbs(report) == {
        "pipelines/read": "unchanged",
        "campaigns/b": "unchanged",
        "campaigns/a": "left",
        "fleets/f": "left",
        "gangs/g": "left",
    }
    assert stage.state() == before


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_with_it_everything_of_it_goes_and_nothing_else(scheduler: str) -> None:
    stage = Stage(scheduler)
    stage.apply(campaign("b"))
    alone = stage.state()
    stage.apply(campaign("a"), campaign("b"), FLEET, GANG)
    report = stage.apply(campaign("b"), prune=True)
    assert verbs(report)["campaigns/a"] == "pruned"
    assert stage.state() == alone
    deleted = [each for each in stage.writes() if each.startswith("DELETE")]
    assert deleted.index("DELETE a") < deleted.index("DELETE a-volumes")
    bodies = [each.body for each in stage.server.requests if each.method == "DELETE"]
    assert all(b'"Background"' in each and b'"uid"' in each for each in bodies)
    assert stage.apply(campaign("b"), prune=True).is_nothing


def test_records_of_what_has_ended_go_too() -> None:
    stage = Stage()
    stage.apply(campaign("a"))
    stage.end()
    stage.apply(campaign("a"))
    stage.gone()
    assert verbs(stage.apply(prune=True, pipeline=UNUSED))["campaigns/a"] == "pruned"
    assert stage.all() == []
    assert verbs(stage.apply(campaign("a")))["campaigns/a"] == "created"


def test_what_is_of_others_stays() -> None:
    stage = Stage()
    stage.apply(campaign("a"), mark="theirs")
    ours = {"app.kubernetes.io/managed-by": "allotment"}
    for name, labels in (("kept", ours), ("other", {**ours, "allotment/team": "other"})):
        own = {"name": name, "namespace": SPACE, "labels": labels}
        stage.client.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": own}, manager="x")
    before = stage.state()
    assert verbs(stage.apply(prune=True, pipeline=UNUSED)) == {"pipelines/unused": "unchanged"}
    assert stage.state() == before


def test_a_refused_campaign_is_not_pruned() -> None:
    stage = Stage()
    stage.apply(campaign("a", count=5))
    stage.apply(campaign("a", count=3), prune=True)
    assert stage.job("a") is not None
    assert stage.get(CONFIG_MAP, "a-volumes") is not None


def test_a_paused_campaign_that_has_ended_keeps_its_memory() -> None:
    stage = Stage()
    stage.apply(campaign("a"))
    stage.end()
    stage.apply(campaign("a"))
    stage.gone()
    stage.apply(campaign("a", suspend=True), prune=True)
    assert stage.get(CONFIG_MAP, "a-volumes") is not None
    assert stage.apply(campaign("a")).is_nothing


def test_a_claim_template_that_nothing_names_is_pruned() -> None:
    stage = Stage()
    stage.apply(FLEET)
    (old,) = stage.all(CLAIM_TEMPLATE)
    stage.apply(replace(FLEET, gpu=Need(count=2)))
    assert len(stage.all(CLAIM_TEMPLATE)) == 2
    stage.apply(replace(FLEET, gpu=Need(count=2)), prune=True)
    (new,) = stage.all(CLAIM_TEMPLATE)
    assert new["metadata"]["name"] != old["metadata"]["name"]
    assert len(stage.all(DEPLOYMENT)) == 1


def test_a_part_of_the_repository_tells_nothing_of_the_rest() -> None:
    stage = Stage()
    stage.apply(campaign("a"), campaign("b"))
    assert "campaigns/a" not in verbs(stage.apply(campaign("b"), is_whole=False))


def test_everything_goes_with_an_empty_repository() -> None:
    stage = Stage()
    stage.apply(campaign("a"), FLEET, GANG)
    stage.apply(prune=True, pipeline=UNUSED)
    assert stage.all(JOB, CONFIG_MAP, DEPLOYMENT, SERVICE, CLAIM_TEMPLATE) == []
