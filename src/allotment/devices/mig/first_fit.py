"""What a scheduler makes of a load with MIG on demand: the first device by name that fits, nothing else.

With MIG on demand a driver publishes every profile at every place as a device, card by card, by name; a
device takes its memory slots from its card, and the whole card takes all of them. The allocator tries devices
in that order and scores none, so that small needs settle at the beginning of the first card, where large ones
would have to begin.
Facts: NVIDIA's DRA driver (partitions and their names), k8s.io/dynamic-resource-allocation (order).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

from allotment.devices.catalogue import Card, MigProfile
from allotment.devices.mig.cuts import has_media
from allotment.devices.mig.fleet import FleetCard
from allotment.devices.mig.load import Load, Part
from allotment.devices.mig.seats import Seat, slots_of
from allotment.devices.nvml_words import mig_device_name


class Candidate(NamedTuple):
    """A device published of a card: a partition that could be cut, or the card itself (no profile)."""

    name: str
    profile: MigProfile | None
    start: int
    slots: int
    media: bool


Wish = Callable[[Card, MigProfile | None], bool]
"""Whether a device would do: what the selectors of one alternative of a claim say."""


def first_fit(fleet: Sequence[FleetCard], load: Load) -> tuple[Seat, ...]:
    """The seats of a load: each pod gets a partition if one fits, else a whole card if it may have one."""
    pods: list[tuple[int, Sequence[Wish]]] = []
    for number, (part, count) in enumerate(zip(load.parts, load.counts, strict=True)):
        pods += [(number, _wishes(part))] * count
    return first_fit_of(fleet, pods)


def first_fit_of(fleet: Sequence[FleetCard], pods: Sequence[tuple[int, Sequence[Wish]]]) -> tuple[Seat, ...]:
    """The seats of pods, each a number to know it by and its alternatives in order.

    Nothing is ever given back here, so a card that has had no room for an alternative never has it again.
    """
    used, media = [0] * len(fleet), [False] * len(fleet)
    first_card: dict[int, int] = {}
    first_device: dict[tuple[int, int], int] = {}
    seats: list[Seat] = []

    def take(wish: Wish, number: int) -> Seat | None:
        for at in range(first_card.get(id(wish), 0), len(fleet)):
            card = fleet[at].card
            offered = candidates(card)
            for place in range(first_device.get((id(wish), at), 0), len(offered)):
                each = offered[place]
                if used[at] & each.slots or (media[at] and each.media) or not wish(card, each.profile):
                    continue
                used[at] |= each.slots
                media[at] = media[at] or each.media
                first_card[id(wish)], first_device[id(wish), at] = at, place
                return Seat(at, number, each.start, each.profile)
        first_card[id(wish)] = len(fleet)
        return None

    for number, wishes in pods:
        found = next((seat for wish in wishes if (seat := take(wish, number)) is not None), None)
        if found is not None:
            seats.append(found)
    return tuple(seats)


@lru_cache(maxsize=256)
def candidates(card: Card) -> tuple[Candidate, ...]:
    """What is published of a card that is cut on demand, by name; a card without MIG is published itself."""
    whole = Candidate("gpu-0", None, 0, (1 << slots_of(card)) - 1, media=True)
    if card.mig is None:
        return (whole,)
    parts = [
        Candidate(
            mig_device_name(0, profile.name, (profile.id, each.start, each.size), 0),
            profile,
            each.start,
            ((1 << each.size) - 1) << each.start,
            has_media(profile),
        )
        for profile in card.mig.profiles
        for each in profile.placements
    ]
    return tuple(sorted([whole, *parts]))


@lru_cache(maxsize=1024)
def _wishes(part: Part) -> tuple[Wish, ...]:
    """A partition that would do, then a whole card: what a claim without disguises says."""

    def partition(card: Card, profile: MigProfile | None) -> bool:
        return profile is not None and part.served_by(card, profile)

    def whole(card: Card, profile: MigProfile | None) -> bool:
        return profile is None and part.served_by(card, None)

    return partition, whole
