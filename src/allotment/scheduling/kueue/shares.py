"""The dominant resource share: how much a queue or cohort has borrowed of what there is to borrow.

Per resource, what is used beyond quota in all flavors, over all that the parent could have, in thousandths;
the largest counts, divided by the weight. A node of weight zero that borrows stands above all others. The
rules are those of ``fair_sharing.go`` in ``pkg/cache/scheduler``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from allotment.scheduling.kueue.tree import Cell, Node
from allotment.scheduling.kueue.usage import Usage
from allotment.scheduling.state.amounts import UNLIMITED, minus, plus


@dataclass(frozen=True, slots=True)
class Share:
    """A share; ``borrowed`` are the cells that are used beyond quota."""

    weight: float = 1.0
    ratio: float = 0.0
    resource: str = ""
    borrowed: tuple[Cell, ...] = ()

    @property
    def borrows(self) -> bool:
        """Whether anything is used beyond quota."""
        return bool(self.borrowed)

    @property
    def rank(self) -> tuple[int, float]:
        """What shares are compared by."""
        if self.weight == 0 and self.ratio != 0:
            return 1, self.ratio
        return 0, self.precise

    @property
    def precise(self) -> float:
        """The weighted share."""
        if self.ratio == 0:
            return 0.0
        return float("inf") if self.weight == 0 else self.ratio / self.weight

    @property
    def rounded(self) -> int:
        """As a status tells it."""
        return UNLIMITED if self.rank[0] else -int(-self.precise // 1)

    def borrows_any(self, cells: Mapping[Cell, int]) -> bool:
        """Whether it borrows of what is asked for."""
        return any(cells.get(cell, 0) > 0 for cell in self.borrowed)


LEAST = Share(ratio=-1.0)
"""Below every share that there is."""


def share_of(usage: Usage, node: Node, more: Mapping[Cell, int] | None = None) -> Share:
    """The share of a node with what it uses, and perhaps ``more``; a root has none."""
    if node.parent is None:
        return Share(node.weight)
    used = usage.of(node)
    extra = more or {}
    borrowed: list[Cell] = []
    amounts: dict[str, int] = {}
    for cell, own in node.subtree.items():
        beyond = minus(plus(extra.get(cell, 0), used.get(cell, 0)), own)
        if beyond > 0:
            borrowed.append(cell)
            amounts[cell[1]] = plus(amounts.get(cell[1], 0), beyond)
    ratio, resource = 0.0, ""
    for name, amount in amounts.items():
        lendable = node.parent.lendable.get(name, 0)
        if lendable <= 0:
            continue
        part = float(amount) * 1000.0 / float(lendable)
        if part > ratio or (part == ratio and name < resource):
            ratio, resource = part, name
    return Share(node.weight, ratio, resource, tuple(borrowed))
