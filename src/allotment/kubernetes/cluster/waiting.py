"""What waits at the queues of a cluster: how many pieces of work, and how much of a resource they ask for.

With Kueue it is a Workload that is active, not finished and has no quota reserved; what it asks for stands
in its status, or follows from its pods' requests and claims. One that stands for a wider window asks only
for what it has more than the one that it replaces. With KAI pods wait, in groups: a group whose pods have no
node, and of the amount what its queue has been asked for less what it has been given. Facts: Kueue 0.19,
``Workload`` (``status.resourceRequests``, annotation ``workload-slice-replacement-for``); KAI 0.17.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from allotment.kubernetes.cluster.capacity import NOTHING, Amount
from allotment.kubernetes.cluster.kai_quota import cards_in
from allotment.kubernetes.cluster.snapshot import Snapshot
from allotment.kubernetes.kinds import (
    CLAIM_TEMPLATE,
    JOB,
    KAI_POD_GROUP,
    KAI_QUEUE,
    LOCAL_QUEUE,
    POD,
    WORKLOAD,
    Object,
)
from allotment.quantities import QuantityError, parse_exact

REPLACES: Final = "kueue.x-k8s.io/workload-slice-replacement-for"
CAMPAIGN: Final = "allotment/campaign"
GROUP: Final = "pod-group-name"


@dataclass(frozen=True, slots=True)
class Waiting:
    """How many campaigns (or other work) wait for how much, and how many are paused."""

    works: int = 0
    amount: Amount = NOTHING
    paused: int = 0


def waiting_for_kueue(snapshot: Snapshot, resource: str) -> Mapping[str, Waiting]:
    """What waits at each ClusterQueue."""
    queues = {
        (each["metadata"].get("namespace"), each["metadata"]["name"]): (each.get("spec") or {}).get(
            "clusterQueue"
        )
        for each in snapshot.of(LOCAL_QUEUE)
    }
    works: dict[str, set[str]] = {}
    paused: dict[str, set[str]] = {}
    amounts: dict[str, Amount] = {}
    for workload in snapshot.of(WORKLOAD):
        spec = workload.get("spec") or {}
        queue = queues.get((workload["metadata"].get("namespace"), spec.get("queueName")))
        if queue is None or _holds(workload, "QuotaReserved") or _holds(workload, "Finished"):
            continue
        if spec.get("active") is False:
            paused.setdefault(queue, set()).add(_work_of(snapshot, workload))
            continue
        works.setdefault(queue, set()).add(_work_of(snapshot, workload))
        amounts[queue] = amounts.get(queue, NOTHING) + asked_of(snapshot, workload, resource)
    return {
        queue: Waiting(len(works.get(queue, ())), amounts.get(queue, NOTHING), len(paused.get(queue, ())))
        for queue in works.keys() | paused.keys()
    }


def waiting_for_kai(snapshot: Snapshot) -> Mapping[str, Waiting]:
    """What waits at each Queue."""
    pending: dict[str, set[str]] = {}
    groups = {
        (each["metadata"].get("namespace"), each["metadata"]["name"]): (each.get("spec") or {}).get("queue")
        for each in snapshot.of(KAI_POD_GROUP)
    }
    for pod in snapshot.of(POD):
        spec, status = pod.get("spec") or {}, pod.get("status") or {}
        if status.get("phase") != "Pending" or spec.get("nodeName") or spec.get("schedulingGates"):
            continue
        metadata = pod["metadata"]
        group = str((metadata.get("annotations") or {}).get(GROUP))
        queue = groups.get((metadata.get("namespace"), group))
        if isinstance(queue, str):
            pending.setdefault(queue, set()).add(f"{metadata.get('namespace')}/{group}")
    found = {}
    for queue in snapshot.of(KAI_QUEUE):
        name, status = queue["metadata"]["name"], queue.get("status") or {}
        more = _cards(status.get("requested")) - _cards(status.get("allocated"))
        works = len(pending.get(name, ()))
        if works or more > 0:
            found[name] = Waiting(works, max(NOTHING, more))
    return found


def _work_of(snapshot: Snapshot, workload: Object) -> str:
    """The campaign that a Workload is of, or what else it stands for."""
    metadata = workload["metadata"]
    namespace = metadata.get("namespace")
    owners = metadata.get("ownerReferences") or ()
    name = str(owners[0].get("name")) if owners else str(metadata["name"])
    job = snapshot.named(JOB, name, namespace) if owners else None
    campaign = ((job or workload)["metadata"].get("labels") or {}).get(CAMPAIGN)
    return f"{namespace}/campaign/{campaign}" if campaign else f"{namespace}/{name}"


def _holds(workload: Object, condition: str) -> bool:
    return any(
        each.get("type") == condition and each.get("status") == "True"
        for each in (workload.get("status") or {}).get("conditions") or ()
    )


def asked_of(snapshot: Snapshot, workload: Object, resource: str) -> Amount:
    """What it asks for, less what the one has that it replaces."""
    asked = _total(snapshot, workload, resource)
    replaced = (workload["metadata"].get("annotations") or {}).get(REPLACES)
    if not isinstance(replaced, str):
        return asked
    namespace, _, name = replaced.rpartition("/")
    earlier = snapshot.named(WORKLOAD, name, namespace or workload["metadata"].get("namespace"))
    if earlier is None or _holds(earlier, "Finished") or not _holds(earlier, "QuotaReserved"):
        return asked  # it holds nothing that could be had in exchange
    return max(NOTHING, asked - _total(snapshot, earlier, resource))


def _total(snapshot: Snapshot, workload: Object, resource: str) -> Amount:
    told = (workload.get("status") or {}).get("resourceRequests") or ()
    if told:
        return sum((_amount((each.get("resources") or {}).get(resource)) for each in told), NOTHING)
    namespace = workload["metadata"].get("namespace")
    return sum(
        (
            _amount(each.get("count")) * _of_pod(snapshot, namespace, each.get("template") or {}, resource)
            for each in (workload.get("spec") or {}).get("podSets") or ()
        ),
        NOTHING,
    )


def _of_pod(snapshot: Snapshot, namespace: str | None, template: Mapping[str, Any], resource: str) -> Amount:
    spec = template.get("spec") or {}
    requested = sum(
        (
            _amount(((each.get("resources") or {}).get("requests") or {}).get(resource))
            for each in spec.get("containers") or ()
        ),
        NOTHING,
    )
    return requested + sum(
        (_of_claim(snapshot, namespace, each) for each in spec.get("resourceClaims") or ()), NOTHING
    )


def _of_claim(snapshot: Snapshot, namespace: str | None, claim: Mapping[str, Any]) -> Amount:
    """The cards that a template of claims asks for."""
    template = snapshot.named(CLAIM_TEMPLATE, str(claim.get("resourceClaimTemplateName")), namespace)
    return sum((_of_request(each) for each in _requests(template)), NOTHING)


def _requests(template: Object | None) -> Iterator[Mapping[str, Any]]:
    spec = (((template or {}).get("spec") or {}).get("spec") or {}).get("devices") or {}
    yield from spec.get("requests") or ()


def _of_request(request: Mapping[str, Any]) -> Amount:
    exactly = request.get("exactly") or {}
    return Fraction(cards_in(str(exactly.get("deviceClassName") or ""))) * _amount(exactly.get("count", 1))


def _cards(told: Mapping[str, Any] | None) -> Amount:
    return sum((_amount(amount) * cards_in(name) for name, amount in (told or {}).items()), NOTHING)


def _amount(value: Any) -> Amount:
    if value is None:
        return NOTHING
    try:
        return parse_exact(value)
    except (QuantityError, TypeError):
        return NOTHING
