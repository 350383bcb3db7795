"""Placing the pods of a group that come next, all of them or none.

The tree is walked down; at every sub-group the topology says which sets of nodes are worth a try, and a try
that fails is taken back. ``actions/common`` (AllocateJob) of KAI.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from allotment.scheduling.kai import scoring
from allotment.scheduling.kai.capacity import refused
from allotment.scheduling.kai.decisions import Reason
from allotment.scheduling.kai.fitting import refusal, shortage, too_large
from allotment.scheduling.kai.groups import Branch, Group, Leaf
from allotment.scheduling.kai.next_pods import by_urgency, pods_to_place
from allotment.scheduling.kai.nodes import Node
from allotment.scheduling.kai.session import Session
from allotment.scheduling.kai.sharing import choose
from allotment.scheduling.kai.statement import Statement
from allotment.scheduling.kai.tasks import Task
from allotment.scheduling.kai.wording import not_found

_NO_NODES = "no nodes with enough resources were found"


class Placer:
    """Places pods of a session by way of a statement; ``wait`` only puts them in line."""

    def __init__(self, session: Session, statement: Statement, *, wait: bool) -> None:
        self.session, self.statement, self.wait = session, statement, wait

    def place(self, nodes: Sequence[Node], group: Group) -> bool:
        """Place the pods of a group that come next."""
        self.session.topologies.scores = {}
        tasks = pods_to_place(group, real=not self.wait)
        if not tasks:
            return False
        why = refused(self.session, group, tasks)
        if why is not None:
            if not self.wait:
                group.fault(*why)
            return False
        return self._branch(list(nodes), group, group.root, tasks)

    def _branch(self, nodes: list[Node], group: Group, branch: Branch, tasks: list[Task]) -> bool:
        if not tasks:
            return True
        names = {task.leaf for task in tasks}
        leaves = [leaf for leaf in branch.leaves if leaf.name in names]
        for part in self._candidates(group, branch, leaves, tasks, nodes):
            checkpoint = self.statement.checkpoint
            if self._members(part, group, branch, tasks):
                return True
            self.statement.rollback(checkpoint)
        return False

    def _candidates(
        self,
        group: Group,
        member: Branch | Leaf,
        leaves: Sequence[Leaf],
        tasks: list[Task],
        nodes: list[Node],
    ) -> list[list[Node]]:
        if not self.session.plugins.topology:
            return [nodes]
        return self.session.topologies.candidates(group, member, leaves, tasks, nodes) or []

    def _members(self, nodes: list[Node], group: Group, branch: Branch, tasks: list[Task]) -> bool:
        for member in by_urgency(branch.members):
            names = {leaf.name for leaf in member.leaves}
            part = [task for task in tasks if task.leaf in names]
            place = self._leaf if isinstance(member, Leaf) else self._branch
            if not place(nodes, group, member, part):  # type: ignore[arg-type]  # `place` is of its kind
                return False
        return True

    def _leaf(self, nodes: list[Node], group: Group, leaf: Leaf, tasks: list[Task]) -> bool:
        if not tasks:
            return True
        for part in self._candidates(group, leaf, [leaf], tasks, nodes):
            checkpoint = self.statement.checkpoint
            if self._tasks(part, group, tasks):
                return True
            self.statement.rollback(checkpoint)
        return False

    def _tasks(self, nodes: list[Node], group: Group, tasks: list[Task]) -> bool:
        for number, task in enumerate(tasks):
            why = self._task(nodes, task)
            if why is not None:
                _note_failure(group, task, number, why)
                return False
        return True

    def _task(self, nodes: list[Node], task: Task) -> str | None:
        """Place a pod; otherwise why it found no place."""
        large = too_large(self.session, task)
        if large is not None:
            return f"Scheduling conditions were not met for pod {task.id}:\nMaxNodePoolResources: {large}."
        refused_claims = self.session.claims.refusal(task) if task.pod.claims else None
        if refused_claims is not None:
            return refused_claims
        reasons: Counter[str] = Counter()
        for bunches in scoring.in_order(self.session, nodes, task):
            fitting = [bunch for bunch in bunches if bunch.first.fits(task)]
            for bunch in bunches:
                if bunch not in fitting:
                    reasons[shortage(task, bunch.first)] += len(bunch.names)
            for name in scoring.by_name(fitting) if fitting else ():
                node = self.session.nodes[name]
                why = refusal(self.session, task, node)
                if why is not None:
                    reasons[why] += 1
                elif self._on_node(task, node):
                    return None
        counted = ". \n".join(sorted(f"{count} {reason}" for reason, count in reasons.items()))
        return f"{_NO_NODES}: {counted}." if counted else _NO_NODES

    def _on_node(self, task: Task, node: Node) -> bool:
        if task.shared:
            return self._on_shared_gpu(task, node)
        if not self.wait and node.fits_now(task):
            return self.statement.allocate(task, node.name)
        return self.statement.pipeline(task, node.name, anew=not self.wait)

    def _on_shared_gpu(self, task: Task, node: Node) -> bool:
        found = choose(self.session, task, node, wait=self.wait)
        if found is None:
            return False
        task.group.touch(task)
        task.gpu_groups, waits = found
        if self.wait or waits:
            placed = self.statement.pipeline(task, node.name, anew=False)
        else:
            placed = self.statement.allocate(task, node.name)
        if not placed:
            task.gpu_groups = ()
        return placed


def _note_failure(group: Group, task: Task, placed: int, why: str) -> None:
    leaf = group.leaves[task.leaf]
    gang = any(each.minimum > 1 for each in group.leaves.values())
    if not gang or leaf.using >= leaf.minimum:
        message = not_found(task, why)
    elif group.flat:
        message = (
            f"Resources were found for {placed} pods while {leaf.minimum} are required for gang scheduling."
            f" Additional pods cannot be scheduled due to: {why}"
        )
    else:
        message = (
            f"Resources were found for {placed} pods from all sub-groups while sub-group {leaf.name} requires"
            f" {leaf.minimum} pods for gang scheduling. Additional pods cannot be scheduled in this sub-group"
            f" due to: {why}"
        )
    group.fault(Reason.PODS, message)
