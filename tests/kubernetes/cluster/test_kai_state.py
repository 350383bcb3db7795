"""A snapshot's Queues, PodGroups, pods and claims as KAI's scheduler counts them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from allotment.devices.describe import parse_description
from allotment.kubernetes.cluster.kai_objects import read_group, read_queue, settings_of, tree_of
from allotment.kubernetes.cluster.kai_state import KaiScene, kai_scene_of
from allotment.kubernetes.cluster.snapshot import Snapshot
from allotment.kubernetes.render.platform import render_platform
from allotment.platform.model import Platform, Queue, Team
from allotment.scheduling.kai import Action, Bound, Memory, Spreading, decide
from allotment.scheduling.state.pod_groups import PodRequest, PodStatus, SubGroup
from allotment.scheduling.state.share_queues import FREELY, NO_LIMIT, Allotted

PLATFORM = Platform(
    engine="kubernetes",
    scheduler="kai",
    teams={
        "archive": Team("archive", queue=Queue(6, 3, 8)),
        "laboratory": Team("laboratory", queue=Queue(None, 1, None)),
    },
)
CLAIMED = {"exactly": {"deviceClassName": "gpu.nvidia.com", "allocationMode": "ExactCount", "count": 1}}
FLEET = parse_description("2 x H100-SXM")


def node(name: str, **amounts: str) -> dict[str, Any]:
    allocatable = {"cpu": "64", "memory": "512Gi", "pods": "110", **amounts}
    ready = [{"type": "Ready", "status": "True"}]
    status = {"allocatable": allocatable, "conditions": ready}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "status": status}


def group(name: str, queue: str, **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "scheduling.run.ai/v2alpha2",
        "kind": "PodGroup",
        "metadata": {
            "name": name,
            "namespace": queue,
            "creationTimestamp": "2026-05-01T10:00:00Z",
            "labels": {"allotment/campaign": name},
        },
        "spec": {"queue": queue, **spec},
    }


def pod(
    name: str, of: str, namespace: str, *, on: str = "", requests: dict[str, str] | None = None, **rest: Any
) -> dict[str, Any]:
    meta = {
        "name": name,
        "namespace": namespace,
        "labels": rest.pop("labels", {}),
        "annotations": {**({"pod-group-name": of} if of else {}), **rest.pop("annotations", {})},
    }
    spec: dict[str, Any] = {
        "schedulerName": "kai-scheduler" if of else "default-scheduler",
        "containers": [{"name": "worker", "resources": {"requests": requests or {"cpu": "1"}}}],
        **rest.pop("spec", {}),
    }
    if on:
        spec["nodeName"] = on
    status = {"phase": "Running" if on else "Pending", **rest.pop("status", {})}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec, "status": status}


def claim(name: str, namespace: str, device: str = "", user: str = "") -> dict[str, Any]:
    status: dict[str, Any] = {}
    if device:
        result = {
            "request": "device",
            "driver": "gpu.nvidia.com",
            "pool": "node-1",
            "device": device,
        }
        status = {
            "allocation": {"devices": {"results": [result]}},
            "reservedFor": [{"resource": "pods", "name": user}],
        }
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "annotations": {"resource.kubernetes.io/pod-claim-name": "device"},
        },
        "spec": {"devices": {"requests": [{"name": "device", **CLAIMED}]}},
        "status": status,
    }


def of_claim(name: str) -> dict[str, Any]:
    return {
        "spec": {"resourceClaims": [{"name": "device", "resourceClaimTemplateName": "t"}]},
        "status": {"resourceClaimStatuses": [{"name": "device", "resourceClaimName": name}]},
    }


def scene(*objects: dict[str, Any], platform: Platform = PLATFORM) -> KaiScene:
    described = [
        *(each.to_dict() for each in FLEET.slices),
        *(each.to_dict() for each in FLEET.classes.values()),
    ]
    rendered = render_platform(platform).objects
    return kai_scene_of(Snapshot(1.8e9, (*rendered, *described, *objects), name="prod"))


def test_queues_that_are_rendered_are_read_back_with_all_their_numbers() -> None:
    queues = scene().state.share_queues
    assert queues["archive"].gpu == Allotted(6, 8, 3)
    assert queues["laboratory"].gpu == Allotted(NO_LIMIT, NO_LIMIT, 1)
    assert {queues[name].cpu for name in queues} == {FREELY}
    assert queues["archive"].parent == "allotment-teams"
    assert queues["archive"].reclaim_min_runtime == 600


def test_numbers_that_a_queue_leaves_out_are_nothing() -> None:
    told = read_queue({"metadata": {"name": "q"}, "spec": {"resources": {"gpu": {"quota": 2}}}})
    assert (told.gpu, told.cpu, told.memory) == (Allotted(2, 0, 0), Allotted(), Allotted())


def test_a_waiting_pod_gets_the_device_that_another_pod_does_not_hold() -> None:
    found = scene(
        node("node-1"),
        group("letters", "archive", minMember=1, preemptibility="preemptible"),
        pod("letters-0", "letters", "archive", on="node-1", **of_claim("c0")),
        pod("letters-1", "letters", "archive", **of_claim("c1")),
        claim("c0", "archive", "gpu-0", "letters-0"),
        claim("c1", "archive"),
    )
    pods = {each.id: each for each in found.state.pod_groups["archive/letters"].pods}
    assert pods["archive/letters-0"].status is PodStatus.RUNNING
    assert pods["archive/letters-1"].claims == ("archive/c1",)
    assert found.called("archive/letters") == "campaign letters of archive"
    decisions, _ = decide(found.state, Memory(found.settings), found.now)
    assert [(each.pod, each.node) for each in decisions if isinstance(each, Bound)] == [
        ("archive/letters-1", "node-1")
    ]


def test_what_pods_of_another_scheduler_hold_is_taken() -> None:
    found = scene(
        node("node-1"),
        pod("other", "", "archive", on="node-1", requests={"cpu": "3"}, **of_claim("c0")),
        claim("c0", "archive", "gpu-0", "other"),
    )
    assert found.state.nodes["node-1"].taken == {"cpu": 3000, "pods": 1, "nvidia.com/gpu": 1}


def test_parts_of_gpus_stand_in_annotations_and_their_places_in_labels() -> None:
    found = scene(
        node("node-1", **{"nvidia.com/gpu": "2"}),
        group("letters", "archive"),
        pod(
            "letters-0",
            "letters",
            "archive",
            on="node-1",
            annotations={"gpu-fraction": "0.5"},
            labels={"runai-gpu-group": "g1"},
        ),
        pod("letters-1", "letters", "archive", annotations={"gpu-memory": "8192"}),
    )
    first, second = found.state.pod_groups["archive/letters"].pods
    assert (first.request, first.gpu_groups) == (PodRequest(cpu=1000, fraction=0.5), ("g1",))
    assert second.request == PodRequest(cpu=1000, gpu_memory=8192)


def test_claims_that_say_more_than_their_class_are_kinds_of_their_own() -> None:
    asked = claim("c0", "archive")
    memory = "device.capacity['gpu.nvidia.com'].memory.compareTo(quantity('200Gi')) >= 0"
    exactly = {**CLAIMED["exactly"], "selectors": [{"cel": {"expression": memory}}]}
    asked["spec"] = {"devices": {"requests": [{"name": "device", "exactly": exactly}]}}
    found = scene(
        node("node-1"),
        group("letters", "archive"),
        pod("letters-0", "letters", "archive", **of_claim("c0")),
        asked,
    )
    decisions, _ = decide(found.state, Memory(found.settings), found.now)
    assert not [each for each in decisions if isinstance(each, Bound)]


@pytest.mark.parametrize(
    ("spec", "tree"),
    [
        ({}, SubGroup(children=(SubGroup("default", 1, leaf=True),))),
        ({"minMember": 0}, SubGroup(children=(SubGroup("default", 0, leaf=True),))),
        (
            {
                "minSubGroup": 1,
                "subGroups": [
                    {"name": "a", "minSubGroup": 1},
                    {"name": "b", "parent": "a", "minMember": 3},
                ],
            },
            SubGroup("", 1, (SubGroup("a", 1, (SubGroup("b", 3, leaf=True),)),)),
        ),
    ],
    ids=["flat", "elastic", "tree"],
)
def test_groups_are_trees(spec: dict[str, Any], tree: SubGroup) -> None:
    assert tree_of(spec) == tree


def test_a_group_in_a_circle_is_left_out_with_a_note() -> None:
    parts = [{"name": "a", "parent": "b"}, {"name": "b", "parent": "a"}, {"name": "c"}]
    odd = group("odd", "archive", subGroups=[*parts, {"name": "d", "parent": "c", "minMember": "many"}])
    found = scene(odd)
    assert not found.state.pod_groups
    assert "PodGroup `odd` cannot be read as KAI does" in found.notes[0]


def test_a_priority_of_100_keeps_a_group_from_preemption() -> None:
    firm = read_group(group("a", "q", priorityClassName="inference"), {})
    ours = read_group(group("a", "q", priorityClassName="mine"), {"mine": 20})
    assert (firm.priority, firm.preemptible) == (125, False)
    assert (ours.priority, ours.preemptible) == (20, True)


def test_a_shard_that_spreads_does_not_consolidate() -> None:
    found = settings_of(
        {
            "metadata": {"name": "default"},
            "spec": {
                "placementStrategy": {"gpu": "spread"},
                "minRuntime": {"reclaimMinRuntime": "10m0s"},
                "args": {"default-staleness-grace-period": "-1s", "use-scheduling-signatures": "false"},
                "queueDepthPerAction": {"reclaim": 5},
            },
        }
    )
    assert found.gpu_placement is Spreading.SPREAD
    assert Action.CONSOLIDATION not in found.actions
    assert (found.reclaim_min_runtime, found.grace, found.signatures) == (600, -1, False)
    assert found.depth == {Action.RECLAIM: 5}


def test_the_settings_are_those_of_the_shard_that_is_there() -> None:
    shard = {
        "apiVersion": "kai.scheduler/v1",
        "kind": "SchedulingShard",
        "metadata": {"name": "default"},
        "spec": {"kValue": 2.0},
    }
    assert scene(shard).settings.k == 2.0
    assert replace(scene().settings, k=2.0) == scene(shard).settings
