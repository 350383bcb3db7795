"""A scenario: the pods of a job that want a place, and the pods that would have to go for it.

Victims come in batches, a batch being pods of one job that were named together; those of an earlier, smaller
scenario that worked are recorded and always go.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from allotment.scheduling.kai.groups import Group
from allotment.scheduling.kai.tasks import Task


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Pods of one job that go together."""

    group: Group
    tasks: tuple[Task, ...]


@dataclass(slots=True, eq=False)
class Scenario:
    """Who wants a place, and who would go; ``preemptor`` is a copy with the pods that are tried."""

    preemptor: Group
    pending: Sequence[Task]
    recorded: Sequence[Batch]
    potential: list[Batch] = field(default_factory=list)
    on_node: dict[str, set[Group]] = field(default_factory=dict)
    of_group: dict[Group, list[Batch]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for batch in self.recorded:
            self.of_group.setdefault(batch.group, []).append(batch)

    def add(self, group: Group, tasks: Iterable[Task]) -> None:
        """Name another batch."""
        chosen = tuple(tasks)
        if chosen:
            self.take(Batch(group, chosen))

    def take(self, batch: Batch) -> None:
        """Name a batch that there is already."""
        self.potential.append(batch)
        self.of_group.setdefault(batch.group, []).append(batch)
        for task in batch.tasks:
            if task.node:
                self.on_node.setdefault(task.node, set()).add(batch.group)

    @property
    def recorded_tasks(self) -> list[Task]:
        """The pods that go in any case."""
        return [task for batch in self.recorded for task in batch.tasks]

    @property
    def potential_tasks(self) -> list[Task]:
        """The pods that were named for this scenario."""
        return [task for batch in self.potential for task in batch.tasks]

    @property
    def batches(self) -> list[Batch]:
        """All batches."""
        return [*self.recorded, *self.potential]

    def victims(self) -> dict[Group, list[Task]]:
        """All pods that would go, by job."""
        victims: dict[Group, list[Task]] = {}
        for batch in self.batches:
            victims.setdefault(batch.group, []).extend(batch.tasks)
        return victims

    def batch_of(self, task: Task) -> Batch | None:
        """The first batch that a pod is in."""
        return next((batch for batch in self.of_group.get(task.group, ()) if task in batch.tasks), None)

    def touching(self, node: str) -> list[Batch]:
        """All batches of jobs of which a named pod is on this node."""
        groups = sorted(self.on_node.get(node, ()), key=lambda group: group.key)
        return [batch for group in groups for batch in self.of_group[group]]

    def fingerprint(self) -> tuple[object, ...]:
        """Equal for scenarios that are the same."""
        parts = (self.pending, self.recorded_tasks, self.potential_tasks)
        return (self.preemptor.key, *(tuple(sorted(task.id for task in part)) for part in parts))

    def bare(self) -> Scenario:
        """The scenario without named victims."""
        return Scenario(self.preemptor, self.pending, self.recorded)
