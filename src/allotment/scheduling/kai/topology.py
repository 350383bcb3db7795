"""Domains of nodes by the labels of a Topology, and the candidates among them for pods that stay together.

A domain will do if it has room for the pods: counted by the largest of them where all are of a kind, else by
the ratio of what they ask for to what is free. Candidates come deepest level first, and inside a level the
tightest first; the preferred level also gives nodes a score. ``plugins/topology`` of KAI.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from allotment.scheduling.kai.axes import CPU, GPU, MEMORY, PODS
from allotment.scheduling.kai.groups import Branch, Group, Leaf
from allotment.scheduling.kai.nodes import Node
from allotment.scheduling.kai.tasks import Task
from allotment.scheduling.state.nodes import Topology
from allotment.scheduling.state.pod_groups import Together

ROOT: Final = "root"
SCORE: Final = 100_000
NO_ROOM: Final = "Not enough resources for the workload"
_NO_ROOM: Final = 1000.0


@dataclass(eq=False, slots=True)
class Domain:
    """Nodes that share labels down to a level."""

    id: str
    level: str
    children: list[Domain] = field(default_factory=list)
    nodes: dict[str, Node] = field(default_factory=dict)
    room: int | None = None
    free: list[float] = field(default_factory=list)

    def deepest_first(self) -> list[Domain]:
        """Itself and all below, level by level from the bottom."""
        levels: list[list[Domain]] = [[self]]
        while levels[-1]:
            levels.append([child for domain in levels[-1] for child in domain.children])
        return [domain for level in reversed(levels) for domain in level]

    def at_level(self, level: str) -> list[Domain]:
        """The domains of a level below it, in order."""
        if self.level == level:
            return [self]
        return [found for child in self.children for found in child.at_level(level)]


class DomainTree:
    """A topology's domains."""

    def __init__(self, topology: Topology, nodes: Iterable[Node]) -> None:
        self.name, self.levels = topology.name, topology.levels
        self.root = Domain(ROOT, ROOT)
        self.by_level: dict[str, dict[str, Domain]] = {ROOT: {ROOT: self.root}}
        for node in nodes:
            if self.holds(node):
                self._add(node)

    def holds(self, node: Node) -> bool:
        """Whether a node carries all the labels."""
        return all(level in node.labels for level in self.levels)

    def _add(self, node: Node) -> None:
        parent = self.root
        parent.nodes[node.name] = node
        for depth, level in enumerate(self.levels):
            name = ".".join(node.labels[each] for each in self.levels[: depth + 1])
            domains = self.by_level.setdefault(level, {})
            domain = domains.get(name)
            if domain is None:
                domain = domains[name] = Domain(name, level)
                parent.children.append(domain)
            domain.nodes[node.name] = node
            parent = domain

    def common(self, nodes: Iterable[Node], preferred: str | None) -> Domain:
        """The lowest domain that all these nodes are in; not below the preferred level."""
        inside = [node for node in nodes if self.holds(node)]
        parts: list[str] = []
        for level in self.levels:
            values = {node.labels[level] for node in inside}
            if len(values) != 1 or values == {""}:
                break
            parts += values
            if preferred == level:
                break
        if not parts:
            return self.root
        return self.by_level[self.levels[len(parts) - 1]][".".join(parts)]

    def levels_to_try(self, together: Together) -> list[str] | None:
        """From the preferred level up to the required one; nothing if one of them is not there."""
        found: list[str] = []
        preferred = required = False
        for level in (*reversed(self.levels), ROOT):
            preferred = preferred or level == together.preferred
            required = required or level == together.required
            if preferred or required:
                found.append(level)
            if required:
                break
        missing = (together.required and not required) or (together.preferred and not preferred)
        return None if missing or not found else found


class Topologies:
    """All topologies of the session, and the scores of nodes for the group that is placed now."""

    def __init__(self, topologies: Mapping[str, Topology], nodes: Mapping[str, Node]) -> None:
        self.topologies, self.nodes = topologies, nodes
        self.trees: dict[str, DomainTree] = {}
        self.scores: dict[str, dict[str, float]] = {}

    def candidates(
        self,
        group: Group,
        member: Branch | Leaf,
        leaves: Sequence[Leaf],
        tasks: list[Task],
        nodes: list[Node],
    ) -> list[list[Node]] | None:
        """The sets of nodes to try, best first; None where the constraint makes no sense."""
        together = member.together
        if together is None or not together.topology or not tasks:
            return [nodes]
        tree = self._tree(together.topology)
        if tree is None:
            group.fault("PodSchedulingErrors", f"Requested topology {together.topology} does not exist")
            return []
        domain = tree.common(nodes, together.preferred)
        total = _summed(tasks)
        _measure(tree, domain, tasks)
        if not _has_room(domain, total, len(tasks)):
            place = "the cluster" if domain.id == ROOT else domain.id
            why = f"not enough resources in {place} to allocate the job"
            group.fault("PodSchedulingErrors", no_match(tree, member, group, why))
            return []
        _sort(domain, total, together.preferred or together.required)
        if together.preferred:
            self.scores[member.name] = _scores(domain, together.preferred)
        levels = tree.levels_to_try(together)
        if levels is None:
            return None
        allowed = self._allowed(tree, together, levels, leaves)
        fitting = [each for each in allowed if _has_room(each, total, len(tasks))]
        if not fitting:
            for each in allowed:
                if each.level == levels[-1]:
                    group.fault(NO_ROOM, no_room(each, total, len(tasks)))
            group.fault("PodSchedulingErrors", no_match(tree, member, group))
        inside = {node.name for node in nodes if tree.holds(node)}
        return [
            [node for name, node in each.nodes.items() if name in inside]
            for each in tree.root.deepest_first()
            if each in fitting
        ]

    def _tree(self, name: str) -> DomainTree | None:
        if name not in self.trees and name in self.topologies:
            self.trees[name] = DomainTree(self.topologies[name], self.nodes.values())
        return self.trees.get(name)

    @staticmethod
    def _allowed(
        tree: DomainTree,
        together: Together,
        levels: Sequence[str],
        leaves: Sequence[Leaf],
    ) -> list[Domain]:
        """The domains to look at: where the level is required, those that its pods are in already."""
        pinned: set[str] | None = None
        if together.required and any(leaf.active for leaf in leaves):
            pinned = {task.node or "" for leaf in leaves for task in leaf.tasks.values() if task.active}
        domains: Iterable[Domain] = (
            each for level in levels for each in tree.by_level.get(level, {}).values()
        )
        if pinned is not None:
            above = [
                each
                for each in tree.by_level.get(together.required or "", {}).values()
                if pinned & each.nodes.keys()
            ]
            allowed = [below for each in above for below in each.deepest_first()]
            domains = [each for each in domains if each in allowed]
        return list(domains)

    def score(self, task: Task, node: Node) -> float | None:
        """What the preferred level gives a node for a pod; None where the pod may not go there."""
        if not self.scores:
            return 0.0
        member: Branch | Leaf | None = task.group.leaves[task.leaf]
        while member is not None:
            scores = self.scores.get(member.name)
            if scores is not None:
                return scores.get(node.name)
            member = member.parent
        return 0.0


def no_room(domain: Domain, total: Sequence[float], count: int) -> str:
    """That a domain has too little, in KAI's words."""
    if domain.room is not None:
        return (
            f"<{domain.id}>: node-group {domain.id} can allocate only {domain.room} of {count} required pods"
        )
    for number, name in ((CPU, "CPU cores"), (MEMORY, "memory"), (GPU, "GPUs")):
        if total[number] > domain.free[number]:
            return f"<{domain.id}>: {domain.id} didn't have enough resources: {name}"
    return f"<{domain.id}>: {domain.id} didn't have enough resources"


def no_match(tree: DomainTree, member: Branch | Leaf, group: Group, why: str = "") -> str:
    """That no domain will do, in KAI's words."""
    part = f", subgroup {member.name}" if member.name not in {"", "default"} else ""
    required = (member.together.required if member.together else None) or ""
    end = f": {why}" if why else ""
    return (
        f"topology {tree.name}, requirement {required} couldn't be satisfied"
        f" for job <{group.name}>{part}{end}"
    )


def _summed(tasks: Sequence[Task]) -> list[float]:
    return [sum(column) for column in zip(*(task.vector for task in tasks), strict=True)]


def _measure(tree: DomainTree, top: Domain, tasks: Sequence[Task]) -> None:
    """How much is free in every domain below ``top``, and how many pods have room there."""
    width = len(tasks[0].vector)
    for domains in tree.by_level.values():
        for domain in domains.values():
            domain.room, domain.free = None, [0.0] * width
    largest = None
    if _alike(tasks):
        largest = [max(column) for column in zip(*(task.vector for task in tasks), strict=True)]
    _measure_below(top, largest, len(tasks))


def _measure_below(domain: Domain, largest: list[float] | None, count: int) -> None:
    for child in domain.children:
        _measure_below(child, largest, count)
    parts = [child.free for child in domain.children] or [
        node.not_allocated() for node in domain.nodes.values()
    ]
    domain.free = [sum(column) for column in zip(*parts, strict=True)] if parts else domain.free
    if largest is None:
        return
    if domain.children:
        domain.room = sum(child.room or 0 for child in domain.children)
    else:
        domain.room = sum(_accommodates(node, largest, count) for node in domain.nodes.values())


def _alike(tasks: Sequence[Task]) -> bool:
    """Whether all pods ask for the same kinds of resources."""
    with_gpus = sum(task.gpus > 0 for task in tasks)
    if with_gpus not in {0, len(tasks)}:
        return False
    for number in range(PODS + 1, len(tasks[0].vector)):
        if sum(task.vector[number] > 0 for task in tasks) not in {0, len(tasks)}:
            return False
    return True


def _accommodates(node: Node, largest: Sequence[float], count: int) -> int:
    asked = [amount for number, amount in enumerate(largest) if number != PODS]
    if not any(asked) and largest[PODS] <= 1:
        return count
    free = node.not_allocated()
    if 0 < largest[GPU] < 1:
        free[GPU] += node.shared.available()
    if any(wanted > have for wanted, have in zip(largest, free, strict=True)):
        return 0
    return min(int(have / wanted) for wanted, have in zip(largest, free, strict=True) if wanted > 0)


def _has_room(domain: Domain, total: Sequence[float], count: int) -> bool:
    if domain.room is not None:
        return domain.room >= count
    return _ratio(domain, total) <= 1.0


def _ratio(domain: Domain, total: Sequence[float]) -> float:
    """What is asked for to what is free, of the resource of which there is least."""
    largest = 0.0
    for number, wanted in enumerate(total):
        if wanted <= 0 or number == PODS:
            continue
        free = domain.free[number] if domain.free else 0.0
        largest = max(largest, _NO_ROOM if free <= 0 else wanted / free)
    return largest


def _sort(domain: Domain, total: Sequence[float], deepest: str | None) -> None:
    """Tightest first, then by name, down to a level."""
    if deepest is None:
        return
    domain.children.sort(key=lambda child: (-_ratio(child, total), child.id))
    if domain.level == deepest:
        return
    for child in domain.children:
        _sort(child, total, deepest)


def _scores(domain: Domain, preferred: str) -> dict[str, float]:
    ordered = domain.at_level(preferred)
    scores: dict[str, float] = {}
    for rank, each in enumerate(ordered, start=1):
        for name in each.nodes:
            scores[name] = math.floor(rank / len(ordered) * 10) * SCORE
    return scores
