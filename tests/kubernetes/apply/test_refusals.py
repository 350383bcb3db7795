"""What is refused before anything of it is sent: all of it at once, with what to do; the rest goes on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from allotment.kubernetes.apply import Refusal
from allotment.kubernetes.kinds import CONFIG_MAP, DEVICE_CLASS, JOB, LOCAL_QUEUE
from allotment.kubernetes.testing import FakeApiServer
from allotment.kubernetes.testing.answers import Answer
from allotment.kubernetes.testing.resources import Resource
from allotment.platform.need import Need
from allotment.repository.model import Fleet, Gang, ManifestSource, PrefixSource, StepCall, Volume, Window
from tests.kubernetes.apply.stage import IMAGE, PIPELINE, SPACE, Stage, campaign, refusals, verbs, volumes

REORDERED = (Volume("v1", ManifestSource("https://a.se/1")), *volumes(1), *volumes(3, 2))
MOVED = (Volume("v0", ManifestSource("https://b.se/0")), *volumes(4, 1))


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"volumes": volumes(4)}, "volume v4 was removed"),
        ({"volumes": volumes(5, 1)}, "volume v0 was removed"),
        ({"volumes": REORDERED}, "the 1st volume was v0 and is v1"),
        ({"volumes": MOVED}, "volume v0 has another source"),
        ({"pack": 2}, "`pack` was 1 and is 2"),
    ],
)
@pytest.mark.parametrize("is_gone", [True, False])
def test_volumes_that_are_out_stay_as_they_are(change: Any, told: str, is_gone: bool) -> None:
    stage = Stage()
    stage.apply(campaign(count=5))
    if is_gone:
        stage.end(succeeded=5)
        stage.apply(campaign(count=5))
        stage.gone()
    before = stage.state()
    report = stage.apply(replace(campaign(count=5), **change), campaign("b"))
    assert told in refusals(report)
    assert verbs(report) == {
        "pipelines/read": "unchanged",
        "campaigns/a": "refused",
        "campaigns/b": "created",
    }
    assert before.items() <= stage.state().items()


WRONG = Volume("page", PrefixSource("s3://scans/typo"))
MENDED = PrefixSource("s3://scans/right")


@pytest.mark.parametrize(
    ("edited", "told", "remedy"),
    [
        (
            (Volume("page", MENDED),),
            "volume page has another source than it had",
            (
                "put page back as the 1st of the list with `prefix: s3://scans/typo`, and add the right one "
                "at the end under an id of its own, such as page-2"
            ),
        ),
        (
            (Volume("page-2", MENDED),),
            "volume page was removed",
            "put page back as the 1st of the list with `prefix: s3://scans/typo`; volumes that are out stay",
        ),
    ],
)
def test_a_wrong_address_is_mended_as_the_refusal_says(edited: Any, told: str, remedy: str) -> None:
    stage = Stage()
    first = replace(campaign(), volumes=(WRONG,))
    stage.apply(first)
    stage.end(succeeded=0)
    report = stage.apply(replace(first, volumes=edited))
    (refusal,) = next(each for each in report.outcomes if each.group == "campaigns/a").refusals
    assert told in refusal.text
    assert remedy in refusal.remedy
    mended = stage.apply(replace(first, volumes=(WRONG, Volume("page-2", MENDED))))
    assert mended.is_fine
    assert "s3://scans/right" in stage.get(CONFIG_MAP, "a-part2-volumes")["data"]["volumes.json"]
    assert stage.job("a-part2")["spec"]["completions"] == 1


def test_a_volume_that_is_to_go_goes_with_the_name_of_its_campaign() -> None:
    stage = Stage()
    stage.apply(replace(campaign(), volumes=(WRONG,)))
    stage.end(succeeded=0)
    report = stage.apply(replace(campaign("b"), volumes=(Volume("page-2", MENDED),)), prune=True)
    assert report.is_fine
    assert [each["metadata"]["name"] for each in stage.all(JOB)] == ["b"]


@pytest.mark.parametrize("is_gone", [True, False])
@pytest.mark.parametrize(
    "other",
    [
        replace(PIPELINE, image="registry.example.org/r@sha256:" + "b" * 64),
        replace(PIPELINE, steps=(StepCall("ocr", {"size": 2}),)),
        replace(PIPELINE, prepare=StepCall("fetch")),
    ],
)
def test_a_recipe_that_was_used_stays_as_it_is(other: Any, is_gone: bool) -> None:
    stage = Stage()
    stage.apply(campaign())
    if is_gone:
        stage.end()
        stage.apply(campaign())
        stage.gone()
    report = stage.apply(campaign(), campaign("b"), pipeline=other)
    assert "pipeline read is used: campaign a ran recipe" in refusals(report)
    assert "pipeline read is used" in refusals(report, "campaigns/b")
    assert stage.writes() == []


def test_a_campaign_keeps_its_pipeline() -> None:
    stage = Stage()
    stage.apply(campaign())
    report = stage.apply(replace(campaign(), pipeline="other"), pipeline=replace(PIPELINE, id="other"))
    assert "its pipeline was read and is other" in refusals(report)


def test_what_never_changes_and_holds_something_else_is_refused() -> None:
    stage = Stage()
    stage.apply(campaign())
    live = stage.get(CONFIG_MAP, "a-volumes")
    stage.client.delete(CONFIG_MAP, "a-volumes", SPACE)
    keys = ("name", "namespace", "labels")
    metadata = {key: live["metadata"][key] for key in keys}
    text = live["data"]["volumes.json"].replace(",\n", ", \n")
    other = {**live, "metadata": metadata, "data": {"volumes.json": text}}
    stage.client.create(other, manager="somebody")
    assert "ConfigMap a-volumes never changes" in refusals(stage.apply(campaign()))


@pytest.mark.parametrize(
    ("labels", "told"),
    [
        ({}, "does not carry our label"),
        ({"app.kubernetes.io/managed-by": "helm"}, "does not carry our label"),
        ({"app.kubernetes.io/managed-by": "allotment", "allotment/team": "other"}, "is of team `other`"),
        (
            {
                "app.kubernetes.io/managed-by": "allotment",
                "allotment/team": "library",
                "allotment/repository": "elsewhere",
            },
            "was applied from another repository",
        ),
    ],
)
@pytest.mark.parametrize(("kind", "name"), [(JOB, "a"), (CONFIG_MAP, "a-settings")])
def test_what_is_not_ours_is_not_touched(kind: Any, name: str, labels: dict[str, str], told: str) -> None:
    stage = Stage()
    metadata = {"name": name, "namespace": SPACE, "labels": labels}
    pod = {"restartPolicy": "Never", "containers": [{"name": "c", "image": IMAGE}]}
    spec = {"spec": {"template": {"spec": pod}}} if kind is JOB else {}
    said = {"apiVersion": kind.api_version, "kind": kind.name}
    foreign = stage.client.create({**said, "metadata": metadata, **spec}, manager="helm")
    report = stage.apply(campaign(), campaign("b"))
    assert told in refusals(report)
    assert verbs(report)["campaigns/b"] == "created"
    assert stage.get(kind, name) == foreign
    assert {each["metadata"]["name"] for each in stage.all(JOB)} == ({"a", "b"} if kind is JOB else {"b"})


@pytest.mark.parametrize("scheduler", ["kueue", "kai"])
def test_a_live_job_never_moves_to_another_queue(scheduler: str) -> None:
    stage = Stage("kueue")
    stage.apply(campaign())
    stage.kueue()
    stage.scheduler = "default"
    assert "is in queue `library` and never moves" in refusals(stage.apply(campaign()))


def test_two_that_would_make_one_object_are_both_refused() -> None:
    stage = Stage()
    stage.apply(campaign("a", count=5))
    report = stage.apply(campaign("a", count=8), campaign("a-part2"), campaign("b"))
    assert "jobs.batch/a-part2 would be of campaigns/a-part2 as well" in refusals(report)
    assert "jobs.batch/a-part2 would be of campaigns/a as well" in refusals(report, "campaigns/a-part2")
    assert verbs(report)["campaigns/b"] == "created"


def test_a_name_that_is_still_taken_by_what_left_the_repository_is_refused() -> None:
    stage = Stage()
    stage.apply(campaign("a"))
    gang = Gang("a", 2, 2, image=IMAGE, gpu=Need(count=2))
    assert "jobs.batch/a is there, and is of campaigns/a" in refusals(stage.apply(gang), "gangs/a")
    stage.apply(prune=True)
    assert verbs(stage.apply(gang))["gangs/a"] == "created"


def test_a_class_that_the_cluster_has_not_is_refused() -> None:
    stage = Stage()
    stage.client.delete(DEVICE_CLASS, "gpu.nvidia.com")
    assert "class `gpu.nvidia.com`, which the cluster does not have" in refusals(stage.apply(campaign()))


def test_a_class_that_kueue_does_not_count_is_refused() -> None:
    stage = Stage("kueue")
    need = Need(sharing=("mig",))
    stage.platform = replace(stage.platform, sharing=("whole", "mig"))
    assert verbs(stage.apply(campaign(), pipeline=replace(PIPELINE, gpu=need)))["campaigns/a"] == "created"
    stage = Stage("kueue")
    stage.platform = replace(stage.platform, sharing=("whole",))
    told = refusals(stage.apply(campaign(), pipeline=replace(PIPELINE, gpu=need)))
    assert "Kueue does not count devices of class `mig.nvidia.com`" in told


def test_a_queue_that_is_not_there_is_refused() -> None:
    stage = Stage("kueue")
    stage.client.delete(LOCAL_QUEUE, "library", SPACE)
    assert "Kueue has no LocalQueue `library`" in refusals(stage.apply(campaign()))


@pytest.mark.parametrize(
    ("scheduler", "told"), [("kueue", "localqueues.kueue.x-k8s.io"), ("kai", "queues.scheduling.run.ai")]
)
def test_a_scheduler_that_the_cluster_does_not_have_is_refused(scheduler: str, told: str) -> None:
    stage = Stage("default")
    stage.server._kinds = ()
    stage.scheduler = scheduler
    assert f"the cluster serves no {told}" in refusals(stage.apply(campaign()))


def test_a_cluster_without_claims_is_refused() -> None:
    stage = Stage("default")

    def served(self: FakeApiServer) -> tuple[Resource, ...]:
        return tuple(each for each in whole() if each.group != "resource.k8s.io")

    whole: Callable[[], tuple[Resource, ...]] = stage.server.resources
    stage.server.resources = served.__get__(stage.server)  # type: ignore[method-assign]  # an older cluster
    assert "serves no resource.k8s.io/v1" in refusals(stage.apply(campaign()))
    assert verbs(stage.apply(campaign("c"), pipeline=replace(PIPELINE, gpu=None)))["campaigns/c"] == "created"


def test_a_need_that_no_device_meets_is_handed_in() -> None:
    stage = Stage()
    told = {"campaigns/a": (Refusal("no card has 900Gi", "ask for less"),)}
    report = stage.apply(campaign(), campaign("b"), impossible=told)
    assert refusals(report) == "no card has 900Gi (ask for less)"
    assert verbs(report)["campaigns/b"] == "created"
    running = stage.apply(campaign("b"), impossible={"campaigns/b": told["campaigns/a"]})
    assert running.is_nothing  # it has its devices, or waits for what was there when it was sent


def test_everything_that_is_wrong_is_told_at_once() -> None:
    stage = Stage("kueue")
    stage.client.delete(DEVICE_CLASS, "gpu.nvidia.com")
    big = replace(PIPELINE, gpu=Need(count=9))
    told = refusals(stage.apply(campaign(window=Window(2, 2)), pipeline=big))
    assert "which the cluster does not have" in told
    assert "it can never start" in told


@pytest.mark.parametrize(
    ("status", "message", "told"),
    [
        (400, 'admission webhook "w.example.org" does not support dry run', "cannot be tried out"),
        (403, 'admission webhook "w.example.org" denied the request: no books today', "no books today"),
    ],
)
def test_what_a_webhook_says_to_the_dry_run_is_told(
    status: int, message: str, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = Stage()
    whole = stage.server.request

    def request(method: str, path: str, *rest: Any) -> Answer:
        if method == "POST" and path.endswith("/jobs"):
            reason = "BadRequest" if status == 400 else "Forbidden"
            said = {
                "kind": "Status",
                "status": "Failure",
                "code": status,
                "reason": reason,
                "message": message,
            }
            return Answer(status, said)
        return whole(method, path, *rest)

    monkeypatch.setattr(stage.server, "request", request)
    assert told in refusals(stage.apply(campaign()))
    monkeypatch.undo()
    assert stage.all() == []


def test_a_fleet_is_held_to_its_queue_by_one_pod() -> None:
    stage = Stage("kueue")
    path = Path()
    big = Fleet("f", image=IMAGE, gpu=Need(count=9), path=path)
    assert "1 pod at once, each with 9 `gpus`" in refusals(stage.apply(big), "fleets/f")
    assert verbs(stage.apply(replace(big, gpu=Need())))["fleets/f"] == "created"
    assert stage.apply(replace(big, gpu=Need())).is_nothing
