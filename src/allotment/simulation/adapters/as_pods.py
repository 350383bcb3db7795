"""A work's pods as the default scheduler meets them: what they ask of nodes, which devices they hold."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from allotment.devices.claims import AllocatedDevice, Allocation, AllocationMode
from allotment.devices.nodes import NodeSelector, NodeSelectorTerm, Requirement
from allotment.devices.slices import DeviceId
from allotment.scheduling.state.nodes import ClusterNode
from allotment.scheduling.state.pod_groups import PodRequest
from allotment.scheduling.state.pods import Pod
from allotment.simulation.machines import COUNTED, node_names
from allotment.simulation.setting import Setting

_PLENTY: Final = {"cpu": 10**12, "memory": 2**60, "pods": 10**6}


def nodes_of(setting: Setting) -> dict[str, ClusterNode]:
    """The nodes; what one does not say that it has of processors and memory it has enough of."""
    nodes = setting.state.nodes
    published = setting.state.published
    found: dict[str, ClusterNode] = {}
    for name in node_names(setting):
        labels = published.node_named(name).labels if published else {}
        node = nodes.get(name) or ClusterNode(name, labels=labels)
        found[name] = (
            node if "cpu" in node.allocatable else replace(node, allocatable={**_PLENTY, **node.allocatable})
        )
    return found


def requests_of(request: PodRequest) -> dict[str, int]:
    """What a pod asks of its node, by resource."""
    found = {"cpu": int(request.cpu), "memory": int(request.memory), COUNTED: request.gpus}
    found.update(request.mig)
    found.update((name, int(amount)) for name, amount in request.others)
    return {name: amount for name, amount in found.items() if amount}


def devices_of(allocations: Iterable[Allocation]) -> tuple[str, ...]:
    """The devices of a pod by ``driver/pool/name``."""
    return tuple(str(device) for each in allocations for device in each.ids)


def allocations_of(pod: Pod, node: str, devices: Sequence[str]) -> tuple[Allocation, ...]:
    """Allocations of these devices for a pod's claims, request by request."""
    left = [DeviceId.parse(device) for device in devices]
    here = Requirement("metadata.name", "In", (node,))
    selector = NodeSelector((NodeSelectorTerm(match_fields=(here,)),))
    found = []
    for claim in pod.claims:
        results: list[AllocatedDevice] = []
        for request in claim.spec.requests:
            one = request.alternatives[0].exactly
            name = (
                request.name
                if request.exactly is not None
                else f"{request.name}/{request.alternatives[0].name}"
            )
            many = len(left) if one.mode is AllocationMode.ALL else one.count
            results += [AllocatedDevice(name, device) for device in left[:many]]
            left = left[many:]
        found.append(Allocation(tuple(results), node_selector=selector))
    return tuple(found)
