"""Whether the server is the one that the platform's file says: versions, gates, clock."""

from __future__ import annotations

from dataclasses import replace

import pytest

from allotment.answers import State
from allotment.devices.server import Gate
from allotment.kubernetes import kinds
from tests.kubernetes.ready.alterations import (
    FINE,
    NOTE,
    PROBLEM,
    Alter,
    Case,
    chain,
    lacking,
    platform,
    setting,
    told,
    version,
)
from tests.kubernetes.ready.clusters import (
    SERVED,
    slice_of,
    with_more,
)

OURS = ("gpu-a100-80", "gpu-l4")
CASES: list[Case] = [
    ("default", "kubernetes", version("1.33"), PROBLEM, "Kubernetes 1.33 has no resource.k8s.io/v1"),
    (
        "default",
        "kubernetes",
        version("1.35"),
        PROBLEM,
        "this is Kubernetes 1.35, and the platform's file says 1.36",
    ),
    (
        "default",
        "kubernetes",
        version("1.37"),
        NOTE,
        'decide as the older one (write `versions: {kubernetes: "1.37"}`',
    ),
    ("default", "kubernetes", version("1.99"), NOTE, "Kubernetes 1.99 is not known here"),
    ("default", "kubernetes", version(""), NOTE, "cannot be told"),
    (
        "default",
        "kubernetes",
        lambda seen: replace(seen, served=SERVED - {"resource.k8s.io/v1"}),
        PROBLEM,
        "does not serve resource.k8s.io/v1",
    ),
    (
        "default",
        "gates",
        lambda seen: seen,
        FINE,
        "DRAExtendedResource is on: classes have their extendedResourceName",
    ),
    (
        "default",
        "gates",
        chain(*(setting("DeviceClass", name, ..., "spec", "extendedResourceName") for name in OURS)),
        NOTE,
        "DRAExtendedResource is off: the server drops its fields without a word, and pods that count",
    ),
    (
        "default",
        "gates",
        chain(version("1.35"), platform(sharing=("whole", "consumable"))),
        NOTE,
        "needs DRAConsumableCapacity (on by default from Kubernetes 1.36); whether",
    ),
    (
        "default",
        "gates",
        chain(
            platform(sharing=("consumable",)),
            lambda seen: replace(seen, kept={Gate.CONSUMABLE_CAPACITY: False}),
        ),
        PROBLEM,
        "DRAConsumableCapacity is off: the server drops its fields without a word",
    ),
    (
        "default",
        "gates",
        chain(
            platform(sharing=("consumable",)),
            lambda seen: replace(seen, kept={Gate.CONSUMABLE_CAPACITY: True}),
        ),
        FINE,
        "DRAConsumableCapacity is on, for `sharing: consumable`",
    ),
    (
        "default",
        "gates",
        lambda seen: replace(seen, kept={Gate.PRIORITIZED_LIST: False}),
        PROBLEM,
        "DRAPrioritizedList is off",
    ),
    (
        "default",
        "gates",
        chain(version("1.35"), lambda seen: with_more(seen, slice_of("n", sharedCounters=[{"name": "x"}]))),
        FINE,
        "DRAPartitionableDevices is on, for `sharing: mig` (cards that are cut on",
    ),
    (
        "default",
        "gates",
        lambda seen: with_more(seen, slice_of("n", sharedCounters=[{"name": "x"}])),
        FINE,
        "NVIDIA's driver has DynamicMIG on",
    ),
    (
        "default",
        "gates",
        platform(sharing=("mps",)),
        NOTE,
        "needs the gate MPSSupport of NVIDIA's driver (alpha, off by default, since",
    ),
    (
        "default",
        "clock",
        lambda seen: replace(seen, skew=42.0),
        PROBLEM,
        "the server's clock is 42 s ahead of this machine's",
    ),
    (
        "default",
        "clock",
        lambda seen: replace(seen, skew=-7.0),
        PROBLEM,
        "the server's clock is 7 s behind this machine's",
    ),
    (
        "default",
        "not looked at",
        lacking(kinds.CLUSTER_ROLE, kinds.ADMISSION_POLICY),
        NOTE,
        "2 kinds could not be read, and nothing is told of them:",
    ),
]


@pytest.mark.parametrize(("scheduler", "check", "alter", "state", "words"), CASES)
def test_it_is_told(scheduler: str, check: str, alter: Alter, state: State, words: str) -> None:
    told(scheduler, check, alter, state, words)
