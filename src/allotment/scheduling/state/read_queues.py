"""Queues, flavors, topologies and nodes out of Kubernetes objects.

The defaults are Kueue's: an object that its API server has seen has them all, one that has not is taken as
Kueue's own code takes it. ``v1beta1`` names (``cohort``, ``parent``) are read too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from allotment.quantities.kubernetes import Quantity
from allotment.scheduling.state.amounts import UNLIMITED, amounts_of
from allotment.scheduling.state.nodes import ClusterNode, Flavor, Taint, Toleration, Topology
from allotment.scheduling.state.queues import (
    NEVER,
    AdmissionCheck,
    ClusterQueue,
    Cohort,
    Fungibility,
    LabelSelector,
    LabelTerm,
    LocalQueue,
    Preemption,
    Quota,
    ResourceGroup,
    Strategy,
)

Raw = Mapping[str, Any]
_MILLI_NANOS: Final = 10**6
_NANOS: Final = 10**9


def read_quota(resource: str, text: str) -> int:
    """An amount of quota: what is too much for 64 bits is no limit at all."""
    nanos = Quantity.parse(text).nanos
    unit = _MILLI_NANOS if resource == "cpu" else _NANOS
    whole = UNLIMITED // 1000 * _NANOS if resource == "cpu" else UNLIMITED * _NANOS
    return UNLIMITED if nanos >= whole else -(-nanos // unit)


def read_groups(raw: Iterable[Raw]) -> tuple[ResourceGroup, ...]:
    """Resource groups of a ClusterQueue or a Cohort."""
    return tuple(_group(group) for group in raw)


def _group(raw: Raw) -> ResourceGroup:
    quotas = {
        (flavor["name"], resource["name"]): Quota(
            *(
                None if resource.get(key) is None else read_quota(resource["name"], str(resource[key]))
                for key in ("nominalQuota", "borrowingLimit", "lendingLimit")
            )  # type: ignore[arg-type]  # the first is required
        )
        for flavor in raw.get("flavors") or ()
        for resource in flavor.get("resources") or ()
    }
    plain = {
        cell: Quota(quota.nominal or 0, quota.borrowing, quota.lending) for cell, quota in quotas.items()
    }
    flavors = tuple(flavor["name"] for flavor in raw.get("flavors") or ())
    return ResourceGroup(tuple(raw.get("coveredResources") or ()), flavors, plain)


def read_weight(spec: Raw) -> float:
    """The weight for fair sharing; one if nothing is said."""
    weight = (spec.get("fairSharing") or {}).get("weight")
    return 1.0 if weight is None else Quantity.parse(str(weight)).nanos / _NANOS


def read_selector(raw: Raw | None) -> LabelSelector | None:
    """A label selector; None selects nothing."""
    if raw is None:
        return None
    terms = tuple(
        LabelTerm(term["key"], term["operator"], tuple(term.get("values") or ()))
        for term in raw.get("matchExpressions") or ()
    )
    return LabelSelector(tuple(sorted((raw.get("matchLabels") or {}).items())), terms)


def read_cluster_queue(
    raw: Raw, *, checks: Mapping[str, AdmissionCheck] | None = None, inactive: str | None = None
) -> ClusterQueue:
    """A ClusterQueue; ``checks`` are the AdmissionChecks there are."""
    spec = raw.get("spec") or {}
    policy = (spec.get("concurrentAdmissionPolicy") or {}).get("migration") or {}
    stopped = spec.get("stopPolicy", "None") in {"Hold", "HoldAndDrain"}
    return ClusterQueue(
        name=raw["metadata"]["name"],
        cohort=spec.get("cohortName") or spec.get("cohort") or None,
        groups=read_groups(spec.get("resourceGroups") or ()),
        strategy=Strategy(spec.get("queueingStrategy") or Strategy.BEST_EFFORT),
        namespaces=read_selector(spec.get("namespaceSelector")),
        preemption=_preemption(spec.get("preemption")),
        fungibility=_fungibility(spec.get("flavorFungibility") or {}),
        weight=read_weight(spec),
        admission=(spec.get("admissionScope") or {}).get("admissionMode"),
        checks=_checks(spec, checks or {}),
        last_acceptable_flavor=(policy.get("constraints") or {}).get("lastAcceptableFlavorName"),
        inactive=inactive or ("Stopped" if stopped else None),
    )


def _preemption(raw: Raw | None) -> Preemption:
    if raw is None:
        return Preemption()
    borrow = raw.get("borrowWithinCohort") or {}
    return Preemption(
        within=raw.get("withinClusterQueue", ""),
        reclaim=raw.get("reclaimWithinCohort", ""),
        while_borrowing=(borrow.get("policy") or "") if raw.get("borrowWithinCohort") else NEVER,
        threshold=borrow.get("maxPriorityThreshold"),
    )


def _fungibility(raw: Raw) -> Fungibility:
    plain = Fungibility()
    old = {"Borrow": "MayStopSearch", "Preempt": "MayStopSearch"}
    borrowing = raw.get("whenCanBorrow") or plain.when_borrowing
    preempting = raw.get("whenCanPreempt") or plain.when_preempting
    return Fungibility(
        old.get(borrowing, borrowing), old.get(preempting, preempting), raw.get("preference") or None
    )


def _checks(spec: Raw, known: Mapping[str, AdmissionCheck]) -> tuple[AdmissionCheck, ...]:
    listed = [{"name": name} for name in spec.get("admissionChecks") or ()]
    listed += (spec.get("admissionChecksStrategy") or {}).get("admissionChecks") or ()
    flavors = tuple(name for group in read_groups(spec.get("resourceGroups") or ()) for name in group.flavors)
    found = []
    for check in listed:
        about = known.get(check["name"], AdmissionCheck(check["name"], active=False))
        on = tuple(check.get("onFlavors") or ()) or flavors
        found.append(AdmissionCheck(about.name, about.controller, about.active, on))
    return tuple(found)


def read_cohort(raw: Raw) -> Cohort:
    """A Cohort."""
    spec = raw.get("spec") or {}
    parent = spec.get("parentName") or spec.get("parent") or None
    groups = read_groups(spec.get("resourceGroups") or ())
    return Cohort(raw["metadata"]["name"], parent, groups, read_weight(spec))


def read_local_queue(raw: Raw) -> LocalQueue:
    """A LocalQueue."""
    meta, spec = raw["metadata"], raw.get("spec") or {}
    stopped = spec.get("stopPolicy", "None") in {"Hold", "HoldAndDrain"}
    name = LocalQueue(meta.get("namespace", ""), meta["name"], spec.get("clusterQueue", ""))
    return LocalQueue(name.namespace, name.name, name.cluster_queue, read_weight(spec), stopped)


def read_taints(raw: Iterable[Raw]) -> tuple[Taint, ...]:
    """Taints of a node or a flavor."""
    return tuple(Taint(each["key"], each.get("value", ""), each.get("effect", "")) for each in raw)


def read_tolerations(raw: Iterable[Raw]) -> tuple[Toleration, ...]:
    """Tolerations of a pod or a flavor."""
    fields = ("key", "operator", "value", "effect")
    return tuple(Toleration(*(each.get(field) or "" for field in fields)) for each in raw)


def read_flavor(raw: Raw) -> Flavor:
    """A ResourceFlavor."""
    spec = raw.get("spec") or {}
    return Flavor(
        raw["metadata"]["name"],
        dict(spec.get("nodeLabels") or {}),
        read_taints(spec.get("nodeTaints") or ()),
        read_tolerations(spec.get("tolerations") or ()),
        spec.get("topologyName"),
    )


def read_topology(raw: Raw) -> Topology:
    """A Topology."""
    levels = (raw.get("spec") or {}).get("levels") or ()
    return Topology(raw["metadata"]["name"], tuple(level["nodeLabel"] for level in levels))


def read_node(raw: Raw, taken: Mapping[str, int] | None = None) -> ClusterNode:
    """A Node, with what pods that no workload accounts for take of it."""
    meta, spec, status = raw["metadata"], raw.get("spec") or {}, raw.get("status") or {}
    ready = any(
        each.get("type") == "Ready" and each.get("status") == "True"
        for each in status.get("conditions") or ()
    )
    return ClusterNode(
        meta["name"],
        dict(meta.get("labels") or {}),
        amounts_of(status.get("allocatable") or {}),
        dict(taken or {}),
        read_taints(spec.get("taints") or ()),
        ready,
        not spec.get("unschedulable"),
    )
