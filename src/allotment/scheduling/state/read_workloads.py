"""Workloads out of ``kueue.x-k8s.io`` objects."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, Final

from allotment.devices.nodes import NodeSelector, NodeSelectorTerm, Requirement
from allotment.scheduling.state.amounts import amounts_of
from allotment.scheduling.state.pod_requests import pod_requests
from allotment.scheduling.state.read_queues import read_tolerations
from allotment.scheduling.state.workloads import (
    Admission,
    CheckState,
    DomainCount,
    Eviction,
    Placement,
    PodSet,
    PodSetAdmission,
    SliceLayer,
    TopologyRequest,
    Waiting,
    Workload,
)

Raw = Mapping[str, Any]
Charge = Callable[[Raw, Mapping[str, int]], Mapping[str, int]]

LARGEST_BOOST: Final = 2**31 - 1
ANNOTATION: Final = "kueue.x-k8s.io/"
_SHAPED: Final = (
    "nodeSelector",
    "affinity",
    "tolerations",
    "runtimeClassName",
    "priority",
    "topologySpreadConstraints",
    "overhead",
    "resourceClaims",
)


def as_asked(_pod_set: Raw, requests: Mapping[str, int]) -> Mapping[str, int]:
    """Charge what the pod asks for."""
    return requests


def read_workload(raw: Raw, *, charge: Charge = as_asked, faults: Iterable[str] = ()) -> Workload:
    """A Workload; ``charge`` says what quota one pod of a set is charged for what it asks."""
    meta, spec, status = raw["metadata"], raw.get("spec") or {}, raw.get("status") or {}
    notes = meta.get("annotations") or {}
    told = {each["type"]: each for each in status.get("conditions") or ()}
    requeue = status.get("requeueState") or {}
    allowed = notes.get(ANNOTATION + "workload-allowed-resource-flavors")
    reserved = told.get("QuotaReserved")
    return Workload(
        namespace=meta.get("namespace", ""),
        name=meta.get("name", ""),
        queue=spec.get("queueName", ""),
        pod_sets=tuple(read_pod_set(each, charge) for each in spec.get("podSets") or ()),
        uid=meta.get("uid", ""),
        job_uid=(meta.get("labels") or {}).get(ANNOTATION + "job-uid", ""),
        priority=spec.get("priority") or 0,
        boost=_boost(notes.get(ANNOTATION + "priority-boost")),
        created=seconds(meta.get("creationTimestamp")),
        generation=meta.get("generation") or 0,
        active=spec.get("active") is not False,
        gated=bool(notes.get(ANNOTATION + "admission-gated-by")),
        finished=_true(told.get("Finished")),
        replaces=notes.get(ANNOTATION + "workload-slice-replacement-for") or None,
        elastic=notes.get(ANNOTATION + "elastic-job") == "true",
        allowed_flavors=None if allowed is None else tuple(allowed.split(",")),
        parent=_parent(meta),
        owned_by_pod=_owned_by_pod(meta) and notes.get(ANNOTATION + "is-group-workload") != "true",
        preemption_gated=_gated(spec, status),
        faults=tuple(faults),
        admission=read_admission(status.get("admission"), spec.get("podSets") or ()),
        reserved=_true(reserved),
        reserved_at=seconds((reserved or {}).get("lastTransitionTime")) if _true(reserved) else None,
        admitted=_true(told.get("Admitted")),
        evicted=_eviction(told.get("Evicted")),
        preempted=_eviction(told.get("Preempted")),
        waiting=_waiting(reserved),
        held_back=(told.get("Requeued") or {}).get("status") == "False",
        requeue_at=seconds(requeue["requeueAt"]) if requeue.get("requeueAt") else None,
        reclaimable={each["name"]: each.get("count", 0) for each in status.get("reclaimablePods") or ()},
        checks=tuple(_check(each) for each in status.get("admissionChecks") or ()),
        unhealthy=tuple(each["name"] for each in status.get("unhealthyNodes") or ()),
        pods_ready=_true(told.get("PodsReady")),
    )


def seconds(text: str | None) -> float:
    """A time of the API as seconds; nothing said is as long ago as can be."""
    if not text:
        return float("-inf")
    return datetime.fromisoformat(text.replace("Z", "+00:00")).astimezone(UTC).timestamp()


def _true(condition: Raw | None) -> bool:
    return condition is not None and condition.get("status") == "True"


def _eviction(condition: Raw | None) -> Eviction | None:
    if condition is None or not _true(condition):
        return None
    at = seconds(condition.get("lastTransitionTime"))
    return Eviction(condition.get("reason", ""), at, condition.get("message", ""))


def _waiting(condition: Raw | None) -> Waiting | None:
    if condition is None or condition.get("status") != "False":
        return None
    return Waiting(condition.get("reason", ""), condition.get("message", ""))


def _parent(meta: Raw) -> str | None:
    for owner in meta.get("ownerReferences") or ():
        if owner.get("kind") == "Workload" and owner.get("controller"):
            uid: str = owner.get("uid", "")
            return uid
    return None


def _boost(text: str | None) -> int:
    """What an annotation adds to the priority; nothing if it is no number of 32 bits."""
    try:
        value = int(text or "0")
    except ValueError:
        return 0
    return value if abs(value) <= LARGEST_BOOST else 0


def _owned_by_pod(meta: Raw) -> bool:
    owners: list[Raw] = list(meta.get("ownerReferences") or ())
    return len(owners) == 1 and owners[0].get("kind") == "Pod"


def _gated(spec: Raw, status: Raw) -> bool:
    gates = [each.get("name") for each in spec.get("preemptionGates") or ()]
    stands = {
        each.get("name"): each.get("position", each.get("status"))
        for each in status.get("preemptionGates") or ()
    }
    return any(stands.get(name) != "Open" for name in gates)


def _check(raw: Raw) -> CheckState:
    updates = raw.get("podSetUpdates") or ()
    return CheckState(
        raw["name"],
        raw.get("state", ""),
        {each["name"]: dict(each.get("nodeSelector") or {}) for each in updates},
        {each["name"]: read_tolerations(each.get("tolerations") or ()) for each in updates},
    )


def read_pod_set(raw: Raw, charge: Charge = as_asked) -> PodSet:
    """One pod set of a Workload."""
    template = (raw.get("template") or {}).get("spec") or {}
    asked = pod_requests(template)
    affinity = (template.get("affinity") or {}).get("nodeAffinity") or {}
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution")
    return PodSet(
        name=raw.get("name", ""),
        count=raw.get("count", 0),
        requests=charge(raw, asked),
        pod=asked,
        min_count=raw.get("minCount"),
        node_selector=dict(template.get("nodeSelector") or {}),
        affinity=None if required is None else read_node_selector(required),
        preferred=read_preferred_nodes(affinity),
        tolerations=read_tolerations(template.get("tolerations") or ()),
        topology=read_topology_request(raw.get("topologyRequest")),
        shape=pod_shape(raw, template),
    )


def read_node_selector(raw: Raw) -> NodeSelector:
    """A node selector of a pod's affinity."""
    return NodeSelector(
        tuple(
            NodeSelectorTerm(
                tuple(_requirement(each) for each in term.get("matchExpressions") or ()),
                tuple(_requirement(each) for each in term.get("matchFields") or ()),
            )
            for term in raw.get("nodeSelectorTerms") or ()
        )
    )


def read_preferred_nodes(affinity: Raw) -> tuple[tuple[int, NodeSelector], ...]:
    """What a pod's node affinity prefers: weights and selectors."""
    return tuple(
        (each["weight"], read_node_selector({"nodeSelectorTerms": [each.get("preference") or {}]}))
        for each in affinity.get("preferredDuringSchedulingIgnoredDuringExecution") or ()
    )


def _requirement(raw: Raw) -> Requirement:
    return Requirement(raw["key"], raw["operator"], tuple(raw.get("values") or ()))


def read_topology_request(raw: Raw | None) -> TopologyRequest | None:
    """What a pod set says about its placement; one size for one level is a single layer."""
    if raw is None:
        return None
    constraints = raw.get("podsetSliceRequiredTopologyConstraints") or ()
    layers = tuple(SliceLayer(each.get("topology", ""), each.get("size", 0)) for each in constraints)
    level, size = raw.get("podSetSliceRequiredTopology"), raw.get("podSetSliceSize")
    if not layers and level is not None:
        layers = (SliceLayer(level, size or 0),)
    return TopologyRequest(
        required=raw.get("required"),
        preferred=raw.get("preferred"),
        unconstrained=raw.get("unconstrained"),
        group=raw.get("podSetGroupName"),
        layers=layers,
        sliced=level is not None or size is not None,
    )


def pod_shape(pod_set: Raw, template: Raw) -> str:
    """A text that is equal for pods that ask for the same (``SpecShape`` of pkg/util/pod)."""
    containers = [
        [
            [(each.get("resources") or {}).get("requests"), each.get("ports")]
            for each in template.get(kind) or ()
        ]
        for kind in ("initContainers", "containers")
    ]
    rest = [template.get(key) for key in _SHAPED]
    whole = (template.get("resources") or {}).get("requests")
    said = [containers, rest, whole, pod_set.get("minCount"), pod_set.get("topologyRequest")]
    return json.dumps(said, sort_keys=True, separators=(",", ":"))


def read_admission(raw: Raw | None, pod_sets: Iterable[Raw] = ()) -> Admission | None:
    """A quota reservation; a set without a count was given all of its pods."""
    if raw is None:
        return None
    counts = {each.get("name", ""): each.get("count", 0) for each in pod_sets}
    given = tuple(
        PodSetAdmission(
            each.get("name", ""),
            counts.get(each.get("name", ""), 0) if each.get("count") is None else each["count"],
            dict(each.get("flavors") or {}),
            amounts_of(each.get("resourceUsage") or {}),
            read_placement(each.get("topologyAssignment")),
            each.get("delayedTopologyRequest"),
        )
        for each in raw.get("podSetAssignments") or ()
    )
    return Admission(raw.get("clusterQueue", ""), given)


def read_placement(raw: Raw | None) -> Placement | None:
    """Where pods stand: the short form of the API, with its roots, or a plain list of domains."""
    if raw is None:
        return None
    levels = tuple(raw.get("levels") or raw.get("Levels") or ())
    plain = raw.get("Domains") or raw.get("domains")
    if plain is not None:
        pairs = [
            (each.get("Values") or each.get("values"), each.get("Count") or each.get("count"))
            for each in plain
        ]
        return Placement(
            levels, tuple(DomainCount(tuple(values or ()), count or 0) for values, count in pairs)
        )
    domains = [domain for part in raw.get("slices") or () for domain in _unpacked(part)]
    return Placement(levels, tuple(domains))


def _unpacked(raw: Raw) -> list[DomainCount]:
    number = raw.get("domainCount", 0)
    columns = [_column(level, number) for level in raw.get("valuesPerLevel") or ()]
    counts = raw.get("podCounts") or {}
    each = (
        [counts["universal"]] * number
        if counts.get("universal") is not None
        else counts.get("individual") or []
    )
    return [DomainCount(tuple(column[index] for column in columns), each[index]) for index in range(number)]


def _column(raw: Raw, number: int) -> list[str]:
    if raw.get("universal") is not None:
        return [raw["universal"]] * number
    parts = raw.get("individual") or {}
    prefix, suffix = parts.get("prefix") or "", parts.get("suffix") or ""
    return [f"{prefix}{root}{suffix}" for root in parts.get("roots") or ()]
