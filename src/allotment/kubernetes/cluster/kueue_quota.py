"""Kueue's quota arithmetic: what a ClusterQueue may use of a resource through the tree of its cohorts.

The tree and its rules are those by which decisions are made (`allotment.scheduling.kueue`); here it stands
on the objects of a cluster, with what they say is in use. That is what a queue has *reserved*
(``status.flavorsReservation``): admission checks may still hold back work whose quota is taken already.
Facts: Kueue 0.19, ``v1beta2``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, TypeVar

from allotment.kubernetes.cluster.capacity import KUEUE, NOTHING, Amount, Capacity, Part
from allotment.kubernetes.cluster.snapshot import Snapshot
from allotment.kubernetes.kinds import CLUSTER_QUEUE, COHORT, WORKLOAD, Object
from allotment.scheduling.kueue.tree import CYCLE, Cell, Node, Tree, grow
from allotment.scheduling.kueue.usage import Usage
from allotment.scheduling.state.amounts import CPU, amount_of, minus
from allotment.scheduling.state.queues import ClusterQueue, Cohort, Quota
from allotment.scheduling.state.read_queues import read_cluster_queue, read_cohort
from allotment.scheduling.state.state import State

CIRCLE: Final = "its cohorts name each other as parents in a circle"
UNREADABLE: Final = "its spec cannot be read"
_STOPPED: Final = frozenset({"Hold", "HoldAndDrain"})
_MILLI: Final = 1000
_Read = TypeVar("_Read")


@dataclass(frozen=True, slots=True)
class _Ground:
    """The queues of a cluster as they are decided on, and what they use."""

    cohorts: Mapping[str, Cohort]
    tree: Tree
    usage: Usage
    used: Mapping[tuple[str, Cell], int]


def kueue_capacities(snapshot: Snapshot, resource: str) -> dict[str, Capacity]:
    """What each ClusterQueue may use of a resource, by its name."""
    objects = {each["metadata"]["name"]: each for each in snapshot.of(CLUSTER_QUEUE)}
    queues = {name: _read(read_cluster_queue, each) for name, each in objects.items()}
    cohorts = {each["metadata"]["name"]: _read(read_cohort, each) for each in snapshot.of(COHORT)}
    known = {name: each or Cohort(name) for name, each in cohorts.items()}
    tree = grow(State({name: each for name, each in queues.items() if each is not None}, known))
    ground = _Ground(known, tree, Usage.nothing(tree), _used(snapshot, objects, resource))
    for (name, cell), amount in ground.used.items():
        if name in tree.queues:
            ground.usage.add(tree.queues[name], cell, amount)
    return {
        name: _capacity(each, queues[name] or ClusterQueue(name, inactive=UNREADABLE), resource, ground)
        for name, each in objects.items()
    }


def cohort_quotas(snapshot: Snapshot, resource: str) -> Iterator[tuple[str, Amount]]:
    """The cohorts that have quota of their own, which is lent to all below them."""
    for each in snapshot.of(COHORT):
        cohort = _read(read_cohort, each)
        quotas = () if cohort is None else _quotas(cohort, resource)
        own = sum((_amount(resource, quota.nominal) for _, quota in quotas), NOTHING)
        if own:
            yield each["metadata"]["name"], own


def inactive_words(queue: Object) -> str:
    """Why a ClusterQueue admits nothing, or nothing."""
    for condition in (queue.get("status") or {}).get("conditions") or ():
        if condition.get("type") == "Active" and condition.get("status") == "False":
            reason, message = condition.get("reason", ""), condition.get("message", "")
            return f"{reason}: {message}" if message else str(reason)
    policy = (queue.get("spec") or {}).get("stopPolicy")
    return f"Stopped: its stopPolicy is {policy}" if policy in _STOPPED else ""


def _capacity(value: Object, queue: ClusterQueue, resource: str, ground: _Ground) -> Capacity:
    parts = tuple(
        _part(queue.name, (flavor, resource), quota, ground) for flavor, quota in _quotas(queue, resource)
    )
    inactive = inactive_words(value)
    if queue.inactive == UNREADABLE:
        inactive = UNREADABLE
    elif ground.tree.inactive.get(queue.name) == CYCLE:
        inactive = CIRCLE
    quota = sum((each.quota for each in parts), NOTHING)
    limits = [each.borrowing_limit for each in parts if each.borrowing_limit is not None]
    return Capacity(
        queue=queue.name,
        scheduler=KUEUE,
        resource=resource,
        quota=quota,
        used=sum((each.used for each in parts), NOTHING),
        most=sum((each.most for each in parts), NOTHING),
        free=sum((each.free for each in parts), NOTHING),
        limit=quota + sum(limits, NOTHING) if parts and len(limits) == len(parts) else None,
        borrowed=sum((each.borrowed for each in parts), NOTHING),
        lent=sum((each.lent for each in parts), NOTHING),
        weight=Fraction(str(queue.weight)),
        most_at_once=max((each.most for each in parts), default=NOTHING),
        parents=tuple(_chain(queue.cohort, ground.cohorts)),
        parts=parts,
        covers=tuple(name for group in queue.groups for name in group.resources),
        inactive=inactive,
    )


def _part(name: str, cell: Cell, quota: Quota, ground: _Ground) -> Part:
    """What a queue may use of one flavor; one outside of the tree has its own alone."""
    resource, used = cell[1], ground.used.get((name, cell), 0)
    node = ground.tree.queues.get(name)
    most, free = quota.nominal, max(0, minus(quota.nominal, used))
    if node is not None:
        most, free = node.most[cell], ground.usage.available(node, cell)
    above = None if node is None else node.parent
    return Part(
        flavor=cell[0],
        quota=_amount(resource, quota.nominal),
        used=_amount(resource, used),
        most=_amount(resource, most),
        free=_amount(resource, free),
        others=NOTHING if node is None or above is None else _amount(resource, _others(node, above, cell)),
        borrowing_limit=None if above is None else _limit(resource, quota.borrowing),
    )


def _others(node: Node, above: Node, cell: Cell) -> int:
    """What the rest of the tree could lend a queue, before its own limit."""
    return minus(above.most[cell], minus(node.subtree[cell], node.kept[cell]))


def _used(snapshot: Snapshot, queues: Mapping[str, Object], resource: str) -> Mapping[tuple[str, Cell], int]:
    """What each queue has reserved in each flavor; of a queue without a status, what its Workloads hold."""
    found: dict[tuple[str, Cell], int] = {}
    untold = set()
    for name, each in queues.items():
        status = each.get("status") or {}
        told = status.get("flavorsReservation") or status.get("flavorsUsage")
        if told is None:
            untold.add(name)
        for flavor in told or ():
            for amount in flavor.get("resources") or ():
                if amount.get("name") == resource:
                    found[name, (flavor["name"], resource)] = _parsed(resource, amount.get("total"))
    for workload in snapshot.of(WORKLOAD) if untold else ():
        admission = (workload.get("status") or {}).get("admission") or {}
        holder = str(admission.get("clusterQueue"))
        if holder not in untold or _is_finished(workload):
            continue
        for assigned in admission.get("podSetAssignments") or ():
            flavor = (assigned.get("flavors") or {}).get(resource)
            if flavor is not None:
                more = _parsed(resource, (assigned.get("resourceUsage") or {}).get(resource))
                key = holder, (flavor, resource)
                found[key] = found.get(key, 0) + more
    return found


def _is_finished(workload: Object) -> bool:
    return any(
        each.get("type") == "Finished" and each.get("status") == "True"
        for each in (workload.get("status") or {}).get("conditions") or ()
    )


def _quotas(queue: ClusterQueue | Cohort, resource: str) -> Sequence[tuple[str, Quota]]:
    """What a queue or cohort has of a resource, by flavor, in the order in which they are tried."""
    return [
        (flavor, group.quotas[flavor, resource])
        for group in queue.groups
        for flavor in group.flavors
        if (flavor, resource) in group.quotas
    ]


def _chain(cohort: str | None, cohorts: Mapping[str, Cohort]) -> Iterator[str]:
    """The cohort and those above it, each once."""
    seen: set[str] = set()
    while cohort and cohort not in seen:
        yield cohort
        seen.add(cohort)
        cohort = cohorts[cohort].parent if cohort in cohorts else None


def _read(reader: Callable[[Mapping[str, Any]], _Read], value: Object) -> _Read | None:
    """What the reader makes of an object; None of one that no API server would have taken."""
    try:
        return reader(value)
    except (ValueError, LookupError, TypeError, AttributeError):
        return None


def _parsed(resource: str, value: Any) -> int:
    try:
        return 0 if value is None else amount_of(resource, str(value))
    except ValueError:
        return 0


def _limit(resource: str, amount: int | None) -> Amount | None:
    return None if amount is None else _amount(resource, amount)


def _amount(resource: str, amount: int) -> Amount:
    """An amount in whole units."""
    return Fraction(amount, _MILLI if resource == CPU else 1)
