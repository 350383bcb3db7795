"""What becomes of a campaign over many applies: pauses, windows, appended volumes, endings, runs anew."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from allotment.kubernetes.apply import Refusal
from allotment.kubernetes.apply.fields import owners_of
from allotment.kubernetes.kinds import (
    CLAIM_TEMPLATE,
    CONFIG_MAP,
    DEPLOYMENT,
    GANG_POD_GROUPS,
    JOB,
    SERVICE,
    WORKLOAD,
)
from allotment.kubernetes.testing import faults
from allotment.kubernetes.testing.asked import Request
from allotment.platform.model import SCHEDULERS
from allotment.platform.need import Need
from allotment.repository.model import Fleet, Gang, StepCall, Window
from tests.kubernetes.apply.stage import IMAGE, PIPELINE, SPACE, Stage, campaign, refusals, verbs, volumes

GANG = Gang("g", 3, 3, image=IMAGE, gpu=Need())


@pytest.mark.parametrize("scheduler", ["default", "kai"])
def test_a_pause_is_the_jobs_own_and_given_up_again(scheduler: str) -> None:
    stage = Stage(scheduler)
    stage.apply(campaign())
    assert verbs(stage.apply(campaign(suspend=True)))["campaigns/a"] == "paused"
    job = stage.job()
    assert job["spec"]["suspend"] is True
    assert owners_of(job, "spec", "suspend") == ("allotment-pause",)
    assert stage.apply(campaign(suspend=True)).is_nothing
    assert verbs(stage.apply(campaign()))["campaigns/a"] == "resumed"
    job = stage.job()
    assert job["spec"]["suspend"] is False
    assert "allotment-pause" not in owners_of(job, "spec", "suspend")
    assert stage.apply(campaign()).is_nothing


@pytest.mark.parametrize("scheduler", ["kueue", "both"])
def test_a_pause_is_every_unfinished_workload_where_kueue_admits(scheduler: str) -> None:
    stage = Stage(scheduler)
    stage.apply(campaign())
    stage.kueue()
    finished = stage.slices()[0]
    stage.client.patch(
        WORKLOAD,
        finished["metadata"]["name"],
        SPACE,
        {"status": {"conditions": [{"type": "Finished", "status": "True"}]}},
        manager="kueue",
        subresource="status",
    )
    stage._workload(stage.job(), 2)
    stage._workload(stage.job(), 3)
    assert verbs(stage.apply(campaign(suspend=True)))["campaigns/a"] == "paused"
    assert [each["spec"]["active"] for each in stage.slices()] == [True, False, False]
    stage.kueue()
    assert stage.job()["spec"]["suspend"] is True
    assert stage.apply(campaign(suspend=True)).is_nothing
    assert verbs(stage.apply(campaign()))["campaigns/a"] == "resumed"
    assert all(each["spec"]["active"] for each in stage.slices())
    assert stage.apply(campaign()).is_nothing


def test_a_pause_waits_for_the_workload_of_a_new_job() -> None:
    stage = Stage("kueue")
    stage.apply(campaign())
    waited: list[float] = []

    def sleep(seconds: float) -> None:
        waited.append(seconds)
        if len(waited) == 3:
            stage.kueue(admit=False)

    assert verbs(stage.apply(campaign(suspend=True), sleep=sleep))["campaigns/a"] == "paused"
    assert len(waited) == 3
    assert [each["spec"]["active"] for each in stage.slices()] == [False]
    assert stage.job()["spec"]["suspend"] is True


def test_a_pause_without_kueue_says_that_nothing_has_started() -> None:
    stage = Stage("kueue")
    stage.apply(campaign())
    told = stage.apply(campaign(suspend=True))
    assert not told.is_fine
    assert "none of its pods starts" in told.outcomes[1].failure
    assert stage.job()["spec"]["suspend"] is True


def test_what_somebody_else_stopped_stays_stopped_and_is_told() -> None:
    stage = Stage("kueue")
    stage.apply(campaign())
    stage.kueue()
    name = stage.slices()[0]["metadata"]["name"]
    stage.client.patch(WORKLOAD, name, SPACE, {"spec": {"active": False}}, manager="kubectl-edit")
    told = stage.apply(campaign())
    assert told.is_nothing
    assert "was deactivated by kubectl-edit" in told.outcomes[1].said[0]
    other = Stage("default")
    other.apply(campaign())
    other.client.patch(JOB, "a", SPACE, {"spec": {"suspend": True}}, manager="kubectl-edit")
    assert "was suspended by kubectl-edit" in other.apply(campaign()).outcomes[1].said[0]


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_pausing_what_has_ended_is_nothing(scheduler: str) -> None:
    stage = Stage(scheduler)
    stage.apply(campaign())
    stage.kueue()
    stage.end()
    stage.apply(campaign())
    assert stage.apply(campaign(suspend=True)).is_nothing
    stage.gone()
    assert stage.apply(campaign(suspend=True)).is_nothing


def test_a_changed_window_is_left_to_the_controller_where_kueue_admits() -> None:
    stage = Stage("kueue")
    stage.apply(campaign())
    stage.kueue()
    told = stage.apply(campaign(window=Window(1, 4)))
    job = stage.job()
    assert job["spec"]["parallelism"] == 2
    assert job["metadata"]["annotations"]["allotment/window"] == "1..4"
    assert "its window was 2..8 and is 1..4" in told.outcomes[1].said[0]
    assert stage.apply(campaign(window=Window(1, 4))).is_nothing


def test_kais_least_is_an_annotation_that_follows_the_file() -> None:
    stage = Stage("kai")
    stage.apply(campaign())
    key = "kai.scheduler/batch-min-member"
    assert stage.job()["metadata"]["annotations"][key] == "2"
    stage.apply(campaign(window=Window(3, 8)))
    assert stage.job()["metadata"]["annotations"][key] == "3"
    stage.apply(campaign(window=Window(1, 8)))
    assert key not in stage.job()["metadata"]["annotations"]


def test_a_window_that_another_moves_is_a_conflict_by_name() -> None:
    stage = Stage("default")
    stage.apply(campaign())
    stage.client.patch(JOB, "a", SPACE, {"spec": {"parallelism": 4}}, manager="kubectl-scale")
    left = stage.apply(campaign())
    assert left.is_nothing
    assert "kubectl-scale made Job a 4 wide, where the file says 8" in left.outcomes[1].said[0]
    told = refusals(stage.apply(campaign(window=Window(1, 6))))
    assert "`kubectl-scale` owns .spec.parallelism" in told
    assert stage.job()["spec"]["parallelism"] == 4


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_appended_volumes_are_a_further_part(scheduler: str) -> None:
    stage = Stage(scheduler)
    stage.apply(campaign(count=5))
    stage.end(succeeded=5)
    stage.apply(campaign(count=5))
    stage.gone()
    told = stage.apply(campaign(count=8))
    assert verbs(told)["campaigns/a"] == "created"
    assert [each["metadata"]["name"] for each in stage.all(JOB)] == ["a-part2"]
    assert stage.job("a-part2")["spec"]["completions"] == 3
    assert stage.apply(campaign(count=8)).is_nothing


def test_a_paused_campaign_gets_no_further_part() -> None:
    stage = Stage("default")
    stage.apply(campaign(count=5))
    stage.apply(campaign(count=8, suspend=True))
    assert [each["metadata"]["name"] for each in stage.all(JOB)] == ["a"]
    assert stage.get(CONFIG_MAP, "a-part2-volumes") is None
    assert verbs(stage.apply(campaign(count=8)))["campaigns/a"] == "created"


@pytest.mark.parametrize("is_gone", [True, False])
@pytest.mark.parametrize("scheduler", ["default", "kueue"])
def test_a_run_anew_is_asked_for_by_name(scheduler: str, is_gone: bool) -> None:
    stage = Stage(scheduler)
    stage.apply(campaign())
    stage.end(failed=True, succeeded=3)
    stage.apply(campaign())
    before = stage.job()["metadata"]["uid"]
    if is_gone:
        stage.gone()
    assert "failed: 3 of 20 indexes done, failed indexes 3" in stage.apply(campaign()).outcomes[1].said[0]
    told = stage.apply(campaign(), again=("a",))
    assert verbs(told)["campaigns/a"] == "created", told
    assert stage.job()["metadata"]["uid"] != before
    stage.kueue()
    assert stage.apply(campaign()).is_nothing
    notes = stage.get(CONFIG_MAP, "a-volumes")["metadata"]["annotations"]
    assert notes["allotment/job-uid"] == stage.job()["metadata"]["uid"]
    assert "allotment/job-ended" not in notes


def test_a_job_that_does_not_go_is_not_made_anew() -> None:
    stage = Stage("default")
    stage.apply(campaign())
    held = {"metadata": {"finalizers": ["example.org/held"]}}
    stage.client.patch(JOB, "a", SPACE, held, manager="other")
    stage.end()
    stage.apply(campaign())
    waited: list[float] = []
    told = stage.apply(campaign(), again=("a",), sleep=waited.append)
    assert "is not gone 10 s after it was deleted" in told.outcomes[1].failure
    assert sum(waited) == 10
    assert stage.apply(campaign()).is_nothing
    stage.client.patch(JOB, "a", SPACE, {"metadata": {"finalizers": None}}, manager="other")
    assert verbs(stage.apply(campaign(), again=("a",)))["campaigns/a"] == "created"


def test_what_still_runs_is_not_run_anew() -> None:
    stage = Stage("default")
    stage.apply(campaign())
    assert "has not ended" in refusals(stage.apply(campaign(), again=("a",)))


def test_an_ending_is_written_down_where_the_volumes_are() -> None:
    stage = Stage("default")
    stage.apply(campaign())
    stage.end(failed=True, succeeded=12)
    stage.apply(campaign())
    notes = stage.get(CONFIG_MAP, "a-volumes")["metadata"]["annotations"]
    told = json.loads(notes["allotment/job-ended"])
    assert (told["phase"], told["succeeded"], told["completions"], told["failed_indexes"]) == (
        "Failed",
        12,
        20,
        "3",
    )
    assert told["started"]
    assert told["ended"]
    assert stage.apply(campaign()).is_nothing


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_a_changed_need_is_for_later_jobs_and_said_so(scheduler: str) -> None:
    stage = Stage(scheduler)
    stage.apply(campaign(count=5))
    stage.kueue()
    (template,) = stage.all(CLAIM_TEMPLATE)
    more = replace(PIPELINE, gpu=Need(count=2))
    before = stage.job()
    told = stage.apply(campaign(count=5), pipeline=more)
    assert told.is_nothing
    assert "keeps what it claims" in told.outcomes[1].said[0]
    assert stage.job() == before
    assert stage.all(CLAIM_TEMPLATE) == [template]
    stage.apply(campaign(count=7), pipeline=more)
    assert len(stage.all(CLAIM_TEMPLATE)) == 2
    part = stage.job("a-part2")["spec"]["template"]["spec"]["resourceClaims"][0]
    assert part["resourceClaimTemplateName"] != template["metadata"]["name"]


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_a_prepare_is_run_once(scheduler: str) -> None:
    prepared = replace(PIPELINE, prepare=StepCall("fetch"))
    stage = Stage(scheduler)
    stage.apply(campaign(), pipeline=prepared)
    (name,) = [each["metadata"]["name"] for each in stage.all(JOB) if "prepare" in each["metadata"]["name"]]
    stage.kueue()
    stage.end(name, succeeded=1)
    stage.apply(campaign(), pipeline=prepared)
    stage.gone(name)
    assert stage.apply(campaign(), pipeline=prepared).is_nothing
    stage.end()
    stage.apply(campaign(), pipeline=prepared)
    stage.apply(campaign(), pipeline=prepared, again=("a",))
    assert [each["metadata"]["name"] for each in stage.all(JOB)] == ["a"]


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_a_gang_is_run_once_and_anew_by_name(scheduler: str) -> None:
    stage = Stage(scheduler)
    assert verbs(stage.apply(GANG))["gangs/g"] == "created"
    stage.kueue()
    assert stage.apply(GANG).is_nothing
    stage.end("g", succeeded=3)
    stage.apply(GANG)
    stage.gone("g")
    assert stage.apply(GANG).is_nothing
    assert stage.all(JOB) == []
    assert "allotment/job-ended" in stage.get(SERVICE, "g")["metadata"]["annotations"]
    assert verbs(stage.apply(GANG, again=("g",)))["gangs/g"] == "created"


def test_a_fleet_takes_a_changed_need_at_once() -> None:
    stage = Stage("default")
    fleet = Fleet("f", image=IMAGE, gpu=Need())
    assert verbs(stage.apply(fleet))["fleets/f"] == "created"
    assert verbs(stage.apply(replace(fleet, gpu=Need(count=2))))["fleets/f"] == "configured"
    assert stage.apply(replace(fleet, gpu=Need(count=2))).is_nothing
    never = {"fleets/f": (Refusal("no node has three"),)}
    report = stage.apply(replace(fleet, gpu=Need(count=3)), impossible=never)
    assert refusals(report, "fleets/f") == "no node has three"
    assert stage.apply(replace(fleet, gpu=Need(count=2)), impossible=never).is_nothing


def test_replicas_that_something_else_moves_are_left_to_it() -> None:
    stage = Stage("default")
    fleet = Fleet("f", image=IMAGE, gpu=Need())
    stage.apply(fleet)
    stage.client.patch(DEPLOYMENT, "f", SPACE, {"spec": {"replicas": 3}}, manager="autoscaler")
    assert stage.apply(fleet).is_nothing
    assert stage.get(DEPLOYMENT, "f")["spec"]["replicas"] == 3


@pytest.mark.parametrize(("version", "kinds"), [("1.34", 0), ("1.35", 1), ("1.36", 2), ("1.37", 2)])
def test_the_gang_objects_are_those_of_the_clusters_version(version: str, kinds: int) -> None:
    stage = Stage("default", version=version, gang_objects=True)
    first: Any = stage.apply(GANG)
    served = {each.version for each in stage.server.resources() if each.group == "scheduling.k8s.io"}
    wanted = {"1.34": "v1", "1.35": "v1alpha1", "1.36": "v1alpha2", "1.37": "v1beta1"}[version]
    if wanted not in served:
        assert "does not serve" in str(first.outcomes[-1].refusals or first.cut_short)
        return
    assert verbs(first)["gangs/g"] == "created"
    names = [each.name for each in first.outcomes[-1].objects if "scheduling.k8s.io" in each.name]
    assert len(names) == kinds
    assert stage.apply(GANG).is_nothing


def test_a_pod_group_that_is_refused_once_its_workload_is_there_ends_the_gang_and_is_mended_later() -> None:
    stage = Stage("default", gang_objects=True)
    groups = next(each for each in GANG_POD_GROUPS if each.api_version.endswith("v1alpha2"))

    def refused(number: int, request: Request) -> faults.Fault | None:
        is_sent = "dryRun" not in request.query and request.method != "GET"
        return (
            faults.Fault(403, "Forbidden", "PodGroup rejected")
            if is_sent and groups.plural in request.path
            else None
        )

    first = stage.apply(GANG, plan=refused)
    assert verbs(first)["gangs/g"] == "failed"
    assert stage.job("g") is None
    assert verbs(stage.apply(GANG))["gangs/g"] == "created"
    assert stage.job("g") is not None
    assert stage.apply(GANG).is_nothing


def test_volumes_are_the_same_in_two_campaigns_at_once() -> None:
    stage = Stage("default")
    two = (campaign("a"), campaign("b"))
    assert verbs(stage.apply(*two)) == {
        "pipelines/read": "created",
        "campaigns/a": "created",
        "campaigns/b": "created",
    }
    assert volumes(20) == two[0].volumes == two[1].volumes


@pytest.mark.parametrize("failed", [False, True])
def test_the_end_of_a_job_is_recorded_once_and_called_so(failed: bool) -> None:
    stage = Stage("default")
    stage.apply(campaign())
    assert stage.apply(campaign()).is_nothing
    stage.end(failed=failed)
    tried = stage.apply(campaign(), dry_run=True)
    assert verbs(tried)["campaigns/a"] == "recorded"
    report = stage.apply(campaign())
    assert verbs(report)["campaigns/a"] == "recorded"
    assert report.is_fine
    assert not report.is_nothing
    assert stage.apply(campaign()).is_nothing
