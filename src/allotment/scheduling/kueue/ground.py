"""What one cycle works on: usage, the workloads that hold it, and placements, all to be tried and undone.

It is Kueue's ``Snapshot``: made at the start of a cycle, private to it and thrown away at its end.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from allotment.scheduling.kueue.charges import DomainUse, Info
from allotment.scheduling.kueue.settings import Settings
from allotment.scheduling.kueue.topology.places import Places
from allotment.scheduling.kueue.tree import Cell, Node, Tree
from allotment.scheduling.kueue.usage import Usage
from allotment.scheduling.state.nodes import Flavor

Placed = Mapping[str, tuple[DomainUse, ...]]


@dataclass(slots=True)
class Ground:
    """The state of a cycle. ``lines`` is what each LocalQueue has used of late, where that matters."""

    tree: Tree
    usage: Usage
    held: Mapping[str, Mapping[str, Info]]
    flavors: Mapping[str, Flavor]
    places: Mapping[str, Places]
    settings: Settings
    now: float
    cycle: int = 0
    generations: Mapping[str, int] = field(default_factory=dict)
    lines: Mapping[str, float] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)

    def node(self, info: Info) -> Node:
        """The ClusterQueue of a workload."""
        return self.tree.queues[info.cluster_queue]

    def active(self, nodes: Iterable[Node]) -> Iterator[Node]:
        """The ClusterQueues that take part."""
        inactive = self.tree.inactive
        return (node for node in nodes if node.name not in inactive)

    def holders(self, node: Node) -> Iterator[Info]:
        """The workloads that hold quota of a ClusterQueue."""
        for key, info in self.held.get(node.name, {}).items():
            if key not in self.gone:
                yield info

    def places_of(self, node: Node) -> Mapping[str, Places]:
        """The flavors of a ClusterQueue that have a topology."""
        queue = node.queue
        if queue is None or not self.places:
            return {}
        return {
            flavor: self.places[flavor]
            for group in queue.groups
            for flavor in group.flavors
            if flavor in self.places
        }

    def only_places(self, node: Node) -> bool:
        """Whether every flavor of a ClusterQueue has a topology."""
        queue = node.queue
        if queue is None:
            return False
        return all(flavor in self.places for group in queue.groups for flavor in group.flavors)

    def use(self, node: Node, cells: Mapping[Cell, int], placed: Placed) -> None:
        """Let a ClusterQueue use more."""
        self.usage.add_all(node, cells)
        self._place(node, placed, 1)

    def free(self, node: Node, cells: Mapping[Cell, int], placed: Placed) -> None:
        """Let a ClusterQueue use less."""
        self.usage.remove_all(node, cells)
        self._place(node, placed, -1)

    def _place(self, node: Node, placed: Placed, sign: int) -> None:
        if not placed:
            return
        there = self.places_of(node)
        for flavor, uses in placed.items():
            if flavor in there:
                for use in uses:
                    there[flavor].take(use, sign)

    def remove(self, info: Info) -> None:
        """Take a workload out: what it holds is free, and it is nobody's victim any more."""
        self.gone.add(info.key)
        self.free(self.node(info), info.cells, info.placed)

    def put_back(self, info: Info) -> None:
        """Put it in again."""
        self.gone.discard(info.key)
        self.use(self.node(info), info.cells, info.placed)

    @contextmanager
    def without_use(self, infos: Iterable[Info]) -> Iterator[None]:
        """As if what these workloads hold were free."""
        taken = list(infos)
        for info in taken:
            self.free(self.node(info), info.cells, info.placed)
        try:
            yield
        finally:
            for info in taken:
                self.use(self.node(info), info.cells, info.placed)

    @contextmanager
    def without(self, infos: Iterable[Info]) -> Iterator[None]:
        """As if these workloads were not there."""
        taken = list(infos)
        for info in taken:
            self.remove(info)
        try:
            yield
        finally:
            for info in taken:
                self.put_back(info)

    @contextmanager
    def with_use(self, node: Node, cells: Mapping[Cell, int], placed: Placed) -> Iterator[None]:
        """As if a ClusterQueue used more."""
        self.use(node, cells, placed)
        try:
            yield
        finally:
            self.free(node, cells, placed)

    @contextmanager
    def without_cells(self, node: Node, cells: Mapping[Cell, int], placed: Placed) -> Iterator[None]:
        """As if a ClusterQueue used less."""
        self.free(node, cells, placed)
        try:
            yield
        finally:
            self.use(node, cells, placed)
