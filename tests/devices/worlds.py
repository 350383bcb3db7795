"""Small worlds for tests, and the slowest allocator that could be right, to compare with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from itertools import combinations

from allotment.devices.claims import AllocatedDevice, ClaimSpec, ExactRequest, Request, SubRequest
from allotment.devices.classes import DeviceClass
from allotment.devices.selectors import SelectorError, evaluate
from allotment.devices.slices import Device, DeviceId, Pool, ResourceSlice
from allotment.devices.world import World

NODE = "here"


def driver_class(name: str) -> DeviceClass:
    """The class of all devices of the driver of the same name."""
    return DeviceClass(name, (f"device.driver == '{name}'",))


def world(*slices: ResourceSlice, classes: Iterable[DeviceClass] = (), memory: int | None = None) -> World:
    """A world of these slices, with a class for each of their drivers."""
    by_driver = {published.driver: driver_class(published.driver) for published in slices}
    return World(slices, by_driver | {each.name: each for each in classes}, NODE, memory)


def pool(
    driver: str,
    devices: Mapping[str, Sequence[str]] | Sequence[str],
    *,
    name: str = "p",
    slice_name: str = "s",
) -> ResourceSlice:
    """A pool of one slice. A device's tags are what ``tag:X`` selectors look for."""
    tags = devices if isinstance(devices, Mapping) else dict.fromkeys(devices, ())
    published = tuple(Device(device, attributes=dict.fromkeys(tags[device], True)) for device in tags)
    return ResourceSlice(slice_name, driver, Pool(name), node_name=NODE, devices=published)


def by_tag(expression: str, driver: str, device: Device) -> bool:
    """``tag:X`` passes devices with the tag, ``fault:X`` fails on them, the rest is as the product has it."""
    kind, _, tag = expression.partition(":")
    if kind == "fault" and tag in device.attributes:
        raise SelectorError("no such key: memory")
    if kind in {"tag", "fault"}:
        return tag in device.attributes
    return evaluate(expression, driver, device)


def one(device_class: str, count: int = 1, *selectors: str) -> ClaimSpec:
    """A claim of one exact request."""
    return ClaimSpec((Request("r", ExactRequest(device_class, selectors, count)),))


def first_of(*exact: ExactRequest) -> ClaimSpec:
    """A claim of one request with alternatives named a, b, c …"""
    subs = tuple(SubRequest(chr(ord("a") + place), each) for place, each in enumerate(exact))
    return ClaimSpec((Request("r", first_available=subs),))


def naive(claim: ClaimSpec, here: World, taken: Set[DeviceId]) -> tuple[AllocatedDevice, ...] | None:
    """Every way to meet the claim, in the order of search; the first one. No pruning, no cleverness."""
    ordered = sorted(here.slices, key=lambda each: (each.driver, each.pool.name, each.name))
    devices = [(each, device) for each in ordered for device in each.devices]

    def suits(exact: ExactRequest, published: ResourceSlice, device: Device) -> bool:
        selectors = (*here.classes[exact.device_class].selectors, *exact.selectors)
        return all(by_tag(expression, published.driver, device) for expression in selectors)

    def ways(requests: Sequence[Request], gone: Set[DeviceId]) -> Iterator[tuple[AllocatedDevice, ...]]:
        if not requests:
            yield ()
            return
        request = requests[0]
        for sub in request.alternatives:
            name = f"{request.name}/{sub.name}" if request.first_available else request.name
            ids = [each.device_id(device) for each, device in devices if suits(sub.exactly, each, device)]
            for chosen in combinations([each for each in ids if each not in gone], sub.exactly.count):
                results = tuple(AllocatedDevice(name, device_id) for device_id in chosen)
                for rest in ways(requests[1:], gone | set(chosen)):
                    yield results + rest

    return next(ways(claim.requests, taken), None)
