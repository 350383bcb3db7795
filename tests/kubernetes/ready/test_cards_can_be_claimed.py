"""Whether the cards of nodes can be claimed: drivers, slices, taints, classes, extended names."""

from __future__ import annotations

import pytest

from allotment.answers import State
from allotment.kubernetes import kinds
from allotment.platform.model import Card
from tests.kubernetes.ready.alterations import (
    FINE,
    NOTE,
    PROBLEM,
    TAINT,
    Alter,
    Case,
    chain,
    lacking,
    platform,
    setting,
    told,
)
from tests.kubernetes.ready.clusters import (
    class_of,
    node_of,
    with_more,
    without,
)

COUNTED = "nvidia.com/gpu"
UNGUARDED = "device.attributes['gpu.nvidia.com'].none"
CASES: list[Case] = [
    (
        "default",
        "driver",
        lambda seen: without(seen, "ResourceSlice"),
        PROBLEM,
        "2 nodes with cards of which gpu.nvidia.com publishes none: node-a, node-b",
    ),
    (
        "default",
        "driver",
        lambda seen: without(seen, "ResourceSlice"),
        PROBLEM,
        "no driver of cards publishes anything here (install the DRA driver",
    ),
    (
        "default",
        "driver",
        lambda seen: without(seen, "ResourceSlice", "node-a-gpus"),
        PROBLEM,
        "1 node with cards of which gpu.nvidia.com publishes none: node-a (see whether",
    ),
    (
        "default",
        "driver",
        lambda seen: with_more(seen, node_of("node-c", allocatable={"nvidia.com/gpu": "8"})),
        PROBLEM,
        "publishes none: node-c",
    ),
    ("default", "driver", lacking(kinds.SLICE), NOTE, "ResourceSlices could not be read"),
    ("default", "driver", lacking(kinds.NODE), NOTE, "nodes could not be read"),
    (
        "default",
        "slices",
        setting("Node", "node-a", "8", "status", "allocatable", "nvidia.com/gpu"),
        PROBLEM,
        "node `node-a` publishes its cards in slices, and as nvidia.com/gpu: 8 from a",
    ),
    (
        "default",
        "slices",
        setting("ResourceSlice", "node-a-gpus", 3, "spec", "pool", "resourceSliceCount"),
        NOTE,
        "pool gpu.nvidia.com/node-a is incomplete: 1 of 3 slices",
    ),
    (
        "default",
        "slices",
        setting("ResourceSlice", "node-a-gpus", "gpu-1", "spec", "devices", 0, "name"),
        PROBLEM,
        "two devices named `gpu-1`",
    ),
    (
        "default",
        "taints",
        setting("Node", "node-a", {"taints": TAINT}, "spec"),
        NOTE,
        "1 of 2 nodes with cards bear the taint nvidia.com/gpu=present:NoSchedule,",
    ),
    (
        "default",
        "taints",
        chain(
            setting("Node", "node-a", {"taints": TAINT}, "spec"),
            setting("Node", "node-b", {"taints": TAINT}, "spec"),
        ),
        PROBLEM,
        "2 of 2 nodes with cards bear the taint",
    ),
    (
        "kueue",
        "taints",
        setting("Node", "node-a", {"taints": TAINT}, "spec"),
        NOTE,
        "or write a toleration into the ResourceFlavor allotment",
    ),
    (
        "kueue",
        "taints",
        chain(
            setting("Node", "node-a", {"taints": TAINT}, "spec"),
            setting(
                "ResourceFlavor",
                "allotment",
                [{"key": "nvidia.com/gpu", "operator": "Exists"}],
                "spec",
                "tolerations",
            ),
        ),
        FINE,
        "pods may go to every node",
    ),
    (
        "default",
        "taints",
        setting("Node", "node-a", {"unschedulable": True}, "spec"),
        NOTE,
        "1 node with cards cordoned: node-a",
    ),
    (
        "default",
        "classes",
        lambda seen: without(seen, "DeviceClass", "gpu-l4"),
        PROBLEM,
        "1 DeviceClass is not there: gpu-l4 (allot render --platform-objects",
    ),
    (
        "default",
        "classes",
        setting("DeviceClass", "gpu-l4", ..., "spec", "extendedResourceName"),
        PROBLEM,
        "DeviceClass gpu-l4: spec.extendedResourceName is nothing, and should be",
    ),
    (
        "default",
        "classes",
        setting("DeviceClass", "gpu-l4", "true", "spec", "selectors", 0, "cel", "expression"),
        PROBLEM,
        "DeviceClass gpu-l4: spec.selectors[0].cel.expression is true, and should be",
    ),
    (
        "default",
        "classes",
        lambda seen: with_more(
            seen,
            {
                **class_of("gpu-old", "gpu"),
                "metadata": {"name": "gpu-old", "labels": {"app.kubernetes.io/managed-by": "allotment"}},
            },
        ),
        NOTE,
        "1 DeviceClass of ours that the platform's file does not have: gpu-old",
    ),
    (
        "default",
        "layout",
        lambda seen: seen,
        FINE,
        "every node with cards says its place: rack, node",
    ),
    (
        "default",
        "layout",
        setting("Node", "node-b", ..., "metadata", "labels", "example.org/rack"),
        NOTE,
        "1 node with cards without the label example.org/rack: node-b; nothing that asks for `topology`",
    ),
    (
        "kai",
        "fractions",
        platform(sharing=("whole", "fraction")),
        PROBLEM,
        "no node has nvidia.com/gpu of a device plugin, and KAI gives parts of no other cards",
    ),
    (
        "kai",
        "fractions",
        chain(
            platform(sharing=("fraction",)), setting("Node", "node-a", {COUNTED: "8"}, "status", "capacity")
        ),
        NOTE,
        "without the label nvidia.com/gpu.memory, where shares by memory fail: node-a",
    ),
    (
        "kai",
        "driver",
        chain(platform(sharing=("fraction",)), lambda seen: without(seen, "ResourceSlice", "node-b-gpus")),
        NOTE,
        "1 node with cards of which gpu.nvidia.com publishes none: node-b",
    ),
    (
        "default",
        "kinds of card",
        lambda seen: seen,
        FINE,
        "there are devices of gpu.nvidia.com, gpu-a100-80",
    ),
    (
        "default",
        "kinds of card",
        lambda seen: seen,
        NOTE,
        "no device that is published is of DeviceClass gpu-l4: what asks for it waits (take the kind",
    ),
    (
        "default",
        "kinds of card",
        lambda seen: without(seen, "DeviceClass", "gpu.nvidia.com"),
        PROBLEM,
        "DeviceClass gpu.nvidia.com is not there, which claims of ours name",
    ),
    (
        "default",
        "kinds of card",
        setting(
            "DeviceClass",
            "gpu-l4",
            UNGUARDED,
            "spec",
            "selectors",
            0,
            "cel",
            "expression",
        ),
        PROBLEM,
        "the selectors of DeviceClass gpu-l4 fail: CEL runtime error: no such key: none",
    ),
    (
        "kai",
        "kinds of card",
        platform(cards={"l4": Card("L4", "cheap-l4")}),
        NOTE,
        "KAI does not count class cheap-l4, which has no `gpu` in its name",
    ),
    (
        "default",
        "extended names",
        setting("Node", "node-a", "8", "status", "allocatable", "allotment/gpu-l4"),
        PROBLEM,
        "allotment/gpu-l4 is class gpu-l4, and a device plugin's on node-a as well",
    ),
    (
        "default",
        "extended names",
        setting("DeviceClass", "gpu.nvidia.com", "allotment/gpu-l4", "spec", "extendedResourceName"),
        PROBLEM,
        "2 classes have the name allotment/gpu-l4: gpu-l4, gpu.nvidia.com",
    ),
]


@pytest.mark.parametrize(("scheduler", "check", "alter", "state", "words"), CASES)
def test_it_is_told(scheduler: str, check: str, alter: Alter, state: State, words: str) -> None:
    told(scheduler, check, alter, state, words)
