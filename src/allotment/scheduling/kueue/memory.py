"""What the scheduler remembers from one cycle to the next, and how it learns what has happened since.

It is what Kueue's queue manager and cache hold beside the objects themselves: the lines, which flavors were
tried, how often quota was given back in each queue, what waits for a second look, and the ledger of who holds
what. All of it is derived by comparing the state with the one that was seen last.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from allotment.scheduling.kueue.charges import Info
from allotment.scheduling.kueue.pending import Pending
from allotment.scheduling.kueue.settings import Settings
from allotment.scheduling.kueue.topology.domains import Domains
from allotment.scheduling.kueue.tree import Tree
from allotment.scheduling.kueue.usage import Usage
from allotment.scheduling.state.nodes import Flavor
from allotment.scheduling.state.shelf import Shelf
from allotment.scheduling.state.state import State

_NOBODY: Shelf[str, Info] = Shelf()


@dataclass(frozen=True, slots=True)
class SecondLook:
    """When a workload that has quota is looked at again, and how often that has been."""

    at: float
    times: int = 1


@dataclass(frozen=True, slots=True)
class LineUse:
    """What a LocalQueue has used of late, and what is added at once for what was just admitted."""

    used: Mapping[str, float] = field(default_factory=dict)
    added: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    at: float = 0.0


@dataclass(frozen=True, slots=True)
class Memory:
    """Everything that is remembered; ``Memory(settings)`` remembers nothing yet."""

    settings: Settings = field(default_factory=Settings)
    cycle: int = 0
    at: float = float("-inf")
    seen: State | None = None
    tree: Tree | None = None
    usage: Usage | None = None
    held: Mapping[str, Shelf[str, Info]] = field(default_factory=dict)
    lines: Mapping[str, Pending] = field(default_factory=dict)
    generations: Mapping[str, int] = field(default_factory=dict)
    second: Mapping[str, SecondLook] = field(default_factory=dict)
    uses: Mapping[str, LineUse] = field(default_factory=dict)
    domains: Mapping[str, tuple[Flavor, Domains]] = field(default_factory=dict)
    assumed: Mapping[str, Info] = field(default_factory=dict)

    def holders(self, queue: str) -> Shelf[str, Info]:
        """The workloads that hold quota of a ClusterQueue."""
        return self.held.get(queue, _NOBODY)

    def line(self, queue: str) -> Pending:
        """The line of a ClusterQueue."""
        return self.lines.get(queue, Pending())
