"""Nodes and devices as KAI's model counts them, and devices by name for what it places.

KAI counts the devices of GPU drivers on a node as its GPUs, and a claim by how many it asks for. Where every
device of a node would do for the same claims, a pod that claims is one that asks for so many GPUs of a node
of that kind: the same numbers without a claim for each pod, and devices are handed out in their order, as
KAI's allocator does. Otherwise the claims themselves are given to the model.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from allotment.scheduling.kai import Settings
from allotment.scheduling.state.claimed_devices import DeviceOfNode, is_gpu
from allotment.scheduling.state.nodes import ClusterNode
from allotment.scheduling.state.pod_groups import PodRequest
from allotment.scheduling.state.share_queues import NO_LIMIT, ShareQueue
from allotment.scheduling.state.state import State
from allotment.simulation.adapters.matching import Matching, Part, by_node, matching
from allotment.simulation.work import Work

GPU: Final = "nvidia.com/gpu"
PODS: Final = "pods"
MOST_PODS: Final = 110
_IN_CLASS: Final = "claimed/"


@dataclass(frozen=True, slots=True)
class Asked:
    """What one pod of a work asks for; ``claims`` are to be made for it, (name, class, count, shared)."""

    request: PodRequest
    node_selector: Mapping[str, str] = field(hash=False)
    devices: int = 0
    claims: tuple[tuple[str, Part, bool], ...] = ()


@dataclass(slots=True)
class Shelves:
    """Free devices by node, in their order."""

    free: dict[str, list[tuple[int, str]]]
    rank: dict[str, int]

    @classmethod
    def of(cls, devices: Mapping[str, Sequence[DeviceOfNode]]) -> Shelves:
        """All of them are free."""
        free: dict[str, list[tuple[int, str]]] = {}
        rank: dict[str, int] = {}
        for node, each in devices.items():
            free[node] = [(number, device.key) for number, device in enumerate(each)]
            rank.update((key, number) for number, key in free[node])
        return cls(free, rank)

    def hand_out(self, node: str, count: int) -> tuple[str, ...]:
        """The first that are free."""
        here = self.free.get(node, [])
        given = tuple(key for _, key in here[:count])
        del here[:count]
        return given

    def take(self, node: str, keys: Iterable[str]) -> None:
        """These are in use."""
        gone = frozenset(keys)
        if node in self.free:
            self.free[node] = [each for each in self.free[node] if each[1] not in gone]

    def give_back(self, node: str, keys: Iterable[str]) -> None:
        """These are free again."""
        for key in keys:
            if key in self.rank:
                insort(self.free[node], (self.rank[key], key))


class KaiGround:
    """What the works may be placed on."""

    def __init__(self, state: State, works: Sequence[Work]) -> None:
        self.matching: Matching = matching(state, works)
        here = by_node(self.matching.devices)
        self.counts = self._may_count(state, works, here)
        others = _others(state)
        nodes = {name: _with_others(node, others.get(name, {})) for name, node in state.nodes.items()}
        if self.counts:
            nodes = {name: _counted(node, here.get(name, ())) for name, node in nodes.items()}
        self.shelves = Shelves.of(here if self.counts else {})
        self.nodes: Mapping[str, ClusterNode] = nodes
        self.state = replace(
            state,
            nodes=nodes,
            devices=() if self.counts else self.matching.devices,
            device_classes=self.matching.names,
        )

    def _may_count(
        self, state: State, works: Sequence[Work], here: Mapping[str, Sequence[DeviceOfNode]]
    ) -> bool:
        """Whether every device of a node is as good as the others, and no claim is anything but a number."""
        if not all(is_gpu(name) for name in self.matching.names):
            return False
        if any(claim.shared for work in works for claim in work.ask.claims):
            return False
        if here and any(work.ask.request.shared for work in works):
            return False  # no part of a card can be had where cards are there as devices only
        for node, devices in here.items():
            plugged = state.nodes[node].allocatable.get(GPU, 0) > 0
            if plugged or len({device.classes for device in devices}) > 1:
                return False
            if not all(is_gpu(device.driver) for device in devices):
                return False
        return True

    def asked(self, work: Work) -> Asked:
        """What each pod of a work asks for."""
        ask = work.ask
        parts = [(claim, part) for claim in ask.claims for part in self.matching.parts.get(claim.spec, ())]
        if not self.counts:
            claims = tuple((claim.shared or claim.name, part, bool(claim.shared)) for claim, part in parts)
            return Asked(ask.request, ask.node_selector, 0, claims)
        count = sum(part.count for _, part in parts)
        selector = {f"{_IN_CLASS}{part.device_class}": "true" for _, part in parts}
        request = replace(ask.request, gpus=ask.request.gpus + count)
        return Asked(request, {**ask.node_selector, **selector}, count)


def _counted(node: ClusterNode, devices: Sequence[DeviceOfNode]) -> ClusterNode:
    if not devices:
        return node
    labels = {f"{_IN_CLASS}{name}": "true" for name in sorted(devices[0].classes)}
    return replace(
        node,
        labels={**node.labels, **labels},
        allocatable={**node.allocatable, GPU: len(devices)},
    )


def most_placed(
    asked: Asked, queue: str, nodes: Mapping[str, ClusterNode], queues: Mapping[str, ShareQueue]
) -> int | None:
    """How many pods like this there can be beside each other, by GPUs and by the limits of queues.

    None where that is not told by whole GPUs alone, or where sums would depend on the order of pods.
    """
    request = asked.request
    whole = request.cpu == int(request.cpu) and request.memory == int(request.memory)
    if request.gpus < 1 or not whole or asked.claims or request.mig or request.shared or request.others:
        return None
    gpus = float(sum(node.allocatable.get(GPU, 0) for node in nodes.values()))
    seen: set[str] = set()
    known = queues.get(queue)
    while known is not None and known.name not in seen:
        seen.add(known.name)
        if known.gpu.limit != NO_LIMIT:
            gpus = min(gpus, known.gpu.limit)
        known = queues.get(known.parent or "")
    return max(0, int(gpus // request.gpus))


def least_runtimes(settings: Settings, queues: Mapping[str, ShareQueue]) -> tuple[float, ...]:
    """For how long anybody is left alone, each span once."""
    told = [
        each for queue in queues.values() for each in (queue.reclaim_min_runtime, queue.preempt_min_runtime)
    ]
    told += [settings.reclaim_min_runtime, settings.preempt_min_runtime]
    return tuple(sorted({each for each in told if each}))


def _others(state: State) -> Mapping[str, Mapping[str, int]]:
    """What pods use that are in no group, by node."""
    ours = {pod.id for group in state.pod_groups.values() for pod in group.pods}
    taken: dict[str, dict[str, int]] = {}
    for pod in state.pods.values():
        if pod.node is not None and pod.key not in ours and pod.name not in ours:
            here = taken.setdefault(pod.node, {})
            for resource, amount in {**pod.requests, PODS: 1}.items():
                here[resource] = here.get(resource, 0) + amount
    return taken


def _with_others(node: ClusterNode, others: Mapping[str, int]) -> ClusterNode:
    """The node with what others use; one that does not say how many pods it takes has a kubelet's default."""
    taken = {name: node.taken.get(name, 0) + others.get(name, 0) for name in {**node.taken, **others}}
    return replace(node, taken=taken, allocatable={PODS: MOST_PODS, **node.allocatable})
