"""The slowest search that is right: every node, every device, every selector and counter anew for each claim.

It knows what the loads ask for and no more: exact requests, counts, constraints on an attribute, counters.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass

from allotment.devices.claims import ClaimSpec, ExactRequest
from allotment.devices.selectors import evaluate
from allotment.devices.slices import Device, DeviceId, ResourceSlice
from allotment.devices.world import World
from allotment.quantities.kubernetes import Quantity

Found = tuple[DeviceId, ...]
_Seen = tuple[ResourceSlice, Device, DeviceId]


def place(world: World, claim: ClaimSpec, taken: Set[DeviceId]) -> Found | None:
    """The claim's devices on the first node that has them."""
    for node in dict.fromkeys(published.node_name for published in world.slices):
        slices = [published for published in world.slices if published.node_name == node]
        search = _Search(world, slices, claim, taken)
        for found in search.choices(_wanted(claim), ()):
            return found
    return None


def _wanted(claim: ClaimSpec) -> list[ExactRequest]:
    return [
        request.exactly
        for request in claim.requests
        if request.exactly is not None
        for _ in range(request.exactly.count)
    ]


@dataclass(frozen=True)
class _Search:
    """One claim on one node, of which these are the slices."""

    world: World
    slices: Sequence[ResourceSlice]
    claim: ClaimSpec
    taken: Set[DeviceId]

    def choices(self, wanted: Sequence[ExactRequest], chosen: Sequence[_Seen]) -> Iterator[Found]:
        """Every way to take what is wanted, in order."""
        if len(chosen) == len(wanted):
            yield tuple(device_id for _, _, device_id in chosen)
            return
        exact = wanted[len(chosen)]
        selectors = (*self.world.classes[exact.device_class].selectors, *exact.selectors)
        for published in self.slices:
            for device in published.devices:
                device_id = published.device_id(device)
                if device_id in self.taken or any(device_id == other for _, _, other in chosen):
                    continue
                if not all(evaluate(selector, published.driver, device) for selector in selectors):
                    continue
                more = (*chosen, (published, device, device_id))
                if self._agree(more) and self._counters_suffice(more):
                    yield from self.choices(wanted, more)

    def _agree(self, chosen: Sequence[_Seen]) -> bool:
        for constraint in self.claim.constraints:
            name = (constraint.match_attribute or "").partition("/")[2]
            if len({device.attributes[name] for _, device, _ in chosen}) > 1:
                return False
        return True

    def _counters_suffice(self, chosen: Sequence[_Seen]) -> bool:
        used: dict[tuple[str, str], int] = {}
        holders = self.taken | {device_id for _, _, device_id in chosen}
        for published in self.slices:
            for device in published.devices:
                if device.consumes_counters and published.device_id(device) in holders:
                    for consumption in device.consumes_counters:
                        for name, value in consumption.counters.items():
                            key = (consumption.counter_set, name)
                            used[key] = used.get(key, 0) + Quantity.parse(value).nanos
        there = {
            (counters.name, name): Quantity.parse(value).nanos
            for published in self.slices
            for counters in published.shared_counters
            for name, value in counters.counters.items()
        }
        return all(amount <= there.get(key, 0) for key, amount in used.items())
