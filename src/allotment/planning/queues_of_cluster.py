"""The shares of a cluster's queues: Kueue's, KAI's, both, or none, from a snapshot.

Kueue counts any resource that a queue names; shown are those of cards, by their names. With both, Kueue's
quotas hold, and KAI's queues ought to be without limit: where one is not, two layers enforce, and work can
be admitted by one and refused by the other for ever.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Final

from allotment.kubernetes.cluster.capacity import KAI, KUEUE, Amount, amount_text
from allotment.kubernetes.cluster.kueue_quota import cohort_quotas
from allotment.kubernetes.cluster.quota import capacities_of
from allotment.kubernetes.cluster.reading import NOT_SERVED
from allotment.kubernetes.cluster.snapshot import Snapshot
from allotment.kubernetes.cluster.unasked import NOT_IN_FILE, are_queues_unasked, surer
from allotment.kubernetes.cluster.waiting import Waiting, waiting_for_kueue
from allotment.kubernetes.kinds import (
    CLAIM,
    CLUSTER_QUEUE,
    KAI_POD_GROUP,
    KAI_QUEUE,
    LOCAL_QUEUE,
    POD,
    WORKLOAD,
    Kind,
)
from allotment.planning.queues import Share, Shares, share_of
from allotment.planning.queues_of_kai import shares_of_kai
from allotment.planning.quotas_and_cards import (
    cards_open,
    cards_there,
    closed_words,
    limit_words,
    noun_of,
    quota_words,
)

BOTH: Final = "both"
NOBODY: Final = "default"
DEVICES: Final = "devices"
NO_QUEUES: Final = (
    "the cluster has no queues: nothing is guaranteed to anybody, and who asks first has the cards. Claims "
    "have no quota, unless a ResourceQuota of `CLASS.deviceclass.resource.k8s.io/devices` bounds those of a "
    "namespace. Kueue or KAI would share them out"
)
KAI_PLACES: Final = "Kueue's quotas hold; KAI's queues are without limit, and only place what Kueue admitted"


def shares_of_cluster(snapshot: Snapshot) -> Shares:
    """The share of each queue."""
    has_kueue, has_kai = bool(snapshot.of(CLUSTER_QUEUE)), bool(snapshot.of(KAI_QUEUE))
    notes = [*_unread(snapshot), *snapshot.notes]
    if has_kueue:
        shares = tuple(_of_kueue(snapshot))
        common = {resource: dict(cohort_quotas(snapshot, resource)) for resource in _cards(snapshot)}
        notes = [*(_layers(snapshot) if has_kai else ()), *_common_words(common), *notes]
        sums = Shares("", "", shares)
        quotas = [
            (resource, None if (own := sums.quota_in_all(resource)) is None else own + sum(held.values()))
            for resource, held in common.items()
        ]
        found = Shares(snapshot.name, BOTH if has_kai else KUEUE, shares, tuple(notes), tuple(quotas))
        return _beside_cards(found, snapshot, KUEUE)
    if has_kai:
        found = shares_of_kai(snapshot)
        return _beside_cards(replace(found, notes=(*found.notes, *notes)), snapshot, KAI)
    is_known = all(snapshot.lacks(kind) in {None, NOT_SERVED} for kind in (CLUSTER_QUEUE, KAI_QUEUE))
    return Shares(
        snapshot.name,
        NOBODY,
        tuple(_of_namespaces(snapshot)),
        (*([NO_QUEUES] if is_known else []), *notes),
    )


def _beside_cards(shares: Shares, snapshot: Snapshot, scheduler: str) -> Shares:
    """The shares with what of the cards is in no quota, and which limits are never reached."""
    resources = shares.resources
    noun = noun_of(snapshot)
    is_one = len(resources) == 1  # several may count kinds of cards apart
    cards, still = (cards_there(snapshot), cards_open(snapshot)) if is_one else (None, None)
    closed = closed_words(snapshot) if cards != still else ()
    notes = [
        words
        for resource in resources
        for words in quota_words(scheduler, shares.quota_in_all(resource), still, resource, noun)
    ]
    capacities = {each: capacities_of(snapshot, each, scheduler=scheduler) for each in resources}
    found = tuple(
        replace(each, unreached=limit_words(capacities[each.resource][each.queue], cards, noun))
        for each in shares.shares
    )
    there = (
        () if still is None else tuple((each, Fraction(still)) for each in resources if "gpu" in each.lower())
    )
    return replace(shares, shares=found, notes=(*notes, *closed, *shares.notes), there=there)


def _of_namespaces(snapshot: Snapshot) -> Iterator[Share]:
    """What the claims of each namespace hold, and how many of its pods wait with claims."""
    held: Counter[str] = Counter()
    for claim in snapshot.of(CLAIM):
        devices = ((claim.get("status") or {}).get("allocation") or {}).get("devices") or {}
        results = [each for each in devices.get("results") or () if not each.get("adminAccess")]
        held[str(claim["metadata"].get("namespace"))] += len(results)
    waiting: Counter[str] = Counter()
    for pod in snapshot.of(POD):
        spec, phase = pod.get("spec") or {}, (pod.get("status") or {}).get("phase")
        if spec.get("resourceClaims") and phase == "Pending" and not spec.get("nodeName"):
            waiting[str(pod["metadata"].get("namespace"))] += 1
    for name in sorted(held.keys() | waiting.keys()):
        yield Share(name, DEVICES, None, None, Fraction(1), used=Fraction(held[name]), waiting=waiting[name])


def _of_kueue(snapshot: Snapshot) -> Iterator[Share]:
    counted = _pending(snapshot) if _unseen(snapshot, WORKLOAD, LOCAL_QUEUE) else None
    for resource in _cards(snapshot):
        waiting = waiting_for_kueue(snapshot, resource)
        for capacity in capacities_of(snapshot, resource, scheduler=KUEUE).values():
            if not capacity.is_covered:
                continue
            share = share_of(capacity, waiting.get(capacity.queue, Waiting()))
            if counted is not None:
                share = replace(share, waiting=counted.get(capacity.queue), waiting_for=None)
            yield share


def _pending(snapshot: Snapshot) -> Mapping[str, int]:
    """How many Workloads wait at each ClusterQueue, as Kueue itself counts them."""
    told = {
        each["metadata"]["name"]: (each.get("status") or {}).get("pendingWorkloads", 0)
        for each in snapshot.of(CLUSTER_QUEUE)
    }
    return {name: count for name, count in told.items() if isinstance(count, int)}


def _unseen(snapshot: Snapshot, *kinds: Kind) -> str:
    """Of which of these kinds not all could be read, and why; nothing where all were."""
    told = {each.kind: each.why for each in (*snapshot.partly, *snapshot.missing)}
    return next((f"{kind.shown} are {told[kind]}" for kind in kinds if kind in told), "")


def _cards(snapshot: Snapshot) -> tuple[str, ...]:
    """The resources that are cards, by their names; all of them, where none looks like one."""
    covered = {
        name
        for queue in snapshot.of(CLUSTER_QUEUE)
        for group in (queue.get("spec") or {}).get("resourceGroups") or ()
        for name in group.get("coveredResources") or ()
    }
    cards = {name for name in covered if "gpu" in name.lower() or "nvidia.com/mig" in name}
    return tuple(sorted(cards or covered))


def _common_words(common: Mapping[str, Mapping[str, Amount]]) -> Iterator[str]:
    """What cohorts have that is no queue's own."""
    for resource, held in common.items():
        for cohort, amount in sorted(held.items()):
            words = f"cohort `{cohort}` has {amount_text(amount, resource)} `{resource}` of its own"
            yield f"{words}, which the queues below it may borrow"


def _layers(snapshot: Snapshot) -> Iterator[str]:
    """Whether KAI's queues are without quota beside Kueue, as they ought to be."""
    bound = [
        name
        for name, each in capacities_of(snapshot, scheduler=KAI).items()
        if each.limit is not None or (each.quota is not None and each.quota > 0)
    ]
    if not bound:
        yield KAI_PLACES
        return
    names = ", ".join(f"`{name}`" for name in sorted(bound)[:5])
    yield (
        f"two layers of quota: beside Kueue's, KAI's {names} {'has' if len(bound) == 1 else 'have'} quotas "
        "or limits too, so that what Kueue admits may wait at KAI for ever; set both to -1"
    )


def _unread(snapshot: Snapshot) -> Iterator[str]:
    if are_queues_unasked(snapshot):
        yield f"no queues are in the file: {surer(CLUSTER_QUEUE, LOCAL_QUEUE, KAI_QUEUE)}"
    for kind in (CLUSTER_QUEUE, KAI_QUEUE):
        why = snapshot.lacks(kind)
        if why not in {None, NOT_SERVED, NOT_IN_FILE}:
            yield f"{kind.shown} could not be read: {why}"
    if snapshot.of(CLUSTER_QUEUE) and (why := _unseen(snapshot, WORKLOAD, LOCAL_QUEUE)):
        yield f"what waits is counted as Kueue counts it, by Workloads, and for how much is not known: {why}"
    elif snapshot.of(KAI_QUEUE) and (why := _unseen(snapshot, KAI_POD_GROUP, POD)):
        yield f"how many campaigns wait is not known of all: {why}"
