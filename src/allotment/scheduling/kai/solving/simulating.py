"""Playing a scenario through: the victims go, and then all who may get a place in the order of queues.

Victims that find a place again on their node are let off, others are moved, the rest really go. The pending
job must get its place, and the action's judge must agree. ``byPodSolver`` of KAI.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from allotment.scheduling.kai.groups import Group
from allotment.scheduling.kai.lines import Line
from allotment.scheduling.kai.nodes import Node
from allotment.scheduling.kai.placing import Placer
from allotment.scheduling.kai.session import Session
from allotment.scheduling.kai.solving.filters import Room
from allotment.scheduling.kai.solving.scenarios import Batch, Scenario
from allotment.scheduling.kai.statement import Statement
from allotment.scheduling.kai.tasks import Task
from allotment.scheduling.state.pod_groups import PodStatus

Judge = Callable[[Scenario], bool]
Message = Callable[[Task, Group], str]


@dataclass(slots=True, eq=False)
class Solution:
    """A scenario that works, with the steps that were tried and the batches that are hit."""

    statement: Statement
    batches: list[Batch]
    tasks: list[Task]


class Simulation:
    """Plays scenarios through on a session."""

    def __init__(self, session: Session, judge: Judge, message: Message) -> None:
        self.session, self.judge, self.message = session, judge, message

    def play(self, scenario: Scenario, feasible: dict[str, Node]) -> Solution | None:
        """The scenario's solution, if it works; ``feasible`` keeps the nodes of its victims then."""
        victims = [*scenario.recorded_tasks, *scenario.potential_tasks]
        if not victims or not self._room(scenario, victims, feasible):
            return None
        statement = Statement(self.session)
        added: list[str] = []
        if self._evict(statement, victims, scenario.preemptor):
            for task in victims:
                if task.node and task.node not in feasible:
                    feasible[task.node] = self.session.nodes[task.node]
                    added.append(task.node)
            if self._place(statement, victims, scenario.preemptor, feasible):
                going = [task for task in victims if task.status is PodStatus.RELEASING]
                moved = [task for task in victims if task.status is PodStatus.PIPELINED]
                if self.judge(scenario):
                    return Solution(statement, _batches(scenario, [*going, *moved]), [*going, *moved])
        for name in added:
            del feasible[name]
        statement.rollback()
        return None

    def _room(self, scenario: Scenario, victims: list[Task], feasible: Mapping[str, Node]) -> bool:
        """Whether there would be GPUs enough if nobody else took any; if not, nothing need be played."""
        if any(task.pod.claims for task in scenario.pending):
            return True
        free = {name: node.free_gpus(self.session.axes) for name, node in feasible.items()}
        for task in dict.fromkeys(victims):
            if task.node is None:
                continue
            if task.node not in free and task.node in self.session.nodes:
                free[task.node] = self.session.nodes[task.node].free_gpus(self.session.axes)
            free[task.node] = free.get(task.node, 0.0) + task.accepted_gpus
        return Room((task.quota_gpus for task in scenario.pending), free).enough()

    def _evict(self, statement: Statement, victims: list[Task], preemptor: Group) -> bool:
        messages = {task: self.message(task, preemptor) for task in victims}
        return all(statement.evict(task, messages[task], preemptor.key) for task in victims)

    def _place(
        self, statement: Statement, victims: list[Task], preemptor: Group, feasible: Mapping[str, Node]
    ) -> bool:
        """Place the pending job and the victims; whether the pending job got its place."""
        hit = {task.group.key for task in victims}
        jobs = {group.key: group for group in self.session.askers if group.pending > 0}
        jobs.update((key, self.session.groups[key]) for key in hit)
        jobs[preemptor.key] = preemptor
        placer = Placer(self.session, statement, wait=True)
        nodes = list(feasible.values())
        placed = False
        left = len(hit | {preemptor.key})
        line = Line(self.session).extend(jobs.values())
        while line and left:
            group = line.pop()
            if group is None:
                break
            if group is not preemptor and group.key not in hit:
                continue
            left -= 1
            self.session.asked_by(group)  # before its pods change: what it asks for is judged by later
            if group is preemptor:
                if not placer.place(nodes, group):
                    return False
                placed = True
            else:
                placer.place(nodes, group)
        return placed


def _batches(scenario: Scenario, tasks: list[Task]) -> list[Batch]:
    """The batches that these pods are in."""
    found = (scenario.batch_of(task) for task in tasks)
    batches: list[Batch] = []
    for batch in found:
        if batch is not None and batch not in batches:
            batches.append(batch)
    return batches
