"""NVIDIA cards of this machine as devices that several workers may hold, each with a part of the memory.

Drivers publish cards whole, or as shares when a cluster's administrator says so. On one machine the engine
may share a card itself: as CUDA's own time-slicing allows any number of processes on a card, the one thing
to count is memory. A worker that asks for no part takes all of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from allotment.devices.claims import Allocation, ClaimSpec, ExactRequest, Request, SubRequest
from allotment.devices.inventory import device_memory
from allotment.devices.known_classes import NVIDIA_DRIVER
from allotment.devices.slices import Device, DeviceId, RequestPolicy, ResourceSlice
from allotment.devices.world import World
from allotment.quantities import format_bytes, parse_bytes

MEMORY: Final = "memory"
_NOTHING_ASKED: Final = RequestPolicy(default="0")


@dataclass(frozen=True, slots=True)
class CardShare:
    """What one worker gets of a card: bytes, or a part; neither is all of it."""

    amount: int | None = None
    part: float | None = None


def shareable(world: World) -> World:
    """The world with every card that can be shared published so; all else stays as it is."""
    return replace(world, slices=tuple(_of_slice(published) for published in world.slices))


def unshared(world: World) -> World:
    """The world with every card published for one holder alone, whatever its driver says of shares."""
    return replace(world, slices=tuple(map(_alone, world.slices)))


def memory_of_cards(world: World) -> Mapping[DeviceId, int]:
    """The memory of each card that can be shared."""
    return {
        id_: memory for id_, device in world.devices() if (memory := _memory(id_.driver, device)) is not None
    }


@lru_cache(maxsize=8)
def cut_cards(world: World) -> tuple[tuple[DeviceId, ...], ...]:
    """The devices of each card that is published in parts: by their parent, or by shared counters."""
    groups: dict[tuple[str, str, str], list[DeviceId]] = {}
    for published in world.slices:
        for device in published.devices:
            parent = device.attributes.get("parentUUID")
            names = {parent} if isinstance(parent, str) and parent else set()
            names |= {each.counter_set for each in device.consumes_counters}
            for name in names:
                key = (published.driver, published.pool.name, name)
                groups.setdefault(key, []).append(published.device_id(device))
    return tuple(tuple(group) for group in groups.values())


def sized(
    claim: ClaimSpec, shares: Mapping[str, CardShare], memories: Mapping[DeviceId, int]
) -> tuple[ClaimSpec, Mapping[str, str]]:
    """The claim with the amounts that each alternative takes of a card, by its request's name.

    Of a part it depends on the card how much that is: such an alternative becomes one for each size of card.
    Returns too which alternative each request of the claim's results comes from.
    """
    sizes = sorted(set(memories.values()), reverse=True)
    origins: dict[str, str] = {}
    requests = []
    for request in claim.requests:
        found: list[SubRequest] = []
        for sub in request.alternatives:
            name = _name(request, sub)
            ways = [*_sized(sub.exactly, shares[name], sizes)] if name in shares else [sub.exactly]
            for place, exact in enumerate(ways):
                found.append(SubRequest(sub.name if len(ways) == 1 else f"{sub.name}-of-{place + 1}", exact))
                origins[f"{request.name}/{found[-1].name}"] = name
        if request.exactly is not None and len(found) == 1:
            requests.append(Request(request.name, found[0].exactly))
            origins[request.name] = request.name
        else:
            requests.append(Request(request.name, first_available=tuple(found)))
    return replace(claim, requests=tuple(requests)), origins


def amounts_taken(allocation: Allocation) -> Mapping[DeviceId, int]:
    """How many bytes of each shared card an allocation has."""
    return {
        result.id: parse_bytes(result.consumed_capacity[MEMORY])
        for result in allocation.results
        if result.share_id is not None and MEMORY in result.consumed_capacity
    }


def _name(request: Request, sub: SubRequest) -> str:
    return request.name if request.exactly is not None else f"{request.name}/{sub.name}"


def _sized(exact: ExactRequest, share: CardShare, sizes: list[int]) -> list[ExactRequest]:
    if share.part is None:
        return [replace(exact, capacity={} if share.amount is None else {MEMORY: str(share.amount)})]
    of_size = f"device.capacity['{NVIDIA_DRIVER}'].memory.compareTo(quantity('{{}}')) == 0"
    return [
        replace(
            exact,
            selectors=(*exact.selectors, of_size.format(format_bytes(size))),
            capacity={MEMORY: str(max(1, int(size * share.part)))},
        )
        for size in sizes
    ] or [replace(exact, capacity={})]


def _alone(published: ResourceSlice) -> ResourceSlice:
    if published.driver != NVIDIA_DRIVER or not any(
        each.allow_multiple_allocations for each in published.devices
    ):
        return published
    devices = tuple(
        replace(
            each,
            allow_multiple_allocations=False,
            capacity={name: replace(amount, request_policy=None) for name, amount in each.capacity.items()},
        )
        for each in published.devices
    )
    return replace(published, devices=devices)


def _of_slice(published: ResourceSlice) -> ResourceSlice:
    if published.driver != NVIDIA_DRIVER:
        return published
    return replace(published, devices=tuple(_of_device(published.driver, each) for each in published.devices))


def _of_device(driver: str, device: Device) -> Device:
    if _memory(driver, device) is None:
        return device
    capacity = {
        name: replace(each, request_policy=None if name == MEMORY else _NOTHING_ASKED)
        for name, each in device.capacity.items()
    }
    return replace(device, allow_multiple_allocations=True, capacity=capacity)


def _memory(driver: str, device: Device) -> int | None:
    """The memory of a card that can be shared here, by its driver too; None for what cannot be."""
    if driver != NVIDIA_DRIVER or device.consumes_counters:
        return None
    return device_memory(driver, device) if MEMORY in device.capacity else None
