"""Small clusters for the tests of the model of KAI."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from allotment.scheduling.kai import Bound, Decision, Evicted, Pipelined
from allotment.scheduling.state.nodes import ClusterNode, Topology
from allotment.scheduling.state.pod_groups import (
    DEFAULT,
    GroupPod,
    PodGroup,
    PodRequest,
    PodStatus,
    SubGroup,
    flat,
)
from allotment.scheduling.state.share_queues import FREELY, NO_LIMIT, Allotted, ShareQueue
from allotment.scheduling.state.shelf import Shelf
from allotment.scheduling.state.state import State

NOW = 10_000.0
ROOT = ShareQueue("root", cpu=FREELY, memory=FREELY, gpu=Allotted(NO_LIMIT, NO_LIMIT, 1.0))


def node(
    name: str, gpus: int = 8, *, memory: int = 80_000, labels: Mapping[str, str] | None = None
) -> ClusterNode:
    told = {"nvidia.com/gpu.count": str(gpus), "nvidia.com/gpu.memory": str(memory), **(labels or {})}
    amounts = {"cpu": 64_000, "memory": 10**12, "nvidia.com/gpu": gpus, "pods": 110}
    return ClusterNode(name, told, amounts)


def queue(
    name: str,
    quota: float = 0.0,
    *,
    weight: float = 1.0,
    limit: float = NO_LIMIT,
    parent: str | None = "root",
    **more: object,
) -> ShareQueue:
    return replace(
        ShareQueue(name, parent, cpu=FREELY, memory=FREELY, gpu=Allotted(quota, limit, weight)),
        **more,  # type: ignore[arg-type]
    )


def job(
    name: str,
    of: str,
    count: int = 1,
    *,
    least: int | None = None,
    request: PodRequest | None = None,
    on: Iterable[str] = (),
    groups: Iterable[str] = (),
    tree: SubGroup | None = None,
    leaves: Iterable[str] = (),
    **more: object,
) -> PodGroup:
    """A job of ``count`` pods, of which the first run on the nodes named by ``on``."""
    asked = request or PodRequest(cpu=1000, memory=1e9, gpus=1)
    nodes, shared, names = list(on), list(groups), list(leaves)
    pods = tuple(
        GroupPod(
            id=f"{name}-{number}",
            status=PodStatus.RUNNING if number < len(nodes) else PodStatus.PENDING,
            node=nodes[number] if number < len(nodes) else None,
            gpu_groups=(shared[number],) if number < len(shared) else (),
            leaf=names[number] if number < len(names) else DEFAULT,
            request=asked,
        )
        for number in range(count)
    )
    started = NOW - 60 if nodes else None
    group = PodGroup(name, of, pods, tree or flat(count if least is None else least), started=started)
    return replace(group, **{"priority": 50, **more})  # type: ignore[arg-type]


def cluster(
    nodes: Iterable[ClusterNode],
    queues: Iterable[ShareQueue],
    jobs: Iterable[PodGroup],
    topologies: Iterable[Topology] = (),
) -> State:
    return State(
        nodes={each.name: each for each in nodes},
        share_queues={each.name: each for each in (ROOT, *queues)},
        pod_groups=Shelf({each.name: each for each in jobs}),
        topologies={each.name: each for each in topologies},
    )


def outcome(decisions: Iterable[Decision]) -> dict[str, str]:
    """Every pod that is decided on: ``bound@node``, ``waits@node`` or ``evicted``; the last word counts."""
    found: dict[str, str] = {}
    for decision in decisions:
        if isinstance(decision, Bound):
            found[decision.pod] = f"bound@{decision.node}"
        elif isinstance(decision, Pipelined):
            found[decision.pod] = f"waits@{decision.node}"
        elif isinstance(decision, Evicted):
            found[decision.pod] = "evicted"
    return found


def afterwards(state: State, decisions: Iterable[Decision]) -> State:
    """The cluster a moment later: what was bound runs, what was evicted is gone and waits anew."""
    pods = {pod.id: pod for group in state.pod_groups.values() for pod in group.pods}
    for decision in decisions:
        if isinstance(decision, Bound):
            pods[decision.pod] = replace(
                pods[decision.pod],
                status=PodStatus.RUNNING,
                node=decision.node,
                gpu_groups=decision.gpu_groups,
            )
        elif isinstance(decision, Evicted):
            pods[decision.pod] = replace(
                pods[decision.pod], status=PodStatus.PENDING, node=None, gpu_groups=()
            )
    changes = {key: group.with_pods(pods) for key, group in state.pod_groups.items()}
    return state.with_pod_groups(changes)
