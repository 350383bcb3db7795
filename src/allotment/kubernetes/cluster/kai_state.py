"""A snapshot as the state that KAI's model decides on.

Queues with their numbers, groups with their pods, nodes with what pods of others take, devices and claims:
KAI keeps what is allocated in none of its own objects in time, so it is counted here as its scheduler counts
it, from the pods. Objects that cannot be read are left out, and a note says so. Facts: KAI 0.17.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from allotment.devices.world import World
from allotment.kubernetes import kinds
from allotment.kubernetes.cluster.desk import Desk
from allotment.kubernetes.cluster.kai_objects import SHARD, read_group, read_queue, settings_of
from allotment.kubernetes.cluster.kai_pods import claims_of, group_of, read_claim, read_pod
from allotment.kubernetes.cluster.snapshot import Snapshot
from allotment.kubernetes.cluster.world import world_of
from allotment.kubernetes.kinds import Object
from allotment.kubernetes.render.names import PREFIX
from allotment.scheduling.kai import Settings
from allotment.scheduling.kai.axes import GPU_RESOURCE
from allotment.scheduling.state.claimed_devices import Claim, is_gpu
from allotment.scheduling.state.device_kinds import devices_of
from allotment.scheduling.state.nodes import ClusterNode
from allotment.scheduling.state.pod_groups import GroupPod, PodGroup
from allotment.scheduling.state.pod_requests import pod_requests
from allotment.scheduling.state.read_queues import read_node, read_topology
from allotment.scheduling.state.shelf import Shelf
from allotment.scheduling.state.state import State

_OWNERS: Final = ("campaign", "fleet", "gang")
COUNTED: Final = frozenset({"cpu", "memory", "pods", GPU_RESOURCE})
KAI_NAMESPACE: Final = "kai-scheduler"
KAI_SCHEDULER: Final = "kai-scheduler"
_TAG: Final = re.compile(r":v?(\d+)\.(\d+)(?:\.\d+)?(?:[-@].*)?$")
_ENDED: Final = frozenset({"Succeeded", "Failed"})


@dataclass(frozen=True, slots=True)
class KaiScene:
    """What KAI decides on. ``names`` are what people call groups, by their keys."""

    state: State
    settings: Settings
    now: float
    names: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def called(self, key: str) -> str:
        """What to call a group."""
        return self.names.get(key, f"PodGroup {key}")


def kai_scene_of(snapshot: Snapshot, world: World | None = None) -> KaiScene:
    """The scene of a snapshot; ``world`` are its devices where they have been read already."""
    desk = _Desk(snapshot, "KAI")
    devices = world_of(snapshot).without_errors() if world is None else world
    claims = {each.name: each for each in map(read_claim, devices.claims)}
    published, classes = devices_of(devices, [each.spec for each in devices.claims])
    topologies = desk.each(kinds.KAI_TOPOLOGY, read_topology)
    groups = {f"{each.namespace}/{each.name}": each for each in desk.groups()}
    state = State(
        share_queues={each.name: each for each in desk.each(kinds.KAI_QUEUE, read_queue)},
        pod_groups=Shelf(groups),
        nodes={each.name: each for each in desk.nodes(claims)},
        topologies={each.name: each for each in topologies},
        devices=published,
        device_classes=classes,
        claims=claims,
    )
    settings = next(iter(desk.each(kinds.KAI_SHARD, _default_shard)), None) or settings_of(None)
    return KaiScene(state, settings, snapshot.time, dict(desk.names()), tuple(desk.notes()))


def kai_version(snapshot: Snapshot) -> str:
    """KAI's release as its scheduler's image says it (``0.17``); empty where it cannot be told."""
    for pod in snapshot.of(kinds.POD, KAI_NAMESPACE):
        if not str(pod["metadata"]["name"]).startswith(KAI_SCHEDULER):
            continue
        for container in (pod.get("spec") or {}).get("containers") or ():
            if found := _TAG.search(str(container.get("image", ""))):
                return f"{found[1]}.{found[2]}"
    return ""


def _default_shard(raw: Object) -> Settings | None:
    return settings_of(raw) if raw["metadata"]["name"] == SHARD else None


@dataclass(slots=True)
class _Desk(Desk):
    """Reads one snapshot as KAI does."""

    def groups(self) -> Iterator[PodGroup]:
        """The groups with their pods."""
        priorities = {
            str(each["metadata"]["name"]): int(each.get("value") or 0)
            for each in self.snapshot.of(kinds.PRIORITY_CLASS)
        }
        pods: dict[str, list[GroupPod]] = {}
        for key, pod in self.each(kinds.POD, lambda raw: (group_of(raw), read_pod(raw))):
            pods.setdefault(key, []).append(pod)
        for each in self.each(kinds.KAI_POD_GROUP, lambda raw: read_group(raw, priorities)):
            yield replace(each, pods=tuple(pods.get(f"{each.namespace}/{each.name}", ())))

    def nodes(self, claims: Mapping[str, Claim]) -> list[ClusterNode]:
        """The nodes, with what pods of others take of them, their claimed GPUs as well."""
        known = {
            f"{each['metadata'].get('namespace') or ''}/{each['metadata']['name']}"
            for each in self.snapshot.of(kinds.KAI_POD_GROUP)
        }
        taken: dict[str, dict[str, int]] = {}
        for node, amounts in self.each(kinds.POD, lambda raw: _taken(raw, known, claims)):
            so_far = taken.setdefault(node, {})
            for name, amount in amounts.items():
                so_far[name] = so_far.get(name, 0) + amount
        return [_known(each, taken) for each in self.each(kinds.NODE, read_node)]

    def names(self) -> Iterator[tuple[str, str]]:
        """What people call each group."""
        for each in self.snapshot.of(kinds.KAI_POD_GROUP):
            meta = each["metadata"]
            namespace = str(meta.get("namespace") or "")
            key = f"{namespace}/{meta['name']}"
            labels = meta.get("labels") or {}
            owners = [owner for owner in meta.get("ownerReferences") or () if isinstance(owner, Mapping)]
            mine = next(
                (f"{what} {labels[PREFIX + what]}" for what in _OWNERS if PREFIX + what in labels), ""
            )
            if mine:
                yield key, f"{mine} of {namespace}"
            elif owners:
                yield key, f"{owners[0].get('kind')} {owners[0].get('name')} of {namespace}"


def _known(node: ClusterNode, taken: Mapping[str, Mapping[str, int]]) -> ClusterNode:
    """The node with what is taken of what it has."""
    found = taken.get(node.name, {})
    have = node.allocatable.keys() | COUNTED
    return replace(node, taken={name: amount for name, amount in found.items() if name in have})


def _taken(raw: Object, groups: set[str], claims: Mapping[str, Claim]) -> tuple[str, Mapping[str, int]]:
    """The node of a pod and what it has there; nothing for one of KAI's groups or that is over."""
    spec, phase = raw.get("spec") or {}, (raw.get("status") or {}).get("phase")
    if phase in _ENDED or group_of(raw) in groups:
        return "", {}
    amounts = {**pod_requests(spec), "pods": 1}
    held = [claims[key] for key in claims_of(raw) if key in claims]
    gpus = sum(
        is_gpu(device.split("/")[0])
        for claim in held
        if claim.allocation
        for device in claim.allocation.devices
    )
    if gpus:
        amounts[GPU_RESOURCE] = amounts.get(GPU_RESOURCE, 0) + gpus
    return str(spec.get("nodeName") or ""), amounts
