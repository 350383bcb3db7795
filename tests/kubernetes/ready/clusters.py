"""Clusters for the checks: one that is ready for a platform, on the fake server or as a value."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import yaml

from allotment.answers import Answer
from allotment.kubernetes.client import Client
from allotment.kubernetes.cluster import Snapshot
from allotment.kubernetes.kinds import Object
from allotment.kubernetes.ready import CHECKS, Seen
from allotment.kubernetes.ready.asking import look
from allotment.kubernetes.render.platform import render_platform
from allotment.kubernetes.testing import FakeApiServer
from allotment.kubernetes.testing.custom_kinds import KAI, KUEUE
from allotment.kubernetes.testing.transport import FakeTransport
from allotment.platform.model import Platform
from tests.kubernetes.stored import Case

TIME = datetime(2026, 11, 30, 8, 0, 0, tzinfo=UTC)
SERVED = frozenset(
    {"resource.k8s.io/v1", "kueue.x-k8s.io/v1beta2", "scheduling.run.ai/v2", "kai.scheduler/v1alpha1"}
)
ACTIVE = {"type": "Active", "status": "True", "reason": "Ready", "message": "Can admit new workloads"}
READY = {"conditions": [{"type": "Ready", "status": "True"}], "startTime": "2026-11-01T08:00:00Z"}


def platform_of(scheduler: str, **changes: Any) -> Platform:
    case = Case("cluster", scheduler)
    return replace(case.platform, engine="kubernetes", scheduler=scheduler, **changes)


def slice_of(
    node: str, *, count: int = 2, name: str = "NVIDIA A100-SXM4-80GB", memory: str = "80Gi", **spec: Any
) -> dict[str, Any]:
    devices = [
        {
            "name": f"gpu-{number}",
            "attributes": {
                "type": {"string": "gpu"},
                "uuid": {"string": f"GPU-{node}-{number}"},
                "productName": {"string": name},
                "architecture": {"string": "Ampere"},
                "brand": {"string": "Nvidia"},
                "cudaComputeCapability": {"version": "8.0.0"},
                "driverVersion": {"version": "580.126.9"},
                "cudaDriverVersion": {"version": "13.0.0"},
                "resource.kubernetes.io/pciBusID": {"string": f"0000:{number:02x}:00.0"},
                "resource.kubernetes.io/pcieRoot": {"string": f"pci0000:{number:02x}"},
            },
            "capacity": {"memory": {"value": memory}},
        }
        for number in range(count)
    ]
    pool = {"name": node, "generation": 1, "resourceSliceCount": 1}
    own = {"driver": "gpu.nvidia.com", "nodeName": node, "pool": pool, "devices": devices}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": f"{node}-gpus"},
        "spec": {**own, **spec},
    }


def node_of(name: str, **status: Any) -> dict[str, Any]:
    labels = {"nvidia.com/gpu.present": "true", "example.org/rack": "a", "kubernetes.io/hostname": name}
    amounts = {"cpu": "64", "memory": "512Gi", "pods": "110"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "status": {"capacity": amounts, "allocatable": amounts, **status},
    }


def class_of(name: str, kind: str) -> dict[str, Any]:
    expressions = (
        "device.driver == 'gpu.nvidia.com'",
        f"device.attributes['gpu.nvidia.com'].type == '{kind}'",
    )
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceClass",
        "metadata": {"name": name},
        "spec": {"selectors": [{"cel": {"expression": each}} for each in expressions]},
    }


def pod_of(namespace: str, name: str, *args: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"containers": [{"name": "main", "image": "example.org/x:1", "args": list(args)}]},
        "status": dict(READY),
    }


def manager_of(tag: str = "v0.19.7", ready: int = 1) -> dict[str, Any]:
    pod = {"containers": [{"name": "manager", "image": f"registry.k8s.io/kueue/kueue:{tag}"}]}
    labels = {"control-plane": "controller-manager"}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "kueue-controller-manager", "namespace": "kueue-system"},
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": pod},
        },
        "status": {"replicas": ready, "readyReplicas": ready},
    }


def configuration_of(platform: Platform, **changes: Any) -> dict[str, Any]:
    value = next(
        (each.value for each in render_platform(platform).settings if each.value["kind"] == "Configuration"),
        {},
    )
    whole = {**deepcopy(dict(value)), "featureGates": {"SchedulingEquivalenceHashing": False}, **changes}
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "kueue-manager-config", "namespace": "kueue-system"},
        "data": {"controller_manager_config.yaml": yaml.safe_dump(whole)},
    }


def quota_of(hard: Mapping[str, str]) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "q", "namespace": "archive"},
        "spec": {"hard": dict(hard)},
    }


def shard_of(**spec: Any) -> dict[str, Any]:
    args = {"args": {"update-pod-eviction-condition": "true"}}
    return {
        "apiVersion": "kai.scheduler/v1",
        "kind": "SchedulingShard",
        "metadata": {"name": "default"},
        "spec": {**args, **spec},
    }


def around(platform: Platform) -> list[dict[str, Any]]:
    """What others have put into a cluster that is ready."""
    found = [node_of("node-a"), node_of("node-b"), slice_of("node-a"), slice_of("node-b")]
    found += [class_of("gpu.nvidia.com", "gpu"), class_of("mig.nvidia.com", "mig")]
    if platform.scheduler in {"kueue", "both"}:
        found += [manager_of(), configuration_of(platform)]
    if platform.scheduler in {"kai", "both"}:
        names = ("kai-scheduler-default-1", "binder-1", "pod-grouper-1")
        found += [shard_of(), *(pod_of("kai-scheduler", name) for name in names)]
    return found


def seen_of(scheduler: str, **changes: Any) -> Seen:
    """A cluster that is ready, as a value."""
    platform = platform_of(scheduler, **changes)
    objects: list[Any] = [*deepcopy(list(render_platform(platform).objects)), *around(platform)]
    for each in objects:
        if each["kind"] in {"ClusterQueue", "LocalQueue"}:
            each["status"] = {"conditions": [dict(ACTIVE)]}
    snapshot = Snapshot(0.0, tuple(objects), name="a cluster", version=platform.versions.kubernetes)
    return Seen(platform, (platform.teams["archive"],), snapshot, served=SERVED)


Change = Callable[[dict[str, Any]], None]


def changed(seen: Seen, kind: str, name: str, change: Change) -> Seen:
    """The same with one object changed."""
    objects = deepcopy(list(seen.snapshot.objects))
    found = next(each for each in objects if (each["kind"], each["metadata"]["name"]) == (kind, name))
    assert isinstance(found, dict)
    change(found)
    return replace(seen, snapshot=replace(seen.snapshot, objects=tuple(objects)))


def without(seen: Seen, kind: str, name: str = "") -> Seen:
    """The same without an object, or without a kind's."""

    def stays(each: Object) -> bool:
        return each["kind"] != kind or bool(name and each["metadata"]["name"] != name)

    return replace(seen, snapshot=replace(seen.snapshot, objects=tuple(filter(stays, seen.snapshot.objects))))


def with_more(seen: Seen, *objects: Mapping[str, Any]) -> Seen:
    """The same with further objects."""
    return replace(seen, snapshot=replace(seen.snapshot, objects=(*seen.snapshot.objects, *objects)))


def answers(seen: Seen, check: str) -> list[Answer]:
    return list(CHECKS[check](seen))


def said(found: list[Answer]) -> str:
    return "\n".join(f"{each.state} {each.said} ({each.remedy})" for each in found)


def served_by(server: FakeApiServer, platform: Platform, *teams: str) -> Seen:
    """What is seen of a fake server."""
    chosen = [platform.teams[team] for team in teams or platform.teams]
    return look(Client(FakeTransport(server)), platform, chosen, now=TIME.timestamp)


def ready_server(platform: Platform, **options: Any) -> FakeApiServer:
    """A fake server with all of it."""
    chosen = {"now": lambda: TIME, "kinds": (*KUEUE, *KAI), **options}
    server = FakeApiServer(platform.versions.kubernetes, **chosen)
    client = Client(FakeTransport(server))
    for name in ("kueue-system", "kai-scheduler"):
        server.add_namespace(name)
    for value in [*render_platform(platform).objects, *around(platform)]:
        if value["kind"] == "SchedulingShard":
            continue
        client.apply(value, manager="tests", force=True)
    play_controllers(server, platform)
    server.requests.clear()
    return server


def play_controllers(server: FakeApiServer, platform: Platform) -> None:
    """Say in status what Kueue, KAI and the kubelet would."""
    kueue = "/apis/kueue.x-k8s.io/v1beta2"
    for team in platform.teams.values() if platform.scheduler in {"kueue", "both"} else ():
        within = f"{kueue}/namespaces/{team.namespace}/localqueues/{team.name}"
        for path in (f"{kueue}/clusterqueues/{team.name}", within):
            patch_status(server, path, {"conditions": [ACTIVE]})
    for value in around(platform):
        if value["kind"] == "Deployment":
            path = "/apis/apps/v1/namespaces/kueue-system/deployments/kueue-controller-manager"
            patch_status(server, path, value["status"])
        if value["kind"] == "Pod":
            patch_status(server, f"/api/v1/namespaces/kai-scheduler/pods/{value['metadata']['name']}", READY)


def patch_status(server: FakeApiServer, path: str, status: Mapping[str, Any]) -> None:
    headers = {"Content-Type": "application/merge-patch+json"}
    answer = server.request("PATCH", f"{path}/status", {}, headers, {"status": status})
    assert answer.status == 200, answer.body
