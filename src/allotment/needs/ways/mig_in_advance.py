"""MIG, set up in advance: slices that an administrator has cut, each a device of its own.

Facts: NVIDIA DRA driver for GPUs (no gate; slices are found when the plugin starts); GPU Operator 26.7.0.
"""

from __future__ import annotations

from typing import Final

from allotment.devices.classes import MIG_CLASS
from allotment.needs.ways.slices import KEEPS_APART, LESS_THAN_A_CARD, LINTS, part_of_card
from allotment.needs.ways.way import Isolation, Scope, Way

MIG_IN_ADVANCE: Final = Way(
    id="mig-in-advance",
    word="mig",
    noun="slice",
    title="a MIG slice, set up in advance",
    writes="gpu: {sharing: mig, memory: 19Gi}",
    becomes=(
        "a ResourceClaimTemplate: each pod gets a claim of its own for a device of mig.nvidia.com (for KAI "
        "of mig.gpu.allotment, which it counts)"
    ),
    scope=Scope.POD,
    isolation=Isolation.HARDWARE,
    keeps_apart=KEEPS_APART,
    maturity=(
        "no gate; NVIDIA's GPU Operator 26.7 supports it; other slices mean draining the node and starting "
        "the driver's plugin anew"
    ),
    accounting="one device of the class of slices; of a card, the part of its memory that is asked for",
    lints=LINTS,
    device_class=MIG_CLASS,
    selectors=(LESS_THAN_A_CARD,),
    cards=part_of_card,
)
