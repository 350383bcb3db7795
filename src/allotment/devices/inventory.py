"""What a world has, device by device, as a person asks: which card, how much memory, where, and free or not.

Drivers name their cards in their own ways; those that are known are listed here. A device can be had when its
pool is whole, no taint blocks it, pods start on its node, and nobody holds it. Devices of an old generation
of their pool are not there at all, and are left out.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from allotment.devices.allocation.sites import PoolState
from allotment.devices.closed_nodes import closed_nodes
from allotment.devices.known_classes import CPU_DRIVER
from allotment.devices.nodes import NodeSelector
from allotment.devices.rules import amount
from allotment.devices.slices import Device, DeviceId, ResourceSlice, Taint
from allotment.devices.taint_rules import tainted
from allotment.devices.world import World

_NAMES: Final = ("productName", "model", "dra.net/pciDevice", "dra.net/ifName")
_NAMELESS: Final = ("", "Unknown", "unknown")
_PROFILES: Final = ("profile", "partitionProfile")
_WHOLE: Final = ("gpu", "amdgpu")
_PARTS: Final[Mapping[object, str]] = {"mig": "MIG", "amdgpu-partition": "partition"}
_OTHER_KINDS: Final = {"vfio": "passthrough"}
_VIRTUAL_BRANDS: Final = ("NvidiaVCS", "NvidiaVApps", "NvidiaVPC", "NvidiaVWS")
_NOBODY: Final[Mapping[DeviceId, str]] = {}
EVERYWHERE: Final = "all nodes"


class State(StrEnum):
    """Whether a device can be had now; the first that holds."""

    HELD = "held"
    SHARED = "shared"  # parts of its memory are held, the rest can be had in parts
    TAINTED = "tainted"
    INCOMPLETE = "pool incomplete"
    INVALID = "pool invalid"
    CLOSED = "unschedulable"  # no pod is started on its node
    ON_DEMAND = "on demand"  # it shares counters with others: giving one takes from the rest
    FREE = "free"


_TO_BE_HAD: Final = frozenset({State.FREE, State.ON_DEMAND})


@dataclass(frozen=True, slots=True)
class Listed:
    """One device as a person sees it. ``memory`` is in bytes; None where it is not told.

    ``closed`` is why no pod is started on its node; nothing where one may be.
    """

    id: DeviceId
    where: str
    card: str
    kind: str
    memory: int | None
    state: State
    why: str = ""
    card_id: str = ""
    used: int | None = None
    closed: str = ""

    @property
    def likeness(self) -> tuple[str, str, str, int]:
        """What like devices have in common, wherever they are."""
        return (self.id.driver, self.card, self.kind, -1 if self.memory is None else self.memory)


def inventory(
    world: World, holders: Mapping[DeviceId, str], sharers: Mapping[DeviceId, str] = _NOBODY
) -> tuple[Listed, ...]:
    """Every device that is there, in the order of the slices.

    ``holders`` says in words who holds which, ``sharers`` who holds parts of which.
    """
    slices = tainted(world.slices, world.taint_rules)
    pools = _Pools(slices)
    look = _Look(pools, holders, sharers, closed_nodes(world))
    return tuple(
        _listed(world, published, device, look)
        for published in slices
        if pools.is_current(published)
        for device in published.devices
    )


def _listed(world: World, published: ResourceSlice, device: Device, look: _Look) -> Listed:
    device_id = published.device_id(device)
    where = _where(published, device)
    closed = look.closed.get(where, "")
    state, why = _state(device, look.pools.state(published), look.holders.get(device_id))
    if state in _TO_BE_HAD and closed:
        state, why = State.CLOSED, closed
    if state is State.FREE and device_id in look.sharers:
        state, why = State.SHARED, look.sharers[device_id]
    return Listed(
        id=device_id,
        where=where,
        card=_card(published.driver, device),
        kind=_kind(published.driver, device),
        memory=device_memory(published.driver, device),
        state=state,
        why=why,
        card_id=_card_id(device_id, device),
        used=world.in_use.get(device_id),
        closed=closed,
    )


@dataclass(frozen=True, slots=True)
class _Look:
    """What decides the state of a device: its pool, who holds it or parts of it, and closed nodes."""

    pools: _Pools
    holders: Mapping[DeviceId, str]
    sharers: Mapping[DeviceId, str]
    closed: Mapping[str, str]


def device_memory(driver: str, device: Device) -> int | None:
    """The memory that a device publishes, in bytes; None when it publishes none, or less than nothing."""
    for key in ("memory", f"{driver}/memory"):
        if key in device.capacity:
            quantity = amount(device.capacity[key].value)
            return None if quantity is None or quantity.nanos < 0 else -(-quantity.nanos // 10**9)
    return None


class _Pools:
    """The newest generation of each pool, and whether it is whole."""

    def __init__(self, slices: Sequence[ResourceSlice]) -> None:
        self._newest: dict[tuple[str, str], int] = defaultdict(int)
        for published in slices:
            key = (published.driver, published.pool.name)
            self._newest[key] = max(self._newest[key], published.pool.generation)
        current = [published for published in slices if self.is_current(published)]
        self._counts = Counter((published.driver, published.pool.name) for published in current)
        names = Counter(published.device_id(device) for published in current for device in published.devices)
        self._invalid = {(name.driver, name.pool) for name, count in names.items() if count > 1}

    def is_current(self, published: ResourceSlice) -> bool:
        return published.pool.generation == self._newest[published.driver, published.pool.name]

    def state(self, published: ResourceSlice) -> PoolState:
        key = (published.driver, published.pool.name)
        if self._counts[key] != published.pool.resource_slice_count:
            return PoolState.INCOMPLETE
        return PoolState.INVALID if key in self._invalid else PoolState.READY


def _state(device: Device, pool: PoolState, holder: str | None) -> tuple[State, str]:
    if holder is not None and not device.allow_multiple_allocations:
        return State.HELD, holder
    if pool is PoolState.INCOMPLETE:
        return State.INCOMPLETE, "its pool is being updated"
    if pool is PoolState.INVALID:
        return State.INVALID, "two devices of its pool have one name"
    blocking = [taint for taint in device.taints if taint.blocks]
    if blocking:
        return State.TAINTED, ", ".join(map(_taint_words, blocking))
    shared = [] if holder is None else [f"shared {holder}"]
    noted = ", ".join((*shared, *map(_taint_words, device.taints)))
    if device.consumes_counters:
        return State.ON_DEMAND, noted
    return State.FREE, noted


def _taint_words(taint: Taint) -> str:
    value = f"={taint.value}" if taint.value else ""
    return f"{taint.key}{value}" + (f" ({taint.effect})" if taint.blocks else "")


def _where(published: ResourceSlice, device: Device) -> str:
    of = device if published.per_device_node_selection else published
    if of.node_name is not None:
        return of.node_name
    return _selector_words(of.node_selector) if of.node_selector is not None else EVERYWHERE


def _selector_words(selector: NodeSelector) -> str:
    words = {"In": "in", "NotIn": "not in", "Exists": "is set", "DoesNotExist": "is not set"}
    terms = (
        " and ".join(
            " ".join(filter(None, (need.key, words.get(need.operator, need.operator), ",".join(need.values))))
            for need in (*term.match_expressions, *term.match_fields)
        )
        for term in selector.terms
    )
    return "nodes where " + " or ".join(terms)


def _card(driver: str, device: Device) -> str:
    if driver == CPU_DRIVER:
        return "processor"
    for key in _NAMES:
        name = device.attributes.get(key)
        if isinstance(name, str) and name not in _NAMELESS:
            return name.replace("_", " ")
    told = device.attributes.get("pciId")
    return f"{driver} {told}" if isinstance(told, str) and told else driver


def _kind(driver: str, device: Device) -> str:
    """What of a card it is: whole, or a part; nothing for what is no card and says nothing."""
    attributes = device.attributes
    found = "processor" if driver == CPU_DRIVER else attributes.get("type")
    if found in _PARTS:
        profile = next((each for key in _PROFILES if isinstance(each := attributes.get(key), str)), "")
        return f"{_PARTS[found]} {profile}".strip()
    if attributes.get("brand") in _VIRTUAL_BRANDS:
        return "vGPU"
    if found in _WHOLE or (found is None and "memory" in device.capacity):
        return "whole"
    return _OTHER_KINDS.get(found, found) if isinstance(found, str) else ""


def _card_id(device_id: DeviceId, device: Device) -> str:
    """What devices of one physical card have in common; nothing for what is no card."""
    attributes = device.attributes
    if not ({"productName", "model", "pciId"} & attributes.keys() or "memory" in device.capacity):
        return ""
    if device_id.driver == CPU_DRIVER:
        return ""
    for key in ("resource.kubernetes.io/pciBusID", "parentUUID", "parentDeviceID", "uuid"):
        told = attributes.get(key)
        if isinstance(told, str) and told:
            return f"{device_id.driver}/{device_id.pool}/{told}"
    return str(device_id)
