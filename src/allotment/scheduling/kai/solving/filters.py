"""Quick looks at a scenario: whether it could work at all, before it is simulated.

Each filter looks at what would be free when the victims are gone: a node that the pods' own choice allows,
room for every sub-group in a domain that it requires, and GPUs for the largest pods.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from allotment.scheduling.kai.fitting import selects
from allotment.scheduling.kai.groups import Branch
from allotment.scheduling.kai.nodes import Node
from allotment.scheduling.kai.session import Session
from allotment.scheduling.kai.solving.scenarios import Scenario
from allotment.scheduling.kai.tasks import Task


class Filter(Protocol):
    """Looks at a scenario that grows."""

    def note(self, tasks: Sequence[Task]) -> None:
        """These go too."""

    def holds(self) -> bool:
        """Whether it may work so far."""


def filters_for(session: Session, scenario: Scenario, feasible: Mapping[str, Node]) -> list[Filter]:
    """The filters that have something to look at."""
    filters: list[Filter] = []
    if any(task.pod.node_selector or task.pod.affinity for task in scenario.pending):
        filters.append(_Selection(session, scenario.pending, feasible))
    required = _with_required_level(scenario.preemptor.root)
    if required:
        filters.append(_Domains(session, required))
    filters.append(_FreeGpus(session, scenario.pending))
    for each in filters:
        each.note(scenario.recorded_tasks)
    return filters


class _Selection:
    """Pods that choose their nodes need one among those that have or get room."""

    def __init__(self, session: Session, pending: Iterable[Task], feasible: Mapping[str, Node]) -> None:
        self.nodes = session.nodes
        self.open = dict(feasible)
        self.choosing = [task for task in pending if task.pod.node_selector or task.pod.affinity]

    def note(self, tasks: Sequence[Task]) -> None:
        for task in tasks:
            if task.node in self.nodes:
                self.open[task.node] = self.nodes[task.node]

    def holds(self) -> bool:
        return all(any(selects(task, node) for node in self.open.values()) for task in self.choosing)


class _FreeGpus:
    """The largest pods first, each needs a node with so many GPUs."""

    def __init__(self, session: Session, pending: Iterable[Task]) -> None:
        free = {name: node.free_gpus(session.axes) for name, node in session.nodes.items()}
        self.room = Room((task.quota_gpus for task in pending), free)

    def note(self, tasks: Sequence[Task]) -> None:
        for task in tasks:
            if task.node is not None:
                self.room.free_more(task.node, task.accepted_gpus)

    def holds(self) -> bool:
        return self.room.enough()


class _Domains:
    """Every sub-group that requires a level needs a domain with enough GPUs in all."""

    def __init__(self, session: Session, required: Sequence[Branch]) -> None:
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

    def note(self, tasks: Sequence[Task]) -> None:
        for task in tasks:
            for domain in self.keys.get(task.node or "", ()):
                self.free[domain] += task.accepted_gpus

    def holds(self) -> bool:
        for key, wanted in self.wanted.items():
            free = sorted((each for domain, each in self.free.items() if domain[:2] == key), reverse=True)
            if not match(sorted(wanted, reverse=True), free):
                return False
        return True


def _with_required_level(branch: Branch) -> list[Branch]:
    own = [branch] if branch.together is not None and branch.together.required else []
    return [*own, *(found for child in branch.branches for found in _with_required_level(child))]


class Room:
    """Whether pods that ask for so many GPUs each find them, as more of them become free."""

    def __init__(self, wanted: Iterable[float], free: Mapping[str, float]) -> None:
        self.wanted = sorted(wanted, reverse=True)
        self.free = dict(free)
        alike = len(set(self.wanted)) == 1 and self.wanted[0] > 0
        self.each = self.wanted[0] if alike else None
        self.places = sum(self._places(amount) for amount in self.free.values()) if alike else 0

    def _places(self, amount: float) -> int:
        """How many pods of the one size find room; a little more for what sums of fractions lose."""
        return math.floor(amount / self.each + 1e-9) if self.each else 0

    def free_more(self, name: str, amount: float) -> None:
        """So much more is free."""
        before = self.free.get(name, 0.0)
        self.free[name] = before + amount
        if self.each is not None:
            self.places += self._places(before + amount) - self._places(before)

    def enough(self) -> bool:
        """Whether all find room."""
        if self.each is not None:
            return self.places >= len(self.wanted)
        return match(self.wanted, sorted(self.free.values(), reverse=True)[: len(self.wanted)])


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
