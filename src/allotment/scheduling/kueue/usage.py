"""What is in use at each node of the quota tree, and what is left: the arithmetic of every decision.

A cohort bears only what its children use beyond what they keep for themselves. The functions have the names
of what they answer; their rules are those of ``resource_node.go`` and ``clusterqueue_snapshot.go`` in
``pkg/cache/scheduler``, and of ``FindHeightOfLowestSubtreeThatFits`` in ``preemption/classical``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from allotment.scheduling.kueue.tree import Cell, Node, Tree
from allotment.scheduling.state.amounts import minus, plus

Cells = Mapping[Cell, int]


class Usage:
    """Amounts in use by node; a fork is independent of what it came from."""

    __slots__ = ("_used",)

    def __init__(self, used: Iterable[dict[Cell, int]]) -> None:
        self._used = list(used)

    @classmethod
    def nothing(cls, tree: Tree) -> Usage:
        """Nothing in use anywhere."""
        return cls({} for _ in tree.nodes)

    def fork(self) -> Usage:
        """A copy to work on."""
        return Usage(dict(used) for used in self._used)

    def of(self, node: Node) -> dict[Cell, int]:
        """The amounts of one node, to be read only."""
        return self._used[node.index]

    def used(self, node: Node, cell: Cell) -> int:
        """How much of one cell a node uses."""
        return self._used[node.index].get(cell, 0)

    def add(self, node: Node, cell: Cell, amount: int) -> None:
        """Use more; what a node does not keep for itself is borne by its cohort as well."""
        step: Node | None = node
        while step is not None:
            used = self._used[step.index]
            before = used.get(cell, 0)
            free = max(0, minus(step.kept.get(cell, 0), before))
            used[cell] = plus(before, amount)
            if amount <= free:
                return
            amount = minus(amount, free)
            step = step.parent

    def remove(self, node: Node, cell: Cell, amount: int) -> None:
        """Use less."""
        step: Node | None = node
        while step is not None:
            used = self._used[step.index]
            before = used.get(cell, 0)
            borne = minus(before, step.kept.get(cell, 0))
            used[cell] = minus(before, amount)
            if borne <= 0:
                return
            amount = min(amount, borne)
            step = step.parent

    def add_all(self, node: Node, cells: Cells) -> None:
        """Use more of several cells."""
        for cell, amount in cells.items():
            self.add(node, cell, amount)

    def remove_all(self, node: Node, cells: Cells) -> None:
        """Use less of several cells."""
        for cell, amount in cells.items():
            self.remove(node, cell, amount)

    def kept_free(self, node: Node, cell: Cell) -> int:
        """What a node keeps for itself and does not use."""
        return max(0, minus(node.kept.get(cell, 0), self.used(node, cell)))

    def available(self, node: Node, cell: Cell) -> int:
        """What a ClusterQueue could still have; never less than nothing."""
        return max(0, self._left(node, cell))

    def _left(self, node: Node, cell: Cell) -> int:
        own, used = node.subtree.get(cell, 0), self.used(node, cell)
        if node.parent is None:
            return minus(own, used)
        above = self._left(node.parent, cell)
        kept = node.kept.get(cell, 0)
        quota = node.quotas.get(cell)
        if quota is not None and quota.borrowing is not None:
            lent = minus(own, kept)
            borne = max(0, minus(used, kept))
            above = min(above, plus(minus(lent, borne), quota.borrowing))
        return plus(max(0, minus(kept, used)), above)

    def borrows_with(self, node: Node, cell: Cell, amount: int) -> bool:
        """Whether a node would use more than its quota (a cohort: than its subtree has) with this amount."""
        own = node.nominal(cell) if node.queue is not None else node.subtree.get(cell, 0)
        return own < plus(self.used(node, cell), amount)

    def exceeds(self, node: Node, cells: Iterable[Cell]) -> bool:
        """Whether a node uses more than it has of any of these."""
        used = self._used[node.index]
        return any(node.subtree.get(cell, 0) < used.get(cell, 0) for cell in cells)

    def lowest_fit(self, node: Node, cell: Cell, amount: int) -> tuple[int, bool]:
        """How high the lowest subtree is in which an amount fits, and whether it is not the whole tree."""
        if node.parent is None or not self.borrows_with(node, cell, amount):
            return 0, node.parent is not None
        rest = minus(amount, self.kept_free(node, cell))
        for cohort in node.above():
            if not self.borrows_with(cohort, cell, rest):
                return cohort.height, cohort.parent is not None
            rest = minus(rest, self.kept_free(cohort, cell))
        return node.root.height, False

    def fits_quota(self, node: Node, requests: Cells) -> tuple[bool, dict[Cell, int]]:
        """Whether requests fit in what a node has, and what of them its own share does not cover."""
        used = self._used[node.index]
        fits = all(
            node.subtree.get(cell, 0) >= plus(used.get(cell, 0), need) for cell, need in requests.items()
        )
        rest = {cell: max(0, minus(need, self.kept_free(node, cell))) for cell, need in requests.items()}
        return fits, rest
