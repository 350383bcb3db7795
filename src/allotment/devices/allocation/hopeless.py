"""Whether devices could be dealt out at all: a bound that ends searches that cannot come to anything.

Without constraints and counters a claim fits exactly when a bipartite matching exists, which is found in
polynomial time (Kuhn's augmenting paths). With them, and with alternatives, the least that is asked and all
that any alternative would take is still a bound, and so is the number of different values where devices must
differ. Requests from the first on at which the search could end with an error are left out, so that such an
error is met as upstream meets it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence, Set
from typing import NamedTuple

from allotment.devices.allocation.features import Features
from allotment.devices.allocation.rules import Value
from allotment.devices.allocation.taken import Taken
from allotment.devices.allocation.wants import ReadyClaim, Want


class Wanted(NamedTuple):
    """How many devices, and which ones (by number) would do."""

    least: int
    suitable: Sequence[int]


def is_hopeless(claims: Sequence[ReadyClaim], taken: Taken, features: Features) -> bool:
    """Whether no search can find anything, whatever it tries."""
    wanted: list[Wanted] = []
    for claim in claims:
        for wants in claim.requests:
            if any(_may_fail(want) for want in wants):
                return not can_deal(wanted, _gone(claims, taken))
            if not any(_is_shared(want, claim, features) for want in wants):
                if all(_lacks_values(want, claim, features) for want in wants):
                    return True
                suitable = sorted({number for want in wants for number in _devices(want)})
                wanted.append(Wanted(min(want.count for want in wants), suitable))
    return not can_deal(wanted, _gone(claims, taken))


def can_deal(wanted: Sequence[Wanted], gone: Set[int]) -> bool:
    """Whether every request can get its count of devices that are not gone, none of them twice."""
    owner: dict[int, int] = {}
    free = [[device for device in each.suitable if device not in gone] for each in wanted]
    if any(len(devices) < each.least for each, devices in zip(wanted, free, strict=True)):
        return False
    return all(
        _augment(request, free, owner, set())
        for request, each in enumerate(wanted)
        for _ in range(each.least)
    )


def _augment(request: int, free: Sequence[Sequence[int]], owner: dict[int, int], asked: set[int]) -> bool:
    """Give the request one more device, moving others to different devices where that makes room."""
    asked.add(request)
    for device in free[request]:
        if device not in owner:
            owner[device] = request
            return True
    for device in free[request]:
        if owner[device] not in asked and _augment(owner[device], free, owner, asked):
            owner[device] = request
            return True
    return False


def _devices(want: Want) -> Sequence[int]:
    return want.suited.candidates if want.every is None else want.every


def _may_fail(want: Want) -> bool:
    """Whether the search could end with an error at this request."""
    return bool(want.suited.faults) or (want.every is not None and bool(want.rules))


def _is_shared(want: Want, claim: ReadyClaim, features: Features) -> bool:
    """Whether a device of the request may be given to others too."""
    shares = features.consumable_capacity
    return want.is_admin or any(
        shares and claim.site.devices[number].allow_multiple_allocations for number in _devices(want)
    )


def _lacks_values(want: Want, claim: ReadyClaim, features: Features) -> bool:
    """Whether the devices have too few values for one of the constraints on the request alone."""
    return any(most < want.count for place in want.rules for most in _most(want, claim, place, features))


def _most(want: Want, claim: ReadyClaim, place: int, features: Features) -> Iterator[int]:
    """How many of the devices a constraint could let through at most, where that is easily told."""
    values: list[Value] = [
        value for number in _devices(want) if (value := claim.values[place][number]) is not None
    ]
    if features.list_type_attributes:
        yield len(values)
    elif claim.spec.constraints[place].match_attribute is None:
        yield len(set(values))
    else:
        yield max(Counter(values).values(), default=0)


def _gone(claims: Sequence[ReadyClaim], taken: Taken) -> frozenset[int]:
    """The devices of the node that are taken."""
    for claim in claims:
        return frozenset(number for number, each in enumerate(claim.site.ids) if each in taken.devices)
    return frozenset()
