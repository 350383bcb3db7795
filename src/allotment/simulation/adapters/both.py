"""Kueue and KAI together over work on virtual time: Kueue admits, KAI places what it admitted.

As ``scheduling.both`` has it: KAI's queues are without bounds and it takes from nobody, each of the two at
its own pace.
"""

from __future__ import annotations

from collections.abc import Sequence

from allotment.simulation.adapters.kai import KaiAdapter
from allotment.simulation.adapters.kueue import KueueAdapter
from allotment.simulation.setting import Setting
from allotment.simulation.work import Work


def adapter(setting: Setting, works: Sequence[Work] = ()) -> KueueAdapter:
    """The adapter for a setting."""
    return KueueAdapter(setting, works, KaiAdapter(setting, works, placing=True))
