"""The domains of a topology as the nodes of a flavor make them: what is static about placement.

The rules are those of ``newTopologyTree`` in ``tas_topology_tree.go``: nodes that are ready, may be scheduled
to, carry the flavor's labels and a label of every level. Where the lowest level is the node's own name, a
leaf is one node and is known by that name alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from allotment.scheduling.state.nodes import HOSTNAME, ClusterNode, Flavor, Topology

_JOINT = ","


def domain_id(values: Iterable[str]) -> str:
    """The name of a domain: its values from the top."""
    return _JOINT.join(values)


def belongs(domain: str, to: str) -> bool:
    """Whether a domain is another one or within it; everything is within the nameless one."""
    return not to or domain == to or domain.startswith(to + _JOINT)


@dataclass(eq=False, slots=True)
class Domain:
    """A block, a rack, a node; not changed once the tree stands."""

    index: int
    name: str
    values: tuple[str, ...]
    parent: Domain | None = None
    children: list[Domain] = field(default_factory=list)
    capacity: dict[str, int] = field(default_factory=dict)
    node: ClusterNode | None = None

    def at(self, depth: int) -> Domain:
        """The domain above it (or itself) that has this many values."""
        step = self
        while len(step.values) > depth and step.parent is not None:
            step = step.parent
        return step


@dataclass(frozen=True, slots=True)
class Domains:
    """All domains of one flavor, by level and by leaf."""

    topology: str
    levels: tuple[str, ...]
    by_level: tuple[Mapping[str, Domain], ...]
    leaves: Mapping[str, Domain]
    number: int
    by_node: bool

    @property
    def roots(self) -> Iterable[Domain]:
        """The domains of the highest level."""
        return self.by_level[0].values() if self.by_level else ()

    def level(self, key: str) -> int | None:
        """How deep a level is."""
        return self.levels.index(key) if key in self.levels else None

    def leaf_of(self, values: tuple[str, ...]) -> Domain | None:
        """The leaf that an assignment means by these values."""
        return self.leaves.get(domain_id(values))


def domains_of(flavor: Flavor, topology: Topology, nodes: Iterable[ClusterNode]) -> Domains:
    """The domains that a flavor's nodes make."""
    levels = topology.levels
    by_node = bool(levels) and levels[-1] == HOSTNAME
    by_level: tuple[dict[str, Domain], ...] = tuple({} for _ in levels)
    leaves: dict[str, Domain] = {}
    made: list[Domain] = []
    for node in nodes:
        if not _counts(node, flavor, levels):
            continue
        values = tuple(node.labels[level] for level in levels)
        name = values[-1] if by_node else domain_id(values)
        leaf = leaves.get(name)
        if leaf is None:
            leaf = _made(made, by_level, name, values)
            leaf.node = node if by_node else None
            leaves[name] = leaf
        for resource, amount in node.allocatable.items():
            leaf.capacity[resource] = leaf.capacity.get(resource, 0) + amount
        for resource, amount in node.taken.items():
            leaf.capacity[resource] = leaf.capacity.get(resource, 0) - amount
    return Domains(topology.name, levels, by_level, leaves, len(made), by_node)


def _counts(node: ClusterNode, flavor: Flavor, levels: tuple[str, ...]) -> bool:
    if not (node.ready and node.schedulable):
        return False
    labelled = all(node.labels.get(key) == value for key, value in flavor.labels.items())
    return labelled and all(level in node.labels for level in levels)


def _made(
    made: list[Domain], by_level: tuple[dict[str, Domain], ...], name: str, values: tuple[str, ...]
) -> Domain:
    domain = Domain(len(made), name, values)
    made.append(domain)
    by_level[len(values) - 1][name] = domain
    if len(values) == 1:
        return domain
    above = values[:-1]
    parent = by_level[len(above) - 1].get(domain_id(above))
    if parent is None:
        parent = _made(made, by_level, domain_id(above), above)
    domain.parent = parent
    parent.children.append(domain)
    return domain
