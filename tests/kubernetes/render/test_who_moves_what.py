"""Windows, pauses, parts and names, as who moves what: a table of schedulers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from allotment.errors import AllotmentError
from allotment.kubernetes.render import render
from allotment.kubernetes.render.names import job_name
from allotment.kubernetes.render.parts import MOST_BYTES, parts_of
from allotment.kubernetes.render.platform import render_platform
from allotment.kubernetes.render.rendered import Rendered
from allotment.platform.model import SCHEDULERS, Lane, Platform, Team, TopologyLevel
from allotment.platform.need import Need
from allotment.repository.model import (
    Campaign,
    Gang,
    ImagesSource,
    ManifestSource,
    Pipeline,
    Repository,
    StepCall,
    Topology,
    Volume,
    Window,
)

PIPELINE = Pipeline("read", (StepCall("ocr"),), image="registry.example.org/r@sha256:" + "a" * 64, gpu=Need())
LEVELS = (TopologyLevel("rack", "example.org/rack"),)
PLATFORM = Platform(bucket="s3://results", topology=LEVELS, lanes={"bulk": Lane(0), "kept": Lane(9, False)})
TEAM = Team("library")


def volumes(count: int) -> tuple[Volume, ...]:
    return tuple(Volume(f"v{number}", ManifestSource(f"https://a.se/{number}")) for number in range(count))


def rendered(scheduler: str, campaign: Campaign, pipeline: Pipeline = PIPELINE, **options: Any) -> Rendered:
    repository = Repository(Path(), {pipeline.id: pipeline}, {campaign.name: campaign})
    return render(repository, PLATFORM, TEAM, scheduler=scheduler, **options)


def jobs(found: Rendered) -> list[Any]:
    return [each for each in found.objects if each["kind"] == "Job"]


@pytest.mark.parametrize(
    ("scheduler", "parallelism", "suspend", "annotations"),
    [
        ("default", 8, False, {}),
        ("kueue", 2, True, {"kueue.x-k8s.io/elastic-job": "true"}),
        ("kai", 8, False, {"kai.scheduler/batch-min-member": "2"}),
        ("both", 2, True, {"kueue.x-k8s.io/elastic-job": "true"}),
    ],
)
def test_a_new_job_is_as_wide_as_its_scheduler_wants(
    scheduler: str, parallelism: int, suspend: bool, annotations: dict[str, str]
) -> None:
    (job,) = jobs(rendered(scheduler, Campaign("a", "read", volumes(20), Window(2, 8))))
    assert job["spec"]["parallelism"] == parallelism
    assert job["spec"].get("suspend", False) is suspend
    assert job["metadata"].get("annotations", {}) == annotations


@pytest.mark.parametrize("scheduler", SCHEDULERS)
@given(count=st.integers(1, 30), least=st.integers(1, 9), more=st.integers(0, 9), pack=st.integers(1, 7))
@settings(max_examples=20, deadline=None)
def test_a_job_is_never_wider_than_its_indexes(
    scheduler: str, count: int, least: int, more: int, pack: int
) -> None:
    campaign = Campaign("a", "read", volumes(count), Window(least, least + more), pack=pack)
    (job,) = jobs(rendered(scheduler, campaign))
    assert job["spec"]["completions"] == -(-count // pack)
    assert 1 <= job["spec"]["parallelism"] <= job["spec"]["completions"]
    gang = job["metadata"].get("annotations", {}).get("kai.scheduler/batch-min-member", "1")
    assert int(gang) <= job["spec"]["completions"]


def test_a_gang_of_one_is_none_for_kai() -> None:
    (job,) = jobs(rendered("kai", Campaign("a", "read", volumes(20), Window(1, 8))))
    assert "annotations" not in job["metadata"]


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_a_pause_starts_no_pod(scheduler: str) -> None:
    campaign = Campaign("a", "read", volumes(2), suspend=True)
    assert jobs(rendered(scheduler, campaign)) == []
    (job,) = jobs(rendered(scheduler, campaign, there=["a"]))
    assert job == jobs(rendered(scheduler, replace(campaign, suspend=False)))[0]


def templates_of(found: Rendered) -> dict[str, str]:
    """The claim template of each Job; every one of them is there."""
    there = {each["metadata"]["name"] for each in found.objects if each["kind"] == "ResourceClaimTemplate"}
    named = {
        job["metadata"]["name"]: job["spec"]["template"]["spec"]["resourceClaims"][0][
            "resourceClaimTemplateName"
        ]
        for job in jobs(found)
    }
    assert set(named.values()) == there
    return named


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_every_job_has_a_claim_template_of_its_own(scheduler: str) -> None:
    campaigns = {name: Campaign(name, "read", volumes(4)) for name in ("a", "b")}
    repository = Repository(Path(), {"read": PIPELINE}, campaigns)
    found = templates_of(render(repository, PLATFORM, TEAM, scheduler=scheduler, used={"a": [2]}))
    assert list(found) == ["a", "a-part2", "b"]
    assert len(set(found.values())) == 3


def test_a_changed_need_makes_another_template_and_leaves_the_first_as_it_is() -> None:
    campaign = Campaign("a", "read", volumes(2))
    before = templates_of(rendered("default", campaign))
    after = templates_of(rendered("default", campaign, replace(PIPELINE, gpu=Need(count=2))))
    assert before != after
    assert before == templates_of(rendered("default", campaign))


def test_pods_of_all_parts_share_one_claim_where_the_way_is_to_share() -> None:
    pipeline = replace(PIPELINE, gpu=Need(sharing=("time-slicing",)))
    found = rendered("default", Campaign("a", "read", volumes(4)), pipeline, used={"a": [2]})
    assert [each["kind"] for each in found.objects].count("ResourceClaim") == 1
    named = {job["spec"]["template"]["spec"]["resourceClaims"][0]["resourceClaimName"] for job in jobs(found)}
    assert len(named) == 1


def test_failures_are_told_apart() -> None:
    (job,) = jobs(rendered("default", Campaign("a", "read", volumes(2))))
    assert job["spec"]["backoffLimitPerIndex"] == 23
    assert job["spec"]["podReplacementPolicy"] == "Failed"
    rules = [
        (rule["action"], *rule.get("onExitCodes", {}).get("values", ()))
        for rule in job["spec"]["podFailurePolicy"]["rules"]
    ]
    assert rules == [("Ignore",), ("FailIndex", 13, 126, 127, 128), ("Ignore", 143)]
    pod = job["spec"]["template"]["spec"]
    assert pod["activeDeadlineSeconds"] > PIPELINE.max_seconds + pod["terminationGracePeriodSeconds"]


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_pods_are_restricted_and_have_no_token(scheduler: str) -> None:
    (job,) = jobs(rendered(scheduler, Campaign("a", "read", volumes(2))))
    pod = job["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert pod["automountServiceAccountToken"] is False
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert "emptyDir" in pod["volumes"][0]


def test_ten_thousand_volumes_are_one_part_and_the_next_begins_another() -> None:
    sizes = [(part.number, part.indexes) for part in parts_of(Campaign("a", "read", volumes(10_001)))]
    assert sizes == [(1, 10_000), (2, 1)]


def test_long_lists_are_split_below_the_limit_of_a_config_map() -> None:
    long = tuple(Volume(f"v{n}", ImagesSource(("https://å.se/" + "x" * 40_000,))) for n in range(60))
    parts = list(parts_of(Campaign("a", "read", long)))
    assert len(parts) == 3
    assert all(len(part.text.encode()) <= MOST_BYTES for part in parts)
    assert sum(part.volumes for part in parts) == 60


def test_a_volume_that_no_config_map_holds_is_refused() -> None:
    huge = (Volume("v", ImagesSource(("https://a.se/" + "x" * MOST_BYTES,))),)
    with pytest.raises(AllotmentError, match="900 KiB"):
        list(parts_of(Campaign("a", "read", huge)))


@given(first=st.integers(1, 40), second=st.integers(0, 40), pack=st.integers(1, 5))
@settings(max_examples=40, deadline=None)
def test_what_is_out_stays_as_it_is_when_volumes_are_appended(first: int, second: int, pack: int) -> None:
    before = Campaign("a", "read", volumes(first), pack=pack)
    after = replace(before, volumes=volumes(first + second))
    was, now = list(parts_of(before)), list(parts_of(after, [first]))
    assert now[0] == was[0]
    assert sum(part.volumes for part in now) == first + second
    assert len(now) == (2 if second else 1)


def test_appended_volumes_are_a_job_of_their_own() -> None:
    found = rendered("default", Campaign("a", "read", volumes(5)), used={"a": [3]})
    assert [(job["metadata"]["name"], job["spec"]["completions"]) for job in jobs(found)] == [
        ("a", 3),
        ("a-part2", 2),
    ]


@pytest.mark.parametrize("part", [1, 2, 100])
@pytest.mark.parametrize("name", ["a", "a" * 63, "a-" * 31 + "a"])
def test_every_pod_has_a_host_name(name: str, part: int) -> None:
    host = f"{job_name(name, part)}-9999"
    assert len(host) <= 63
    assert job_name(name, part) != job_name(f"{name[:-1]}b", part)


@pytest.mark.parametrize(
    ("scheduler", "rule", "told"),
    [
        ("default", "require", 1),
        ("default", "prefer", 0),
        ("kueue", "require", 1),
        ("kueue", "prefer", 1),
        ("kai", "require", 0),
        ("both", "require", 0),
    ],
)
def test_a_layout_that_cannot_be_kept_is_told(scheduler: str, rule: Any, told: int) -> None:
    pipeline = replace(PIPELINE, topology=Topology(rule, "rack"))
    found = rendered(scheduler, Campaign("a", "read", volumes(3)), pipeline)
    assert sum("topology" in note.text for note in found.notes) == told
    annotations = jobs(found)[0]["metadata"].get("annotations", {})
    placed = [value for key, value in annotations.items() if key.endswith("-placement")]
    assert placed == (["example.org/rack"] if scheduler in {"kai", "both"} else [])


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_a_pipeline_without_an_image_gets_a_placeholder_and_a_warning(scheduler: str) -> None:
    found = rendered(scheduler, Campaign("a", "read", volumes(1)), replace(PIPELINE, image=None))
    assert [note.about for note in found.notes if note.kind == "warning"] == ["pipelines/read"]
    (job,) = jobs(found)
    assert job["spec"]["template"]["spec"]["containers"][0]["image"].startswith("placeholder.invalid/")


@pytest.mark.parametrize(
    ("sharing", "given_up"),
    [(("mps",), {"kueue", "both"}), (("fraction",), {"default", "kueue", "both"}), (("whole",), set())],
)
def test_ways_that_a_scheduler_cannot_have_are_given_up_aloud(
    sharing: tuple[str, ...], given_up: set[str]
) -> None:
    pipeline = replace(PIPELINE, gpu=Need(sharing=sharing, share=0.5 if "fraction" in sharing else None))
    for scheduler in SCHEDULERS:
        found = rendered(scheduler, Campaign("a", "read", volumes(1)), pipeline)
        told = [note for note in found.notes if "share one claim" not in note.text]
        assert bool(told) is (scheduler in given_up), scheduler


def test_a_lane_that_may_not_be_preempted() -> None:
    campaign = Campaign("a", "read", volumes(1), priority="kept")
    (job,) = jobs(rendered("kai", campaign))
    assert job["metadata"]["labels"]["kai.scheduler/preemptibility"] == "non-preemptible"
    assert any("may not be evicted" in note.text for note in rendered("kueue", campaign).notes)


@pytest.mark.parametrize(
    ("version", "kinds", "key"),
    [
        ("1.34", [], None),
        ("1.35", ["scheduling.k8s.io/v1alpha1 Workload"], "workloadRef"),
        (
            "1.36",
            ["scheduling.k8s.io/v1alpha2 Workload", "scheduling.k8s.io/v1alpha2 PodGroup"],
            "schedulingGroup",
        ),
        (
            "1.37",
            ["scheduling.k8s.io/v1beta1 Workload", "scheduling.k8s.io/v1beta1 PodGroup"],
            "schedulingGroup",
        ),
    ],
)
def test_gang_objects_are_those_of_the_version_and_off_by_default(
    version: str, kinds: Sequence[str], key: str | None
) -> None:
    gang = Gang("train", 4, 3, image="x@sha256:" + "a" * 64, gpu=Need())
    platform = replace(PLATFORM, versions=replace(PLATFORM.versions, kubernetes=version))
    repository = Repository(Path(), gangs={"train": gang})
    off = render(repository, platform, TEAM, scheduler="default")
    assert not [each for each in off.objects if each["kind"] in {"Workload", "PodGroup"}]
    assert any("do not start together" in note.text for note in off.notes)
    on = render(repository, platform, TEAM, scheduler="default", gang_objects=True)
    found = [each for each in on.objects if each["kind"] in {"Workload", "PodGroup"}]
    assert [f"{each['apiVersion']} {each['kind']}" for each in found] == kinds
    pod = jobs(on)[0]["spec"]["template"]["spec"]
    assert (key in pod) if key else any(f"Kubernetes {version} has no" in note.text for note in on.notes)
    for scheduler in ("kueue", "kai", "both"):
        other = render(repository, platform, TEAM, scheduler=scheduler, gang_objects=True)
        assert not [each for each in other.objects if each["kind"] == "PodGroup"]


def test_two_teams_in_one_namespace_are_refused() -> None:
    teams = {name: Team(name, namespace="shared") for name in ("a", "b")}
    with pytest.raises(AllotmentError, match="have one namespace"):
        render_platform(Platform(teams=teams))


def test_a_cluster_without_claims_is_told() -> None:
    platform = replace(PLATFORM, versions=replace(PLATFORM.versions, kubernetes="1.33"))
    found = render(Repository(Path()), platform, TEAM)
    assert [note.about for note in found.notes if note.kind == "warning"] == ["versions.kubernetes"]
