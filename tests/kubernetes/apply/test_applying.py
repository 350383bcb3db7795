"""An apply from end to end, for every scheduler: creation, the handing over of the width, nothing to do."""

from __future__ import annotations

import pytest

from allotment.kubernetes.apply.fields import owners_of
from allotment.platform.model import SCHEDULERS
from tests.kubernetes.apply.stage import Stage, campaign, verbs

KUEUES = ("kueue", "both")


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_the_second_time_there_is_nothing_to_do_and_nothing_is_asked_beyond_lists(scheduler: str) -> None:
    stage = Stage(scheduler)
    first = stage.apply(campaign())
    assert verbs(first) == {"pipelines/read": "created", "campaigns/a": "created"}
    if scheduler in KUEUES:
        stage.kueue()
    before = stage.state()
    again = stage.apply(campaign())
    assert again.is_nothing, again
    assert {
        (each.method, each.path.rpartition("/")[2]) for each in stage.server.requests if each.method != "GET"
    } == {("POST", "selfsubjectaccessreviews")}
    assert stage.state() == before


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_the_width_goes_to_who_moves_windows(scheduler: str) -> None:
    stage = Stage(scheduler)
    stage.apply(campaign())
    job = stage.job()
    assert job["spec"]["parallelism"] == (2 if scheduler in KUEUES else 8)
    assert owners_of(job, "spec", "parallelism") == ("allotment-window",)
    assert job["metadata"]["annotations"]["allotment/window"] == "2..8"
    assert job["metadata"]["labels"]["allotment/repository"] == "here"
