"""Naming victims one after the other, in the order in which they would go, until a scenario may work.

``PodAccumulatedScenarioBuilder`` of KAI. A job with pods to spare gives one of them and goes back in line.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from allotment.scheduling.kai.groups import Group
from allotment.scheduling.kai.lines import Line
from allotment.scheduling.kai.next_pods import pods_to_evict, pods_to_place
from allotment.scheduling.kai.nodes import Node
from allotment.scheduling.kai.session import Session
from allotment.scheduling.kai.solving.filters import filters_for
from allotment.scheduling.kai.solving.scenarios import Batch, Scenario
from allotment.scheduling.kai.tasks import Task


class Accumulation:
    """Scenarios with ever more victims."""

    def __init__(
        self,
        session: Session,
        preemptor: Group,
        recorded: Sequence[Batch],
        victims: Line,
        feasible: Mapping[str, Node],
    ) -> None:
        self.session, self.victims, self.feasible = session, victims, feasible
        pending = pods_to_place(preemptor, real=False)
        self.scenario = Scenario(preemptor, list(pending), recorded) if pending else None
        self.recorded = {task for batch in recorded for task in batch.tasks}
        self.filters = filters_for(session, self.scenario, feasible) if self.scenario else []
        self.begun = False
        self.wanted = sum(task.quota_gpus for task in pending)
        there = sum(node.free_gpus(session.axes) for node in feasible.values())
        self.there = float("inf") if any(task.pod.claims for task in pending) else there + 1e-6

    def next(self) -> Scenario | None:
        """The next scenario that may work; it is the same one, grown."""
        if self.scenario is None:
            return None
        while True:
            if self.begun:
                if not self.victims:
                    return None
                if not self._add_victims(self.scenario):
                    continue
            self.begun = True
            if all(each.holds() for each in self.filters):
                return self.scenario

    def too_few(self, tasks: Iterable[Task]) -> bool:
        """Whether all GPUs that there are and these pods leave are less than what is asked for."""
        free = self.there
        nodes = set(self.feasible)
        for task in (*self.recorded, *tasks):
            free += task.accepted_gpus
            if task.node in self.session.nodes and task.node not in nodes:
                nodes.add(task.node)
                free += self.session.nodes[task.node].free_gpus(self.session.axes)
            if free >= self.wanted:
                return False
        return free < self.wanted

    def _add_victims(self, scenario: Scenario) -> bool:
        group = self.victims.pop()
        if group is None:
            return False
        tasks, more = pods_to_evict(group)
        if any(task in self.recorded for task in tasks):
            self._push_back(group, [task for task in group.tasks.values() if task not in self.recorded])
            return False
        if more:
            self._push_back(group, [task for task in group.tasks.values() if task not in tasks])
        scenario.add(self.session.groups[group.key], tasks)
        for each in self.filters:
            each.note(tasks)
        return True

    def _push_back(self, group: Group, tasks: Sequence[object]) -> None:
        left = [task for task in group.tasks.values() if task in tasks]
        if left:
            self.victims.push(group.copy_with(left))
