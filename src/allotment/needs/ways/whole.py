"""A whole card: nobody else's while the pod runs.

Facts: NVIDIA DRA driver for GPUs (a whole card has no gate); GPU Operator 26.7.0, which supports it.
"""

from __future__ import annotations

from typing import Final

from allotment.needs.ways.way import Isolation, Scope, Way
from allotment.platform.need import WHOLE as WORD

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
