"""How many pods and slices each domain could take: the first half of placement, from the leaves up.

Beside the plain number each domain has the number with one leader placed in it, and whether a leader finds
room at all; a parent loses to the leader as little as the child that loses least. Nodes that are no use are
counted by what is wrong with them, for the message.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from allotment.devices.nodes import Node, NodeSelector
from allotment.scheduling.kueue.topology.asking import NodeNeeds, Wish
from allotment.scheduling.kueue.topology.domains import Domain, Domains, belongs, domain_id
from allotment.scheduling.kueue.topology.places import MANY, Places, Taken, fitting
from allotment.scheduling.state.nodes import untolerated


@dataclass(slots=True)
class Count:
    """How much finds room in a domain; later, how much it was given."""

    pods: int = 0
    slices: int = 0
    pods_led: int = 0
    slices_led: int = 0
    leaders: int = 0
    score: int = 0


@dataclass(slots=True)
class Excluded:
    """Why nodes were left out."""

    nodes: int = 0
    reasons: Counter[str] = field(default_factory=Counter)

    def words(self) -> str:
        """The end of a message, if there is anything to say."""
        if not self.reasons:
            return ""
        told = ", ".join(sorted(f"{reason}: {number}" for reason, number in self.reasons.items()))
        return f". Total nodes: {self.nodes}; excluded: {told}"


@dataclass(frozen=True, slots=True)
class Room:
    """What to count: pods (and a leader), within a domain, with what others of the workload have taken."""

    pod: Mapping[str, int]
    leader: Mapping[str, int] | None
    needs: NodeNeeds
    assumed: Taken
    preferred: tuple[tuple[int, NodeSelector], ...] = ()
    within: str = ""
    empty: bool = False


class Counts:
    """The numbers of all domains for one wish."""

    __slots__ = ("_counts", "domains", "excluded")

    def __init__(self, places: Places, room: Room, wish: Wish) -> None:
        self.domains: Domains = places.domains
        self.excluded = Excluded()
        self._counts = [Count() for _ in range(self.domains.number)]
        for leaf in _suiting(places, room.needs, self.excluded):
            self._count_leaf(places, leaf, room)
        for root in self.domains.roots:
            self.count_up(root, wish, 0)

    def of(self, domain: Domain) -> Count:
        """The numbers of a domain."""
        return self._counts[domain.index]

    def _count_leaf(self, places: Places, leaf: Domain, room: Room) -> None:
        if not belongs(domain_id(leaf.values), room.within):
            self.excluded.reasons["topologyDomain"] += 1
            return
        free = places.free(leaf, empty=room.empty)
        for resource, amount in room.assumed.get(leaf.name, {}).items():
            free[resource] = free.get(resource, 0) - amount
        count = self.of(leaf)
        count.score = _score(leaf, room)
        count.pods, scarce = fitting(room.pod, free)
        if not count.pods and scarce:
            self.excluded.reasons[f'resource "{scarce}"'] += 1
        if room.leader is not None and fitting(room.leader, free)[0] > 0:
            count.leaders = 1
            for resource, amount in room.leader.items():
                free[resource] = free.get(resource, 0) - amount
            count.pods_led = fitting(room.pod, free)[0]
        else:
            count.pods_led = count.pods

    def copy(self) -> Counts:
        """The same numbers, to be changed."""
        other = Counts.__new__(Counts)
        other.domains, other.excluded = self.domains, self.excluded
        other._counts = [replace(count) for count in self._counts]
        return other

    def count_up(self, domain: Domain, wish: Wish, level: int) -> None:
        """Make the numbers of a domain out of those of what is below it."""
        count = self.of(domain)
        if not domain.children:
            if level == wish.slice_level:
                count.slices, count.slices_led = count.pods // wish.size, count.pods_led // wish.size
            return
        size = wish.inner.get(level + 1, 1)
        pods = slices = leaders = score = 0
        least_pods = least_slices = MANY
        led = False
        for child in domain.children:
            self.count_up(child, wish, level + 1)
            below = self.of(child)
            whole, whole_led = below.pods // size * size, below.pods_led // size * size
            pods += whole
            slices += below.slices
            leaders = max(leaders, below.leaders)
            score += below.score
            if not wish.leaders or below.leaders:
                led = True
                least_pods = min(least_pods, whole - whole_led)
                least_slices = min(least_slices, below.slices - below.slices_led)
        count.pods, count.leaders, count.score = pods, leaders, score
        count.pods_led = pods - least_pods if led else 0
        count.slices, count.slices_led = slices, slices - least_slices if led else 0
        if level == wish.slice_level:
            count.slices, count.slices_led = pods // wish.size, count.pods_led // wish.size


def _score(leaf: Domain, room: Room) -> int:
    """How much a node is preferred."""
    if leaf.node is None or not room.preferred:
        return 0
    node = Node(leaf.node.name, leaf.node.labels)
    return sum(weight for weight, selector in room.preferred if selector.matches(node))


def _suiting(places: Places, needs: NodeNeeds, excluded: Excluded) -> list[Domain]:
    """The leaves that pods may be placed on, whatever room they have."""
    domains = places.domains
    excluded.nodes += len(domains.leaves)
    if not domains.by_node:
        return list(domains.leaves.values())
    known = places.suiting.get(needs)
    if known is None:
        known = _looked_at(domains, needs)
        places.suiting[needs] = known
    excluded.reasons.update(known[1])
    return known[0]


def _looked_at(domains: Domains, needs: NodeNeeds) -> tuple[list[Domain], Counter[str]]:
    suiting: list[Domain] = []
    reasons: Counter[str] = Counter()
    for leaf in domains.leaves.values():
        why = _unsuited(leaf, needs)
        if why is None:
            suiting.append(leaf)
        else:
            reasons[why] += 1
    return suiting, reasons


def _unsuited(leaf: Domain, needs: NodeNeeds) -> str | None:
    node = leaf.node
    if node is None:
        return None
    taint = untolerated(node.taints, needs.tolerations)
    if taint is not None:
        return f'taint "{taint.label}"'
    if any(node.labels.get(key) != value for key, value in needs.selector):
        return "nodeSelector"
    if needs.affinity is not None and not needs.affinity.matches(Node(node.name, node.labels)):
        return "affinity"
    return None
