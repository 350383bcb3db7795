"""How much of a machine something is, as teams' quotas count it: cards, and processors beside them.

A card counts one, a part of its memory that part, and a MIG device its slices over those of the card.
Quotas and limits are about cards; processors are shared by weight alone, so that teams on a machine without
cards get their turns too.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import lru_cache, partial
from typing import Final, NamedTuple

from allotment.devices.card_shares import amounts_taken, memory_of_cards, shareable, unshared
from allotment.devices.claims import Allocation, AllocationMode, ClaimSpec, Request
from allotment.devices.fleet import Fleet
from allotment.devices.funnel import NoFit
from allotment.devices.known_classes import CPU_DRIVER
from allotment.devices.slices import Device, DeviceId
from allotment.devices.world import World
from allotment.scheduling.local_state import Holding

CLOSE: Final = 1e-9
_PROFILE: Final = re.compile(r"(\d+)g\.")
_SLICES: Final = 7
_SLICES_OF_A30: Final = 4


class Amount(NamedTuple):
    """So many cards and so many processors."""

    cards: float = 0.0
    processors: float = 0.0

    def plus(self, other: Amount, times: float = 1.0) -> Amount:
        """The sum with so many times the other."""
        return Amount(self.cards + times * other.cards, self.processors + times * other.processors)

    def within(self, other: Amount) -> bool:
        """Whether it is no more than the other, of either."""
        return self.cards <= other.cards + CLOSE and self.processors <= other.processors + CLOSE


NOTHING: Final = Amount()


class Measure:
    """Amounts of what is on one machine."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._sizes = {device_id: _size(device_id, device) for device_id, device in world.devices()}
        self._memories = memory_of_cards(world)
        self._typical: dict[tuple[ClaimSpec, bool], Allocation | None] = {}
        self._usable: dict[ClaimSpec, frozenset[DeviceId]] = {}
        self._rooms: dict[tuple[ClaimSpec, int], bool] = {}

    @property
    def total(self) -> Amount:
        """All of the machine; devices that are cut from one card on demand count as that card together."""
        cut, total = set(), NOTHING
        for published in self._world.slices:
            for device in published.devices:
                if device.consumes_counters:
                    sets = {each.counter_set for each in device.consumes_counters}
                    cut |= {(published.driver, published.pool.name, name) for name in sets}
                else:
                    total = total.plus(self.of_device(published.device_id(device)))
        return total.plus(Amount(float(len(cut)), 0.0))

    def of_device(self, device: DeviceId) -> Amount:
        """A whole device; nothing for one that is not here."""
        return self._sizes.get(device, NOTHING)

    def of_share(self, device: DeviceId, amount: int) -> Amount:
        """So many bytes of a card."""
        memory = self._memories.get(device, 0)
        return NOTHING.plus(self.of_device(device), min(1.0, amount / memory) if memory else 1.0)

    def of(self, allocation: Allocation) -> Amount:
        """What was given."""
        parts = amounts_taken(allocation)
        whole = {each.id for each in allocation.results if not each.admin_access} - parts.keys()
        return self._sum(whole, parts.items())

    def of_holding(self, holding: Holding) -> Amount:
        """What somebody holds."""
        return self._sum(holding.devices, holding.shares)

    def of_devices(self, ids: Iterable[DeviceId]) -> Amount:
        """All of these, whole."""
        return self._sum(ids, ())

    def _sum(self, whole: Iterable[DeviceId], parts: Iterable[tuple[DeviceId, int]]) -> Amount:
        total = NOTHING
        for device in whole:
            total = total.plus(self.of_device(device))
        for device, amount in parts:
            total = total.plus(self.of_share(device, amount))
        return total

    def typical(self, claim: ClaimSpec, *, shared: bool) -> Amount:
        """What one of the claim takes of this machine while nothing is taken; nothing if it never fits."""
        key = (claim, shared)
        if key not in self._typical:
            view = shareable(self._world) if shared else unshared(self._world)
            answer = Fleet(view).place(claim)
            self._typical[key] = None if isinstance(answer, NoFit) else answer.allocation
        found = self._typical[key]
        return NOTHING if found is None else self.of(found)

    def count(self, claim: ClaimSpec, *, shared: bool) -> int:
        """How many devices one of the claim takes."""
        self.typical(claim, shared=shared)
        found = self._typical[claim, shared]
        return 0 if found is None else len(found.results)

    def has_room(self, claim: ClaimSpec, together: int) -> bool:
        """Whether so many of the claim fit on this machine while nothing is taken."""
        key = (claim, together)
        if key not in self._rooms:
            fleet = Fleet(unshared(self._world))
            self._rooms[key] = all(not isinstance(fleet.place(claim), NoFit) for _ in range(together))
        return self._rooms[key]

    def usable(self, claim: ClaimSpec) -> frozenset[DeviceId]:
        """The devices that pass one of the claim's requests."""
        if claim not in self._usable:
            self._usable[claim] = frozenset(_usable(self._world, claim))
        return self._usable[claim]


@lru_cache(maxsize=8)
def measure_of(world: World) -> Measure:
    """The measure of a world, which is asked about in every decision."""
    return Measure(world)


def _size(device_id: DeviceId, device: Device) -> Amount:
    if device_id.driver == CPU_DRIVER:
        return Amount(0.0, 1.0)
    profile = device.attributes.get("profile")
    found = _PROFILE.match(profile) if isinstance(profile, str) else None
    if found is None:
        return Amount(1.0, 0.0)
    slices = _SLICES_OF_A30 if "A30" in str(device.attributes.get("productName", "")) else _SLICES
    return Amount(min(1.0, int(found[1]) / slices), 0.0)


def _usable(world: World, claim: ClaimSpec) -> Iterable[DeviceId]:
    """Each request for one device alone, on one device after the other, until nothing more would do."""
    for single in _singles(claim):
        plain = _only(world, lambda device: not device.consumes_counters)
        fleet = Fleet(plain)
        while not isinstance(answer := fleet.place(single), NoFit) and answer.allocation.results:
            fleet.take(answer.allocation.ids)
            yield from answer.allocation.ids
        for one in _one_by_one(world):
            answer = Fleet(one).place(single)
            if not isinstance(answer, NoFit):
                yield from answer.allocation.ids


def _singles(claim: ClaimSpec) -> Iterable[ClaimSpec]:
    for request in claim.requests:
        for sub in request.alternatives:
            exact = replace(sub.exactly, count=1, mode=AllocationMode.EXACT_COUNT, capacity={})
            yield ClaimSpec((Request("r", exact),))


def _only(world: World, keep: Callable[[Device], bool]) -> World:
    """The world with those of its devices alone that are to be kept."""
    slices = tuple(
        replace(published, devices=tuple(each for each in published.devices if keep(each)))
        for published in world.slices
    )
    return unshared(replace(world, slices=slices))


def _one_by_one(world: World) -> Iterable[World]:
    """For each device that shares counters with others, the world with that one alone."""
    for _, device in world.devices():
        if device.consumes_counters:
            yield _only(world, partial(operator.is_, device))
