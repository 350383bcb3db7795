"""MIG on demand: every slice that could be cut is published, and one is cut when a claim gets it.

Counters say which slices exclude each other. The scheduler takes the first that fits, by name, and does not
pack. The claim is that of a slice that was set up in advance; which of the two it gets is the cluster's.
Facts: NVIDIA DRA driver for GPUs, DynamicMIG (a slice is cut in seconds, one at a time on a node; Ampere
needs MIG switched on beforehand); KEP-4815.
"""

from __future__ import annotations

from typing import Final

from allotment.devices.classes import MIG_CLASS
from allotment.devices.server import Gate
from allotment.needs.ways.gates import DYNAMIC_MIG
from allotment.needs.ways.slices import KEEPS_APART, LESS_THAN_A_CARD, LINTS, part_of_card
from allotment.needs.ways.way import Isolation, Scope, Way

MIG_ON_DEMAND: Final = Way(
    id="mig-on-demand",
    word="mig",
    noun="slice",
    title="a MIG slice, cut on demand",
    writes="gpu: {sharing: [mig, whole], memory: 19Gi}",
    becomes=(
        "a ResourceClaimTemplate: each pod gets a claim of its own for a device of mig.nvidia.com (for KAI "
        "of mig.gpu.allotment), cut when the pod is prepared"
    ),
    scope=Scope.POD,
    isolation=Isolation.HARDWARE,
    keeps_apart=KEEPS_APART,
    maturity="alpha in NVIDIA's driver and off by default; beta in Kubernetes, and on from 1.36",
    accounting="what it takes of the card's counters; of a card, the part of its memory that is asked for",
    lints=(*LINTS, "gate-off", "incompatible-gates"),
    device_class=MIG_CLASS,
    selectors=(LESS_THAN_A_CARD,),
    gates=(Gate.PARTITIONABLE_DEVICES,),
    driver_gates=(DYNAMIC_MIG,),
    cards=part_of_card,
)
