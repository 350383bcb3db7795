"""Counters that the devices of a pool share: what is left of them, and what is being taken.

A pool's counter sets say what there is; each device says what it takes. What allocated devices of the pool
take is gone, those included that this node cannot reach. A device can be given when, with what it takes, no
counter of the pool is overdrawn. After ``checkAvailableCounters`` of k8s.io/dynamic-resource-allocation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from allotment.devices.allocation.sites import SitePool
from allotment.devices.allocation.taken import PoolKey, Taken, nanos
from allotment.devices.slices import CounterConsumption, Device

CounterKey = tuple[str, str]
Amounts = Mapping[CounterKey, int]
"""Amounts by counter set and counter, in billionths."""

_NOTHING: Amounts = {}


class Consumptions:
    """What devices take of counters: read once for all devices that share the text of it."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[tuple[CounterConsumption, ...], Amounts]] = {}

    def of(self, device: Device) -> Amounts:
        """What a device takes."""
        told = device.consumes_counters
        if not told:
            return _NOTHING
        known = self._known.get(id(told))
        if known is None:
            known = self._known[id(told)] = told, _amounts(told)
        return known[1]


class PoolCounters:
    """The counters of a pool as they are published. Made once for a pool."""

    __slots__ = ("consumption", "declared", "groups")

    def __init__(self, pool: SitePool, consumptions: Consumptions) -> None:
        self.declared: dict[CounterKey, int] = {
            (each.name, counter): nanos(amount)
            for published in pool.counters
            for each in published.shared_counters
            for counter, amount in each.counters.items()
        }
        self.consumption: dict[str, list[Amounts]] = {}
        self.groups: dict[str, list[tuple[str, frozenset[str]]]] = {}
        for published in (*pool.here, *pool.elsewhere):
            for device in published.devices:
                if device.consumes_counters:
                    self.consumption.setdefault(device.name, []).append(consumptions.of(device))
                    self.groups.setdefault(device.name, []).extend(
                        (each.counter_set, frozenset(each.compatibility_groups))
                        for each in device.consumes_counters
                    )

    def left(self, pool: PoolKey, taken: Taken, *, shares: bool) -> dict[CounterKey, int]:
        """What is left beside what allocated devices take; ``shares``: those that are shared count too."""
        left = dict(self.declared)
        for name in taken.names_in(pool) if self.consumption else ():
            if not shares and (*pool, name) not in taken.devices:
                continue
            for amounts in self.consumption.get(name, ()):
                for key, amount in amounts.items():
                    if key in left:
                        left[key] -= amount
        return left


class Ledger:
    """The counters of one allocation: what is left of each pool, and what is being taken from it."""

    def __init__(
        self, taken: Taken, pools: Mapping[PoolKey, PoolCounters], *, by_name: bool, shares: bool
    ) -> None:
        """``by_name`` takes pools of one name for one; ``shares``: devices that are shared count too."""
        self._taken = taken
        self._pools = pools
        self._by_name = by_name
        self._shares = shares
        self._left: dict[object, dict[CounterKey, int]] = {}
        self._overdrawn: dict[object, int] = {}
        self._drawn: dict[tuple[object, CounterKey], int] = {}

    def take(self, pool: PoolKey, amounts: Amounts) -> bool:
        """Take the amounts; False, and nothing taken, where a counter of the pool would be overdrawn."""
        key: object = pool[1] if self._by_name else pool
        left = self._left.get(key)
        if left is None:
            left = self._left[key] = self._pools[pool].left(pool, self._taken, shares=self._shares)
            self._overdrawn[key] = sum(amount < 0 for amount in left.values())
        if self._overdrawn[key] or any(left.get(name, amount) < amount for name, amount in amounts.items()):
            return False
        self._change(key, amounts, -1)
        return True

    def give_back(self, pool: PoolKey, amounts: Amounts) -> None:
        """Give the amounts back."""
        self._change(pool[1] if self._by_name else pool, amounts, 1)

    def mark(self) -> object:
        """What is being taken, as a value."""
        return frozenset(self._drawn.items())

    def _change(self, key: object, amounts: Amounts, sign: int) -> None:
        left = self._left[key]
        for name, amount in amounts.items():
            if name in left:
                left[name] += sign * amount
                drawn = self._drawn.pop((key, name), 0) - sign * amount
                if drawn:
                    self._drawn[key, name] = drawn


def _amounts(told: Sequence[CounterConsumption]) -> Amounts:
    found: dict[CounterKey, int] = {}
    for consumption in told:
        for counter, amount in consumption.counters.items():
            key = consumption.counter_set, counter
            found[key] = found.get(key, 0) + nanos(amount)
    return found
