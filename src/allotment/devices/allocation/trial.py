"""One attempt at a solution: devices are given and given back until all claims have theirs.

The order in which a device is looked at is upstream's (``allocateDevice`` of k8s.io/dynamic-resource-
allocation): in use, counters, taints, constraints, capacity. It matters where a defect leaves something
behind when a later look refuses the device.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from allotment.devices.allocation.amounts import Demand
from allotment.devices.allocation.counters import Ledger
from allotment.devices.allocation.features import Variant
from allotment.devices.allocation.ground import Ground
from allotment.devices.allocation.groups import Groups
from allotment.devices.allocation.sites import PoolState, Site
from allotment.devices.allocation.taken import Taken
from allotment.devices.allocation.wants import ReadyClaim, Want

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

    def __init__(self, claims: Sequence[ReadyClaim], site: Site, ground: Ground, taken: Taken) -> None:
        self.site = site
        lists = ground.features.list_type_attributes
        self._rules = [claim.rules(ground.behaviour, lists=lists) for claim in claims]
        self._features = ground.features
        self._variant = ground.variant
        self._behaviour = ground.behaviour
        self._taken = taken
        self._gone = taken.devices
        self._marks = [0] * len(site.ids)  # a bit for each claim that gets the device
        self._sharing: dict[int, dict[str, int]] = {}
        self._shares: Counter[int] = Counter()
        self._uses = ground.uses(site)
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
        self._groups = Groups(taken, pools) if ground.features.compatibility_groups else None
        self.breaks_rule = False  # why the last device was refused: a constraint of its claim
        self.results: list[list[Given]] = [[] for _ in claims]

    def in_use(self, claim: int, number: int, *, admin: bool) -> bool:
        """Whether the device is not free for the claim; an administrator only minds his own."""
        if admin:
            return bool(self._marks[number] >> claim & 1)
        return bool(self._marks[number]) or self.site.ids[number] in self._gone

    def has_capacity(self, want: Want, number: int) -> bool:
        """Whether the device has what the request asks of its capacities, beside what others take."""
        if not self._features.consumable_capacity:
            return True
        demand = want.demand(number)
        if demand is None:
            return False
        held = self._taken.capacity_of(self.site.ids[number])
        return demand.fits(held, self._sharing.get(number, _NOTHING))

    def could_give(self, want: Want, number: int) -> bool:
        """Whether the device alone has enough left for the request, of its counters and its capacity."""
        uses = self._uses[number]
        if uses and not self._features.partitionable_devices:
            return False
        if uses and not self.site.devices[number].allow_multiple_allocations:
            pool = self.site.pool_of[number].key
            if not self._ledger.take(pool, uses):
                return False
            self._ledger.give_back(pool, uses)
        return self.has_capacity(want, number)

    def give(self, claim: int, want: Want, number: int) -> bool:
        """Give the device, if nothing forbids it."""
        self.breaks_rule = False
        device = self.site.devices[number]
        shared = device.allow_multiple_allocations and self._features.consumable_capacity
        admin = want.is_admin
        if not (admin and shared) and self.in_use(claim, number, admin=admin):
            return False
        if not self._may_skip_operations(number):
            return False
        charges = self._charge(number, shared=shared)
        if charges is None:
            return False
        if number in want.tainted:
            self._refuse(number, charged=charges)
            return False
        if not self._follows_rules(claim, want, number):
            self.breaks_rule = True
            self._refuse(number, charged=charges)
            return False
        return self._finish(Given(claim, want, number, charges, shared, None))

    def _may_skip_operations(self, number: int) -> bool:
        """Whether a device can be used whose driver leaves out what a node does for others."""
        return (
            self._variant is not Variant.EXPERIMENTAL
            or self._features.optional_node_operations
            or not self.site.slices[number].skip_node_operations
        )

    def _charge(self, number: int, *, shared: bool) -> bool | None:
        """Take the device's counters: whether there was anything to take; None where they are not enough."""
        device = self.site.devices[number]
        if not device.consumes_counters:
            return False
        if not self._features.partitionable_devices:
            return None
        if shared and self._is_shared(number):
            return False
        pool = self.site.pool_of[number]
        if self._groups is not None and not self._groups.add(pool, device):
            return None
        if self._ledger.take(pool.key, self._uses[number]):
            return True
        if self._groups is not None:
            self._groups.remove()
        return None

    def give_back(self, claim: int) -> None:
        """Give back what the claim got last."""
        given = self.results[claim].pop()
        self._let_go(claim, given.want.rules, given)
        if given.shared:
            self._unshare(given)
        self._unmark(given)

    def mark(self, start: int, likenesses: Sequence[int], *, admin: bool) -> object:
        """All that what follows depends on, as a value that is equal where devices are alike.

        Devices that are free keep their order, before and from the number ``start`` on; those that are not
        only matter to an administrator.
        """
        marks = self._marks
        free = [
            (likenesses[number], marks[number]) if admin else likenesses[number]
            for number in range(len(marks))
            if admin or not marks[number]
        ]
        before = sum(1 for number in range(start) if admin or not marks[number])
        return (
            tuple(free),
            before,
            self._ledger.mark(),
            None if self._groups is None else self._groups.mark(),
            tuple(sorted((number, *sorted(held.items())) for number, held in self._sharing.items())),
            tuple(rule.mark for rules in self._rules for rule in rules),
            tuple(len(results) for results in self.results),
        )

    def _finish(self, given: Given) -> bool:
        """Mark the device and record the result, if its capacity is enough at the last look."""
        number, claim = given.number, given.claim
        if not given.shared:
            self._marks[number] |= 1 << claim
        if not self.has_capacity(given.want, number):
            if not self._behaviour.refusals_keep_devices:
                self._let_go(claim, given.want.rules, given)
                self._unmark(given)
            return False
        if given.shared:
            given = replace(given, demand=given.want.demand(number))
            self._share(given)
        self.results[claim].append(given)
        return True

    def _unmark(self, given: Given) -> None:
        """Undo what was noted of a device beside its constraints."""
        if not given.shared:
            self._marks[given.number] &= ~(1 << given.claim)
        if given.charged and not (given.shared and self._behaviour.shares_keep_counters):
            self._charge_back(given.number)

    def _follows_rules(self, claim: int, want: Want, number: int) -> bool:
        rules = self._rules[claim]
        for at, place in enumerate(want.rules):
            if not rules[place].add(want.request, number):
                for added in reversed(want.rules[:at]):
                    rules[added].remove(want.request, number)
                return False
        return True

    def _let_go(self, claim: int, places: tuple[int, ...], given: Given) -> None:
        for place in reversed(places):
            self._rules[claim][place].remove(given.want.request, given.number)

    def _refuse(self, number: int, *, charged: bool) -> None:
        if charged and not self._behaviour.refusals_keep_counters:
            self._charge_back(number)

    def _charge_back(self, number: int) -> None:
        if self._groups is not None:
            self._groups.remove()
        self._ledger.give_back(self.site.pool_of[number].key, self._uses[number])

    def _is_shared(self, number: int) -> bool:
        """Whether a share of the device is held or being given, so that its counters are taken already."""
        device_id = self.site.ids[number]
        if device_id in self._taken.capacity or number in self._sharing:
            return True
        return not self._behaviour.shares_charged_again and device_id in self._taken.shares

    def _share(self, given: Given) -> None:
        """A share of the device is given."""
        held = self._sharing.setdefault(given.number, {})
        self._shares[given.number] += 1
        for name, amount in _amounts(given.demand).items():
            held[name] = held.get(name, 0) + amount

    def _unshare(self, given: Given) -> None:
        """A share is given back.

        With the defect, a device counts as shared until what its shares take is nothing, whoever holds one.
        """
        number, amounts = given.number, _amounts(given.demand)
        held = self._sharing.get(number, {})
        self._shares[number] -= 1
        for name, amount in amounts.items():
            held[name] = held.get(name, 0) - amount
        kept = self._behaviour.shares_keep_counters
        if (bool(amounts) and not any(held.values())) if kept else not self._shares[number]:
            self._sharing.pop(number, None)


def _amounts(demand: Demand | None) -> Mapping[str, int]:
    return _NOTHING if demand is None else demand.amounts
