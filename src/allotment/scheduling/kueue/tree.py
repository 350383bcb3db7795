"""The tree of quotas: what each ClusterQueue and Cohort has, keeps, lends and may borrow.

Nothing in it depends on use; ``usage.py`` has that. Of a node's quota the part above its lending limit stays
with it, the rest is seen by its cohort; the sum of both with what the children lend is the node's subtree.
The rules are those of ``resource_node.go`` and ``cohort.go`` in ``pkg/cache/scheduler``. A cohort that is
named but not there is an empty root; cohorts in a circle switch everything below them off.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from allotment.scheduling.state.amounts import minus, plus
from allotment.scheduling.state.queues import MULTIKUEUE, ClusterQueue, Cohort, Quota, ResourceGroup
from allotment.scheduling.state.state import State

Cell = tuple[str, str]
"""A flavor and a resource: what quota is given of."""

CYCLE = "HasCycle"


@dataclass(eq=False, slots=True)
class Node:
    """A ClusterQueue (``queue`` is set) or a Cohort; it is not changed once the tree stands."""

    index: int
    name: str
    weight: float
    queue: ClusterQueue | None = None
    parent: Node | None = None
    cohorts: list[Node] = field(default_factory=list)
    queues: list[Node] = field(default_factory=list)
    quotas: dict[Cell, Quota] = field(default_factory=dict)
    subtree: dict[Cell, int] = field(default_factory=dict)
    kept: dict[Cell, int] = field(default_factory=dict)
    most: dict[Cell, int] = field(default_factory=dict)
    lendable: dict[str, int] = field(default_factory=dict)
    height: int = 0

    def above(self) -> Iterator[Node]:
        """The cohorts from its own up to the root."""
        step = self.parent
        while step is not None:
            yield step
            step = step.parent

    @property
    def root(self) -> Node:
        """The top of its tree."""
        step = self
        while step.parent is not None:
            step = step.parent
        return step

    def leaves(self) -> Iterator[Node]:
        """The ClusterQueues at and below it."""
        yield from self.queues
        for cohort in self.cohorts:
            yield from cohort.leaves()

    def nominal(self, cell: Cell) -> int:
        """Its own quota."""
        quota = self.quotas.get(cell)
        return quota.nominal if quota else 0

    @property
    def path(self) -> str:
        """Where it stands, from the root: ``/root/cohort/queue``."""
        names = [self.name, *(node.name for node in self.above())]
        return "/" + "/".join(reversed(names))


@dataclass(frozen=True, slots=True)
class Tree:
    """All nodes; ``inactive`` are the ClusterQueues that take no part, with the reason."""

    nodes: tuple[Node, ...]
    queues: Mapping[str, Node]
    cohorts: Mapping[str, Node]
    inactive: Mapping[str, str]

    def members(self, name: str) -> tuple[str, ...]:
        """The ClusterQueues that share quota with one, itself too."""
        node = self.queues.get(name)
        if node is None:
            return (name,)
        return (name,) if node.parent is None else tuple(leaf.name for leaf in node.root.leaves())


def grow(state: State) -> Tree:
    """The tree of the state's queues and cohorts."""
    parents = {name: cohort.parent for name, cohort in state.cohorts.items()}
    circling = {name for name in parents if _circles(name, parents)}
    nodes: list[Node] = []
    cohorts: dict[str, Node] = {}
    queues: dict[str, Node] = {}
    inactive: dict[str, str] = {}
    for cohort in state.cohorts.values():
        if cohort.name not in circling:
            _cohort_node(cohort.name, state.cohorts, nodes, cohorts)
    for queue in state.cluster_queues.values():
        reason = CYCLE if queue.cohort in circling else queue.inactive or _lacking(queue, state)
        if reason:
            inactive[queue.name] = reason
        if queue.cohort in circling:
            continue
        node = Node(len(nodes), queue.name, queue.weight, queue, quotas=_quotas(queue.groups))
        nodes.append(node)
        queues[queue.name] = node
        if queue.cohort:
            node.parent = _cohort_node(queue.cohort, state.cohorts, nodes, cohorts)
            node.parent.queues.append(node)
    for node in nodes:
        if node.parent is None:
            _gather(node)
            _spread(node)
    return Tree(tuple(nodes), queues, cohorts, inactive)


def _lacking(queue: ClusterQueue, state: State) -> str | None:
    """What a ClusterQueue needs that is not there (``inactiveReason`` of clusterqueue.go)."""
    flavors = [state.flavors.get(name) for group in queue.groups for name in group.flavors]
    if any(flavor is None for flavor in flavors):
        return "FlavorNotFound"
    if any(not check.active for check in queue.checks):
        return "AdmissionCheckInactive"
    if any(check.controller == MULTIKUEUE for check in queue.checks):
        return None
    topologies = [flavor.topology for flavor in flavors if flavor is not None and flavor.topology is not None]
    return None if all(name in state.topologies for name in topologies) else "TopologyNotFound"


def _circles(name: str, parents: Mapping[str, str | None]) -> bool:
    seen: set[str] = set()
    step: str | None = name
    while step is not None:
        if step in seen:
            return True
        seen.add(step)
        step = parents.get(step)
    return False


def _cohort_node(name: str, known: Mapping[str, Cohort], nodes: list[Node], made: dict[str, Node]) -> Node:
    if name in made:
        return made[name]
    cohort = known.get(name, Cohort(name))
    node = Node(len(nodes), name, cohort.weight, quotas=_quotas(cohort.groups))
    nodes.append(node)
    made[name] = node
    if cohort.parent:
        node.parent = _cohort_node(cohort.parent, known, nodes, made)
        node.parent.cohorts.append(node)
    return node


def _quotas(groups: tuple[ResourceGroup, ...]) -> dict[Cell, Quota]:
    return {cell: quota for group in groups for cell, quota in group.quotas.items()}


def _gather(node: Node) -> None:
    """Subtrees and heights, from below."""
    node.subtree = {cell: quota.nominal for cell, quota in node.quotas.items()}
    node.height = 1 if node.cohorts or node.queues else 0
    for child in (*node.cohorts, *node.queues):
        _gather(child)
        for cell, amount in child.subtree.items():
            lent = minus(amount, child.kept[cell])
            node.subtree[cell] = plus(node.subtree.get(cell, 0), lent)
    node.height = max([node.height, *(child.height + 1 for child in node.cohorts)])
    node.kept = {
        cell: 0 if quota is None or quota.lending is None else max(0, minus(amount, quota.lending))
        for cell, amount in node.subtree.items()
        for quota in [node.quotas.get(cell)]
    }


def _spread(node: Node) -> None:
    """What each could have with nothing in use, from above; and what a cohort has to lend by resource."""
    cells = node.root.subtree
    for cell in cells:
        quota = node.quotas.get(cell)
        own = node.subtree.get(cell, 0)
        if node.parent is None:
            node.most[cell] = own
            continue
        most = plus(node.kept.get(cell, 0), node.parent.most[cell])
        if quota is not None and quota.borrowing is not None:
            most = min(most, plus(own, quota.borrowing))
        node.most[cell] = most
    for cell in cells:
        node.lendable[cell[1]] = plus(node.lendable.get(cell[1], 0), node.most[cell])
    for child in (*node.cohorts, *node.queues):
        _spread(child)
