"""What the scheduler remembers from one cycle to the next.

KAI writes it down on its PodGroups: when a group last began to run, last lost a pod, and since when it runs
with less than it needs. What is remembered here counts before what the state tells.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from allotment.scheduling.kai.settings import Settings

if TYPE_CHECKING:
    from allotment.scheduling.kai.ground import Ground


@dataclass(frozen=True, slots=True)
class Memory:
    """Times by group; ``Memory(settings)`` remembers nothing yet.

    ``ground`` saves work, and is as the last cycle left it only in that cycle's own memory: the one that
    knows its ``turn``.
    """

    settings: Settings = field(default_factory=Settings)
    started: Mapping[str, float] = field(default_factory=dict, hash=False)
    evicted: Mapping[str, float] = field(default_factory=dict, hash=False)
    stale: Mapping[str, float | None] = field(default_factory=dict, hash=False)
    ground: Ground | None = field(default=None, compare=False, repr=False)
    turn: int = field(default=0, compare=False, repr=False)
