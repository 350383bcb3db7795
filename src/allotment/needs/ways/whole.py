"""A whole card: nobody else's while the pod runs.

A card that is published for several claims is never anybody's alone: a claim without an amount gets what its
driver gives by default, and others get the rest. Where such cards may be, they are left out by a selector.
Facts: NVIDIA DRA driver for GPUs (a whole card has no gate); GPU Operator 26.7.0, which supports it;
KEP-5075, ``device.allowMultipleAllocations``.
"""

from __future__ import annotations

from typing import Final

from allotment.needs.ways.way import Isolation, Scope, Way
from allotment.platform.need import WHOLE as WORD

NOT_SHARED: Final = "!device.allowMultipleAllocations"

WHOLE: Final = Way(
    id="whole",
    word=WORD,
    noun="card",
    title="a whole card",
    writes="gpu: {memory: 40Gi}",
    becomes="a ResourceClaimTemplate: each pod gets a claim of its own for a device of gpu.nvidia.com",
    scope=Scope.POD,
    isolation=Isolation.HARDWARE,
    keeps_apart="nobody else is on the card while the pod runs",
    maturity=(
        "no gate; NVIDIA's GPU Operator 26.7 supports it, the driver's own chart installs it only with "
        "gpuResourcesEnabledOverride"
    ),
    accounting="counts as `count` cards",
    lints=("memory-of-cards", "unguarded-key", "same-of-one", "never-fits"),
)
