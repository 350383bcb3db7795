"""Steps that are tried on a session, and taken back or made good.

A pod is evicted, placed, or put in line for what others leave; a pod that was evicted and finds its place
again on the same node is only let off. Each step is undone by what undoes it in KAI
(``framework.Statement``), so the books of nodes are the same after it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum, auto
from typing import TYPE_CHECKING

from allotment.scheduling.kai.decisions import Bound, Evicted, Pipelined
from allotment.scheduling.kai.groups import Group
from allotment.scheduling.kai.tasks import Task
from allotment.scheduling.state.pod_groups import PodStatus

if TYPE_CHECKING:
    from allotment.scheduling.kai.nodes import Node
    from allotment.scheduling.kai.session import Session

Given = dict[str, tuple[str, ...] | None]


class Kind(Enum):
    """What a step does."""

    EVICT = auto()
    PIPELINE = auto()
    ALLOCATE = auto()
    LET_OFF = auto()


@dataclass(eq=False, slots=True)
class Step:
    """One step, and what the pod was before it; ``of`` is the eviction that was taken back."""

    kind: Kind
    task: Task
    node: str
    status: PodStatus = PodStatus.PENDING
    before: str | None = None
    gpu_groups: tuple[str, ...] = ()
    claims: Given = field(default_factory=dict)
    virtual: bool = False
    message: str = ""
    by: str | None = None
    valid: bool = True
    of: Step | None = None


class Statement:
    """Steps on a session that have not been made good yet."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.steps: list[Step] = []

    @property
    def checkpoint(self) -> int:
        """Where to come back to."""
        return len(self.steps)

    def evict(self, task: Task, message: str, by: str | None = None) -> bool:
        """Let a pod leave; no if it is not on its node."""
        if task.node not in self.session.nodes:
            return False
        step = self._noted(Kind.EVICT, task, task.node, message=message, by=by)
        if not self._leave(task):
            return False
        self.steps.append(step)
        task.virtual = True
        return True

    def _noted(self, kind: Kind, task: Task, node: str, *, message: str = "", by: str | None = None) -> Step:
        return Step(
            kind,
            task,
            node,
            status=task.status,
            before=task.node,
            gpu_groups=task.gpu_groups,
            claims=dict(task.claims),
            virtual=task.virtual,
            message=message,
            by=by,
        )

    def _leave(self, task: Task) -> bool:
        task.group.set_status(task, PodStatus.RELEASING)
        if not self._node_of(task).update(task, self.session.axes):
            return False
        self.session.given_back(task)
        return True

    def _node_of(self, task: Task) -> Node:
        return self.session.nodes[task.node or ""]

    def pipeline(self, task: Task, name: str, *, anew: bool) -> bool:
        """Put a pod in line on a node; unless ``anew``, one that was evicted from there is let off."""
        node = self.session.nodes[name]
        entry = node.tasks.get(task.id)
        moved = (
            entry is not None and bool(task.gpu_groups) and task.shared and task.gpu_groups != entry.received
        )
        if entry is not None and not anew and not moved:
            task.group.touch(task)
            task.gpu_groups = entry.received
            return self._let_off(task)
        step = self._noted(Kind.PIPELINE, task, name)
        if moved and entry is not None:
            step.gpu_groups = entry.received
        step.message = f"Pod {task.id} was pipelined to node {name}"
        task.group.set_status(task, PodStatus.PIPELINED)
        task.node = name
        if moved:
            node.add(task, self.session.axes, moved_on_node=True)
        elif entry is not None:
            node.update(task, self.session.axes)
        else:
            node.add(task, self.session.axes)
        self.session.taken(task)
        self.steps.append(step)
        task.virtual = True
        return True

    def allocate(self, task: Task, name: str) -> bool:
        """Place a pod."""
        node = self.session.nodes[name]
        step = self._noted(Kind.ALLOCATE, task, name)
        task.group.set_status(task, PodStatus.ALLOCATED)
        task.node = name
        if not node.add(task, self.session.axes):
            return False
        self.session.taken(task)
        self.steps.append(step)
        task.virtual = True
        return True

    def _let_off(self, task: Task) -> bool:
        for step in self.steps:
            if step.kind is Kind.EVICT and step.valid and step.task is task:
                self._undo(step)
                self.steps.append(Step(Kind.LET_OFF, task, step.node, of=step))
                return True
        return False

    def into_line(self, group: Group) -> None:
        """Whatever of a group was placed is only put in line."""
        placed = [step for step in self.steps if step.kind is Kind.ALLOCATE and step.task.group is group]
        self.steps = [step for step in self.steps if step not in placed]
        for step in placed:
            self._unplace(step, virtual=True)
            self.pipeline(step.task, step.node, anew=True)

    def rollback(self, checkpoint: int = 0) -> None:
        """Undo everything since a checkpoint."""
        for step in reversed(self.steps[checkpoint:]):
            self._undo(step)
        del self.steps[checkpoint:]

    def _undo(self, step: Step) -> None:
        if not step.valid:
            return
        step.valid = False
        if step.kind is Kind.EVICT:
            self._stay(step)
        elif step.kind is Kind.PIPELINE:
            self._out_of_line(step)
        elif step.kind is Kind.ALLOCATE:
            self._unplace(step, virtual=step.virtual)
        elif step.of is not None:
            self._leave(step.task)
            step.task.virtual = True
            step.of.valid = True

    def _stay(self, step: Step) -> None:
        task = step.task
        task.group.set_status(task, step.status)
        task.gpu_groups, task.virtual, task.claims = step.gpu_groups, step.virtual, dict(step.claims)
        node = self.session.nodes[step.node]
        if not node.update(task, self.session.axes):
            node.add(task, self.session.axes)
        self.session.taken(task)

    def _out_of_line(self, step: Step) -> None:
        task = step.task
        task.group.set_status(task, step.status)
        task.gpu_groups, task.virtual, task.claims = step.gpu_groups, step.virtual, dict(step.claims)
        self._node_of(task).remove(task)
        self.session.given_back(task)
        task.node = step.before

    def _unplace(self, step: Step, *, virtual: bool) -> None:
        task = step.task
        task.group.set_status(task, PodStatus.PENDING)
        self._node_of(task).remove(task)
        task.virtual = virtual
        self.session.given_back(task)
        task.node = None

    def commit(self) -> None:
        """Make it good: what is left of the steps becomes decisions."""
        for step in self.steps:
            if step.valid:
                _COMMIT[step.kind](self, step)
        self.steps = []

    def _commit_evict(self, step: Step) -> None:
        task, session = step.task, self.session
        task.virtual = False
        task.group.evicted = session.now
        session.decisions.append(
            Evicted(task.id, task.group.key, step.node, session.action, step.message, step.by)
        )

    def _commit_pipeline(self, step: Step) -> None:
        task, session = step.task, self.session
        session.decisions.append(
            Pipelined(task.id, task.group.key, step.node, session.action, step.message, task.gpu_groups)
        )

    def _commit_allocate(self, step: Step) -> None:
        task, session = step.task, self.session
        task.group.set_status(task, PodStatus.BINDING)
        claims = {name: devices for name, devices in task.claims.items() if devices}
        session.decisions.append(
            Bound(task.id, task.group.key, step.node, session.action, task.gpu_groups, claims)
        )

    def _commit_nothing(self, _step: Step) -> None:
        """An eviction that was taken back is none."""


_COMMIT = {
    Kind.EVICT: Statement._commit_evict,
    Kind.PIPELINE: Statement._commit_pipeline,
    Kind.ALLOCATE: Statement._commit_allocate,
    Kind.LET_OFF: Statement._commit_nothing,
}
