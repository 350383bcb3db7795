"""Small repositories, platforms and clusters for the tests of scenes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from allotment.devices.describe import parse_description
from allotment.kubernetes.cluster.snapshot import Snapshot
from allotment.kubernetes.cluster.world import world_of
from allotment.planning.scenes.values import Place
from allotment.platform.model import Lane, Platform, Queue, Sources, Team, TopologyLevel
from allotment.repository import load_repository
from allotment.repository.model import Repository

IMAGE = "registry.example.org/htr@sha256:" + "0123456789abcdef" * 4
PIPELINE = f"image: {IMAGE}\nsteps: [{{step: ocr}}]\n"
VOLUMES = "volumes: [{id: a, images: ['https://x.org/1.jpg', 'https://x.org/2.jpg']}, R1, R2, R3]\n"
CAMPAIGN = f"pipeline: read\n{VOLUMES}"
ARCHIVE = Team("archive", queue=Queue(2, 1, 4))
LABORATORY = Team("laboratory", queue=Queue(2, 3))
NOW = 1.8e9


def platform(**changes: Any) -> Platform:
    told: dict[str, Any] = {
        "engine": "kubernetes",
        "scheduler": "kueue",
        "bucket": "s3://results",
        "teams": {"archive": ARCHIVE, "laboratory": LABORATORY},
        "sharing": ("whole", "mig", "fraction", "time-slicing"),
        "sources": Sources("https://x.org/{ref}/manifest", ("x.org",)),
        "topology": (TopologyLevel("rack", "example.org/rack"),),
        "lanes": {"bulk": Lane(0), "service": Lane(90, preemptible=False)},
    }
    return Platform(**{**told, **changes})


def repository(root: Path, of: Platform | None = None, **files: str) -> Repository:
    """Files by names such as ``campaigns_letters``; a pipeline ``read`` and a campaign are always there."""
    texts = {"pipelines_read": f"{PIPELINE}gpu: {{memory: 20Gi}}\n", "campaigns_letters": CAMPAIGN, **files}
    for name, text in texts.items():
        folder, _, stem = name.partition("_")
        path = root / folder / f"{stem.replace('_', '-')}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return load_repository(root, of or platform()).checked()


def described(text: str = "2 nodes of 4 x A100-80") -> Place:
    return Place(parse_description(text), "the described fleet")


def cluster(*objects: Mapping[str, Any], fleet: str = "2 nodes of 4 x A100-80") -> Place:
    """A cluster with these objects, and Node objects for the nodes of a fleet."""
    world = parse_description(fleet)
    nodes = [node(each.node_name or "") for each in world.slices]
    described_objects = [each.to_dict() for each in world.slices]
    described_objects += [each.to_dict() for each in world.classes.values()]
    snapshot = Snapshot(NOW, (*objects, *nodes, *described_objects), name="prod", version="1.36")
    return Place(world_of(snapshot).without_errors(), "prod", snapshot)


def node(name: str) -> dict[str, Any]:
    status = {
        "allocatable": {"cpu": "32", "memory": "256Gi", "pods": "110"},
        "conditions": [{"type": "Ready", "status": "True"}],
    }
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "status": status}


def pod(
    name: str, namespace: str, *, on: str = "", claim: str = "", index: int | None = None, **rest: Any
) -> dict[str, Any]:
    """A pod, with a claim that was made for it of a template ``t``."""
    labels = {**rest.pop("labels", {})}
    notes = {} if index is None else {"batch.kubernetes.io/job-completion-index": str(index)}
    if (job := rest.pop("job", "")) != "":
        labels["batch.kubernetes.io/job-name"] = job
    spec: dict[str, Any] = {
        "containers": [{"name": "worker", "resources": {"requests": rest.pop("requests", {"cpu": "2"})}}],
        **({"nodeName": on} if on else {}),
        **({"resourceClaims": [{"name": "device", "resourceClaimTemplateName": "t"}]} if claim else {}),
    }
    status: dict[str, Any] = {"phase": "Running" if on else "Pending"}
    if on:
        status["startTime"] = "2027-01-15T07:50:00Z"
    if claim:
        status["resourceClaimStatuses"] = [{"name": "device", "resourceClaimName": claim}]
    meta = {"name": name, "namespace": namespace, "labels": labels, "annotations": notes, **rest}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec, "status": status}


def claim(name: str, namespace: str, user: str, device: str = "", pool: str = "node-1") -> dict[str, Any]:
    exactly = {"deviceClassName": "gpu.nvidia.com", "allocationMode": "ExactCount", "count": 1}
    result = {"request": "device", "driver": "gpu.nvidia.com", "pool": pool, "device": device}
    status: dict[str, Any] = {"reservedFor": [{"resource": "pods", "name": user, "uid": "u"}]}
    if device:
        status["allocation"] = {"devices": {"results": [result]}}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"devices": {"requests": [{"name": "device", "exactly": exactly}]}},
        "status": status,
    }
