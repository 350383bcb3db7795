"""One attempt at a solution: devices are given and given back until all claims have theirs.

The order in which a device is looked at is upstream's (``allocateDevice`` of k8s.io/dynamic-resource-
allocation): in use, counters, taints, constraints, capacity. It matters where a defect leaves something
behind when a later look refuses the device.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from allotment.devices.allocation.amounts import Demand
from allotment.devices.allocation.counters import Ledger
from allotment.devices.allocation.features import Variant
from allotment.devices.allocation.ground import Ground
from allotment.devices.allocation.rules import Rule
from allotment.devices.allocation.sites import PoolState, Site
from allotment.devices.allocation.taken import Taken
from allotment.devices.allocation.wants import Want

_NOTHING: Final[Mapping[str, int]] = {}


@dataclass(frozen=True, slots=True)
class Given:
    """A device that was given, and what has to be undone when it is given back."""

    claim: int
    want: Want
    number: int
    charged: bool
    shared: bool
    demand: Demand | None


class Trial:
    """The devices that are being given on one node."""

    def __init__(self, site: Site, ground: Ground, taken: Taken, claims: int) -> None:
        self._site = site
        self._features = ground.features
        self._behaviour = ground.behaviour
        self._taken = taken
        self._gone = taken.devices
        self._marks = [0] * len(site.ids)  # a bit for each claim that gets the device
        self._sharing: dict[int, dict[str, int]] = {}
        self._uses = site.consumptions
        pools = {
            pool.key: ground.counters(pool)
            for pool in site.pools
            if pool.state is PoolState.READY and pool.counters
        }
        self._ledger = Ledger(
            taken,
            pools,
            by_name=ground.behaviour.counters_by_pool_name,
            shares=ground.variant is not Variant.STABLE,
        )
        self.breaks_rule = False  # why the last device was refused: a constraint of its claim
        self.results: list[list[Given]] = [[] for _ in range(claims)]

    def in_use(self, claim: int, number: int, *, admin: bool) -> bool:
        """Whether the device is not free for the claim; an administrator only minds his own."""
        if admin:
            return bool(self._marks[number] >> claim & 1)
        return bool(self._marks[number]) or self._site.ids[number] in self._gone

    def has_capacity(self, want: Want, number: int) -> bool:
        """Whether the device has what the request asks of its capacities, beside what others take."""
        if not self._features.consumable_capacity:
            return True
        demand = want.demand(number)
        if demand is None:
            return False
        held = self._taken.capacity_of(self._site.ids[number])
        return demand.fits(held, self._sharing.get(number, _NOTHING))

    def give(self, claim: int, want: Want, number: int) -> bool:
        """Give the device, if nothing forbids it."""
        self.breaks_rule = False
        device = self._site.devices[number]
        shared = device.allow_multiple_allocations and self._features.consumable_capacity
        admin = bool(want.exact.admin_access)
        if not (admin and shared) and self.in_use(claim, number, admin=admin):
            return False
        charged = False
        if device.consumes_counters:
            if not self._features.partitionable_devices:
                return False
            if not (shared and self._is_shared(number)):
                if not self._ledger.take(self._site.pool_of[number].key, self._uses[number]):
                    return False
                charged = True
        if number in want.tainted:
            self._refuse(number, charged=charged)
            return False
        if not self._follows_rules(want, number):
            self.breaks_rule = True
            self._refuse(number, charged=charged)
            return False
        return self._finish(Given(claim, want, number, charged, shared, None))

    def give_back(self, claim: int) -> None:
        """Give back what the claim got last."""
        given = self.results[claim].pop()
        self._let_go(given.want.rules, given.want.request, given.number)
        if given.shared:
            if given.demand is not None:
                self._unshare(given.number, given.demand)
        else:
            self._marks[given.number] &= ~(1 << claim)
        if given.charged and not (given.shared and self._behaviour.shares_keep_counters):
            self._charge_back(given.number)

    def _finish(self, given: Given) -> bool:
        """Mark the device and record the result, if its capacity is enough at the last look."""
        number, want = given.number, given.want
        if not given.shared:
            self._marks[number] |= 1 << given.claim
        if not self.has_capacity(want, number):
            if not self._behaviour.refusals_keep_devices:
                self._let_go(want.rules, want.request, number)
                if not given.shared:
                    self._marks[number] &= ~(1 << given.claim)
                if given.charged:
                    self._charge_back(number)
            return False
        if given.shared:
            demand = want.demand(number)
            given = Given(given.claim, want, number, given.charged, shared=True, demand=demand)
            held = self._sharing.setdefault(number, {})
            for name, amount in (demand.amounts if demand else _NOTHING).items():
                held[name] = held.get(name, 0) + amount
        self.results[given.claim].append(given)
        return True

    def _follows_rules(self, want: Want, number: int) -> bool:
        for place, rule in enumerate(want.rules):
            if not rule.add(want.request, number):
                self._let_go(want.rules[:place], want.request, number)
                return False
        return True

    @staticmethod
    def _let_go(rules: tuple[Rule, ...], request: str, number: int) -> None:
        for rule in rules:
            rule.remove(request, number)

    def _refuse(self, number: int, *, charged: bool) -> None:
        if charged and not self._behaviour.refusals_keep_counters:
            self._charge_back(number)

    def _charge_back(self, number: int) -> None:
        self._ledger.give_back(self._site.pool_of[number].key, self._uses[number])

    def _is_shared(self, number: int) -> bool:
        """Whether a share of the device is held or being given, so that its counters are taken already."""
        device_id = self._site.ids[number]
        if device_id in self._taken.capacity or number in self._sharing:
            return True
        return not self._behaviour.shares_charged_again and device_id in self._taken.shares

    def _unshare(self, number: int, demand: Demand) -> None:
        """A share is given back; a device of which nothing is left is held by nobody, whatever it was."""
        if not demand.shares:
            return
        held = self._sharing.get(number)
        if held is None:
            return
        for name, amount in demand.amounts.items():
            held[name] -= amount
        if not any(held.values()):
            del self._sharing[number]
