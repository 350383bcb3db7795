"""MPS: pods name one claim, and their processes run on its card side by side.

A control daemon of the claim holds each client process to a part of the threads and of pinned memory. The
limits hold for a process, not for a pod: three processes may use three times as much.
Facts: NVIDIA DRA driver for GPUs, GpuConfig and MPSSupport (not with DynamicMIG, not with ConsumableShares);
NVIDIA/k8s-device-plugin issue 594.
"""

from __future__ import annotations

from typing import Final

from allotment.needs.ways.gates import MPS as MPS_GATE
from allotment.needs.ways.nvidia_config import mps_parameters
from allotment.needs.ways.way import Isolation, Scope, Way

MPS: Final = Way(
    id="mps",
    word="mps",
    noun="card",
    title="a card side by side",
    writes="gpu: {sharing: mps, memory: 20Gi, config: {mps: {threads: 25, pinned_memory: 5Gi}}}",
    becomes="one named ResourceClaim for a whole card, with an MPS daemon, which all pods of a campaign name",
    scope=Scope.SHARED,
    isolation=Isolation.LIMITS,
    keeps_apart=(
        "limits on threads and pinned memory of each process, and nothing in hardware: a fault of one client "
        "can end the others"
    ),
    maturity="alpha in NVIDIA's driver, and off; not together with MIG on demand or with consumable shares",
    accounting="one claim is `count` cards however many pods share it; KAI's quota counts them for each pod",
    lints=(
        "not-measured",
        "no-isolation",
        "one-claim-for-all",
        "gate-off",
        "config-mismatch",
        "incompatible-gates",
    ),
    measured=True,
    driver_gates=(MPS_GATE,),
    parameters=mps_parameters,
)
