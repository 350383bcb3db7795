"""Which pools a node can take devices from, and in which order they are searched.

A driver changes a pool by publishing a new generation, slice by slice. Until all slices of the newest one are
there the pool is incomplete, and a pool that contradicts itself is invalid: from neither may a device be
given. The rules and the order are those of the upstream allocator (``k8s.io/dynamic-resource-allocation``,
Kubernetes 1.36, with partitionable devices off): pools whose devices have binding conditions last, then by
driver and pool name, slices by name, devices as listed.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from operator import itemgetter

from allotment.devices.nodes import Node
from allotment.devices.slices import Device, DeviceId, ResourceSlice


class PoolState(StrEnum):
    """Whether devices of a pool may be given."""

    READY = "ready"
    INCOMPLETE = "incomplete"  # being updated: some of its slices are missing
    INVALID = "invalid"  # two devices of one name


@dataclass(frozen=True, slots=True)
class PoolView:
    """One pool as a node sees it: the devices that the node can reach, in the order of search."""

    driver: str
    name: str
    state: PoolState
    devices: tuple[tuple[DeviceId, Device], ...]


def pools_for(slices: Sequence[ResourceSlice], node: Node) -> tuple[PoolView, ...]:
    """The pools that the node can reach, in the order of search. For many nodes keep one ``PoolIndex``."""
    return PoolIndex(slices).reached_by(node)


class PoolIndex:
    """All slices by the nodes that they name, so that a node is answered without a look at the others'."""

    def __init__(self, slices: Sequence[ResourceSlice]) -> None:
        self._local: dict[str, list[tuple[int, ResourceSlice]]] = defaultdict(list)
        self._wide: list[tuple[int, ResourceSlice]] = []  # those of which a node's labels or nothing decides
        self._everywhere = _Census(slices)
        for place, published in enumerate(slices):
            if published.node_name is None:
                self._wide.append((place, published))
            else:
                self._local[published.node_name].append((place, published))

    def node_names(self) -> tuple[str, ...]:
        """The nodes that slices name, in the order of the slices."""
        return tuple(self._local)

    @property
    def is_local(self) -> bool:
        """Whether every device is reached from one node only."""
        return not self._wide

    def reached_by(self, node: Node) -> tuple[PoolView, ...]:
        """The pools that the node can reach, in the order of search; obsolete ones are left out."""
        local = self._local.get(node.name, ())
        placed = sorted((*local, *self._wide), key=itemgetter(0)) if self._wide else local
        reachable: dict[tuple[str, str], list[ResourceSlice]] = {}
        for _, published in placed:
            if not _reaches(published, node):
                continue
            pool = reachable.setdefault((published.driver, published.pool.name), [])
            if pool and pool[0].pool.generation > published.pool.generation:
                continue
            if pool and pool[0].pool.generation < published.pool.generation:
                pool.clear()
            pool.append(published)
        views = [
            _view(driver, name, pool, self._everywhere)
            for (driver, name), pool in reachable.items()
            if not self._everywhere.knows_newer(pool)
        ]
        return tuple(sorted(views, key=lambda view: (_binds(view), view.driver.encode(), view.name.encode())))


class _Census:
    """All slices of all pools by generation, counted only when a pool's own slices do not settle it."""

    def __init__(self, slices: Iterable[ResourceSlice]) -> None:
        self._slices = slices
        self._by_pool: dict[tuple[str, str], Counter[int]] | None = None

    def _generations(self, pool: list[ResourceSlice]) -> Counter[int]:
        if self._by_pool is None:
            self._by_pool = defaultdict(Counter)
            for published in self._slices:
                self._by_pool[published.driver, published.pool.name][published.pool.generation] += 1
        return self._by_pool[pool[0].driver, pool[0].pool.name]

    def knows_newer(self, pool: list[ResourceSlice]) -> bool:
        if _settled(pool):
            return False
        return max(self._generations(pool)) > pool[0].pool.generation

    def complete(self, pool: list[ResourceSlice]) -> bool:
        if _settled(pool):
            return True
        first = pool[0].pool
        return self._generations(pool)[first.generation] == first.resource_slice_count


def _settled(pool: list[ResourceSlice]) -> bool:
    return len(pool) == pool[0].pool.resource_slice_count


def _reaches(published: ResourceSlice, node: Node) -> bool:
    if published.per_device_node_selection or published.shared_counters:
        return False
    if published.node_name is not None:
        return published.node_name == node.name
    if published.node_selector is not None:
        return published.node_selector.matches(node)
    return published.all_nodes


def _view(driver: str, name: str, pool: list[ResourceSlice], everywhere: _Census) -> PoolView:
    ordered = sorted(pool, key=lambda published: published.name.encode())
    devices = tuple(
        (published.device_id(device), device) for published in ordered for device in published.devices
    )
    if not everywhere.complete(pool):
        state = PoolState.INCOMPLETE
    elif len({device_id for device_id, _ in devices}) < len(devices):
        state = PoolState.INVALID
    else:
        state = PoolState.READY
    return PoolView(driver, name, state, devices)


def _binds(view: PoolView) -> bool:
    return any(device.binding_conditions for _, device in view.devices)
