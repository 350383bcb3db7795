"""One workload in one cycle: what it would get, whom it would cost, and how it came out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

from allotment.scheduling.kueue.assignment import Assignment, Mode, Progress
from allotment.scheduling.kueue.charges import DomainUse, Info
from allotment.scheduling.kueue.decisions import Reason, Requeue
from allotment.scheduling.kueue.gates import Gate
from allotment.scheduling.kueue.ground import Ground
from allotment.scheduling.kueue.pending import Queued
from allotment.scheduling.kueue.placing import newly_placed
from allotment.scheduling.kueue.preempting import Target
from allotment.scheduling.kueue.tree import Cell
from allotment.scheduling.state.amounts import minus, plus


class Outcome(Enum):
    """How far a workload came."""

    NOT_NOMINATED = ""
    NOMINATED = "nominated"
    SKIPPED = "skipped"
    GATED = "preemptionGated"
    EVICTED = "evicted"
    ASSUMED = "assumed"


@dataclass(eq=False, slots=True)
class Entry:
    """A head of the cycle."""

    queued: Queued
    preemptor: bool = False
    looks: int = 0
    assignment: Assignment = field(default_factory=Assignment)
    targets: list[Target] = field(default_factory=list)
    outcome: Outcome = Outcome.NOT_NOMINATED
    message: str = ""
    reason: Reason = Reason.NONE
    requeue: Requeue = Requeue.GENERIC
    progress: Progress | None = None

    @property
    def info(self) -> Info:
        """The workload with its totals."""
        return self.queued.info

    @property
    def time(self) -> float:
        """When it got in line."""
        return self.queued.rank[1]

    def record(self, assignment: Assignment, targets: Sequence[Target]) -> None:
        """Note what it would get and whom that costs."""
        self.assignment, self.targets = assignment, list(targets)
        self.message, self.progress = assignment.message, assignment.progress

    def skip(self, ground: Ground, message: str) -> None:
        """Let it be, since others came before it."""
        self.outcome, self.message = Outcome.SKIPPED, message
        if not ground.settings.on(Gate.KEEP_PROGRESS):
            self.progress = None

    def takes(self, ground: Ground) -> Take:
        """What it newly takes: quota unless it has it, and places beyond those that it stands on."""
        return self._take(ground, self.assignment.cells)

    def reserves(self, ground: Ground) -> Take:
        """What is kept for it while nobody can be evicted: no more than it may have."""
        return self._take(ground, _reservable(ground, self.info, self.assignment))

    def _take(self, ground: Ground, cells: Mapping[Cell, int]) -> Take:
        workload = self.info.workload
        placed: Mapping[str, tuple[DomainUse, ...]] = {}
        if ground.settings.on(Gate.TOPOLOGY) and any(each.placement for each in self.assignment.pod_sets):
            node = ground.node(self.info)
            placed = newly_placed(ground, node, self.info, self.assignment, workload.admission)
        return Take({} if workload.reserved else cells, placed)


@dataclass(frozen=True, slots=True)
class Take:
    """Quota and places."""

    cells: Mapping[Cell, int]
    placed: Mapping[str, tuple[DomainUse, ...]]


def _reservable(ground: Ground, info: Info, assignment: Assignment) -> dict[Cell, int]:
    if assignment.mode is not Mode.PREEMPT:
        return assignment.cells
    node, kept = ground.node(info), {}
    for cell, amount in assignment.cells.items():
        quota, used = node.quotas.get(cell), ground.usage.used(node, cell)
        nominal = quota.nominal if quota else 0
        if assignment.borrowing == 0:
            kept[cell] = max(0, min(amount, minus(nominal, used)))
        elif quota is None or quota.borrowing is None:
            kept[cell] = amount
        else:
            kept[cell] = min(amount, minus(plus(nominal, quota.borrowing), used))
    return kept
