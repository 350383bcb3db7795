"""Quick looks at a scenario: whether it could work at all, before it is simulated.

Each filter looks at what would be free when the victims are gone: a node that the pods' own choice allows,
room for every sub-group in a domain that it requires, and GPUs for the largest pods.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from allotment.scheduling.kai.fitting import selects
from allotment.scheduling.kai.groups import Branch
from allotment.scheduling.kai.nodes import Node
from allotment.scheduling.kai.session import Session
from allotment.scheduling.kai.solving.scenarios import Scenario
from allotment.scheduling.kai.tasks import Task

Filter = Callable[[Scenario], bool]


def filters_for(session: Session, scenario: Scenario, feasible: Mapping[str, Node]) -> list[Filter]:
    """The filters that have something to look at."""
    filters: list[Filter] = []
    if any(task.pod.node_selector or task.pod.affinity for task in scenario.pending):
        filters.append(_Selection(session, feasible))
    required = _with_required_level(scenario.preemptor.root)
    if required:
        filters.append(_Domains(session, required))
    filters.append(_FreeGpus(session))
    return filters


class _Freed:
    """Counts what victims would leave, each of them once."""

    def __init__(self) -> None:
        self.seen: set[Task] = set()

    def new(self, tasks: Iterable[Task]) -> list[Task]:
        fresh = [task for task in dict.fromkeys(tasks) if task.node is not None and task not in self.seen]
        self.seen.update(fresh)
        return fresh


class _Selection:
    """Pods that choose their nodes need one among those that have or get room."""

    def __init__(self, session: Session, feasible: Mapping[str, Node]) -> None:
        self.nodes = session.nodes
        self.open = dict(feasible)

    def __call__(self, scenario: Scenario) -> bool:
        for task in (*scenario.potential_tasks, *scenario.recorded_tasks):
            if task.node in self.nodes:
                self.open[task.node] = self.nodes[task.node]
        choosing = [task for task in scenario.pending if task.pod.node_selector or task.pod.affinity]
        return all(any(selects(task, node) for node in self.open.values()) for task in choosing)


class _FreeGpus:
    """The largest pods first, each needs a node with so many GPUs."""

    def __init__(self, session: Session) -> None:
        self.free = {name: node.free_gpus(session.axes) for name, node in session.nodes.items()}
        self.freed = _Freed()

    def __call__(self, scenario: Scenario) -> bool:
        for task in self.freed.new((*scenario.recorded_tasks, *scenario.potential_tasks)):
            self.free[task.node or ""] = self.free.get(task.node or "", 0.0) + task.accepted_gpus
        wanted = sorted((task.quota_gpus for task in scenario.pending), reverse=True)
        return match(wanted, sorted(self.free.values(), reverse=True)[: len(wanted)])


class _Domains:
    """Every sub-group that requires a level needs a domain with enough GPUs in all."""

    def __init__(self, session: Session, required: Sequence[Branch]) -> None:
        self.freed = _Freed()
        self.keys: dict[str, list[tuple[str, str, str]]] = {}
        self.free: dict[tuple[str, str, str], float] = {}
        self.wanted: dict[tuple[str, str], list[float]] = {}
        for branch in required:
            constraint = branch.together
            if constraint is not None and constraint.required:
                pods = [task for leaf in branch.leaves for task in leaf.tasks.values()]
                key = (constraint.topology, constraint.required)
                self.wanted.setdefault(key, []).append(sum(task.quota_gpus for task in pods))
        for name, node in session.nodes.items():
            for topology, level in self.wanted:
                value = node.labels.get(level)
                if value:
                    domain = (topology, level, value)
                    self.free[domain] = self.free.get(domain, 0.0) + node.free_gpus(session.axes)
                    self.keys.setdefault(name, []).append(domain)

    def __call__(self, scenario: Scenario) -> bool:
        for task in self.freed.new((*scenario.recorded_tasks, *scenario.potential_tasks)):
            for domain in self.keys.get(task.node or "", ()):
                self.free[domain] += task.accepted_gpus
        for key, wanted in self.wanted.items():
            free = sorted((each for domain, each in self.free.items() if domain[:2] == key), reverse=True)
            if not match(sorted(wanted, reverse=True), free):
                return False
        return True


def _with_required_level(branch: Branch) -> list[Branch]:
    own = [branch] if branch.together is not None and branch.together.required else []
    return [*own, *(found for child in branch.branches for found in _with_required_level(child))]


def match(wanted: Sequence[float], free: Sequence[float]) -> bool:
    """Whether every want, largest first, finds a place that is large enough beside those before it."""
    left = list(free)
    for amount in wanted:
        if amount == 0:
            return True
        place = next((number for number, have in enumerate(left) if have >= amount), None)
        if place is None:
            return False
        left[place] -= amount
    return True
