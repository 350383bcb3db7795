"""Kueue's quota arithmetic: what a ClusterQueue may use of a resource through the tree of its cohorts.

A queue lends what is above its ``lendingLimit``'s rest, borrows as far as its ``borrowingLimit``, and each
cohort on the way does the same for all below it. Facts: Kueue 0.19, ``v1beta2``, ``ClusterQueue.spec`` and
the quota tree of its scheduler's cache; a Cohort need not exist as an object: without one it is a root
without quota. What a queue uses is what it has *reserved* (``status.flavorsReservation``): admission checks
may still hold back work whose quota is taken already.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Final

from allotment.kubernetes.cluster.capacity import KUEUE, NOTHING, Amount, Capacity, Part
from allotment.kubernetes.cluster.snapshot import Snapshot
from allotment.kubernetes.kinds import CLUSTER_QUEUE, COHORT, WORKLOAD, Object
from allotment.quantities import QuantityError, parse_exact

CIRCLE: Final = "its cohorts name each other as parents in a circle"
_STOPPED: Final = frozenset({"Hold", "HoldAndDrain"})


@dataclass(frozen=True, slots=True)
class _Quota:
    """What one node of the tree has of a resource in one flavor."""

    nominal: Amount = NOTHING
    borrowing: Amount | None = None
    lending: Amount | None = None


@dataclass(slots=True)
class _Node:
    """A ClusterQueue or a Cohort in the tree of one flavor, while sums are made."""

    quota: _Quota
    parent: str | None
    subtree: Amount = NOTHING
    used: Amount = NOTHING
    most: Amount = NOTHING
    free: Amount = NOTHING

    @property
    def kept(self) -> Amount:
        """What is never lent."""
        return NOTHING if self.quota.lending is None else max(NOTHING, self.subtree - self.quota.lending)

    @property
    def kept_free(self) -> Amount:
        """What is never lent and not in use."""
        return max(NOTHING, self.kept - self.used)

    @property
    def in_parents_use(self) -> Amount:
        """What of the parent's is in use here."""
        return max(NOTHING, self.used - self.kept)

    def limited(self, amount: Amount, below: Amount) -> Amount:
        """What of an amount the borrowing limit lets through, counted from ``below``."""
        limit = self.quota.borrowing
        return amount if limit is None else min(amount, below + limit)


@dataclass(frozen=True)
class _Tree:
    """All cohorts, named or only meant, and which of them hang in a circle."""

    objects: Sequence[Object]
    parents: Mapping[str, str | None]
    order: Sequence[str] = field(default=())  # from the roots down
    circling: frozenset[str] = frozenset()


def kueue_capacities(snapshot: Snapshot, resource: str) -> dict[str, Capacity]:
    """What each ClusterQueue may use of a resource, by its name."""
    queues = snapshot.of(CLUSTER_QUEUE)
    tree = _cohort_tree(snapshot, queues)
    used = _usage(snapshot, queues, resource)
    flavors = sorted({flavor for each in queues for flavor in _quotas(each, resource)})
    parts: dict[str, list[Part]] = {}
    for flavor in flavors:
        for name, part in _parts(queues, tree, resource, flavor, used):
            parts.setdefault(name, []).append(part)
    return {
        each["metadata"]["name"]: _capacity(each, resource, parts.get(each["metadata"]["name"], []), tree)
        for each in queues
    }


def cohort_quotas(snapshot: Snapshot, resource: str) -> Iterator[tuple[str, Amount]]:
    """The cohorts that have quota of their own, which is lent to all below them."""
    for each in snapshot.of(COHORT):
        own = sum((quota.nominal for quota in _quotas(each, resource).values()), NOTHING)
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


def _capacity(queue: Object, resource: str, parts: Sequence[Part], tree: _Tree) -> Capacity:
    spec = queue.get("spec") or {}
    ordered = _as_listed(queue, resource, parts)
    parents = tuple(_chain(spec.get("cohortName"), tree))
    circle = spec.get("cohortName") in tree.circling
    limits = [each.borrowing_limit for each in ordered]
    quota = sum((each.quota for each in ordered), NOTHING)
    bounded = [limit for limit in limits if limit is not None]
    return Capacity(
        queue=queue["metadata"]["name"],
        scheduler=KUEUE,
        resource=resource,
        quota=quota,
        used=sum((each.used for each in ordered), NOTHING),
        most=sum((each.most for each in ordered), NOTHING),
        free=sum((each.free for each in ordered), NOTHING),
        limit=quota + sum(bounded, NOTHING) if ordered and len(bounded) == len(limits) else None,
        borrowed=sum((each.borrowed for each in ordered), NOTHING),
        lent=sum((each.lent for each in ordered), NOTHING),
        weight=_amount((spec.get("fairSharing") or {}).get("weight"), Fraction(1)),
        most_at_once=max((each.most for each in ordered), default=NOTHING),
        parents=parents,
        parts=ordered,
        covers=tuple(name for group in _groups(queue) for name in group.get("coveredResources") or ()),
        inactive=CIRCLE if circle else inactive_words(queue),
    )


def _as_listed(queue: Object, resource: str, parts: Sequence[Part]) -> tuple[Part, ...]:
    """The parts in the order in which the queue names its flavors, which is that of their trial."""
    place = {flavor: number for number, flavor in enumerate(_quotas(queue, resource))}
    return tuple(sorted(parts, key=lambda part: place[part.flavor]))


def _parts(
    queues: Sequence[Object],
    tree: _Tree,
    resource: str,
    flavor: str,
    used: Mapping[tuple[str, str], Amount],
) -> Iterator[tuple[str, Part]]:
    """What each queue that has the flavor may use of it."""
    own = {each["metadata"]["name"]: _quotas(each, resource).get(flavor, _Quota()) for each in tree.objects}
    cohorts = {name: _Node(own.get(name, _Quota()), tree.parents[name]) for name in tree.order}
    leaves: dict[str, _Node] = {}
    has_it = set()
    for each in queues:
        name, quota = each["metadata"]["name"], _quotas(each, resource).get(flavor)
        cohort = (each.get("spec") or {}).get("cohortName")
        leaves[name] = _Node(quota or _Quota(), cohort if cohort in cohorts else None)
        leaves[name].used = used.get((name, flavor), NOTHING)
        if quota is not None:
            has_it.add(name)
    _sum_up(leaves, cohorts, tree.order)
    for name in sorted(has_it):
        node = leaves[name]
        above = cohorts.get(node.parent or "")
        yield (
            name,
            Part(
                flavor=flavor,
                quota=node.quota.nominal,
                used=node.used,
                most=node.most,
                free=max(NOTHING, node.free),
                others=NOTHING if above is None else above.most - (node.subtree - node.kept),
                borrowing_limit=None if above is None else node.quota.borrowing,
                lending_limit=None if above is None else node.quota.lending,
            ),
        )


def _sum_up(leaves: Mapping[str, _Node], cohorts: Mapping[str, _Node], order: Sequence[str]) -> None:
    """Sums from the queues up to the roots, then limits from the roots down."""
    for node in cohorts.values():
        node.subtree = node.quota.nominal
    for node in leaves.values():
        node.subtree = node.quota.nominal
        _hand_up(node, cohorts)
    for name in reversed(order):
        _hand_up(cohorts[name], cohorts)
    for node in (*(cohorts[name] for name in order), *leaves.values()):
        above = cohorts.get(node.parent or "")
        if above is None:
            node.most, node.free = node.subtree, node.subtree - node.used
            continue
        node.most = node.limited(node.kept + above.most, node.subtree)
        unused = node.subtree - node.kept - node.in_parents_use
        node.free = node.kept_free + node.limited(above.free, unused)


def _hand_up(node: _Node, cohorts: Mapping[str, _Node]) -> None:
    above = cohorts.get(node.parent or "")
    if above is not None:
        above.subtree += node.subtree - node.kept
        above.used += node.in_parents_use


def _cohort_tree(snapshot: Snapshot, queues: Sequence[Object]) -> _Tree:
    parents: dict[str, str | None] = {}
    for each in snapshot.of(COHORT):
        parents[each["metadata"]["name"]] = (each.get("spec") or {}).get("parentName") or None
    named = [(each.get("spec") or {}).get("cohortName") for each in queues]
    for name in [*named, *parents.values()]:
        if name and name not in parents:
            parents[name] = None
    below: dict[str | None, list[str]] = {}
    for name, parent in sorted(parents.items()):
        below.setdefault(parent, []).append(name)
    order = list(below.get(None, ()))
    for name in order:
        order += below.get(name, ())
    return _Tree(snapshot.of(COHORT), parents, order, frozenset(parents) - frozenset(order))


def _chain(cohort: str | None, tree: _Tree) -> Iterator[str]:
    """The cohort and those above it, each once."""
    seen: set[str] = set()
    while cohort and cohort not in seen:
        yield cohort
        seen.add(cohort)
        cohort = tree.parents.get(cohort)


def _usage(snapshot: Snapshot, queues: Sequence[Object], resource: str) -> dict[tuple[str, str], Amount]:
    """What each queue has reserved in each flavor; of a queue without a status, what its Workloads hold."""
    found: dict[tuple[str, str], Amount] = {}
    untold = set()
    for each in queues:
        name, status = each["metadata"]["name"], each.get("status") or {}
        told = status.get("flavorsReservation") or status.get("flavorsUsage")
        if told is None:
            untold.add(name)
        for flavor in told or ():
            for amount in flavor.get("resources") or ():
                if amount.get("name") == resource:
                    found[name, flavor["name"]] = _amount(amount.get("total"))
    for workload in snapshot.of(WORKLOAD) if untold else ():
        admission = (workload.get("status") or {}).get("admission") or {}
        if admission.get("clusterQueue") not in untold or _is_finished(workload):
            continue
        for assigned in admission.get("podSetAssignments") or ():
            flavor = (assigned.get("flavors") or {}).get(resource)
            if flavor is not None:
                key = admission["clusterQueue"], flavor
                found[key] = found.get(key, NOTHING) + _amount(
                    (assigned.get("resourceUsage") or {}).get(resource)
                )
    return found


def _is_finished(workload: Object) -> bool:
    return any(
        each.get("type") == "Finished" and each.get("status") == "True"
        for each in (workload.get("status") or {}).get("conditions") or ()
    )


def _groups(value: Object) -> Sequence[Mapping[str, Any]]:
    return (value.get("spec") or {}).get("resourceGroups") or ()


def _quotas(value: Object, resource: str) -> dict[str, _Quota]:
    """What a queue or cohort has of a resource, by flavor, in its order."""
    return {
        flavor["name"]: _Quota(
            _amount(each.get("nominalQuota")), _limit(each, "borrowingLimit"), _limit(each, "lendingLimit")
        )
        for group in _groups(value)
        for flavor in group.get("flavors") or ()
        for each in flavor.get("resources") or ()
        if each.get("name") == resource
    }


def _limit(value: Mapping[str, Any], key: str) -> Amount | None:
    return None if value.get(key) is None else _amount(value[key])


def _amount(value: Any, otherwise: Amount = NOTHING) -> Amount:
    """A quantity; one that no server would take counts for what is there without it."""
    if value is None:
        return otherwise
    try:
        return parse_exact(value)
    except (QuantityError, TypeError):
        return otherwise
