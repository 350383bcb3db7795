"""The static layout that serves a load best, beside what a scheduler does with the load.

A layout stays for days, so a kind of pod without a seat in it would never run: every kind gets one before any
gets more. A scheduler is looked at twice. With MIG on demand it cuts as pods come, by first fit. On the
layout it takes the first partition that is large enough, which may be one that only a larger pod could use:
in which order a driver lists partitions nobody promises, so the order by name and the worst are both told.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from allotment.devices.catalogue import Card, MigProfile
from allotment.devices.mig.cuts import is_plain, room_left
from allotment.devices.mig.first_fit import first_fit
from allotment.devices.mig.fleet import FleetCard
from allotment.devices.mig.load import Load, Part
from allotment.devices.mig.memory import is_assumed, partition_memory
from allotment.devices.mig.packing import Packing, best_packing
from allotment.devices.mig.seats import Seat, stretches

_NEAR: Final = 0.9  # a partition with so much of what is asked is worth a word


@dataclass(frozen=True, slots=True)
class Near:
    """A partition that just does not do: with ``memory`` bytes asked instead, a card would seat more pods."""

    part: Part
    card: Card
    profile: MigProfile
    memory: int
    seats_now: int
    seats_then: int


@dataclass(frozen=True, slots=True)
class MigPlan:
    """A load on a fleet: the best layout, the best without one, and what the scheduler does.

    ``by_name`` and ``at_worst`` are how many pods of each part the scheduler seats on the layout.
    """

    fleet: tuple[FleetCard, ...]
    load: Load
    layout: Packing
    best: Packing
    on_demand: tuple[Seat, ...]
    by_name: tuple[int, ...]
    at_worst: tuple[int, ...]

    def served(self, seats: Sequence[Seat]) -> tuple[int, ...]:
        """How many pods of each part have a seat."""
        counts = [0] * len(self.load.parts)
        for seat in seats:
            counts[seat.part] += 1
        return tuple(counts)

    def seats_of(self, card: int) -> tuple[Seat, ...]:
        """What the layout makes of a card, in the order of its slots."""
        return tuple(sorted((each for each in self.layout.seats if each.card == card), key=lambda s: s.start))

    def room(self, card: int) -> tuple[MigProfile, ...]:
        """What else could be cut from a card that the layout cuts."""
        cuts = [seat.cut for seat in self.seats_of(card) if seat.cut is not None]
        layout = self.fleet[card].card.mig
        return () if layout is None or not cuts else room_left(layout, sum(cut.slots for cut in cuts))

    def computing(self, card: int) -> tuple[int, int]:
        """The compute slices of a card that is cut: those of its seats, and all of them."""
        layout = self.fleet[card].card.mig
        profiles = [seat.profile for seat in self.seats_of(card) if seat.profile is not None]
        if layout is None or not profiles:
            return 0, 0
        return (
            sum(profile.compute_slices for profile in profiles),
            max(profile.compute_slices for profile in layout.profiles),
        )

    def never_fit(self) -> tuple[Part, ...]:
        """Parts that no card of the fleet can serve, however it is cut."""
        kinds = {each.card.id: each.card for each in self.fleet}.values()
        return tuple(part for part in self.load.parts if not any(stretches(card, part) for card in kinds))

    def nearly(self) -> tuple[Near, ...]:
        """Partitions that just miss what a part asks for, where they would seat more."""
        kinds = {each.card.id: each.card for each in self.fleet}
        return tuple(
            near for part in self.load.parts for card in kinds.values() for near in _nearly(part, card)
        )

    def range_of(self, part: int) -> tuple[int, int] | None:
        """The memory that a part asks for, and the most of what it sits on, where it asks by memory."""
        asked = self.load.parts[part]
        found = [
            memory
            for seat in self.layout.seats
            if seat.part == part and seat.profile is not None
            if (memory := partition_memory(self.fleet[seat.card].card, seat.profile)) is not None
        ]
        return None if not found or not asked.at_least else (asked.at_least, max(found))

    def assumed(self) -> tuple[str, ...]:
        """Cards of the layout whose partitions' memory nobody has told."""
        cards = (
            self.fleet[seat.card].card
            for seat in self.layout.seats
            if seat.profile and is_assumed(self.fleet[seat.card].card, seat.profile)
        )
        return tuple(dict.fromkeys(card.id for card in cards))


def plan_mig(fleet: Sequence[FleetCard], load: Load) -> MigPlan:
    """The plan of a load on a fleet."""
    layout = best_packing(fleet, load, every_kind=True)
    devices = _devices(fleet, layout.seats)
    largest = sorted(devices, key=lambda each: -_memory(*each))
    return MigPlan(
        fleet=tuple(fleet),
        load=load,
        layout=layout,
        best=best_packing(fleet, load),
        on_demand=first_fit(fleet, load),
        by_name=_taken(devices, load),
        at_worst=_taken(largest, load),
    )


def _devices(fleet: Sequence[FleetCard], seats: Sequence[Seat]) -> list[tuple[Card, MigProfile | None]]:
    """What a driver publishes of the layout: partitions of cards that are cut, the others as they are."""
    cut: dict[int, list[Seat]] = {}
    for seat in seats:
        if seat.profile is not None:
            cut.setdefault(seat.card, []).append(seat)
    found: list[tuple[Card, MigProfile | None]] = []
    for at, each in enumerate(fleet):
        here = sorted(cut.get(at, ()), key=lambda seat: (seat.name, seat.start))
        found += [(each.card, seat.profile) for seat in here] or [(each.card, None)]
    return found


def _taken(devices: Sequence[tuple[Card, MigProfile | None]], load: Load) -> tuple[int, ...]:
    """How many of each part get a device, when each takes the first that would do: partitions first."""
    free = [True] * len(devices)
    counts = []
    for part, count in zip(load.parts, load.counts, strict=True):
        fitting = [at for at, each in enumerate(devices) if free[at] and part.served_by(*each)]
        fitting.sort(key=lambda at: devices[at][1] is None)
        for at in fitting[:count]:
            free[at] = False
        counts.append(min(count, len(fitting)))
    return tuple(counts)


def _nearly(part: Part, card: Card) -> Iterator[Near]:
    if not part.at_least or card.mig is None or (part.cards and card.id not in part.cards):
        return
    now = _seats(card, part.at_least)
    for profile in card.mig.profiles:
        memory = partition_memory(card, profile)
        if not is_plain(profile) or card.mig.is_whole_card(profile) or memory is None:
            continue
        if _NEAR * part.at_least <= memory < part.at_least and (then := _seats(card, memory)) > now:
            yield Near(part, card, profile, memory, now, then)
            return


def _seats(card: Card, memory: int) -> int:
    """How many pods that ask for so much one card can seat."""
    found = best_packing([FleetCard("", 0, card)], Load((Part("", memory),), (16,)))
    return len(found.seats)


def _memory(card: Card, profile: MigProfile | None) -> int:
    return (card.memory if profile is None else partition_memory(card, profile)) or 0
