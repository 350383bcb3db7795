"""Small scenes for the allocator: one node, a few devices, and the slowest search that could be right.

The search here is written from the rules and shares nothing with the product but the objects: it tries every
choice of devices in order, and looks at each complete choice as a whole.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

from allotment.devices.allocation import (
    FIXED,
    Attempt,
    Behaviour,
    Features,
    Ground,
    NamedClaim,
    PoolIndex,
    Site,
    Taken,
    Variant,
    allocate_on,
)
from allotment.devices.allocation.features import NEWEST
from allotment.devices.claims import Allocation, ClaimSpec, ExactRequest, Request
from allotment.devices.classes import DeviceClass
from allotment.devices.nodes import Node
from allotment.devices.slices import (
    Capacity,
    CounterConsumption,
    CounterSet,
    Device,
    DeviceId,
    Pool,
    ResourceSlice,
)

NODE = "n"
DRIVER = "d"
CLASSES = {name: DeviceClass(name, (f"device.driver == '{name}'",)) for name in (DRIVER, "other")}


def exact(count: int = 1, **fields: object) -> ExactRequest:
    """A request of the one class."""
    return ExactRequest(DRIVER, count=count, **fields)  # type: ignore[arg-type]


def claim(*requests: Request, **fields: object) -> ClaimSpec:
    """A claim of these requests."""
    return ClaimSpec(requests, **fields)  # type: ignore[arg-type]


def one(count: int = 1, **fields: object) -> ClaimSpec:
    """A claim of one request, named r."""
    return claim(Request("r", exact(count, **fields)))


def pool(
    *devices: Device,
    name: str = "p",
    counters: Sequence[CounterSet] = (),
    driver: str = DRIVER,
    **fields: object,
) -> tuple[ResourceSlice, ...]:
    """A pool on the node: a slice with its devices, and one with its counters where it has any."""
    of = Pool(name, resource_slice_count=2 if counters else 1)
    where = fields or {"node_name": NODE}
    found = [ResourceSlice(f"{name}-devices", driver, of, devices=devices, **where)]  # type: ignore[arg-type]
    if counters:
        found.append(
            ResourceSlice(f"{name}-counters", driver, of, node_name=NODE, shared_counters=tuple(counters))
        )
    return tuple(found)


def part(name: str, amount: int = 1, counter_set: str = "card", **fields: object) -> Device:
    """A part of a card: so many of its slices."""
    uses = CounterConsumption(counter_set, {"slices": str(amount)})
    return Device(name, consumes_counters=(uses,), **fields)  # type: ignore[arg-type]


def card(slices: int, name: str = "card") -> CounterSet:
    """A card of so many slices."""
    return CounterSet(name, {"slices": str(slices)})


def shared(name: str, memory: str = "8", **fields: object) -> Device:
    """A device that several claims may hold."""
    return Device(name, capacity={"memory": Capacity(memory, **fields)}, allow_multiple_allocations=True)  # type: ignore[arg-type]


def shared_part(name: str, amount: int) -> Device:
    """A part of a card that several claims may hold."""
    return replace(part(name, amount), capacity=shared(name).capacity, allow_multiple_allocations=True)


@dataclass
class Scene:
    """A node, its pools, and what is taken."""

    slices: Sequence[ResourceSlice]
    features: Features = NEWEST
    behaviour: Behaviour = FIXED
    variant: Variant | None = None
    taken: Taken = field(default_factory=Taken)

    @property
    def site(self) -> Site:
        """The node with its pools."""
        return PoolIndex(self.slices, self.features, self.variant).site(Node(NODE))

    def attempt(self, *claims: ClaimSpec) -> Attempt:
        """What the claims get, together."""
        ground = Ground(CLASSES, self.features, self.variant, self.behaviour)
        named = [NamedClaim(f"c{number}", spec) for number, spec in enumerate(claims)]
        return allocate_on(self.site, named, self.taken, ground, lambda: "share")

    def devices(self, *claims: ClaimSpec) -> list[str] | None:
        """The names of the devices that they get, one after the other."""
        attempt = self.attempt(*claims)
        assert attempt.error is None, attempt.error
        return None if attempt.allocations is None else names_of(attempt.allocations)

    def error(self, *claims: ClaimSpec) -> str:
        """The error with which it ends."""
        attempt = self.attempt(*claims)
        assert attempt.error is not None
        return attempt.error.text


def names_of(allocations: Sequence[Allocation]) -> list[str]:
    """The names of all devices, in the order of the results."""
    return [each.device for allocation in allocations for each in allocation.ids]


Chosen = tuple[DeviceId, Device]


def naive(scene: Scene, spec: ClaimSpec) -> list[str] | None:
    """The first choice of devices that is right as a whole; for exact counts over devices of pools."""
    ordered = sorted(scene.slices, key=lambda each: (each.pool.name, each.name))
    devices = [(each.device_id(device), device) for each in ordered for device in each.devices]
    for chosen in _choices(spec.requests, devices):
        alone = [each[0] for each in chosen if not each[1].allow_multiple_allocations]
        if any(device_id in scene.taken.devices for device_id, _ in chosen) or len(set(alone)) < len(alone):
            continue
        if _has_counters(scene, devices, chosen) and _has_room(scene, spec, chosen):
            return [device_id.device for device_id, _ in chosen]
    return None


def _choices(requests: Sequence[Request], devices: Sequence[Chosen]) -> Iterator[tuple[Chosen, ...]]:
    """Every way to choose devices for the requests, in order."""
    if not requests:
        yield ()
        return
    for sub in requests[0].alternatives:
        for chosen in combinations(devices, sub.exactly.count):
            for rest in _choices(requests[1:], devices):
                yield chosen + rest


def _has_counters(scene: Scene, devices: Sequence[Chosen], chosen: Sequence[Chosen]) -> bool:
    """Whether the counters of the pools that are drawn on are enough."""
    there = {
        (published.pool.name, counters.name): int(counters.counters["slices"])
        for published in scene.slices
        for counters in published.shared_counters
    }
    drawn: Counter[tuple[str, str]] = Counter()
    held = [each for each in devices if each[0] in scene.taken.devices or each[0] in scene.taken.shares]
    for device_id, device in dict([*held, *chosen]).items():
        for use in device.consumes_counters:
            drawn[device_id.pool, use.counter_set] += int(use.counters["slices"])
    touched = {device_id.pool for device_id, device in chosen if device.consumes_counters}
    return all(amount <= there[key] for key, amount in drawn.items() if key[0] in touched)


def _has_room(scene: Scene, spec: ClaimSpec, chosen: Sequence[Chosen]) -> bool:
    """Whether the capacities of the devices are enough."""
    asked = spec.requests[0].alternatives[0].exactly.capacity
    times = Counter(device_id for device_id, _ in chosen)
    return all(
        scene.taken.capacity_of(device_id).get(name, 0) // 10**9
        + int(asked.get(name, capacity.value)) * times[device_id]
        <= int(capacity.value)
        for device_id, device in chosen
        for name, capacity in device.capacity.items()
    )
