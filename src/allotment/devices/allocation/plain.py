"""The answer without a search, for a claim of one request over devices that share nothing.

Such a request makes room for nobody and is in nobody's way: its first free devices are the answer, if there
are enough, and so are those of the first alternative for which there are. Most claims are like that, and they
are answered from a list that is made once for a node.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from allotment.devices.allocation.features import Features
from allotment.devices.allocation.ground import Ground
from allotment.devices.allocation.outcome import config_of, node_selector_of, result_of
from allotment.devices.allocation.sites import Site
from allotment.devices.allocation.suiting import Fault
from allotment.devices.allocation.taken import Taken
from allotment.devices.allocation.trial import Given
from allotment.devices.allocation.wants import ReadyClaim, Want
from allotment.devices.claims import MOST_DEVICES, AllocatedConfig, AllocatedDevice, Allocation


@dataclass(slots=True)
class PlainWant:
    """One alternative: so many of these devices, in order, each with its result once it was given.

    ``ones`` are the allocations of one device alone.
    """

    want: Want
    count: int
    usable: tuple[int, ...]
    faults: Mapping[int, Fault]
    config: tuple[AllocatedConfig, ...]
    results: dict[int, AllocatedDevice] = field(default_factory=dict)
    ones: dict[int, Allocation] = field(default_factory=dict)


class Plain:
    """A claim of that kind on a node."""

    def __init__(self, claim: ReadyClaim, wants: list[PlainWant], ground: Ground) -> None:
        self._claim = claim
        self._site = claim.site
        self._wants = wants
        self._ground = ground

    def find(self, taken: Taken) -> Allocation | None:
        """The first devices that are free; AllocationError where a selector fails on the way to them."""
        gone, ids = taken.devices, self._site.ids
        for plain in self._wants:
            found: list[int] = []
            for number in plain.usable:
                if ids[number] in gone:
                    continue
                if number in plain.faults:
                    raise plain.faults[number].error(self._claim.name, ids[number])
                found.append(number)
                if len(found) == plain.count:
                    return self._allocation(plain, found)
        return None

    def _allocation(self, plain: PlainWant, found: list[int]) -> Allocation:
        """What is given; of one device the same each time."""
        if len(found) > 1:
            return self._made(plain, found)
        known = plain.ones.get(found[0])
        if known is None:
            known = plain.ones[found[0]] = self._made(plain, found)
        return known

    def _made(self, plain: PlainWant, found: list[int]) -> Allocation:
        given = [Given(0, plain.want, number, charged=False, shared=False, demand=None) for number in found]
        for each in given:
            if each.number not in plain.results:
                plain.results[each.number] = result_of(each, self._site, self._ground.features, None)
        return Allocation(
            tuple(plain.results[number] for number in found),
            plain.config,
            node_selector_of(given, self._site, self._claim.name, self._ground.variant),
        )


def plain_of(claim: ReadyClaim, ground: Ground) -> Plain | None:
    """The claim made ready for that, if it is of that kind."""
    if len(claim.requests) != 1 or claim.spec.constraints:
        return None
    wants = claim.requests[0]
    if not all(_is_plain(want, claim.site, ground.features) for want in wants):
        return None
    by_request = ground.behaviour.config_by_request
    return Plain(
        claim,
        [
            PlainWant(
                want,
                want.count,
                _usable(want, ground.features),
                want.suited.faults,
                config_of(claim.spec, [want.name], ground.classes, by_request=by_request),
            )
            for want in wants
            if want.count <= MOST_DEVICES
        ],
        ground,
    )


def _is_plain(want: Want, site: Site, features: Features) -> bool:
    if want.every is not None or want.is_admin or want.count < 1:
        return False
    devices = (site.devices[number] for number in want.suited.candidates)
    shares = features.consumable_capacity
    return not any(
        device.consumes_counters or (shares and device.allow_multiple_allocations) for device in devices
    )


def _usable(want: Want, features: Features) -> tuple[int, ...]:
    """The devices that could be given, and those that end it."""
    return tuple(
        number
        for number in want.suited.candidates
        if number in want.suited.faults
        or (number not in want.tainted and (not features.consumable_capacity or _has_capacity(want, number)))
    )


def _has_capacity(want: Want, number: int) -> bool:
    demand = want.demand(number)
    return demand is not None and demand.fits({}, {})
