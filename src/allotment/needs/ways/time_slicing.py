"""Time-slicing: pods name one claim, and take turns on its card.

A template makes a claim for each pod, so pods share a card through a claim that has a name: in one namespace,
on one node, at most 256 of them. That needs no gate; a length of the turns does.
Facts: NVIDIA DRA driver for GPUs, GpuConfig and TimeSlicingSettings; ``ResourceClaim.status.reservedFor``.
"""

from __future__ import annotations

from typing import Final

from allotment.needs.ways.gates import TIME_SLICING as TIME_SLICING_GATE
from allotment.needs.ways.nvidia_config import time_slicing_parameters
from allotment.needs.ways.way import Isolation, Scope, Way

TIME_SLICING: Final = Way(
    id="time-slicing",
    word="time-slicing",
    noun="card",
    title="a card by turns",
    writes="gpu: {sharing: time-slicing, memory: 20Gi, config: {time_slice: Long}}",
    becomes="one named ResourceClaim for a whole card, which every pod of the campaign names",
    scope=Scope.SHARED,
    isolation=Isolation.NONE,
    keeps_apart="nothing: pods take turns, and each can take all of the card's memory from the others",
    maturity="sharing a claim needs no gate; a length of the turns is alpha in NVIDIA's driver, and off",
    accounting="one claim is `count` cards however many pods share it; KAI's quota counts them for each pod",
    lints=("not-measured", "no-isolation", "one-claim-for-all", "gate-off", "config-mismatch"),
    measured=True,
    driver_gates=(TIME_SLICING_GATE,),
    wants_gates=lambda need: time_slicing_parameters(need) is not None,
    parameters=time_slicing_parameters,
)
