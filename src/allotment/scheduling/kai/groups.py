"""A pod group while a cycle is under way: its tree with running counts, and copies of it for what-ifs.

``api/podgroup_info`` of KAI: a branch is satisfied with so many satisfied children, a leaf with so many pods
that have a place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from allotment.scheduling.kai.axes import NOTHING, Triple, plus
from allotment.scheduling.kai.marks import Marks
from allotment.scheduling.kai.tasks import Task
from allotment.scheduling.state.pod_groups import (
    ACTIVE,
    ALIVE,
    ALLOCATED,
    DEFAULT,
    USING,
    GroupPod,
    PodGroup,
    PodStatus,
    SubGroup,
    Together,
)


@dataclass(eq=False, slots=True)
class Leaf:
    """Pods that need ``minimum`` of themselves, with counts of how far they have come."""

    name: str
    minimum: int
    together: Together | None = None
    parent: Branch | None = None
    tasks: dict[str, Task] = field(default_factory=dict)
    active: int = 0
    using: int = 0
    alive: int = 0
    gated: int = 0
    in_line: int = 0

    @property
    def satisfied(self) -> bool:
        """Whether enough pods have a place."""
        return self.active >= self.minimum

    @property
    def have(self) -> int:
        """How many of what ``minimum`` counts are there."""
        return self.active

    @property
    def need(self) -> int:
        """How many are needed."""
        return self.minimum

    @property
    def ready(self) -> bool:
        """Whether enough pods are there to be placed."""
        return self.alive - self.gated >= self.minimum

    @property
    def leaves(self) -> list[Leaf]:
        """Itself."""
        return [self]

    def count(self, status: PodStatus, by: int) -> None:
        """Keep the counts."""
        if status in ACTIVE:
            self.active += by
        if status in USING:
            self.using += by
        if status in ALIVE:
            self.alive += by
        if status is PodStatus.GATED:
            self.gated += by
        elif status is PodStatus.PIPELINED:
            self.in_line += by


@dataclass(eq=False, slots=True)
class Branch:
    """Sub-groups and leaves of which ``minimum`` are needed; None stands for all."""

    name: str
    minimum: int | None = None
    together: Together | None = None
    parent: Branch | None = None
    branches: list[Branch] = field(default_factory=list)
    direct: list[Leaf] = field(default_factory=list)

    @property
    def members(self) -> list[Branch | Leaf]:
        """Its children, sub-groups before leaves."""
        return [*self.branches, *self.direct]

    @property
    def have(self) -> int:
        """How many children are satisfied."""
        return sum(branch.satisfied for branch in self.branches) + sum(leaf.satisfied for leaf in self.direct)

    @property
    def need(self) -> int:
        """How many must be."""
        return len(self.branches) + len(self.direct) if self.minimum is None else self.minimum

    @property
    def satisfied(self) -> bool:
        """Whether enough are."""
        return self.have >= self.need

    @property
    def ready(self) -> bool:
        """Whether enough children have what they need to be placed."""
        return sum(member.ready for member in self.members) >= self.need

    @property
    def leaves(self) -> list[Leaf]:
        """All leaves below it."""
        return [*self.direct, *(leaf for branch in self.branches for leaf in branch.leaves)]

    def copy(self, parent: Branch | None = None) -> Branch:
        """The same tree without pods."""
        other = Branch(self.name, self.minimum, self.together, parent)
        other.direct = [Leaf(leaf.name, leaf.minimum, leaf.together, other) for leaf in self.direct]
        other.branches = [branch.copy(other) for branch in self.branches]
        return other


Member = Branch | Leaf
Rank = tuple[int, int, float, str]


def grown(tree: SubGroup, parent: Branch | None = None) -> Branch:
    """A tree as it is told, for counting in."""
    branch = Branch(tree.name, tree.minimum, tree.together, parent)
    for child in tree.children:
        if child.leaf:
            branch.direct.append(Leaf(child.name, child.minimum or 0, child.together, branch))
        else:
            branch.branches.append(grown(child, branch))
    return branch


class Group:
    """A pod group in the session, or a copy of one with some of its pods.

    Copies share the pods themselves and keep the counts of the moment at which they were made.
    """

    __slots__ = (
        "active",
        "created",
        "evicted",
        "faults",
        "held",
        "key",
        "leaves",
        "marks",
        "more",
        "name",
        "pending",
        "preemptible",
        "priority",
        "queue",
        "rank",
        "root",
        "signature",
        "spec",
        "stale_since",
        "started",
        "succeeded",
        "tasks",
        "to_place",
        "to_place_quota",
        "vectors",
    )

    def __init__(self, key: str, spec: PodGroup, root: Branch) -> None:
        self.key, self.spec, self.root = key, spec, root
        self.name = f"{spec.namespace}/{spec.name}"
        self.queue, self.priority, self.preemptible = spec.queue, spec.priority, spec.preemptible
        self.created = spec.created
        self.leaves = {leaf.name: leaf for leaf in root.leaves}
        self.tasks: dict[str, Task] = {}
        self.pending = self.active = self.succeeded = 0
        self.held: Triple = NOTHING
        self.started = spec.started
        self.evicted = spec.evicted
        self.stale_since = spec.stale_since
        self.faults: list[tuple[str, str]] = []
        self.rank: Rank | None = None
        self.to_place: list[Task] | None = None
        self.to_place_quota: Triple | None = None
        self.more: tuple[Task, int] | None = None
        self.signature: object = None
        self.vectors: list[list[float]] | None = None
        self.marks: Marks | None = None

    @classmethod
    def of(cls, key: str, spec: PodGroup, task_of: Callable[[GroupPod, Group], Task], marks: Marks) -> Group:
        """The group of the state; pods of a leaf that is not there are left out."""
        group = cls(key, spec, grown(spec.tree))
        group.fill(task_of(pod, group) for pod in spec.pods if pod.leaf in group.leaves)
        if spec.more and spec.like is not None and spec.like.leaf in group.leaves:
            group.more = task_of(spec.like, group), spec.more
            group._count(group.leaves[spec.like.leaf], PodStatus.PENDING, spec.more)
        group.marks = marks
        return group

    def fill(self, tasks: Iterable[Task]) -> None:
        """Take pods in as they stand."""
        counted: dict[tuple[str, PodStatus], int] = {}
        cpu, memory, gpus = self.held
        for task in tasks:
            status = task.status
            which = (task.leaf, status)
            counted[which] = counted.get(which, 0) + 1
            self.tasks[task.id] = self.leaves[task.leaf].tasks[task.id] = task
            if status in ALLOCATED:
                quota = task.quota
                cpu, memory, gpus = cpu + quota[0], memory + quota[1], gpus + quota[2]
        self.held, self.rank = (cpu, memory, gpus), None
        for (name, status), count in counted.items():
            self._count(self.leaves[name], status, count)

    def set_status(self, task: Task, status: PodStatus) -> None:
        """Change how far a pod has come."""
        leaf = self.leaves[task.leaf]
        self._count(leaf, task.status, -1)
        if task.status in ALLOCATED:
            self.held = plus(self.held, _negative(task.quota))
        task.status = status
        self._count(leaf, status, 1)
        if status in ALLOCATED:
            self.held = plus(self.held, task.quota)
        self.to_place = self.to_place_quota = self.rank = self.signature = self.vectors = None
        self.touch(task)

    def touch(self, task: Task) -> None:
        """Note that a pod is not as the state has it any more."""
        if self.marks is not None:
            self.marks.tasks.add(task)

    def _count(self, leaf: Leaf, status: PodStatus, by: int) -> None:
        leaf.count(status, by)
        if status is PodStatus.PENDING:
            self.pending += by
        elif status in ACTIVE:
            self.active += by
        elif status is PodStatus.SUCCEEDED:
            self.succeeded += by

    def copy_with(self, tasks: Iterable[Task]) -> Group:
        """The group with these pods only."""
        other = Group(self.key, self.spec, self.root.copy())
        other.fill(tasks)
        return other

    @property
    def elastic(self) -> bool:
        """Whether some leaf has more pods than it needs."""
        return any(leaf.minimum < len(leaf.tasks) + self.unlisted(leaf.name) for leaf in self.leaves.values())

    def unlisted(self, leaf: str) -> int:
        """How many pods of a leaf wait beside those that are listed."""
        return self.more[1] if self.more is not None and self.more[0].leaf == leaf else 0

    @property
    def satisfied(self) -> bool:
        """Whether every leaf has what it needs on nodes, pods that are leaving included."""
        return all(leaf.using >= leaf.minimum for leaf in self.leaves.values())

    @property
    def using(self) -> int:
        """How many pods nodes account for."""
        return sum(leaf.using for leaf in self.leaves.values())

    @property
    def stale(self) -> bool:
        """Whether it runs with less than it needs; the least number of sub-groups is not looked at."""
        return not self.succeeded and not self.satisfied and self.using > 0

    @property
    def flat(self) -> bool:
        """Whether it has no sub-groups."""
        return len(self.leaves) == 1 and DEFAULT in self.leaves

    def fault(self, reason: str, message: str) -> None:
        """Note why it does not get what it waits for."""
        self.faults.append((reason, message))
        if self.marks is not None:
            self.marks.groups.add(self)

    def __repr__(self) -> str:
        return f"Group({self.key} {list(self.tasks.values())})"


def _negative(amounts: Triple) -> Triple:
    return (-amounts[0], -amounts[1], -amounts[2])
