"""Devices of a world as a scheduler sees them that goes by the names of kinds.

KAI's model knows of a claim a class and a number. A claim may say more in selectors, which KAI leaves to the
allocator: here each pair of class and selectors is a kind with a name of its own, and a device says of which
kinds it is. A kind without selectors is called as its class.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import sha256

from allotment.devices.claims import ClaimSpec, ExactRequest
from allotment.devices.selectors import SelectorError, evaluate
from allotment.devices.slices import Device, ResourceSlice
from allotment.devices.world import World
from allotment.scheduling.state.claimed_devices import DeviceOfNode


def kind_of(asked: ExactRequest) -> str:
    """The name of what a request asks for."""
    if not asked.selectors:
        return asked.device_class
    digits = sha256("\x1f".join(asked.selectors).encode()).hexdigest()[:8]
    return f"{asked.device_class}/{digits}"


def exact_of(spec: ClaimSpec) -> ExactRequest | None:
    """The one exact request of a claim, its first; None for one with alternatives."""
    return next((each.exactly for each in spec.requests if each.exactly is not None), None)


def devices_of(
    world: World, specs: Iterable[ClaimSpec] = ()
) -> tuple[tuple[DeviceOfNode, ...], frozenset[str]]:
    """The devices of nodes with their kinds, and all kinds: every class, and what these claims ask for.

    Devices that share counters with others are left out: KAI's allocator is asked without them.
    """
    asked: dict[str, tuple[str, tuple[str, ...]]] = {name: (name, ()) for name in world.classes}
    for spec in specs:
        for request in spec.requests:
            for each in request.alternatives:
                exactly = each.exactly
                asked[kind_of(exactly)] = (exactly.device_class, exactly.selectors)
    found = tuple(_devices(world, asked))
    known = frozenset(name for name, (of_class, _) in asked.items() if of_class in world.classes)
    return found, known


def _devices(world: World, asked: dict[str, tuple[str, tuple[str, ...]]]) -> Iterator[DeviceOfNode]:
    for published in world.slices:
        for device in published.devices:
            node = published.node_name or device.node_name
            if node is None or device.consumes_counters:
                continue
            kinds = frozenset(_kinds(world, published, device, asked))
            yield DeviceOfNode(node, published.driver, published.pool.name, device.name, kinds)


def _kinds(
    world: World, published: ResourceSlice, device: Device, asked: dict[str, tuple[str, tuple[str, ...]]]
) -> Iterator[str]:
    passes = {
        name: _passes(found.selectors, published.driver, device) for name, found in world.classes.items()
    }
    for name, (of_class, selectors) in asked.items():
        if passes.get(of_class) and (not selectors or _passes(selectors, published.driver, device)):
            yield name


def _passes(selectors: Iterable[str], driver: str, device: Device) -> bool:
    try:
        return all(evaluate(each, driver, device) for each in selectors)
    except SelectorError:
        return False
