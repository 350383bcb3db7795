"""What is taken of the devices: whole ones, shares of those that several claims may hold, and their capacity.

The state that upstream gathers from the allocations of all claims before it allocates (``AllocatedState`` of
k8s.io/dynamic-resource-allocation). Here it is kept from claim to claim: what an allocation takes, releasing
it gives back. Administrative access takes nothing.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Final

from allotment.devices.claims import Allocation
from allotment.devices.slices import DeviceId
from allotment.quantities.kubernetes import Quantity

PoolKey = tuple[str, str]
_NOTHING: Final[Mapping[str, int]] = {}


class Taken:
    """Which devices are taken, and how much of them. Capacities are in billionths."""

    __slots__ = ("by_pool", "capacity", "devices", "shares")

    def __init__(self, devices: Iterable[DeviceId] = ()) -> None:
        self.devices: set[DeviceId] = set()
        self.shares: Counter[DeviceId] = Counter()
        self.capacity: dict[DeviceId, dict[str, int]] = {}
        self.by_pool: dict[PoolKey, Counter[str]] = defaultdict(Counter)
        for device in devices:
            self.add_device(device)

    def add_device(self, device: DeviceId) -> None:
        """A device is taken whole."""
        if device not in self.devices:
            self.devices.add(device)
            self.by_pool[device[:2]][device.device] += 1

    def remove_device(self, device: DeviceId) -> None:
        """A whole device is given back."""
        if device in self.devices:
            self.devices.discard(device)
            self._forget(device)

    def add_share(self, device: DeviceId) -> None:
        """One more claim holds the device."""
        self.shares[device] += 1
        self.by_pool[device[:2]][device.device] += 1

    def remove_share(self, device: DeviceId) -> None:
        """One claim fewer holds the device."""
        self.shares[device] -= 1
        if not self.shares[device]:
            del self.shares[device]
        self._forget(device)

    def add_capacity(self, device: DeviceId, amounts: Mapping[str, int]) -> None:
        """So much more of the device's capacities is taken."""
        held = self.capacity.get(device)
        if held is None:
            held = self.capacity[device] = {}
            self.by_pool[device[:2]][device.device] += 1
        for name, amount in amounts.items():
            held[name] = held.get(name, 0) + amount

    def remove_capacity(self, device: DeviceId, amounts: Mapping[str, int]) -> None:
        """So much of the device's capacities is given back."""
        held = self.capacity.get(device)
        if held is None:
            return
        for name, amount in amounts.items():
            if name in held:
                held[name] -= amount
        if not any(held.values()) and not self.shares.get(device):
            del self.capacity[device]
            self._forget(device)

    def take(self, allocation: Allocation) -> None:
        """Everything that an allocation holds is taken."""
        for result in allocation.results:
            if result.share_id is not None:
                self.add_share(result.id)
                if result.consumed_capacity:
                    self.add_capacity(result.id, _amounts(result.consumed_capacity))
            elif not result.admin_access:
                self.add_device(result.id)

    def release(self, allocation: Allocation) -> None:
        """Everything that an allocation holds is given back."""
        for result in allocation.results:
            if result.share_id is not None:
                self.remove_share(result.id)
                if result.consumed_capacity:
                    self.remove_capacity(result.id, _amounts(result.consumed_capacity))
            elif not result.admin_access:
                self.remove_device(result.id)

    def names_in(self, pool: PoolKey) -> Iterable[str]:
        """The devices of a pool of which anything is taken."""
        return self.by_pool.get(pool, ())

    def capacity_of(self, device: DeviceId) -> Mapping[str, int]:
        """What is taken of a device's capacities."""
        return self.capacity.get(device, _NOTHING)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Taken):
            return NotImplemented
        return (self.devices, self.shares, self.capacity) == (other.devices, other.shares, other.capacity)

    __hash__ = None  # type: ignore[assignment]  # it changes

    def _forget(self, device: DeviceId) -> None:
        names = self.by_pool[device[:2]]
        names[device.device] -= 1
        if names[device.device] <= 0:
            del names[device.device]
        if not names:
            del self.by_pool[device[:2]]


def _amounts(texts: Mapping[str, str]) -> dict[str, int]:
    return {name: nanos(text) for name, text in texts.items()}


@lru_cache(maxsize=4096)
def quantity(text: str) -> Quantity:
    """The quantity that a text says; the API server lets no other text through."""
    return Quantity.parse(text)


def nanos(text: str) -> int:
    """The amount that a text says, in billionths."""
    return quantity(text).nanos
