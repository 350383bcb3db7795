"""What a ClusterQueue has free for pods of a kind, from the books that Kueue's model keeps anyway."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from allotment.scheduling.kueue import Memory
from allotment.scheduling.kueue.tree import Cell, Node, Tree
from allotment.scheduling.kueue.usage import Usage
from allotment.scheduling.state.workloads import PodSetAdmission

PLENTY: Final = 1 << 30
Costs = Mapping[Cell, int]
"""What one pod takes of each flavor and resource."""


@dataclass(frozen=True, slots=True)
class Quotas:
    """The tree of quotas with what is used."""

    tree: Tree
    usage: Usage

    @classmethod
    def of(cls, memory: Memory) -> Quotas | None:
        """Those of the model's memory, once it has any."""
        if memory.tree is None or memory.usage is None:
            return None
        return cls(memory.tree, memory.usage)

    def root_of(self, queue: str) -> str:
        """The top of the tree that a queue is in."""
        return self.tree.queues[queue].root.name

    def pods(self, queue: str, costs: Costs) -> int:
        """How many pods more fit without a victim."""
        node = self.tree.queues[queue]
        return _least({cell: self.usage.available(node, cell) for cell in costs}, costs)

    def most(self, queue: str, costs: Costs) -> int:
        """How many would fit with nothing in use."""
        node = self.tree.queues[queue]
        return _least({cell: node.most.get(cell, 0) for cell in costs}, costs)

    def borrows(self, queue: str, costs: Costs, pods: int) -> bool:
        """Whether so many pods more would use more than is the queue's own."""
        node = self.tree.queues[queue]
        return any(self.usage.borrows_with(node, cell, cost * pods) for cell, cost in costs.items() if cost)

    def borrowed(self, queue: str, cell: Cell) -> int:
        """How much of a cell a queue uses that is not its own."""
        node = self.tree.queues[queue]
        return max(0, self.usage.used(node, cell) - node.nominal(cell))

    def own_left(self, queue: str, cell: Cell) -> int:
        """How much of its own quota a queue does not use."""
        node = self.tree.queues[queue]
        return max(0, node.nominal(cell) - self.usage.used(node, cell))

    def available(self, queue: str, cell: Cell) -> int:
        """How much of a cell a queue could have without a victim."""
        return self.usage.available(self.tree.queues[queue], cell)

    def best(self, queue: str, requests: Mapping[str, int], *, empty: bool = False) -> Costs:
        """What a pod would cost in the flavors that have most room for it."""
        node = self.tree.queues[queue]
        costs: dict[Cell, int] = {}
        for group in node.queue.groups if node.queue is not None else ():
            asked = {name: requests[name] for name in group.resources if requests.get(name)}
            if asked:
                flavor = max(group.flavors, key=lambda each: self._room(node, each, asked, empty=empty))
                costs |= {(flavor, name): amount for name, amount in asked.items()}
        return costs

    def _room(self, node: Node, flavor: str, asked: Mapping[str, int], *, empty: bool) -> int:
        cells = {(flavor, name): amount for name, amount in asked.items()}
        return self.most(node.name, cells) if empty else self.pods(node.name, cells)


def costs_of(given: PodSetAdmission) -> Costs:
    """What one pod of an admission takes."""
    return {
        (given.flavors[name], name): amount // max(1, given.count)
        for name, amount in given.usage.items()
        if name in given.flavors
    }


def _least(amounts: Costs, costs: Costs) -> int:
    return min((amounts[cell] // cost for cell, cost in costs.items() if cost > 0), default=PLENTY)
