"""What can never be admitted, with the sum; and what the cluster lacks that is asked of it.

A queue that can never hold a campaign's first pods keeps it waiting without an end, so it is refused before
it is sent. What cannot be seen (a kind that this identity may not read) refuses nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Final

from allotment.errors import did_you_mean
from allotment.kubernetes.apply.asked import (
    CARDS,
    claims_named,
    device_requests,
    per_pod,
    pods_together,
)
from allotment.kubernetes.apply.groups import labels
from allotment.kubernetes.apply.memory import CAMPAIGN
from allotment.kubernetes.apply.outcome import Refusal
from allotment.kubernetes.cluster import Snapshot
from allotment.kubernetes.cluster.quota import (
    KAI,
    KUEUE,
    Capacity,
    amount_text,
    capacity_of,
    cluster_queue_of,
)
from allotment.kubernetes.kinds import (
    CLAIM_TEMPLATE,
    CLUSTER_QUEUE,
    COHORT,
    DEVICE_CLASS,
    KAI_QUEUE,
    LOCAL_QUEUE,
    Kind,
    Object,
)
from allotment.kubernetes.render.context import Context
from allotment.kubernetes.render.platform.kueue import MOST_CLASSES, counted_classes
from allotment.kubernetes.render.repository_objects import CLAIMS_SINCE

PLATFORM_OBJECTS: Final = "`allot render --platform-objects`"
Claims = Mapping[tuple[str, str], Object]


def cluster_faults(context: Context, live: Snapshot) -> Iterator[Refusal]:
    """What the cluster lacks that everything of this platform needs."""
    for kind, whose, is_used in (
        (LOCAL_QUEUE, "Kueue", context.with_kueue),
        (KAI_QUEUE, "KAI", context.with_kai),
    ):
        if not is_used:
            continue
        if live.lacks(kind) == "not served":
            yield Refusal(
                f"the platform says `scheduler: {context.scheduler}`, and the cluster serves no "
                f"{kind.shown} ({kind.api_version})",
                f"install {whose}, or let the platform's file say who places pods there",
            )
        elif live.lacks(kind) is None and not _queue_is_there(context, live, kind):
            yield Refusal(
                f"{whose} has no {kind.name} `{context.queue}` for team `{context.team.name}`",
                f"whoever runs the cluster applies what {PLATFORM_OBJECTS} prints",
            )


def _queue_is_there(context: Context, live: Snapshot, kind: Kind) -> bool:
    return live.named(kind, context.queue, context.namespace if kind.is_namespaced else None) is not None


def claim_faults(context: Context, live: Snapshot, value: Object, claims: Claims) -> Iterator[Refusal]:
    """What of its claims the cluster cannot have: their API, a device class, one that Kueue counts."""
    named = [claims[address] for address in claims_named(value) if address in claims]
    if named and live.lacks(CLAIM_TEMPLATE) == "not served":
        yield Refusal(
            f"its pods claim devices, and Kubernetes {live.version} there serves no resource.k8s.io/v1",
            f"Kubernetes 1.{CLAIMS_SINCE} is the first that does",
        )
        return
    classes = {request.device_class for claim in named for request in device_requests(claim)}
    there = {each["metadata"]["name"] for each in live.of(DEVICE_CLASS)}
    counted = counted_classes(context.platform)[:MOST_CLASSES]
    for name in sorted(classes):
        if live.lacks(DEVICE_CLASS) is None and name not in there:
            yield Refusal(
                f"it claims devices of class `{name}`, which the cluster does not have",
                did_you_mean(name, there) or f"{PLATFORM_OBJECTS} prints the classes of the platform's cards",
            )
        elif context.with_kueue and name not in counted:
            yield Refusal(
                f"Kueue does not count devices of class `{name}`, and refuses what claims them",
                "map it in `deviceClassMappings` of Kueue's configuration, by `cards` of the platform's file",
            )


def quota_faults(context: Context, live: Snapshot, value: Object, claims: Claims) -> Iterator[Refusal]:
    """That its first pods are more than its queue could ever have."""
    pods, asked = pods_together(context, value), per_pod(value, claims)
    for resource, one in sorted(asked.items()):
        capacity = _capacity(context, live, resource)
        if capacity is None:
            continue
        if not capacity.is_covered:
            yield Refusal(
                f"each pod requests {amount_text(one, resource)} `{resource}`, and {capacity.arithmetic()}",
                f"let the queue give out `{resource}`",
            )
        elif capacity.never_fits(one * pods):
            yield Refusal(_sum_words(capacity, resource, pods, one), _smaller(capacity, pods, one, value))


def quota_notes(context: Context, live: Snapshot) -> Iterator[str]:
    """Why nothing of the queue is admitted now, whatever its numbers are."""
    capacity = _capacity(context, live, CARDS)
    if capacity is not None and capacity.inactive:
        yield f"queue `{context.queue}` admits nothing now: {capacity.inactive}"


def _capacity(context: Context, live: Snapshot, resource: str) -> Capacity | None:
    if context.with_kueue:
        queue = cluster_queue_of(live, context.namespace, context.queue)
        if queue is None or live.lacks(CLUSTER_QUEUE) or live.lacks(COHORT):
            return None
        return capacity_of(live, queue, resource, scheduler=KUEUE)
    if not context.with_kai or resource != CARDS:
        return None
    return capacity_of(live, context.queue, resource, scheduler=KAI)


def _sum_words(capacity: Capacity, resource: str, pods: int, one: Fraction) -> str:
    what = f"{pods} pod{'s' if pods > 1 else ''} at once, each with {amount_text(one, resource)} `{resource}`"
    asked = amount_text(one * pods, resource)
    return f"it can never start: {what}, are {asked}; {capacity.arithmetic(one * pods)}"


def _smaller(capacity: Capacity, pods: int, one: Fraction, value: Object) -> str:
    most = 0 if capacity.most_at_once is None or not one else int(capacity.most_at_once / one)
    if pods > 1 and most >= 1:
        key = f"window: {{min: {most}, …}}" if CAMPAIGN in labels(value) else f"workers: {most}"
        return f"at most {most} can start together: write `{key}`, or less"
    return "ask for less, or let the platform raise the team's `queue`"
