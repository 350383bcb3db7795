"""What a cluster shows running is the beginning of a scene, and its own queues decide."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from allotment.kubernetes.cluster.world import world_of
from allotment.kubernetes.render import render
from allotment.kubernetes.render.platform import render_platform
from allotment.planning.scenes.scene import scene_for
from allotment.planning.scenes.values import Choices, Place, Scene
from allotment.platform.model import Platform, Queue, Team
from allotment.repository.model import Repository
from allotment.simulation.draws import Draws
from allotment.simulation.setting import Pace
from allotment.simulation.simulate import simulate
from allotment.simulation.work import Kind, Running, Work
from tests.kubernetes.follow.told import NAMES, situation
from tests.planning.scene_files import (
    ARCHIVE,
    CAMPAIGN,
    NOW,
    PIPELINE,
    claim,
    cluster,
    described,
    platform,
    pod,
    repository,
)

SINCE = -600.0
AN_HOUR_BEFORE = datetime.fromtimestamp(NOW - 3600, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def scene(found: Repository, place: Place, scheduler: str = "kueue", **rest: Any) -> Scene:
    return scene_for(found, platform(), ARCHIVE, place, scheduler=scheduler, **rest)


def of_platform(scheduler: str = "kueue", **changes: Any) -> tuple[Mapping[str, Any], ...]:
    return render_platform(platform(**changes), scheduler).objects


def sent(found: Repository, status: Mapping[str, Any], of: Platform | None = None) -> list[Mapping[str, Any]]:
    """What is on the cluster once the repository was applied, with the status of its Job."""
    objects = render(found, of or platform(), ARCHIVE).objects
    return [{**each, "status": status} if each["kind"] == "Job" else each for each in objects]


def named(found: Scene, name: str) -> Work:
    return next(work for work in found.works if work.name == name)


def held(namespace: str, queue: str, count: int, job: str) -> dict[str, Any]:
    """A Workload of another Job, which is admitted."""
    template = {
        "spec": {
            "containers": [{"name": "w", "resources": {"requests": {"cpu": "2"}}}],
            "resourceClaims": [{"name": "device", "resourceClaimTemplateName": "t"}],
        }
    }
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "Workload",
        "metadata": {
            "name": f"job-{job}",
            "namespace": namespace,
            "ownerReferences": [{"kind": "Job", "name": job, "uid": "u", "controller": True}],
        },
        "spec": {
            "queueName": queue,
            "priority": 7,
            "podSets": [{"name": "main", "count": count, "template": template}],
        },
        "status": {"conditions": [{"type": "Admitted", "status": "True"}]},
    }


def test_the_clusters_own_queues_decide(tmp_path: Path) -> None:
    other = {"archive": Team("archive", queue=Queue(7, 1, 7))}
    found = scene(repository(tmp_path), cluster(*of_platform(teams=other)))
    quota = found.setting.state.cluster_queues["archive"].groups[0].quotas["allotment", "gpus"]
    assert quota.nominal == 7
    assert found.setting.teams["archive"].quota == 2


def test_queues_that_the_cluster_lacks_are_taken_from_the_file_aloud(tmp_path: Path) -> None:
    place = cluster(*of_platform("kueue"))
    found = scene(repository(tmp_path), place, "kai")
    assert found.setting.state.share_queues["archive"].gpu.quota == 2
    assert "queues of KAI" in {each.subject for each in found.assumptions}
    assert "queues of KAI" not in {each.subject for each in scene(repository(tmp_path), place).assumptions}


def test_pods_of_a_campaign_that_run_are_its_first_runs(tmp_path: Path) -> None:
    found = repository(tmp_path)
    place = cluster(
        *of_platform(),
        *sent(found, {"completedIndexes": "0", "succeeded": 1}),
        pod("letters-2", "archive", on="node-1", claim="c2", index=2, job="letters"),
        claim("c2", "archive", "letters-2", "gpu-1"),
    )
    shown = scene(found, place)
    letters = named(shown, "letters")
    assert [unit.name for unit in letters.units] == ["R1", "R2", "R3"]
    assert letters.running == (Running(1, "node-1", ("gpu.nvidia.com/node-1/gpu-1",), SINCE),)
    assert len(shown.works) == 1
    published = shown.setting.state.published
    assert published is not None
    assert not published.claims
    assert shown.setting.state.nodes["node-1"].taken == {}


def test_an_index_whose_pod_has_succeeded_is_done_before_its_job_says_so(tmp_path: Path) -> None:
    found = repository(tmp_path)
    ended = pod("letters-1", "archive", on="node-1", index=1, job="letters")
    ended = {**ended, "status": {**ended["status"], "phase": "Succeeded"}}
    place = cluster(*of_platform(), *sent(found, {"completedIndexes": "0"}), ended)
    assert [unit.name for unit in named(scene(found, place), "letters").units] == ["R2", "R3"]


def test_work_of_others_in_queues_can_be_evicted_and_stays_until_then(tmp_path: Path) -> None:
    found = repository(tmp_path)
    place = cluster(
        *of_platform(),
        held("laboratory", "laboratory", 2, "spectra"),
        pod("spectra-0", "laboratory", on="node-1", claim="s0", index=0, job="spectra"),
        claim("s0", "laboratory", "spectra-0", "gpu-0"),
    )
    shown = scene(found, place)
    spectra = named(shown, "spectra of laboratory")
    assert (spectra.kind, spectra.team, spectra.most, spectra.least) == (Kind.FLEET, "laboratory", 2, 2)
    assert (spectra.priority, len(spectra.running), spectra.planned) == (7, 1, False)
    assert spectra.ask.charges == {"gpus": 1, "cpu": 2000}
    assert any("of others" in each.subject for each in shown.assumptions)
    ending = named(scene(found, place, choices=Choices(Pace(others_stay=3600.0))), "spectra of laboratory")
    assert ending.kind is Kind.CAMPAIGN
    assert [unit.seconds for unit in ending.units] == [3600.0, 3600.0]


def test_what_stands_was_there_before_what_is_planned(tmp_path: Path) -> None:
    found = repository(tmp_path)
    waits = held("laboratory", "laboratory", 4, "spectra")
    waits = {**waits, "metadata": {**waits["metadata"], "creationTimestamp": AN_HOUR_BEFORE}, "status": {}}
    place = cluster(*of_platform(), waits)
    shown = scene(found, place)
    assert (named(shown, "letters").arrival, named(shown, "spectra of laboratory").arrival) == (0.0, -3600.0)
    place = cluster(*of_platform(), *sent(found, {}))
    assert named(scene(found, place), "letters").arrival == -1.0


@pytest.mark.parametrize("lost", ["LocalQueue", "ClusterQueue"])
def test_what_runs_goes_on_though_its_queue_is_gone(tmp_path: Path, lost: str) -> None:
    queues = [
        each for each in of_platform() if each["kind"] != lost or each["metadata"]["name"] != "laboratory"
    ]
    place = cluster(
        *queues,
        pod(
            "spectra-0",
            "laboratory",
            on="node-1",
            claim="n0",
            labels={"kueue.x-k8s.io/queue-name": "laboratory"},
        ),
        claim("n0", "laboratory", "spectra-0", "gpu-0"),
    )
    shown = scene(repository(tmp_path), place)
    assert named(shown, "spectra-0 of laboratory").running
    course = simulate(shown.setting, shown.works, shown.run_times, Draws(1), 86_400.0)
    spans = [each for each in course.spans if each.work == "spectra-0 of laboratory"]
    assert [(each.node, each.ended) for each in spans] == [("node-1", 86_400.0)]


def test_what_the_scheduler_does_not_manage_only_takes_its_devices(tmp_path: Path) -> None:
    found = repository(tmp_path)
    place = cluster(
        *of_platform(),
        pod("notebook", "people", on="node-1", claim="n0"),
        claim("n0", "people", "notebook", "gpu-0"),
        pod("logs", "kube-system", on="node-2", requests={"cpu": "1"}),
    )
    shown = scene(found, place)
    assert [work.name for work in shown.works] == ["letters"]
    state = shown.setting.state
    assert state.published is not None
    assert [each.name for each in state.published.claims] == ["n0"]
    assert state.nodes["node-1"].taken == {"cpu": 2000, "pods": 1}
    assert state.nodes["node-2"].taken == {"cpu": 1000, "pods": 1}


def test_a_pod_in_no_queue_is_not_managed_though_its_team_is_known(tmp_path: Path) -> None:
    place = cluster(
        *of_platform("kai"),
        pod("notebook", "laboratory", on="node-1", claim="n0"),
        claim("n0", "laboratory", "notebook", "gpu-0"),
    )
    found = repository(tmp_path)
    assert [work.name for work in scene(found, place, "kai").works] == ["letters"]
    compared = scene(found, place, "kueue").works
    assert [(work.name, work.team) for work in compared[1:]] == [("notebook of laboratory", "laboratory")]


def test_other_campaigns_of_ours_have_left_what_their_jobs_say(tmp_path: Path) -> None:
    theirs = repository(tmp_path / "theirs")
    job = next(each for each in sent(theirs, {"completedIndexes": "0-1"}) if each["kind"] == "Job")
    job = {**job, "metadata": {**job["metadata"], "namespace": "laboratory", "name": "letters"}}
    place = cluster(
        *of_platform(),
        job,
        pod("letters-2", "laboratory", on="node-1", claim="c2", index=2, job="letters"),
        claim("c2", "laboratory", "letters-2", "gpu-1"),
    )
    shown = scene(repository(tmp_path / "ours"), place)
    other = named(shown, "letters of laboratory")
    assert (other.kind, other.team, len(other.units), len(other.running)) == (
        Kind.CAMPAIGN,
        "laboratory",
        2,
        1,
    )
    assert other.recipe in shown.run_times.pages


def test_how_fast_others_are_is_told_by_what_they_have_done(tmp_path: Path) -> None:
    theirs = repository(tmp_path / "theirs")
    status = {"completedIndexes": "0-1", "startTime": "2027-01-15T07:00:00Z"}
    job = next(each for each in sent(theirs, status) if each["kind"] == "Job")
    spec = {**job["spec"], "suspend": False, "parallelism": 2}
    job = {**job, "metadata": {**job["metadata"], "namespace": "laboratory"}, "spec": spec}
    shown = scene(repository(tmp_path / "ours"), cluster(*of_platform(), job))
    other = named(shown, "letters of laboratory")
    times = shown.run_times.of(other.recipe, "A100-80")
    assert other.most == 2
    assert times.page.draw(Draws(1).stream("x")) > 0
    told = next(each for each in shown.assumptions if each.subject == "an index of letters of laboratory")
    assert told.value == "3,600 s"
    assert [unit.pages for unit in other.units] == [1, 1]


def test_a_campaign_waits_for_the_devices_that_others_hold(tmp_path: Path) -> None:
    fleet = "1 nodes of 1 x A100-80"
    found = repository(tmp_path, campaigns_letters="pipeline: read\nvolumes: [R1]\n")
    place = cluster(
        *of_platform("kai"),
        pod("notebook", "people", on="node-1", claim="n0"),
        claim("n0", "people", "notebook", "gpu-0"),
        fleet=fleet,
    )
    for scheduler in ("default", "kai"):
        shown = scene(found, place, scheduler)
        outcome = simulate(shown.setting, shown.works, shown.run_times, Draws(1), 3600.0)
        assert [each.started for each in outcome.ends if each.work == "letters"] == [None]


def test_a_campaign_that_runs_goes_on_where_it_is(tmp_path: Path) -> None:
    found = repository(tmp_path)
    place = cluster(
        *of_platform(),
        *sent(found, {"completedIndexes": "0-1"}),
        pod("letters-2", "archive", on="node-2", claim="c2", index=2, job="letters"),
        claim("c2", "archive", "letters-2", "gpu-3", "node-2"),
    )
    shown = scene(found, place)
    outcome = simulate(shown.setting, shown.works, shown.run_times, Draws(1), 10 * 86_400.0)
    first = min((each for each in outcome.spans if each.work == "letters"), key=lambda each: each.bound)
    assert (first.node, first.devices) == ("node-2", ("gpu.nvidia.com/node-2/gpu-3",))
    assert next(each for each in outcome.ends if each.work == "letters").complete == 2


@pytest.mark.parametrize("name", NAMES)
def test_every_situation_of_a_cluster_can_be_gone_on_with(tmp_path: Path, name: str) -> None:
    snapshot = situation(name)
    place = Place(world_of(snapshot).world, name, snapshot)
    found = repository(tmp_path)
    for scheduler in ("default", "kueue", "kai", "both"):
        shown = scene(found, place, scheduler)
        assert len({work.name for work in shown.works}) == len(shown.works)
        outcome = simulate(shown.setting, shown.works, shown.run_times, Draws(1), 1_800.0)
        assert {each.work for each in outcome.ends} == {work.name for work in shown.works}


def test_kais_queues_of_others_are_shares_of_their_own(tmp_path: Path) -> None:
    theirs = {"research": Team("research", queue=Queue(1, 1, None))}
    found = repository(tmp_path)
    of_kai = {"kai.scheduler/queue": "research", "kai.scheduler/preemptibility": "non-preemptible"}
    place = cluster(
        *of_platform("kai"),
        *render_platform(platform(teams=theirs), "kai").objects[-1:],
        pod("survey-0", "research", on="node-1", claim="s0", labels=of_kai),
        pod(
            "survey-1",
            "research",
            labels={"kai.scheduler/queue": "research"},
            requests={"nvidia.com/gpu": "2"},
        ),
        claim("s0", "research", "survey-0", "gpu-0"),
    )
    shown = scene(found, place, "kai")
    held_one, waiting = named(shown, "survey-0 of research"), named(shown, "survey-1 of research")
    assert shown.setting.teams[held_one.team].share_queue == "research"
    assert (held_one.team, waiting.team) == ("research", "research")
    assert (held_one.preemptible, waiting.preemptible) == (False, True)
    assert (waiting.running, waiting.ask.request.gpus, waiting.ask.gpus) == ((), 2, 2.0)
    assert held_one.running[0].devices == ("gpu.nvidia.com/node-1/gpu-0",)
    assert [work.name for work in scene(found, place, "default").works] == ["letters"]


def test_nodes_of_a_file_have_what_they_say(tmp_path: Path) -> None:
    nodes = cluster().world.nodes
    place = Place(replace(described().world, nodes=nodes), "nodes.yaml")
    found = scene(repository(tmp_path), place).setting.state.nodes
    assert [(each.allocatable["pods"], each.ready) for each in found.values()] == [(110, True), (110, True)]


ENDED = {"conditions": [{"type": "Failed", "status": "True"}], "failedIndexes": "1"}


@pytest.mark.parametrize(
    ("status", "left"),
    [
        ({"completedIndexes": "0", "failedIndexes": "2"}, ["R1", "R3"]),
        (ENDED, []),
    ],
    ids=["an-index-has-failed", "the-job-has-ended"],
)
def test_what_is_over_does_not_come_back(tmp_path: Path, status: dict[str, Any], left: list[str]) -> None:
    found = repository(tmp_path)
    shown = scene(found, cluster(*of_platform(), *sent(found, status)))
    assert [unit.name for work in shown.works for unit in work.units] == left


def test_a_job_that_is_gone_does_not_come_back(tmp_path: Path) -> None:
    found = repository(tmp_path)
    remembered = []
    for each in sent(found, {}):
        if each["kind"] == "Job":
            continue
        notes = {"allotment/job-uid": "u"} if each["metadata"]["name"].endswith("-volumes") else {}
        remembered.append({**each, "metadata": {**each["metadata"], "annotations": notes}})
    assert scene(found, cluster(*of_platform(), *remembered)).works == ()


def test_a_campaign_that_its_file_suspends_gives_its_devices_back(tmp_path: Path) -> None:
    running = repository(tmp_path / "before")
    found = repository(tmp_path / "now", campaigns_letters=f"{CAMPAIGN}suspend: true\n")
    place = cluster(
        *of_platform(),
        *sent(running, {}),
        pod("letters-0", "archive", on="node-1", claim="c0", index=0, job="letters"),
        claim("c0", "archive", "letters-0", "gpu-0"),
    )
    shown = scene(found, place)
    assert shown.works == ()
    assert shown.setting.state.published is not None
    assert not shown.setting.state.published.claims


def test_pods_without_devices_are_first_runs_too(tmp_path: Path) -> None:
    found = repository(tmp_path, pipelines_read=f"{PIPELINE}resources: {{cpu: 2}}\n")
    place = cluster(
        *of_platform(),
        *sent(found, {}),
        pod("letters-1", "archive", on="node-1", index=1, job="letters"),
    )
    shown = scene(found, place)
    assert [each.number for each in named(shown, "letters").running] == [1]
    assert shown.setting.state.nodes["node-1"].taken == {}
