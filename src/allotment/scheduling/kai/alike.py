"""Nodes that are alike, so that a pod need be tried on one of them only.

Most nodes of a cluster have the same size and many are equally full. They are kept in bunches, each in order
of names, and only nodes that have changed are looked at again.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Mapping, Sequence

from allotment.scheduling.kai.nodes import Node


class Alike:
    """All nodes of a session in bunches."""

    def __init__(self, nodes: Mapping[str, Node]) -> None:
        self.nodes = nodes
        self.changed = set(nodes)
        self.bunches: dict[object, list[str]] = {}
        self.where: dict[str, object] = {}
        for node in nodes.values():
            node.changed = self.changed

    def of_all(self) -> list[list[str]]:
        """The bunches of all nodes, by name."""
        for name in self.changed:
            likeness = self.nodes[name].like()
            before = self.where.get(name)
            if before == likeness:
                continue
            if before is not None:
                self._take_out(before, name)
            insort(self.bunches.setdefault(likeness, []), name)
            self.where[name] = likeness
        self.changed.clear()
        return list(self.bunches.values())

    def _take_out(self, likeness: object, name: str) -> None:
        bunch = self.bunches[likeness]
        del bunch[bisect_left(bunch, name)]
        if not bunch:
            del self.bunches[likeness]

    def of(self, nodes: Sequence[Node]) -> list[list[str]]:
        """The bunches of some nodes."""
        if len(nodes) == len(self.nodes):
            return self.of_all()
        return grouped(nodes)


def grouped(nodes: Iterable[Node]) -> list[list[str]]:
    """Nodes in bunches."""
    bunches: dict[object, list[str]] = {}
    for node in nodes:
        bunches.setdefault(node.like(), []).append(node.name)
    for bunch in bunches.values():
        bunch.sort()
    return list(bunches.values())
