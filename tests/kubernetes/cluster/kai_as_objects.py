"""A state of KAI's model as the objects of a cluster that would be read as it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from allotment.scheduling.state.nodes import ClusterNode
from allotment.scheduling.state.pod_groups import DEFAULT, GroupPod, PodGroup, PodStatus, SubGroup, Together
from allotment.scheduling.state.share_queues import Allotted, ShareQueue
from allotment.scheduling.state.state import State

Raw = dict[str, Any]
ENDED = {PodStatus.SUCCEEDED: "Succeeded", PodStatus.FAILED: "Failed"}
WRITTEN = frozenset(
    {PodStatus.PENDING, PodStatus.GATED, PodStatus.BOUND, PodStatus.RUNNING, PodStatus.RELEASING, *ENDED}
)
"""How far pods can be that an API server shows; the rest is the scheduler's own."""


def when(seconds: float) -> str:
    """A time as the API writes it."""
    return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")


def objects_of(state: State) -> Iterator[Raw]:
    """Its objects, but for devices and claims."""
    yield from (_node(each) for each in state.nodes.values())
    yield from (_queue(each) for each in state.share_queues.values())
    for topology in state.topologies.values():
        levels = [{"nodeLabel": level} for level in topology.levels]
        yield _object("kai.scheduler/v1alpha1", "Topology", topology.name, spec={"levels": levels})
    for group in state.pod_groups.values():
        yield from _group(group)


def _object(version: str, kind: str, name: str, namespace: str = "", **rest: Any) -> Raw:
    meta = {"name": name, **({"namespace": namespace} if namespace else {}), **rest.pop("metadata", {})}
    return {"apiVersion": version, "kind": kind, "metadata": meta, **rest}


def _node(node: ClusterNode) -> Raw:
    amounts = {
        name: f"{amount}m" if name == "cpu" else str(amount) for name, amount in node.allocatable.items()
    }
    ready = [{"type": "Ready", "status": "True" if node.ready else "False"}]
    return _object(
        "v1",
        "Node",
        node.name,
        metadata={"labels": dict(node.labels)},
        status={"allocatable": amounts, "conditions": ready},
    )


def _queue(queue: ShareQueue) -> Raw:
    spec: Raw = {
        "priority": queue.priority,
        "resources": {
            "cpu": _numbers(queue.cpu),
            "memory": _numbers(queue.memory),
            "gpu": _numbers(queue.gpu),
        },
    }
    if queue.parent is not None:
        spec["parentQueue"] = queue.parent
    for key, value in (
        ("reclaimMinRuntime", queue.reclaim_min_runtime),
        ("preemptMinRuntime", queue.preempt_min_runtime),
    ):
        if value is not None:
            spec[key] = f"{value:.0f}s"
    metadata = {"creationTimestamp": when(queue.created)}
    return _object("scheduling.run.ai/v2", "Queue", queue.name, metadata=metadata, spec=spec)


def _numbers(allotted: Allotted) -> Raw:
    return {"quota": allotted.quota, "limit": allotted.limit, "overQuotaWeight": allotted.weight}


def _group(group: PodGroup) -> Iterator[Raw]:
    notes = {
        key: when(value)
        for key, value in (
            ("kai.scheduler/last-start-timestamp", group.started),
            ("kai.scheduler/last-eviction-timestamp", group.evicted),
            ("kai.scheduler/stale-podgroup-timestamp", group.stale_since),
        )
        if value is not None
    }
    spec: Raw = {
        "queue": group.queue,
        "priorityClassName": f"p{group.priority}",
        "preemptibility": "preemptible" if group.preemptible else "non-preemptible",
        **_tree(group.tree),
    }
    if group.delay is not None:
        spec["preemptionDelay"] = f"{group.delay:.0f}s"
    if group.grace is not None:
        spec["stalenessGracePeriod"] = f"{group.grace:.0f}s"
    metadata = {"creationTimestamp": when(group.created), "annotations": notes}
    yield _object(
        "scheduling.run.ai/v2alpha2", "PodGroup", group.name, group.namespace, metadata=metadata, spec=spec
    )
    yield _object("scheduling.k8s.io/v1", "PriorityClass", f"p{group.priority}", value=group.priority)
    yield from (_pod(group, pod) for pod in group.pods)


def _tree(tree: SubGroup) -> Raw:
    found: Raw = {}
    if tree.together is not None:
        found["topologyConstraint"] = _together(tree.together)
    if [each.name for each in tree.children] == [DEFAULT] and tree.children[0].leaf:
        return {**found, "minMember": tree.children[0].minimum}
    if tree.minimum is not None:
        found["minSubGroup"] = tree.minimum
    return {**found, "subGroups": list(_parts(tree, ""))}


def _parts(tree: SubGroup, parent: str) -> Iterator[Raw]:
    for each in tree.children:
        part: Raw = {"name": each.name, **({"parent": parent} if parent else {})}
        if each.minimum is not None:
            part["minMember" if each.leaf else "minSubGroup"] = each.minimum
        if each.together is not None:
            part["topologyConstraint"] = _together(each.together)
        yield part
        yield from _parts(each, each.name)


def _together(together: Together) -> Raw:
    levels = {
        "requiredTopologyLevel": together.required,
        "preferredTopologyLevel": together.preferred,
    }
    return {"topology": together.topology, **{key: each for key, each in levels.items() if each}}


def _pod(group: PodGroup, pod: GroupPod) -> Raw:
    labels: dict[str, str] = {}
    if pod.leaf != DEFAULT:
        labels["kai.scheduler/subgroup-name"] = pod.leaf
    if pod.order is not None:
        labels["kai.scheduler/task-priority"] = str(pod.order)
    for number, each in enumerate(pod.gpu_groups):
        labels["runai-gpu-group" if len(pod.gpu_groups) == 1 else f"runai-gpu-group/{number}"] = each
    meta: Raw = {
        "labels": labels,
        "annotations": {"pod-group-name": group.name, **_shares(pod)},
        "creationTimestamp": when(pod.created),
    }
    if pod.status is PodStatus.RELEASING:
        meta["deletionTimestamp"] = when(pod.created + 1)
    spec: Raw = {
        "schedulerName": "kai-scheduler",
        "containers": [{"name": "worker", "resources": {"requests": _requests(pod)}}],
        **({"nodeName": pod.node} if pod.node else {}),
        **({"schedulingGates": [{"name": "hold"}]} if pod.status is PodStatus.GATED else {}),
    }
    if pod.affinity is not None:
        required = pod.affinity.to_dict()
        node = {"requiredDuringSchedulingIgnoredDuringExecution": required}
        spec["affinity"] = {"nodeAffinity": node}
    running = pod.status in {PodStatus.RUNNING, PodStatus.RELEASING}
    phase = ENDED.get(pod.status, "Running" if running else "Pending")
    return _object(
        "v1",
        "Pod",
        pod.id.rpartition("/")[2],
        group.namespace,
        metadata=meta,
        spec=spec,
        status={"phase": phase},
    )


def _shares(pod: GroupPod) -> Mapping[str, str]:
    request = pod.request
    found: dict[str, str] = {}
    if request.fraction:
        found["gpu-fraction"] = str(request.fraction)
    if request.gpu_memory:
        found["gpu-memory"] = str(request.gpu_memory)
    if request.shared and request.devices > 1:
        found["gpu-fraction-num-devices"] = str(request.devices)
    return found


def _requests(pod: GroupPod) -> Mapping[str, str]:
    request = pod.request
    found = {"cpu": f"{request.cpu:.0f}m", "memory": f"{request.memory:.0f}"}
    if request.gpus:
        found["nvidia.com/gpu"] = str(request.gpus)
    found |= {name: str(amount) for name, amount in request.mig}
    return {**found, **{name: f"{amount:.0f}" for name, amount in request.others}}
