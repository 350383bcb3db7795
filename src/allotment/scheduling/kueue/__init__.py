"""Kueue's scheduler as a pure function: ``decide(state, memory, now, ties) -> (decisions, memory)``.

Modelled on Kueue at commit ff69552e (August 2026, between 0.19 and 0.20), with the gates of both. Each module
names the package and the functions of Kueue whose behaviour it has.
"""

from __future__ import annotations

from allotment.scheduling.kueue.applying import applied
from allotment.scheduling.kueue.cycle import decide
from allotment.scheduling.kueue.decisions import Admitted, Decision, Evicted, Kept, Waits
from allotment.scheduling.kueue.memory import Memory
from allotment.scheduling.kueue.settings import Settings

__all__ = ["Admitted", "Decision", "Evicted", "Kept", "Memory", "Settings", "Waits", "applied", "decide"]
