"""Pods and claims of a snapshot as KAI's scheduler counts them.

A pod belongs to the group that it names; pods of other schedulers only take room. Where what a pod has been
given stands in three places: its node in its spec, its shared GPUs in its labels, its devices in the status
of its claims. What is bound and not yet written into the pod (a BindRequest) cannot be seen. Facts: KAI 0.17,
annotation ``pod-group-name``, labels ``kai.scheduler/subgroup-name`` and ``runai-gpu-group``; a pod that
reserves a GPU for shares stands for no work.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from allotment.devices.claim_objects import ResourceClaim
from allotment.devices.claims import AllocationMode
from allotment.devices.read_allocations import allocation_of
from allotment.kubernetes.cluster.kai_objects import when
from allotment.kubernetes.cluster.pod_request import request_of
from allotment.needs.ways.fraction import SCHEDULER
from allotment.scheduling.state.claimed_devices import Allocation, Claim
from allotment.scheduling.state.device_kinds import exact_of, kind_of
from allotment.scheduling.state.pod_groups import DEFAULT, GroupPod, PodStatus
from allotment.scheduling.state.read_queues import read_tolerations
from allotment.scheduling.state.read_workloads import read_node_selector

Raw = Mapping[str, Any]
GROUP: Final = "pod-group-name"
LEAF: Final = "kai.scheduler/subgroup-name"
ORDER: Final = "kai.scheduler/task-priority"
SHARED: Final = "runai-gpu-group"
RESERVING: Final = "kai-resource-reservation"
_OVER: Final = {"Succeeded": PodStatus.SUCCEEDED, "Failed": PodStatus.FAILED}
_OF_TEMPLATE: Final = "resource.kubernetes.io/pod-claim-name"


def group_of(pod: Raw) -> str:
    """The key of the group that a pod of KAI's belongs to; empty for any other pod."""
    meta, spec = pod["metadata"], pod.get("spec") or {}
    name = (meta.get("annotations") or {}).get(GROUP)
    ours = spec.get("schedulerName") == SCHEDULER and meta.get("namespace") != RESERVING
    return f"{meta.get('namespace') or ''}/{name}" if ours and name else ""


def read_pod(pod: Raw) -> GroupPod:
    """A pod of a group."""
    meta, spec = pod["metadata"], pod.get("spec") or {}
    labels, notes = meta.get("labels") or {}, meta.get("annotations") or {}
    required = ((spec.get("affinity") or {}).get("nodeAffinity") or {}).get(
        "requiredDuringSchedulingIgnoredDuringExecution"
    )
    order = labels.get(ORDER)
    return GroupPod(
        id=pod_key(pod),
        status=status_of(pod),
        node=spec.get("nodeName") or None,
        gpu_groups=tuple(_shared(labels)),
        leaf=labels.get(LEAF) or DEFAULT,
        request=request_of(spec, notes),
        claims=tuple(claims_of(pod)),
        node_selector=dict(spec.get("nodeSelector") or {}),
        affinity=None if required is None else read_node_selector(required),
        tolerations=read_tolerations(spec.get("tolerations") or ()),
        order=int(order) if order is not None and order.lstrip("-").isdigit() else None,
        created=when(meta.get("creationTimestamp")) or 0.0,
    )


def pod_key(pod: Raw) -> str:
    """Unique in the cluster."""
    meta = pod["metadata"]
    return f"{meta.get('namespace') or ''}/{meta['name']}"


def status_of(pod: Raw) -> PodStatus:
    """How far a pod has come."""
    spec, status = pod.get("spec") or {}, pod.get("status") or {}
    phase = str(status.get("phase") or "Pending")
    if phase in _OVER:
        return _OVER[phase]
    if pod["metadata"].get("deletionTimestamp"):
        return PodStatus.RELEASING if spec.get("nodeName") else PodStatus.FAILED
    if spec.get("nodeName"):
        return PodStatus.RUNNING if phase == "Running" else PodStatus.BOUND
    return PodStatus.GATED if spec.get("schedulingGates") else PodStatus.PENDING


def claims_of(pod: Raw) -> Iterator[str]:
    """The claims of a pod by ``namespace/name``: those that it names, and those made for it."""
    namespace = pod["metadata"].get("namespace") or ""
    made = {
        each.get("name"): each.get("resourceClaimName")
        for each in (pod.get("status") or {}).get("resourceClaimStatuses") or ()
    }
    for each in (pod.get("spec") or {}).get("resourceClaims") or ():
        name = each.get("resourceClaimName") or made.get(each.get("name"))
        if name:
            yield f"{namespace}/{name}"


def _shared(labels: Mapping[str, str]) -> Iterator[str]:
    """The shared GPUs that a pod sits on; one on several has a label for each."""
    for key, value in sorted(labels.items()):
        if key == SHARED or key.startswith(f"{SHARED}/"):
            yield value


def read_claim(found: ResourceClaim) -> Claim:
    """A claim: its first exact request, and what it was given."""
    exactly = exact_of(found.spec)
    allocation = allocation_of(found.status)
    annotations = found.metadata.get("annotations") or {}
    owned = any(each.get("kind") == "Pod" for each in found.metadata.get("ownerReferences") or ())
    given = None
    if allocation is not None and allocation.results:
        given = Allocation(_node_of(allocation), tuple(str(each.id) for each in allocation.results))
    all_of_them = exactly is not None and exactly.mode == AllocationMode.ALL
    return Claim(
        name=f"{found.namespace}/{found.name}",
        device_class="" if exactly is None else kind_of(exactly),
        count=1 if exactly is None or all_of_them else exactly.count,
        labels=found.metadata.get("labels") or {},
        template=_OF_TEMPLATE in annotations or owned,
        allocation=given,
        reserved_for=tuple(f"{found.namespace}/{user}" for user in found.users),
    )


def _node_of(allocation: Any) -> str:
    """The node that devices are of: the one that the allocation's selector names, or their pool's."""
    for term in allocation.node_selector.terms if allocation.node_selector is not None else ():
        for need in term.match_fields:
            if need.key == "metadata.name" and len(need.values) == 1:
                return str(need.values[0])
    return str(allocation.results[0].id.pool)
