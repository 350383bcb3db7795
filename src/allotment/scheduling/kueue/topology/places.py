"""What is free in the domains of one flavor during one cycle.

Workloads that are placed take their pods' requests and one of ``pods`` each. Where two flavors share nodes,
each sees what is placed through the other when the cycle starts (gate TASHandleOverlappingFlavors).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from allotment.scheduling.kueue.charges import DomainUse, Info
from allotment.scheduling.kueue.topology.domains import Domain, Domains, domain_id
from allotment.scheduling.state.amounts import PODS
from allotment.scheduling.state.nodes import Flavor

Taken = dict[str, dict[str, int]]


def take(taken: Taken, leaf: str, use: DomainUse, sign: int = 1) -> None:
    """Note what pods take of a leaf (or give back)."""
    there = taken.setdefault(leaf, {})
    for resource, amount in use.pod.items():
        there[resource] = there.get(resource, 0) + sign * amount * use.count
    there[PODS] = there.get(PODS, 0) + sign * use.count


class Places:
    """The domains of one flavor, with what workloads take."""

    __slots__ = ("domains", "flavor", "suiting", "taken")

    def __init__(self, flavor: Flavor, domains: Domains, taken: Taken | None = None) -> None:
        self.flavor = flavor
        self.domains = domains
        self.taken: Taken = taken or {}
        self.suiting: dict[object, tuple[list[Domain], Counter[str]]] = {}

    def fork(self) -> Places:
        """A copy to work on."""
        return Places(
            self.flavor, self.domains, {leaf: dict(amounts) for leaf, amounts in self.taken.items()}
        )

    def take(self, use: DomainUse, sign: int) -> None:
        """Pods come to a domain, or leave it; a domain whose nodes are gone has nothing to count."""
        leaf = domain_id(use.values)
        if leaf in self.domains.leaves:
            take(self.taken, leaf, use, sign)

    def free(self, leaf: Domain, *, empty: bool = False) -> dict[str, int]:
        """What is left of a leaf; ``empty``: if no workload were there."""
        taken = None if empty else self.taken.get(leaf.name)
        if not taken:
            return dict(leaf.capacity)
        left = dict(leaf.capacity)
        for resource, amount in taken.items():
            left[resource] = left.get(resource, 0) - amount
        return left

    def holds(self, uses: Iterable[DomainUse]) -> bool:
        """Whether each of these would still find room in its domain."""
        for use in uses:
            leaf = self.domains.leaf_of(use.values)
            if leaf is None or fitting(use.pod, self.free(leaf))[0] < use.count:
                return False
        return True


MANY = 2**31 - 1


def fitting(pod: Mapping[str, int], free: Mapping[str, int]) -> tuple[int, str]:
    """How many such pods find room, and the resource that ends it."""
    number, scarce = -1, ""
    for resource, amount in pod.items():
        count = MANY if amount == 0 else max(0, min(free.get(resource, 0) // amount, MANY))
        if number < 0 or count < number or (count == number and resource < scarce):
            number, scarce = count, resource
    return max(number, 0), scarce


def places_of(
    known: Mapping[str, tuple[Flavor, Domains]], held: Iterable[Info], *, shared: bool
) -> dict[str, Places]:
    """The places of every flavor with what is held at the start of a cycle."""
    taken: dict[str, Taken] = {flavor: {} for flavor in known}
    for info in held:
        for flavor, uses in info.placed.items():
            if flavor in known:
                for use in uses:
                    take(taken[flavor], domain_id(use.values), use)
    return placed_on(known, taken, shared=shared)


def placed_on(
    known: Mapping[str, tuple[Flavor, Domains]], taken: Mapping[str, Taken], *, shared: bool
) -> dict[str, Places]:
    """The places of every flavor with what is taken through each; ``shared`` nodes are taken for all."""
    on_nodes: Taken = {}
    for flavor, there in taken.items() if shared else ():
        if known[flavor][1].by_node:
            for leaf, amounts in there.items():
                joint = on_nodes.setdefault(leaf, {})
                for resource, amount in amounts.items():
                    joint[resource] = joint.get(resource, 0) + amount
    places = {}
    for name, (kind, domains) in known.items():
        source = on_nodes if shared and domains.by_node else taken.get(name, {})
        here = {leaf: dict(amounts) for leaf, amounts in source.items() if leaf in domains.leaves}
        places[name] = Places(kind, domains, here)
    return places
