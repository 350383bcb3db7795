"""The world that a need is held against: who holds what, and whether a claim fits, with or without them.

Every answer is the allocator's, node by node in the order of the slices, and an error of a selector ends it
on all nodes, as it does in a cluster. What is in use comes from the allocations of the world's claims and, on
this machine, from the ledger.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from allotment.devices.allocation import AllocationError, Site, Taken
from allotment.devices.allocator import Allocator, ground_of, pools_of, wants_all
from allotment.devices.card_shares import MEMORY
from allotment.devices.claims import AllocatedDevice, Allocation, ClaimSpec
from allotment.devices.closed_nodes import open_nodes
from allotment.devices.fleet import Placed
from allotment.devices.holders import Holder
from allotment.devices.inventory import inventory
from allotment.devices.read_allocations import allocation_of
from allotment.devices.selectors import Matcher, evaluate
from allotment.devices.slices import DeviceId
from allotment.devices.taint_rules import tainted
from allotment.devices.world import World
from allotment.needs.clauses import Candidate

NOBODY: Sequence[Holding] = ()
MOST_LATER: Final = 40


@dataclass(frozen=True, slots=True)
class Holding:
    """Devices, or shares of them, that somebody has; ``who`` is in words."""

    who: str
    allocation: Allocation


Shares = Mapping[DeviceId, Sequence[Holder]]
NO_HOLDERS: Mapping[DeviceId, Holder] = {}
NO_SHARES: Shares = {}


def holdings_of(
    world: World,
    whole: Mapping[DeviceId, Holder] = NO_HOLDERS,
    shares: Shares = NO_SHARES,
    *,
    in_parts: bool = False,
) -> tuple[Holding, ...]:
    """What claims of the world hold, and what holders of this machine's ledger do, whole or in shares.

    ``in_parts``: the world's cards can be shared. Else one of which anything is held is held whole.
    """
    return (*_of_claims(world), *_of_ledger(whole), *_of_shares(shares, in_parts=in_parts))


def _of_claims(world: World) -> Iterator[Holding]:
    for claim in world.claims:
        allocation = allocation_of(claim.status)
        if allocation is not None and allocation.results:
            pods = f" of {', '.join(claim.users)}" if claim.users else ""
            yield Holding(f"claim {claim.namespace}/{claim.name}{pods}", allocation)


def _of_ledger(ledger: Mapping[DeviceId, Holder]) -> Iterator[Holding]:
    held: dict[tuple[object, ...], list[DeviceId]] = {}
    words: dict[tuple[object, ...], str] = {}
    for device, holder in ledger.items():
        key = (holder.pid, holder.user, holder.campaign, holder.volume, holder.since)
        held.setdefault(key, []).append(device)
        words[key] = holder_words(holder)
    for place, devices in held.items():
        yield Holding(words[place], Allocation(tuple(AllocatedDevice("", each) for each in devices)))


def _of_shares(shares: Shares, *, in_parts: bool) -> Iterator[Holding]:
    for device, holders in shares.items():
        for place, holder in enumerate(holders):
            amount = holder.device_bytes
            result = AllocatedDevice("", device)
            if in_parts and amount is not None:
                taken = {MEMORY: str(amount)}
                result = AllocatedDevice("", device, share_id=str(place), consumed_capacity=taken)
            yield Holding(holder_words(holder), Allocation((result,)))


def holder_words(holder: Holder) -> str:
    """Somebody who holds a device: ``letters/brev-1887 of anna``, or ``process 4711 of anna``."""
    what = "/".join(part for part in (holder.campaign, holder.volume) if part)
    process = "a process" if holder.pid is None else f"process {holder.pid}"
    return f"{what or process}{f' of {holder.user}' if holder.user else ''}"


class Room:
    """A world and who holds what in it. Claims are made ready once on each node."""

    def __init__(
        self, world: World, holdings: Sequence[Holding] = NOBODY, matches: Matcher = evaluate
    ) -> None:
        self.world = world
        self.holdings = tuple(holdings)
        self.matches = matches
        self.ground = ground_of(world, matches)
        self._index = pools_of(world, self.ground)
        self.nodes = open_nodes(world, dict.fromkeys((*self._index.node_names(), *world.nodes)))
        self._allocators: dict[str, Allocator] = {}
        self.taken = self.taken_without(())
        self.untaken = Taken()

    def taken_without(self, ended: Collection[Holding]) -> Taken:
        """What is in use once these have ended."""
        taken = Taken()
        for holding in self.holdings:
            if holding not in ended:
                taken.take(holding.allocation)
        return taken

    def place(self, claim: ClaimSpec, taken: Taken, together: int = 1) -> Placed | None:
        """The claim on the first node that it fits on; None where it fits on none, or a selector fails.

        With ``together`` so many of it have to fit at once; the first of them is told.
        """
        placed = self._placed(claim, taken, together)
        return placed[0] if len(placed) == together else None

    def place_later(self, claim: ClaimSpec, together: int = 1) -> Placed | None:
        """A claim for all devices once some have ended: it can fit then and in no empty world.

        Where one node has all its devices free, and those break a constraint, the search ends with an error
        for every node; while one of them is in use that node is passed over.
        """
        if not wants_all(claim):
            return None
        ended: list[Holding] = []
        for holding in self.holdings[:MOST_LATER]:
            ended.append(holding)
            for gone in ((holding,), tuple(ended)):
                placed = self.place(claim, self.taken_without(gone), together)
                if placed is not None:
                    return placed
        return None

    def how_many(self, claim: ClaimSpec, taken: Taken, most: int) -> int:
        """How many of the claim fit at once, up to so many."""
        return len(self._placed(claim, taken, most))

    def _placed(self, claim: ClaimSpec, taken: Taken, most: int) -> list[Placed]:
        placed: list[Placed] = []
        with suppress(AllocationError):
            while len(placed) < most and (one := self._place_one(claim, taken)) is not None:
                placed.append(one)
                taken.take(one.allocation)
        for one in placed:
            taken.release(one.allocation)
        return placed

    def _place_one(self, claim: ClaimSpec, taken: Taken) -> Placed | None:
        for node in self.nodes:
            allocator = self._allocator(node)
            if allocator.fault_of(claim) is not None:
                return None
            found = allocator.find(claim, taken)
            if found is not None:
                return Placed(node, found)
        return None

    @cached_property
    def candidates(self) -> tuple[Candidate, ...]:
        """Every device that is there."""
        devices = {
            published.device_id(device): device
            for published in tainted(self.world.slices, self.world.taint_rules)
            for device in published.devices
        }
        listed = inventory(self.world, {})
        return tuple(Candidate(each.id.driver, devices[each.id], each) for each in listed)

    @cached_property
    def sites(self) -> Mapping[str, Site]:
        """What each node can reach."""
        return {node: self._index.site(self.world.node_named(node)) for node in self.nodes}

    @cached_property
    def _reaching(self) -> Mapping[DeviceId, tuple[str, ...]]:
        """The nodes that can reach each device that can be given."""
        found: dict[DeviceId, list[str]] = defaultdict(list)
        for node, site in self.sites.items():
            for number, device in enumerate(site.ids):
                if number not in site.out_of_reach:
                    found[device].append(node)
        return {device: tuple(nodes) for device, nodes in found.items()}

    def reached(self, device: DeviceId) -> Site | None:
        """The site of the first node that can reach the device."""
        nodes = self._reaching.get(device)
        return self.sites[nodes[0]] if nodes else None

    def by_node(self, devices: Iterable[Candidate]) -> dict[str, list[Candidate]]:
        """The devices by the nodes that can reach them, in the order of the nodes."""
        found: dict[str, list[Candidate]] = {}
        for each in devices:
            for node in self._reaching.get(each.listed.id, ()):
                found.setdefault(node, []).append(each)
        return {node: found[node] for node in self.nodes if node in found}

    def holders(self, device: DeviceId) -> tuple[str, ...]:
        """Who has the device, or a share of it."""
        return self._holders.get(device, ())

    @cached_property
    def _holders(self) -> Mapping[DeviceId, tuple[str, ...]]:
        found: dict[DeviceId, tuple[str, ...]] = {}
        for holding in self.holdings:
            for result in holding.allocation.results:
                if not result.admin_access:
                    found[result.id] = (*found.get(result.id, ()), holding.who)
        return found

    def _allocator(self, node: str) -> Allocator:
        known = self._allocators.get(node)
        if known is None:
            known = Allocator(self.world, node, pools=self._index, ground=self.ground)
            self._allocators[node] = known
        return known
