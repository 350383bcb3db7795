"""Snapshots for others: no true name of who and where is left, and what decides is as it was."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from allotment.devices.describe import parse_description
from allotment.kubernetes.cluster.anonymous import NAME, NOTE, anonymous
from allotment.kubernetes.cluster.file import snapshot_text
from allotment.kubernetes.cluster.file_reading import snapshot_of
from allotment.kubernetes.cluster.quota import capacities_of
from allotment.kubernetes.cluster.snapshot import Snapshot
from allotment.kubernetes.cluster.world import world_of
from allotment.kubernetes.kinds import CLUSTER_QUEUE, EVENT, JOB, NODE, POD, SLICE, Object

IMAGE = f"registry.secret.example/team/htr@sha256:{'ab' * 32}"
SECRET = ("transcription", "archive", "oak.secret.example", "ash.secret.example", "ann@secret.example", IMAGE,
          "kings", "cohort-of-kings")  # fmt: skip


def queue(name: str, used: int) -> Object:
    resources = [{"name": "gpus", "nominalQuota": "4"}]
    groups = [{"coveredResources": ["gpus"], "flavors": [{"name": "any", "resources": resources}]}]
    reserved = [{"name": "any", "resources": [{"name": "gpus", "total": str(used)}]}]
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "ClusterQueue",
        "metadata": {"name": name, "labels": {"allotment/team": name}},
        "spec": {"cohortName": "cohort-of-kings", "resourceGroups": groups},
        "status": {"flavorsReservation": reserved},
    }


def pod(name: str, namespace: str, node: str) -> Object:
    labels = {
        "allotment/campaign": "books",
        "owner": "ann@secret.example",
        "app.kubernetes.io/managed-by": "x",
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace, "labels": labels},
        "spec": {"nodeName": node, "containers": [{"name": "main", "image": IMAGE}]},
        "status": {"message": f'Back-off pulling image "{IMAGE}": on {node}.', "phase": "Pending"},
    }


def whole() -> Snapshot:
    world = parse_description("2 nodes of 2 x H100-SXM")
    objects: list[Any] = [queue("transcription", 3), queue("archive", 5)]
    names = dict(zip(("node-1", "node-2"), ("oak.secret.example", "ash.secret.example"), strict=True))
    for published in world.slices:
        text = published.to_dict()
        node = names[text["spec"]["nodeName"]]
        text["metadata"]["name"] = f"{node}-gpu.nvidia.com-x7"
        text["spec"] |= {"nodeName": node, "pool": {**text["spec"]["pool"], "name": node}}
        objects.append(text)
        host = {"kubernetes.io/hostname": node, "nvidia.com/rack": "r1"}
        objects.append({"apiVersion": "v1", "kind": "Node", "metadata": {"name": node, "labels": host}})
    objects += [each.to_dict() for each in world.classes.values()]
    objects += [
        pod("books-0", "transcription", "oak.secret.example"),
        pod("etcd-ash.secret.example", "kings", ""),
    ]
    objects.append(
        {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": "e", "namespace": "transcription"},
            "message": "Assigned transcription/books-0 to oak.secret.example (path: /root/archive)",
            "involvedObject": {"kind": "Pod", "name": "etcd-ash.secret.example", "namespace": "kings"},
        }
    )
    volumes = {"app.kubernetes.io/managed-by": "allotment"}
    metadata = {"name": "books-volumes", "namespace": "transcription", "labels": volumes}
    objects.append({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"v": "letters"}})
    return Snapshot(1.8e9, tuple(objects), name="kings", version="1.36")


def test_no_true_name_is_left() -> None:
    text = snapshot_text(anonymous(whole()))
    for name in (*SECRET, "letters", "secret.example"):
        assert name not in text, name
    assert "books" in text
    assert "nvidia.com/rack: r1" in text


def test_what_belongs_together_still_does() -> None:
    hidden = anonymous(whole())
    (first,) = hidden.of(POD, "team-03")
    assert first["spec"]["nodeName"] == "node-02"
    assert first["spec"]["containers"][0]["image"] == f"image-01@sha256:{1:064x}"
    assert first["status"]["message"] == f'Back-off pulling image "image-01@sha256:{1:064x}": on node-02.'
    assert [each["metadata"]["name"] for each in hidden.of(CLUSTER_QUEUE)] == ["team-01", "team-03"]
    (event,) = hidden.of(EVENT)
    assert event["message"] == "Assigned team-03/books-0 to node-02 (path: /root/team-01)"
    assert event["involvedObject"]["name"] == "etcd-node-01"
    assert [each["metadata"]["name"] for each in hidden.of(SLICE)] == [
        "node-01-gpu.nvidia.com-x7",
        "node-02-gpu.nvidia.com-x7",
    ]
    assert (hidden.name, hidden.notes) == (NAME, (NOTE,))


def test_what_decides_is_as_it_was() -> None:
    true, hidden = whole(), anonymous(whole())
    numbers = [(each.used, each.free, each.most) for each in capacities_of(true).values()]
    assert sorted(numbers) == sorted(
        (each.used, each.free, each.most) for each in capacities_of(hidden).values()
    )
    devices = [device.name for _, device in world_of(true).world.devices()]
    assert devices == [device.name for _, device in world_of(hidden).world.devices()]
    assert hidden.time == true.time


def test_of_a_nodes_labels_those_stay_that_something_asks_for() -> None:
    labels = {
        "example.org/rack": "r1",
        "cloud.example/customer": "kings",
        "nvidia.com/gpu.product": "L4",
        "topology.kubernetes.io/zone": "z1",
    }
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "oak", "labels": labels}}
    flavor = {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "ResourceFlavor",
        "metadata": {"name": "any"},
        "spec": {"nodeLabels": {"example.org/rack": "r1"}},
    }
    (hidden,) = anonymous(Snapshot(0.0, (node, flavor))).of(NODE)
    assert hidden["metadata"]["labels"] == {
        "example.org/rack": "r1",
        "nvidia.com/gpu.product": "L4",
        "topology.kubernetes.io/zone": "z1",
    }


def test_it_is_the_same_every_time_and_can_be_read() -> None:
    text = snapshot_text(anonymous(whole()))
    assert text == snapshot_text(anonymous(replace(whole(), objects=tuple(reversed(whole().objects)))))
    back = snapshot_of(text.encode(), name="x", otherwise=0.0)
    assert snapshot_text(back) == text


NAMES = st.from_regex(re.compile(r"[a-z][a-z0-9-]{0,20}[a-z0-9]", re.ASCII), fullmatch=True)


@given(st.lists(NAMES, unique=True, min_size=1, max_size=30))
def test_the_order_of_nodes_stays(names: list[str]) -> None:
    nodes = tuple({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}} for name in sorted(names))
    owners = {name: f"uid-{number}" for number, name in enumerate(sorted(names))}
    for node in nodes:
        node["metadata"]["uid"] = owners[node["metadata"]["name"]]  # type: ignore[index]
    hidden = anonymous(Snapshot(0.0, nodes)).of(NODE)
    by_name = sorted(hidden, key=lambda each: str(each["metadata"]["name"]))
    if not {"main", "default", "gpu", "gpus", "cpu", "memory", "pods", "true", "false"} & set(names):
        assert [each["metadata"]["uid"] for each in by_name] == list(owners.values())


def test_a_team_called_as_a_word_of_the_api_breaks_nothing() -> None:
    work = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "j", "namespace": "batch", "labels": {"kueue.x-k8s.io/queue-name": "batch"}},
    }
    (job,) = anonymous(Snapshot(0.0, (work,))).of(JOB)
    assert job["apiVersion"] == "batch/v1"
    assert job["metadata"] == {
        "name": "j",
        "namespace": "team-01",
        "labels": {"kueue.x-k8s.io/queue-name": "team-01"},
    }
