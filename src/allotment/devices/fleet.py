"""Claims placed over many nodes: on the first node, in the order of the nodes, where the claim fits.

What a node answers is remembered per claim. Devices that are taken only make room smaller, so that a node
where a claim did not fit need not be asked again until one of its devices is given back. A placement thus
costs what has changed since the last one, and not the number of nodes; the answers are those of asking each
node anew.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from allotment.devices.allocation import AllocationError, Taken
from allotment.devices.allocator import Allocator, ground_of, pools_of, wants_all
from allotment.devices.claims import Allocation, ClaimSpec
from allotment.devices.closed_nodes import open_nodes
from allotment.devices.funnel import NoFit
from allotment.devices.selectors import Matcher, evaluate
from allotment.devices.slices import DeviceId
from allotment.devices.world import World


class Placed(NamedTuple):
    """A claim on a node, with its devices."""

    node: str
    allocation: Allocation


@dataclass(slots=True)
class _Frontier:
    """Where a claim may still fit: on nodes from ``untried`` on, and on those that were given back to."""

    untried: int = 0
    again: list[int] = field(default_factory=list)
    listed: set[int] = field(default_factory=set)

    def first(self, count: int) -> int | None:
        """The first node worth asking, of so many."""
        if self.again:
            return self.again[0]
        return self.untried if self.untried < count else None

    def refused(self, number: int) -> None:
        """Leave a node out that cannot take the claim."""
        if self.again and self.again[0] == number:
            self.listed.discard(heapq.heappop(self.again))
        else:
            self.untried = number + 1

    def try_again(self, number: int) -> None:
        """Take a node in that has more to give than before."""
        if number < self.untried and number not in self.listed:
            self.listed.add(number)
            heapq.heappush(self.again, number)


class Fleet:
    """The nodes of a world, and what is taken of their devices."""

    def __init__(
        self,
        world: World,
        nodes: Sequence[str] | None = None,
        taken: Iterable[DeviceId] = (),
        matches: Matcher = evaluate,
    ) -> None:
        """``nodes`` are asked in their order; None: those of the world that pods start on, as slices come."""
        self._world = world
        self._ground = ground_of(world, matches)
        self._index = pools_of(world, self._ground)
        known = dict.fromkeys((*self._index.node_names(), *world.nodes))
        self._nodes = tuple(open_nodes(world, known) if nodes is None else nodes)
        self._allocators: dict[int, Allocator] = {}
        self._taken = Taken(taken)
        self._frontiers: dict[ClaimSpec, _Frontier] = {}
        self._numbers = {node: number for number, node in enumerate(self._nodes)}
        self._owners: dict[DeviceId, int] = {}  # the node that a device was given on

    @property
    def taken(self) -> Collection[DeviceId]:
        """The devices that are not free; one that is held in shares is not among them."""
        return self._taken.devices

    @property
    def in_parts(self) -> Collection[DeviceId]:
        """The devices that are held in shares."""
        return self._taken.shares.keys()

    def place(self, claim: ClaimSpec) -> Placed | NoFit:
        """The claim on the first node that it fits on, its devices taken; or what the first node says."""
        frontier = self._frontiers.get(claim)
        if frontier is None:
            fault = self._fault(claim)
            if fault is not None:
                return fault
            frontier = _Frontier()
            if not wants_all(claim):  # which can fit again once more is taken: full devices are left out
                self._frontiers[claim] = frontier
        while (number := frontier.first(len(self._nodes))) is not None:
            try:
                found = self._allocator(number).find(claim, self._taken)
            except AllocationError as error:
                return NoFit(error=error.text)
            if found is not None:
                self._taken.take(found)
                self._owners.update(dict.fromkeys(found.ids, number))
                return Placed(self._nodes[number], found)
            frontier.refused(number)
        return self._why(claim)

    def take(self, ids: Iterable[DeviceId]) -> None:
        """Let devices be taken that nobody placed a claim on."""
        for device in ids:
            self._taken.add_device(device)

    def hold(self, allocation: Allocation) -> None:
        """Let everything be taken that an allocation holds, shares of devices too."""
        self._taken.take(allocation)

    def take_share(self, device: DeviceId, amounts: Mapping[str, int]) -> None:
        """Let a share of a device be taken that nobody placed a claim on: so many whole units of each."""
        self._taken.add_share(device)
        self._taken.add_capacity(device, {name: amount * 10**9 for name, amount in amounts.items()})

    def give_back(self, ids: Iterable[DeviceId]) -> None:
        """Free whole devices; nodes that can reach them are asked again."""
        freed = [device for device in ids if device in self._taken.devices]
        for device in freed:
            self._taken.remove_device(device)
        self._ask_again(freed)

    def release(self, allocation: Allocation) -> None:
        """Free all that an allocation holds, shares of devices too."""
        self._taken.release(allocation)
        self._ask_again(allocation.ids)

    def _ask_again(self, freed: Sequence[DeviceId]) -> None:
        for number in self._reaching(freed):
            for frontier in self._frontiers.values():
                frontier.try_again(number)

    def _reaching(self, freed: Sequence[DeviceId]) -> Iterable[int]:
        """The nodes that may reach these devices: where they were given, or any, when pools span nodes."""
        owners = [self._owners.get(device) for device in freed]
        if not freed or (self._index.is_local and None not in owners):
            return {number for number in owners if number is not None}
        return range(len(self._nodes))

    def _allocator(self, number: int) -> Allocator:
        known = self._allocators.get(number)
        if known is None:
            known = Allocator(self._world, self._nodes[number], pools=self._index, ground=self._ground)
            self._allocators[number] = known
        return known

    def _fault(self, claim: ClaimSpec) -> NoFit | None:
        """What is wrong with the claim on any node."""
        if not self._nodes:
            return NoFit(error="the world has no node that pods start on")
        fault = self._allocator(0).fault_of(claim)
        return None if fault is None else NoFit(error=fault)

    def _why(self, claim: ClaimSpec) -> NoFit:
        """Why it fits nowhere, as the node says that has most devices that would do."""
        answers = (self._allocator(number).allocate(claim, self._taken) for number in range(len(self._nodes)))
        refusals = [answer for answer in answers if isinstance(answer, NoFit)]
        return max(refusals, key=lambda refusal: (refusal.waiting, _suitable(refusal)))


def _suitable(refusal: NoFit) -> int:
    return sum(funnel.suitable for funnel in refusal.funnels)
