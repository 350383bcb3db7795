"""A Job whose Workloads Kueue has all closed: an apply says so, calls it not done, and can make it anew."""

from __future__ import annotations

from typing import Any

import pytest

from allotment.kubernetes.kinds import WORKLOAD
from tests.kubernetes.apply.stage import SPACE, Stage, campaign, refusals, verbs

CONFLICT = "invalid admission check PodSetUpdate: conflict for annotations"


def close(stage: Stage, reason: str = "FailedToStart") -> None:
    condition: dict[str, Any] = {"type": "Finished", "status": "True", "reason": reason, "message": CONFLICT}
    for each in stage.slices():
        stage.client.patch(
            WORKLOAD,
            each["metadata"]["name"],
            SPACE,
            {"status": {"conditions": [condition]}},
            manager="kueue",
            subresource="status",
        )


def given_up() -> Stage:
    stage = Stage("kueue")
    stage.apply(campaign())
    stage.kueue(admit=False)
    stage._workload(stage.job(), 2)
    assert stage.job()["spec"]["suspend"] is True
    close(stage)
    return stage


def test_it_is_refused_with_what_kueue_says_and_what_mends_it() -> None:
    told = given_up().apply(campaign())
    assert not told.is_fine
    assert f"jobs.batch/a will never start, for Kueue has given it up: {CONFLICT}" in refusals(told)
    assert "`allot apply --again a`" in refusals(told)


def test_it_is_made_anew_where_that_is_wished() -> None:
    stage = given_up()
    before = stage.job()["metadata"]["uid"]
    told = stage.apply(campaign(), again=("a",))
    assert told.is_fine
    assert verbs(told)["campaigns/a"] == "created"
    assert stage.job()["metadata"]["uid"] != before
    assert stage.slices() == []
    stage.kueue()
    assert stage.apply(campaign()).is_nothing


def test_a_pause_of_it_waits_for_nothing() -> None:
    stage = given_up()
    told = stage.apply(campaign(suspend=True), sleep=lambda _: pytest.fail("it waits"))
    assert told.is_fine
    assert "holds nothing" in next(each for each in told.outcomes if each.group == "campaigns/a").said[-1]


def test_a_pause_of_one_whose_workloads_are_finished_says_that_they_are() -> None:
    stage = Stage("kueue")
    stage.apply(campaign())
    stage.kueue(admit=False)
    close(stage, "JobFinished")
    failure = stage.apply(campaign(suspend=True)).outcomes[1].failure
    assert "Kueue has finished every Workload of jobs.batch/a" in failure
    assert "made no Workload" not in failure
