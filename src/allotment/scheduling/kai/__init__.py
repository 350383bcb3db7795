"""NVIDIA KAI Scheduler's cycle as a pure function of the state and of what is remembered.

The model is of the snapshot of August 2026, shortly after 0.17.0.
"""

from __future__ import annotations

from allotment.scheduling.kai.applying import applied, ended, stopped
from allotment.scheduling.kai.cycle import decide
from allotment.scheduling.kai.decisions import Bound, Decision, Evicted, Pipelined, Reason, Waits
from allotment.scheduling.kai.memory import Memory
from allotment.scheduling.kai.settings import Action, Plugins, Settings, Spreading, placement
from allotment.scheduling.kai.standing import Standing, Standings, standings
from allotment.scheduling.kai.ties import Ties

__all__ = [
    "Action",
    "Bound",
    "Decision",
    "Evicted",
    "Memory",
    "Pipelined",
    "Plugins",
    "Reason",
    "Settings",
    "Spreading",
    "Standing",
    "Standings",
    "Ties",
    "Waits",
    "applied",
    "decide",
    "ended",
    "placement",
    "standings",
    "stopped",
]
