"""Nodes and their devices, out of the words of ``--describe``, as a kubelet and a driver publish them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from allotment.devices.describe import parse_description
from allotment.kubernetes.client import Client
from allotment.kubernetes.kinds import NODE, SLICE, Object
from tests.controlplane.components import KUBERNETES

MANAGER: Final = "nodes"
CAPACITY: Final[Mapping[str, str]] = {
    "cpu": "64",
    "memory": "512Gi",
    "ephemeral-storage": "1Ti",
    "pods": "110",
}


def publish(
    client: Client, description: str, *, port: int, rack_of: int = 4, capacity: Mapping[str, str] = CAPACITY
) -> tuple[str, ...]:
    """Make nodes, slices and the drivers' classes; returns the nodes' names. A rack is so many nodes."""
    world = parse_description(description)
    slices = world.slices
    names = sorted({each.node_name for each in slices if each.node_name})
    for number, name in enumerate(names):
        labels = {"example.org/rack": f"rack-{number // rack_of + 1}"}
        client.create(_node(name, labels), manager=MANAGER)
        client.patch(
            NODE, name, None, {"status": status_of(port, capacity)}, manager=MANAGER, subresource="status"
        )
    for each_class in world.classes.values():
        client.apply(each_class.to_dict(), manager=MANAGER)
    for each in slices:
        client.create(each.to_dict(), manager=MANAGER)
    return tuple(names)


def withdraw(client: Client) -> None:
    """Take all nodes and slices away."""
    for kind in (SLICE, NODE):
        for each in client.listed(kind):
            client.delete(kind, each["metadata"]["name"])


def _node(name: str, labels: Mapping[str, str]) -> Object:
    said = {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {**said, **labels}},
        "spec": {},
    }


def status_of(port: int, capacity: Mapping[str, str]) -> dict[str, Any]:
    """What the kubelet of a healthy node says of it."""
    return {
        "capacity": dict(capacity),
        "allocatable": dict(capacity),
        "conditions": list(_conditions()),
        "addresses": [{"type": "InternalIP", "address": "127.0.0.1"}],
        "daemonEndpoints": {"kubeletEndpoint": {"Port": port}},
        "nodeInfo": {
            "machineID": "", "systemUUID": "", "bootID": "", "kernelVersion": "6.1", "osImage": "played",
            "containerRuntimeVersion": "played://1", "kubeletVersion": f"v{KUBERNETES}",
            "kubeProxyVersion": "", "operatingSystem": "linux", "architecture": "amd64",
        },
    }  # fmt: skip


def _conditions() -> Iterator[dict[str, str]]:
    for kind in ("MemoryPressure", "DiskPressure", "PIDPressure"):
        yield {"type": kind, "status": "False", "reason": "Played"}
    yield {"type": "Ready", "status": "True", "reason": "Played"}
