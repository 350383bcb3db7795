"""Compatibility groups: which devices may draw on one counter set together.

A device may name groups where it takes from a counter set (KEP 5963, alpha in Kubernetes 1.37). All devices
that draw on the set then need a group in common; those that name none only go with others that name none.
After ``compatibility_groups.go`` of k8s.io/dynamic-resource-allocation.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from allotment.devices.allocation.counters import PoolCounters
from allotment.devices.allocation.sites import SitePool
from allotment.devices.allocation.taken import PoolKey, Taken
from allotment.devices.slices import Device

Common = frozenset[str]
"""What the devices on a set have in common; empty: they name no groups."""

_NOBODY: Final = None


class Groups:
    """The groups of one attempt, on top of those of the devices that are allocated."""

    def __init__(self, taken: Taken, pools: Mapping[PoolKey, PoolCounters]) -> None:
        self._taken = taken
        self._pools = pools
        self._common: dict[tuple[PoolKey, str], Common | None] = {}
        self._before: list[dict[tuple[PoolKey, str], Common | None]] = []

    def add(self, pool: SitePool, device: Device) -> bool:
        """Let the device draw on its sets; False, and nothing changed, where its groups do not go there."""
        before: dict[tuple[PoolKey, str], Common | None] = {}
        after: dict[tuple[PoolKey, str], Common | None] = {}
        for consumption in device.consumes_counters:
            key = pool.key, consumption.counter_set
            common = self._common[key] if key in self._common else self._allocated(*key)
            groups = frozenset(consumption.compatibility_groups)
            if not _admits(common, groups):
                return False
            before[key], after[key] = common, _with(common, groups)
        self._common.update(after)
        self._before.append(before)
        return True

    def remove(self) -> None:
        """Let the device go that came last."""
        self._common.update(self._before.pop())

    def mark(self) -> object:
        """What is in common, as a value."""
        return frozenset(self._common.items())

    def _allocated(self, pool: PoolKey, counter_set: str) -> Common | None:
        """What the allocated devices on a set have in common."""
        common: Common | None = _NOBODY
        counters = self._pools[pool]
        for name in self._taken.names_in(pool):
            for used, groups in counters.groups.get(name, ()):
                if used == counter_set:
                    common = _with(common, groups)
        return common


def _admits(common: Common | None, groups: Common) -> bool:
    if common is None:
        return True
    return bool(common & groups) if groups else not common


def _with(common: Common | None, groups: Common) -> Common:
    if common is None:
        return groups
    return common & groups if common and groups else common
