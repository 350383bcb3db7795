"""What a cycle has changed of the session that it works on, to be put right before the next one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from allotment.scheduling.kai.groups import Group
    from allotment.scheduling.kai.tasks import Task


@dataclass(slots=True)
class Marks:
    """Pods that were tried on, groups that were told why they wait, and nodes whose books were written in."""

    tasks: set[Task] = field(default_factory=set)
    groups: set[Group] = field(default_factory=set)
    nodes: set[str] = field(default_factory=set)

    def clear(self) -> None:
        """Everything is put right."""
        self.tasks.clear()
        self.groups.clear()
        self.nodes.clear()
