"""Small clusters with KAI as snapshots of their objects."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from allotment.kubernetes.cluster.snapshot import Snapshot
from allotment.scheduling.state.nodes import ClusterNode
from allotment.scheduling.state.pod_groups import PodGroup
from allotment.scheduling.state.share_queues import ShareQueue
from tests.kubernetes.cluster.kai_as_objects import objects_of
from tests.scheduling.kai.kai_world import NOW, cluster, job


def work(name: str, of: str, count: int = 1, **rest: Any) -> PodGroup:
    """A job in the namespace of its queue, of which any pod may start alone unless ``least`` says more."""
    group = job(name, of, count, **{"least": 1, "created": NOW - 60, **rest})
    pods = tuple(replace(pod, id=f"{of}/{pod.id}") for pod in group.pods)
    return replace(group, namespace=of, pods=pods)


def kai(
    nodes: Iterable[ClusterNode],
    queues: Iterable[ShareQueue],
    works: Iterable[PodGroup] = (),
    *more: dict[str, Any],
    **rest: Any,
) -> Snapshot:
    """The cluster as it is read."""
    state = cluster(nodes, queues, works)
    return Snapshot(NOW, (*objects_of(state), *more), name="prod", **rest)
