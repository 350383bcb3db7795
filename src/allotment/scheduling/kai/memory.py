"""What the scheduler remembers from one cycle to the next.

KAI writes it down on its PodGroups: when a group last began to run, last lost a pod, and since when it runs
with less than it needs. What is remembered here counts before what the state tells.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from allotment.scheduling.kai.settings import Settings


@dataclass(frozen=True, slots=True)
class Memory:
    """Times by group; ``Memory(settings)`` remembers nothing yet."""

    settings: Settings = field(default_factory=Settings)
    started: Mapping[str, float] = field(default_factory=dict, hash=False)
    evicted: Mapping[str, float] = field(default_factory=dict, hash=False)
    stale: Mapping[str, float | None] = field(default_factory=dict, hash=False)
