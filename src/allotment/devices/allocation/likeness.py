"""Which devices are alike to the claims in hand: in all that the search could ask about them.

Devices that are alike can stand for one another, so that a part of the search that failed with one need not
be walked again with the other; upstream walks all of it, which is where its exponential times come from
(kubernetes#131730). Names and attributes that nobody asks about do not count.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from allotment.devices.allocation.ground import Ground
from allotment.devices.allocation.sites import Site
from allotment.devices.allocation.taken import Taken
from allotment.devices.allocation.wants import ReadyClaim, Want


def likenesses(claims: Sequence[ReadyClaim], site: Site, taken: Taken, ground: Ground) -> list[int]:
    """A number for each device, the same for devices that are alike."""
    wants = [want for claim in claims for wants in claim.requests for want in wants]
    candidates = [frozenset(want.suited.candidates) for want in wants]
    places = [{number: at for at, number in enumerate(want.every or ())} for want in wants]
    known: dict[Hashable, int] = {}
    found = []
    shares, taking = ground.features.consumable_capacity, ground.uses(site)
    for number, device in enumerate(site.devices):
        device_id = site.ids[number]
        asked = tuple(
            _asked(want, number, candidates[at], places[at].get(number), capacity=shares)
            for at, want in enumerate(wants)
        )
        uses = taking[number]
        looks: Hashable = (
            device_id in taken.devices,
            device_id in taken.shares,
            tuple(sorted(taken.capacity_of(device_id).items())),
            device.allow_multiple_allocations,
            (site.pool_of[number].key, *sorted(uses.items())) if uses else (),
            tuple(values[number] for claim in claims for values in claim.values),
            asked,
        )
        found.append(known.setdefault(looks, len(known)))
    return found


def _asked(
    want: Want, number: int, candidates: frozenset[int], place: int | None, *, capacity: bool
) -> Hashable:
    demand = want.demand(number) if capacity and number in candidates else None
    shares = None if demand is None else tuple(demand.shares)
    return number in candidates, place, number in want.suited.faults, number in want.tainted, shares
