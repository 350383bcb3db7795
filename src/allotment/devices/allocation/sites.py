"""Which pools a node can take devices from, and in which order they are searched.

A driver changes a pool by publishing a new generation, slice by slice. Until all slices of the newest one are
there the pool is incomplete, and a pool that contradicts itself is invalid: from neither may a device be
given, but both count, for a claim that wants every device. After ``GatherPools`` of
k8s.io/dynamic-resource-allocation: pools whose devices have binding conditions come last, then by driver and
pool name, slices by name, devices as listed; the stable variant leaves slices as they come.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from operator import itemgetter

from allotment.devices.allocation.behaviours import FIXED, Behaviour
from allotment.devices.allocation.contradictions import double_name, missing_counter
from allotment.devices.allocation.features import NEWEST, Features, Variant, variant_for
from allotment.devices.allocation.taken import PoolKey
from allotment.devices.nodes import Node, NodeSelector
from allotment.devices.slices import Device, DeviceId, ResourceSlice, Taint


class PoolState(StrEnum):
    """Whether devices of a pool may be given."""

    READY = "ready"
    INCOMPLETE = "incomplete"  # being updated: some of its slices are missing
    INVALID = "invalid"  # two devices or counter sets of one name, or counters that are not there


@dataclass(frozen=True, slots=True)
class SitePool:
    """One pool as a node sees it: what the node can reach, what it cannot, and the counters."""

    driver: str
    name: str
    state: PoolState
    why: str = ""
    here: tuple[ResourceSlice, ...] = ()
    elsewhere: tuple[ResourceSlice, ...] = ()
    counters: tuple[ResourceSlice, ...] = ()

    @property
    def key(self) -> PoolKey:
        """The pool's full name."""
        return self.driver, self.name

    def __str__(self) -> str:
        return f"{self.driver}/{self.name}"

    @property
    def devices(self) -> tuple[tuple[DeviceId, Device], ...]:
        """The devices that the node can reach, in the order of search."""
        return tuple(
            (published.device_id(device), device) for published in self.here for device in published.devices
        )


class Site:
    """A node with its pools. Devices of pools that are ready have numbers, in the order of search."""

    def __init__(self, node: Node, pools: Sequence[SitePool]) -> None:
        self.node = node
        self.pools = tuple(pools)
        self.devices: list[Device] = []
        self.ids: list[DeviceId] = []
        self.slices: list[ResourceSlice] = []
        self.pool_of: list[SitePool] = []
        for pool in self.pools:
            for published in pool.here if pool.state is PoolState.READY else ():
                for device in published.devices:
                    self.devices.append(device)
                    self.ids.append(DeviceId(pool.driver, pool.name, device.name))
                    self.slices.append(published)
                    self.pool_of.append(pool)

    @cached_property
    def out_of_reach(self) -> frozenset[int]:
        """The devices that say for themselves that they are for other nodes."""
        return frozenset(
            number
            for number, (device, published) in enumerate(zip(self.devices, self.slices, strict=True))
            if published.per_device_node_selection and not _matches(device, self.node)
        )

    @cached_property
    def blocked(self) -> dict[int, tuple[Taint, ...]]:
        """The devices with taints that need to be put up with."""
        return {
            number: tuple(taint for taint in device.taints if taint.blocks)
            for number, device in enumerate(self.devices)
            if any(taint.blocks for taint in device.taints)
        }

    @cached_property
    def numbers(self) -> dict[DeviceId, int]:
        """The number of each device."""
        return {device_id: number for number, device_id in enumerate(self.ids)}

    @property
    def has_invalid_pool(self) -> bool:
        """Whether a pool contradicts itself."""
        return any(pool.state is PoolState.INVALID for pool in self.pools)


class PoolIndex:
    """All slices by the nodes that they name, so that a node is answered without a look at the others'."""

    def __init__(
        self,
        slices: Sequence[ResourceSlice],
        features: Features = NEWEST,
        variant: Variant | None = None,
        behaviour: Behaviour = FIXED,
    ) -> None:
        self.features = features
        self.variant = variant_for(features) if variant is None else variant
        self._sorted = self.variant is not Variant.STABLE
        self._counters_everywhere = behaviour.counters_reach_everywhere or not self._sorted
        self._slices = slices
        self._local: dict[str, list[tuple[int, ResourceSlice]]] = defaultdict(list)
        self._wide: list[tuple[int, ResourceSlice]] = []  # those of which a node's labels or nothing decides
        for place, published in enumerate(slices):
            if published.node_name and not (published.shared_counters and self._counters_everywhere):
                self._local[published.node_name].append((place, published))
            else:
                self._wide.append((place, published))

    @cached_property
    def _by_pool(self) -> dict[PoolKey, list[ResourceSlice]]:
        found: dict[PoolKey, list[ResourceSlice]] = defaultdict(list)
        for published in self._slices:
            found[published.driver, published.pool.name].append(published)
        return found

    def node_names(self) -> tuple[str, ...]:
        """The nodes that slices name, in the order of the slices."""
        return tuple(self._local)

    @cached_property
    def is_local(self) -> bool:
        """Whether every pool is reached from one node only."""
        return not self._wide and all(
            len({published.node_name for published in pool}) == 1 for pool in self._by_pool.values()
        )

    def site(self, node: Node) -> Site:
        """The node with its pools."""
        return Site(node, self.reached_by(node))

    def reached_by(self, node: Node) -> tuple[SitePool, ...]:
        """The pools that the node can reach, in the order of search; obsolete ones are left out."""
        reachable: dict[PoolKey, list[ResourceSlice]] = {}
        for published in self._candidates(node):
            if not self._is_read(published) or not self._reaches(published, node):
                continue
            pool = reachable.setdefault((published.driver, published.pool.name), [])
            if pool and pool[0].pool.generation > published.pool.generation:
                continue
            if pool and pool[0].pool.generation < published.pool.generation:
                pool.clear()
            pool.append(published)
        pools = [pool for key, slices in reachable.items() for pool in self._pool(key, slices)]
        binding = self._sorted
        return tuple(sorted(pools, key=lambda pool: (binding and _binds(pool), *_bytes(pool.key))))

    def _candidates(self, node: Node) -> Iterator[ResourceSlice]:
        local = self._local.get(node.name, [])
        if self._sorted:
            yield from (published for _, published in local)
            yield from (published for _, published in self._wide)
            return
        for _, published in sorted((*local, *self._wide), key=itemgetter(0)):
            yield published

    def _is_read(self, published: ResourceSlice) -> bool:
        """Whether a slice needs nothing that is turned off."""
        if not self.features.partitionable_devices and (
            published.per_device_node_selection or published.shared_counters
        ):
            return False
        return self.features.compatibility_groups or not _uses_groups(published)

    def _reaches(self, published: ResourceSlice, node: Node) -> bool:
        if published.shared_counters and self._counters_everywhere:
            return True
        if _selects(published):
            return _matches(published, node)
        if not published.per_device_node_selection:
            return False
        return any(_matches(device, node) for device in published.devices)

    def _pool(self, key: PoolKey, slices: list[ResourceSlice]) -> Iterator[SitePool]:
        """The pool, unless a newer generation of it is there that this node does not see."""
        first = slices[0].pool
        if len(slices) == first.resource_slice_count:
            yield self._built(key, slices, slices)
            return
        published = self._by_pool[key]
        if any(each.pool.generation > first.generation for each in published):
            return
        everything = [
            each
            for each in published
            if each.pool.generation == first.generation
            and (self.features.compatibility_groups or not _uses_groups(each))
        ]
        if len(everything) == first.resource_slice_count:
            yield self._built(key, slices, everything)
        else:
            yield SitePool(*key, PoolState.INCOMPLETE)

    def _built(
        self, key: PoolKey, slices: Iterable[ResourceSlice], everything: list[ResourceSlice]
    ) -> SitePool:
        targeting = list(slices)
        if self._sorted:
            targeting.sort(key=lambda published: published.name.encode())
        names = {published.name for published in targeting}
        partitions = self.features.partitionable_devices
        others = [published for published in everything if published.name not in names]
        here = tuple(each for each in targeting if not (partitions and each.shared_counters))
        counters = tuple(each for each in targeting if partitions and each.shared_counters)
        if self._sorted:
            counters += tuple(each for each in others if partitions and each.shared_counters)
            others = [each for each in others if not (partitions and each.shared_counters)]
        why = double_name(here) or (partitions and missing_counter(counters, (*here, *others))) or ""
        if why:
            return SitePool(*key, PoolState.INVALID, why, here)
        return SitePool(*key, PoolState.READY, "", here, tuple(others), counters)


def _selects(published: ResourceSlice) -> bool:
    return bool(published.node_name) or published.all_nodes or published.node_selector is not None


def _matches(target: ResourceSlice | Device, node: Node) -> bool:
    """Whether a slice or a device is for this node."""
    if target.node_name:
        return target.node_name == node.name
    selector: NodeSelector | None = target.node_selector
    return target.all_nodes or (selector is not None and selector.matches(node))


def _uses_groups(published: ResourceSlice) -> bool:
    return any(
        consumption.compatibility_groups
        for device in published.devices
        for consumption in device.consumes_counters
    )


def _binds(pool: SitePool) -> bool:
    return pool.state is PoolState.READY and any(
        device.binding_conditions for published in pool.here for device in published.devices
    )


def _bytes(key: PoolKey) -> tuple[bytes, bytes]:
    return key[0].encode(), key[1].encode()
