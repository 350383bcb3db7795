"""Counts that a cluster honours through device classes as they are, and what it needs for that.

A DeviceClass can stand for the name that a device plugin had, and every class has a name of its own by
which it can be counted; the scheduler makes the claim then. Facts: KEP 5004 (gate DRAExtendedResource: alpha
and off in 1.34, beta and on in 1.36, stable in 1.37); NVIDIA's chart gives
``extendedResourceName: nvidia.com/gpu`` to its class, the GPU Operator's class has none; KAI 0.17 and
Kueue 0.19.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from allotment.devices.classes import GPU_CLASS, MIG_CLASS, DeviceClass
from allotment.devices.extended_resources import PREFIX
from allotment.kubernetes.convert.around import QUEUE
from allotment.kubernetes.convert.counted import Counted
from allotment.kubernetes.convert.pods import PodPlace, mapping_of
from allotment.kubernetes.convert.refusals import KAI

Version = tuple[int, int]
GATE: Final = "DRAExtendedResource"
FIRST_VERSION: Final = (1, 34)
_ON: Final = (1, 36)
_STABLE: Final = (1, 37)


def gate_words(version: Version) -> str:
    """What a cluster of this version needs to have switched on."""
    said = f"{version[0]}.{version[1]}"
    if version >= _STABLE:
        return f"Kubernetes {said} honours the count through a device class ({GATE} is stable)"
    if version >= _ON:
        return f"Kubernetes {said} honours the count through a device class ({GATE} is beta, and on)"
    if version >= FIRST_VERSION:
        return (
            f"Kubernetes {said} honours the count only where the gate {GATE} is switched on (it is alpha, "
            "and off)"
        )
    return (
        f"Kubernetes {said} does not honour counts through device classes: that begins with 1.34, and is "
        "on in 1.36"
    )


def class_for(kind: Counted) -> DeviceClass | None:
    """A class that the administrator has to make; None where the vendor's class can be given the name."""
    return kind.own_class() if kind.device_class == MIG_CLASS else None


def needs(place: PodPlace, kinds: Mapping[str, Counted], version: Version) -> Iterator[str]:
    """Why the counts of a pod stay as they are, and what they need."""
    yield gate_words(version)
    for resource, kind in kinds.items():
        own = class_for(kind)
        if own is not None:
            yield (
                f"`{resource}` needs a DeviceClass for this profile, such as `{own.name}` below: the "
                "driver installs none"
            )
        elif kind.device_class == GPU_CLASS:
            yield (
                f"`{resource}` needs `extendedResourceName: {resource}` in the DeviceClass "
                f"`{kind.device_class}`: "
                "the chart of NVIDIA's DRA driver writes it, the GPU Operator does not"
            )
        else:
            yield (
                f"`{resource}` needs `extendedResourceName: {resource}` in the DeviceClass "
                f"`{kind.device_class}`"
            )
        if own is None:
            yield (
                f"without it, `{PREFIX}{kind.device_class}` counts the same devices under a name that is "
                "always there"
            )
    yield (
        "on nodes where a device plugin still gives out that name it serves the pod, elsewhere the class "
        "does; "
        "a node must not have both for one card"
    )
    if any(key.startswith("nvidia.com/") for key in mapping_of(place.spec.get("nodeSelector"))):
        yield "the node selector stays, and works as long as GPU feature discovery labels the nodes"
    if place.labels(QUEUE) is not None:
        yield (
            "Kueue (0.19 or later) charges it under the same name as before, unless it maps the class to "
            "another"
        )
    if place.spec.get("schedulerName") == KAI:
        slices = any(each.device_class == MIG_CLASS for each in kinds.values())
        yield (
            "KAI (up to 0.17) places no MIG slices through device classes: nodes keep their device plugin"
            if slices
            else "KAI places it from 0.17 on, and counts it in the queue's quota"
        )


def counted_by_class(place: PodPlace) -> Iterator[str]:
    """The names of classes by which a pod counts already."""
    for _, container in place.containers():
        resources = mapping_of(container.get("resources"))
        for part in ("limits", "requests"):
            for name in mapping_of(resources.get(part)):
                if str(name).startswith(PREFIX):
                    yield str(name).removeprefix(PREFIX)
