"""What a workload would be given: a flavor for each resource of each pod set, how well it fits, and why.

The values of ``pkg/scheduler/flavorassigner``: modes, preferences between flavors, attempts with their
reasons, and the message that a team reads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum

from allotment.scheduling.kueue.charges import DomainUse, PodSetTotal
from allotment.scheduling.kueue.decisions import Reason, more_severe, severity
from allotment.scheduling.kueue.tree import Cell
from allotment.scheduling.state.queues import (
    PREEMPTION_FIRST,
    TRY_NEXT,
    ClusterQueue,
    Fungibility,
)
from allotment.scheduling.state.workloads import Admission, Placement, PodSetAdmission


class Mode(IntEnum):
    """How a workload fits, from worst to best."""

    NO_FIT = 0
    PREEMPT = 1
    DEFERRED_FIT = 2
    FIT = 3


class Grade(IntEnum):
    """How one flavor fits one resource, in finer steps."""

    NO_FIT = 0
    NO_CANDIDATES = 1
    PREEMPT = 2
    RECLAIM = 3
    FIT = 4

    @property
    def mode(self) -> Mode:
        """The mode that it amounts to."""
        return _MODES[self]


_MODES = {
    Grade.NO_FIT: Mode.NO_FIT,
    Grade.NO_CANDIDATES: Mode.PREEMPT,
    Grade.PREEMPT: Mode.PREEMPT,
    Grade.RECLAIM: Mode.PREEMPT,
    Grade.FIT: Mode.FIT,
}


@dataclass(frozen=True, slots=True)
class Standing:
    """A grade, and how far up the tree the quota is borrowed from."""

    grade: Grade
    borrowing: int


BEST = Standing(Grade.FIT, 0)
WORST = Standing(Grade.NO_FIT, 2**62)


def is_preferred(left: Standing, right: Standing, fungibility: Fungibility) -> bool:
    """Whether the left is better, by what the queue prefers."""
    if left.grade is Grade.NO_FIT:
        return False
    if right.grade is Grade.NO_FIT:
        return True
    hopeless = left.grade is Grade.NO_CANDIDATES
    if hopeless != (right.grade is Grade.NO_CANDIDATES):
        return not hopeless
    if fungibility.preference == PREEMPTION_FIRST:
        return (-left.borrowing, left.grade) > (-right.borrowing, right.grade)
    return (left.grade, -left.borrowing) > (right.grade, -right.borrowing)


def tries_next(standing: Standing, fungibility: Fungibility) -> bool:
    """Whether another flavor is looked at although this one has this standing."""
    if standing.grade <= Grade.NO_CANDIDATES:
        return True
    if standing.grade in {Grade.PREEMPT, Grade.RECLAIM} and fungibility.when_preempting == TRY_NEXT:
        return True
    return standing.borrowing > 0 and fungibility.when_borrowing == TRY_NEXT


@dataclass(slots=True)
class Choice:
    """The flavor of one resource; ``tried`` is where the search goes on next time (-1: from the start)."""

    flavor: str
    mode: Mode
    borrowing: int = 0
    tried: int = 0


Choices = dict[str, Choice]


@dataclass(slots=True)
class Attempt:
    """A flavor that was looked at, and what came of it; ``reasons`` are the messages about it."""

    mode: Mode
    reason: Reason = Reason.NONE
    borrowing: int = 0
    reasons: tuple[str, ...] = ()


@dataclass(slots=True)
class PodSetChoice:
    """What one pod set would be given."""

    name: str
    count: int
    requests: Mapping[str, int]
    choices: Choices = field(default_factory=dict)
    reasons: list[str] = field(default_factory=list)
    error: str | None = None
    placement: Placement | None = None
    delayed: str | None = None
    attempts: dict[str, Attempt] = field(default_factory=dict)

    @property
    def mode(self) -> Mode:
        """The worst of its resources."""
        if self.error is not None:
            return Mode.NO_FIT
        if not self.reasons:
            return Mode.FIT
        return min((choice.mode for choice in self.choices.values()), default=Mode.NO_FIT)

    def set_mode(self, mode: Mode) -> None:
        """Let all of its resources be of this mode."""
        for choice in self.choices.values():
            choice.mode = mode


@dataclass(frozen=True, slots=True)
class Progress:
    """How far flavors were tried, and when: a search goes on from there while nothing has changed."""

    tried: tuple[Mapping[str, int], ...]
    generation: int
    cycle: int
    shape: str | None

    @property
    def pending(self) -> bool:
        """Whether flavors are left to try."""
        return any(index != -1 for each in self.tried for index in each.values())

    def next_flavor(self, pod_set: int, resource: str) -> int:
        """The index of the flavor to begin with."""
        if pod_set >= len(self.tried):
            return 0
        return self.tried[pod_set].get(resource, -1) + 1

    def suits(self, shape: str | None) -> bool:
        """Whether it was recorded for a workload of this shape."""
        return shape is None or self.shape is None or shape == self.shape


@dataclass(slots=True)
class Assignment:
    """The whole of it; ``cells`` is what it would newly take of quota, ``placed`` of places."""

    pod_sets: list[PodSetChoice] = field(default_factory=list)
    borrowing: int = 0
    cells: dict[Cell, int] = field(default_factory=dict)
    placed: dict[str, tuple[DomainUse, ...]] = field(default_factory=dict)
    tried: list[dict[str, int]] = field(default_factory=list)
    generation: int = 0
    cycle: int = 0
    shape: str | None = None
    reason: Reason = Reason.NONE
    fixed: Mode | None = None
    replaced: Sequence[PodSetTotal] | None = None
    standing: Admission | None = None

    @property
    def mode(self) -> Mode:
        """The worst of its pod sets; it stays what it was once it was asked for."""
        if not self.pod_sets:
            return Mode.NO_FIT
        if self.fixed is None:
            self.fixed = min(pods.mode for pods in self.pod_sets)
        return self.fixed

    def set_mode(self, mode: Mode, names: Sequence[str] | None = None) -> None:
        """Let some pod sets (or all) be of this mode, and with them the whole."""
        for pods in self.pod_sets:
            if names is None or pods.name in names:
                pods.set_mode(mode)
                self.fixed = mode

    def of(self, name: str) -> PodSetChoice:
        """The choice for a pod set."""
        return next(pods for pods in self.pod_sets if pods.name == name)

    @property
    def progress(self) -> Progress:
        """How far flavors were tried."""
        return Progress(tuple(self.tried), self.generation, self.cycle, self.shape)

    @property
    def needing_preemption(self) -> frozenset[Cell]:
        """The cells that others must give up."""
        return frozenset(
            (choice.flavor, resource)
            for pods in self.pod_sets
            for resource, choice in pods.choices.items()
            if choice.mode is Mode.PREEMPT
        )

    @property
    def message(self) -> str:
        """What keeps the workload from running, in Kueue's words."""
        told = []
        for pods in self.pod_sets:
            if pods.error is not None:
                return f"failed to assign flavors to pod set {pods.name}: {pods.error}"
            if pods.reasons:
                why = ", ".join(sorted(pods.reasons))
                told.append(f"couldn't assign flavors to pod set {pods.name}: {why}")
        return "; ".join(told)

    def admission(self, cluster_queue: str) -> Admission:
        """The reservation that it becomes."""
        return Admission(
            cluster_queue,
            tuple(
                PodSetAdmission(
                    pods.name,
                    pods.count,
                    {resource: choice.flavor for resource, choice in pods.choices.items()},
                    {resource: pods.requests.get(resource, 0) for resource in pods.choices},
                    pods.placement,
                    pods.delayed,
                )
                for pods in self.pod_sets
            ),
        )

    def settle_reason(self, queue: ClusterQueue) -> None:
        """Name the reason for not fitting: the least bad of a group's flavors, the worst of all groups."""
        if self.mode is not Mode.NO_FIT:
            return
        overall = Reason.NONE
        for pods in self.pod_sets:
            if pods.mode is Mode.NO_FIT:
                overall = more_severe(overall, _reason_of(pods, queue))
        self.reason = overall


def _reason_of(pods: PodSetChoice, queue: ClusterQueue) -> Reason:
    if not pods.attempts:
        return Reason.NO_MATCHING_FLAVOR
    least: dict[object, Reason] = {}
    for flavor, attempt in sorted(pods.attempts.items()):
        if attempt.mode is not Mode.NO_FIT:
            continue
        groups: list[object] = [index for index, group in enumerate(queue.groups) if flavor in group.flavors]
        for group in groups or [flavor]:
            known = least.get(group)
            if known is None or severity(attempt.reason) < severity(known):
                least[group] = attempt.reason
    worst = Reason.NONE
    for reason in least.values():
        worst = more_severe(worst, reason)
    return worst
