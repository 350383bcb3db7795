"""What stands around a count and stays, and what has to change beside the file: quota, tolerations.

None of it is edited. Facts: Kueue 0.18 and later (claims are counted by device class through
``deviceClassMappings``; resource names of a ClusterQueue), KAI 0.17 (classes with ``gpu`` in the name),
Kubernetes (admission plugin ExtendedResourceToleration, ResourceQuota by device class, fields of a Job and
a Pod that cannot be changed).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from allotment.kubernetes.convert.claiming import PodClaim
from allotment.kubernetes.convert.counted import Counted
from allotment.kubernetes.convert.pods import FROZEN, PodPlace, mapping_of
from allotment.kubernetes.convert.refusals import KAI

QUEUE: Final = "kueue.x-k8s.io/queue-name"
_DEFAULT: Final = frozenset({"", "default-scheduler", KAI})
_BY_HAND: Final = ("NVIDIA_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES")


def around_claims(place: PodPlace, kinds: Mapping[str, Counted], claim: PodClaim) -> Iterator[str]:
    """What there is to know of a pod that claims now."""
    classes = dict.fromkeys(each.device_class for each in kinds.values())
    if (queue := place.labels(QUEUE)) is not None:
        yield from _kueue(queue, kinds, classes)
    scheduler = str(place.spec.get("schedulerName") or "")
    if scheduler == KAI:
        yield (
            "KAI counts these claims in the queue's quota as it counted the cards: their classes have "
            "`gpu` in the name"
        )
    elif scheduler not in _DEFAULT:
        yield (
            f"`schedulerName: {scheduler}` stays: whether that scheduler gives devices to claims is its "
            "own affair"
        )
    yield from _toleration(place, kinds)
    yield from _by_hand(place)
    if place.kind in FROZEN:
        yield (
            f"what a {place.kind} asks for cannot be changed while it exists: one that is on the cluster "
            "already "
            "has to be deleted and created again"
        )
    else:
        yield (
            "applied over the old one, new pods get claims; those that run keep their counted cards "
            "until they end"
        )
    if claim.devices > 1:
        yield (
            f"a pod waits until one node has all {claim.devices} of its devices free, as it did when it "
            "counted"
        )


def _kueue(queue: str, kinds: Mapping[str, Counted], classes: Mapping[str, Any]) -> Iterator[str]:
    for resource, kind in kinds.items():
        yield (
            f"queue `{queue}`: Kueue charged `{resource}`, and charges claims by their class. The "
            "administrator "
            "adds to its configuration `resources.deviceClassMappings: "
            f"[{{name: {resource}, deviceClassNames: "
            f"[{kind.device_class}]}}]` (Kueue 0.18 or later) and starts it again; then the quota of "
            f"`{resource}` in the ClusterQueue counts as before"
        )
    if len(classes) < len(kinds):
        yield (
            f"queue `{queue}`: two resources that were counted apart are of one class now, and a "
            "class is "
            "charged under one name: they share one quota, or need classes of their own"
        )


def _toleration(place: PodPlace, kinds: Mapping[str, Counted]) -> Iterator[str]:
    listed = place.spec.get("tolerations")
    keys = {str(mapping_of(each).get("key")) for each in (listed if isinstance(listed, list) else ())}
    for resource in kinds:
        if resource in keys:
            yield (
                f"the toleration of `{resource}` stays: it is for the taint of nodes, which claims do not "
                "tolerate"
            )
        elif not any("gpu" in key for key in keys) and resource.endswith("/gpu"):
            yield (
                f"where nodes have the taint `{resource}` and the API server added the toleration by itself "
                "(ExtendedResourceToleration, as on GKE), the pod needs to say it now"
            )


def _by_hand(place: PodPlace) -> Iterator[str]:
    for _, container in place.containers():
        listed = container.get("env")
        names = [str(mapping_of(each).get("name")) for each in (listed if isinstance(listed, list) else ())]
        for name in _BY_HAND:
            if name in names:
                yield (
                    f"`{name}` in container `{container.get('name')}` stays: it names cards by hand, "
                    "which may not "
                    "be those of the claim; take it out unless you know that it is right"
                )


def of_other_kind(kind: str, resource: str) -> str:
    """What to do about an object that names a counted resource and holds no pod that is known."""
    if kind in {"ResourceQuota", "LimitRange"}:
        return (
            f"it bounds `{resource}`, which claims do not count. A ResourceQuota bounds the devices of a "
            "class by "
            "`gpu.nvidia.com.deviceclass.resource.k8s.io/devices`"
        )
    if kind in {"ClusterQueue", "Cohort"}:
        return (
            f"its quota of `{resource}` counts claims too where Kueue's `deviceClassMappings` map their "
            "class to "
            "that name; it needs no change then"
        )
    return (
        f"it counts `{resource}` at a place that only the makers of {kind} know: convert the pod in it by "
        "hand"
    )
