"""The default scheduler as a pure function: ``decide(state, memory, now, ties) -> (decisions, memory)``.

kube-scheduler 1.34 to 1.37 as far as it bears on batch work on devices: one pod after the other, filters,
scores, the DynamicResources plugin, back-off, preemption by priority, and the gangs of each version. No
preemption helps a pod that lacks claimed devices. Spread over zones, affinity between pods, volumes and ports
are left out.
"""

from __future__ import annotations

from allotment.scheduling.default.cycle import Lot, Ties, applied, decide
from allotment.scheduling.default.decisions import Bound, Decision, Preempted, Waits
from allotment.scheduling.default.memory import Memory
from allotment.scheduling.default.settings import Gangs, Settings

__all__ = [
    "Bound",
    "Decision",
    "Gangs",
    "Lot",
    "Memory",
    "Preempted",
    "Settings",
    "Ties",
    "Waits",
    "applied",
    "decide",
]
