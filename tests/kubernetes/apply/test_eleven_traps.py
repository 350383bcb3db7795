"""Eleven ways in which a platform of this kind goes wrong on a cluster, each held shut by a test."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from allotment.kubernetes.kinds import CLAIM, CLAIM_TEMPLATE, CONFIG_MAP, JOB
from allotment.kubernetes.render.platform import render_platform
from allotment.platform.model import SCHEDULERS, Defaults, Queue
from allotment.platform.need import Need
from allotment.repository.model import Window
from allotment.repository.recipe import recipe_of
from tests.kubernetes.apply.stage import (
    PIPELINE,
    PLATFORM,
    SPACE,
    TEAM,
    Stage,
    campaign,
    refusals,
    verbs,
)

KUEUES = ("kueue", "both")


def with_quota(cards: int) -> Any:
    return replace(PLATFORM, teams={"library": replace(TEAM, queue=Queue(quota=cards, limit=cards))})


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_trap_1_applying_again_after_the_width_was_moved_changes_nothing(scheduler: str) -> None:
    stage = Stage(scheduler)
    stage.apply(campaign())
    stage.kueue()
    job = stage.job()
    moved = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "a", "namespace": SPACE}}
    stage.client.apply({**moved, "spec": {"parallelism": 5}}, manager="allotment-window")
    before = stage.job()
    assert before["spec"]["parallelism"] == 5 != job["spec"]["parallelism"]
    again = stage.apply(campaign())
    if scheduler in KUEUES:
        assert again.is_nothing
        assert stage.job() == before
    else:  # nobody moves it there, so the file holds
        assert stage.writes() == ["PATCH a"]
        assert stage.job()["spec"]["parallelism"] == 8


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_trap_2_a_preempted_index_burns_no_retry_and_has_an_end(scheduler: str) -> None:
    stage = Stage(scheduler, platform=replace(PLATFORM, defaults=Defaults(retries=2, reclaims=5)))
    stage.apply(campaign())
    spec = stage.job()["spec"]
    rules = spec["podFailurePolicy"]["rules"]
    assert {"type": "DisruptionTarget", "status": "True"} in rules[0]["onPodConditions"]
    ignored = [each["onExitCodes"]["values"] for each in rules[1:] if each["action"] == "Ignore"]
    assert ignored == [[143]]
    assert spec["backoffLimitPerIndex"] == 7
    told = json.loads(stage.get(CONFIG_MAP, "a-settings")["data"]["settings.json"])
    assert (told["limits"]["retries"], told["limits"]["reclaims"]) == (2, 5)


@pytest.mark.parametrize("scheduler", SCHEDULERS)
@pytest.mark.parametrize("seen", [True, False])
def test_trap_3_a_finished_campaign_stays_finished_when_its_job_is_gone(scheduler: str, seen: bool) -> None:
    stage = Stage(scheduler)
    stage.apply(campaign())
    stage.end()
    if seen:
        assert stage.apply(campaign()).is_fine
    stage.gone()
    told = stage.apply(campaign())
    assert told.is_nothing
    assert stage.all(JOB) == []
    (said,) = told.outcomes[1].said
    assert ("complete: 20 of 20" in said) is seen
    assert "--again a" in said


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_trap_4_a_pause_at_creation_starts_no_pod(scheduler: str) -> None:
    stage = Stage(scheduler)
    told = stage.apply(campaign(suspend=True))
    assert told.is_fine
    assert stage.all(JOB, CLAIM_TEMPLATE, CONFIG_MAP) == []
    assert verbs(stage.apply(campaign()))["campaigns/a"] == "created"


@pytest.mark.parametrize("scheduler", ["kueue", "both", "kai"])
def test_trap_5_what_can_never_be_admitted_is_refused_with_the_sum(scheduler: str) -> None:
    stage = Stage(scheduler, platform=with_quota(3))
    four = replace(PIPELINE, gpu=Need(count=2))
    told = refusals(stage.apply(campaign(window=Window(2, 8)), pipeline=four))
    if scheduler == "both":  # KAI limits nothing there
        assert "ClusterQueue" in told
    assert "2 pods at once, each with 2 `gpus`, are 4" in told
    assert "1 more than it can ever have" in told
    assert stage.all() == []
    assert verbs(stage.apply(campaign(window=Window(1, 8)), pipeline=four))["campaigns/a"] == "created"


@pytest.mark.parametrize("scheduler", ["default", "kai"])
def test_trap_6_a_narrower_window_takes_pods_by_the_job_and_gives_them_their_time(scheduler: str) -> None:
    stage = Stage(scheduler)
    stage.apply(campaign())
    grace = stage.job()["spec"]["template"]["spec"]["terminationGracePeriodSeconds"]
    assert grace == PLATFORM.defaults.grace_seconds
    before = stage.job()
    assert stage.apply(campaign(window=Window(2, 3))).is_fine
    after = stage.job()
    assert (before["spec"]["parallelism"], after["spec"]["parallelism"]) == (8, 3)
    assert before["spec"]["template"] == after["spec"]["template"]
    assert not any(each.startswith("DELETE") for each in stage.writes())


def test_trap_7_two_layers_of_quota_never_both_hold() -> None:
    both = replace(PLATFORM, scheduler="both")
    queues = [each for each in render_platform(both).objects if each["kind"] == "Queue"]
    numbers = [each["spec"]["resources"]["gpu"] for each in queues]
    assert {(each["quota"], each["limit"]) for each in numbers} == {(-1, -1)}
    stage = Stage("both")
    stage.apply(campaign())
    assert stage.job()["metadata"]["labels"]["kai.scheduler/preemptibility"] == "non-preemptible"


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_trap_8_each_pod_has_a_claim_of_its_own_that_goes_with_it(scheduler: str) -> None:
    stage = Stage(scheduler)
    stage.apply(campaign())
    (claim,) = stage.job()["spec"]["template"]["spec"]["resourceClaims"]
    assert set(claim) == {"name", "resourceClaimTemplateName"}
    assert stage.get(CLAIM_TEMPLATE, claim["resourceClaimTemplateName"]) is not None
    stage.apply(prune=True)
    assert stage.all(JOB, CLAIM_TEMPLATE, CLAIM) == []


@pytest.mark.parametrize("scheduler", ["kueue", "kai", "both"])
def test_trap_9_no_work_is_in_anothers_queue_or_in_none(scheduler: str) -> None:
    stage = Stage(scheduler)
    stage.apply(campaign())
    job = stage.job()
    own = job["metadata"]["labels"]
    queues = {own[key] for key in ("kueue.x-k8s.io/queue-name", "kai.scheduler/queue") if key in own}
    assert queues == {TEAM.name}
    kinds = {each["kind"] for each in render_platform(stage.platform).objects}
    assert {"ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"} <= kinds


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_trap_10_results_lie_below_the_team_and_the_recipe(scheduler: str) -> None:
    stage = Stage(scheduler)
    stage.apply(campaign())
    told = json.loads(stage.get(CONFIG_MAP, "a-settings")["data"]["settings.json"])
    recipe = json.loads(
        stage.get(CONFIG_MAP, f"pipeline-read-{recipe_of(PIPELINE)}")["data"]["pipeline.json"]
    )
    assert (told["team"], recipe["pipeline"], recipe["recipe"]) == ("library", "read", recipe_of(PIPELINE))


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_trap_11_the_default_window_starts_on_a_queue_of_one_card(scheduler: str) -> None:
    stage = Stage(scheduler, platform=with_quota(1))
    told = stage.apply(campaign(count=40, window=Window(1, Defaults().window)))
    assert verbs(told)["campaigns/a"] == "created"
    width = stage.job()["spec"]["parallelism"]
    assert width == (1 if scheduler in KUEUES else 20)
