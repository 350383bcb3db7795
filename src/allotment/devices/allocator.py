"""The allocator: which devices a claim gets on a node, or why it gets none.

The order is upstream's (``k8s.io/dynamic-resource-allocation``, Kubernetes 1.36): pools by driver and name,
slices by name, devices as listed; the first complete solution wins and nothing is scored (``pools``,
``search``). A claim gets at most 32 devices, and class selectors are tried before those of a request.

Placed so far: exact counts, alternatives, constraints. A claim that asks for more (every device, capacity,
administrative access) is refused aloud; devices that need more (counters, binding conditions) are not given.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass
from enum import Enum, auto

from allotment.devices import constraints
from allotment.devices.claims import (
    MOST_DEVICES,
    Allocation,
    AllocationMode,
    ClaimSpec,
    Constraint,
    ExactRequest,
    Request,
    SubRequest,
)
from allotment.devices.constraints import Rule
from allotment.devices.funnel import Funnel, NoFit
from allotment.devices.pools import PoolIndex, PoolState
from allotment.devices.search import Alternative, search
from allotment.devices.selectors import Matcher, SelectorError, evaluate
from allotment.devices.slices import Device, DeviceId
from allotment.devices.taint_rules import tainted
from allotment.devices.world import World

_NOBODY: frozenset[DeviceId] = frozenset()
_POOL_WORDS = {
    PoolState.INCOMPLETE: "being updated",
    PoolState.INVALID: "invalid: two of its devices have one name",
}


def allocate(
    claim: ClaimSpec,
    world: World,
    node: str,
    taken: Set[DeviceId] = _NOBODY,
    matches: Matcher = evaluate,
) -> Allocation | NoFit:
    """What the claim gets on the node while ``taken`` is in use. For many claims keep one ``Allocator``."""
    return Allocator(world, node, matches).allocate(claim, taken)


def pools_of(world: World) -> PoolIndex:
    """The index of a world's pools, with the taints that its rules put on."""
    return PoolIndex(tainted(world.slices, world.taint_rules))


class _Sort(Enum):
    """What a device is to a request: the first thing that puts it aside, or none."""

    UNUSABLE = auto()  # it needs what this version cannot do
    OTHER_CLASS = auto()
    REFUSED = auto()  # by a selector of the request
    TAINTED = auto()  # and the request does not tolerate it
    SUITABLE = auto()
    FAULT = auto()  # a selector could not be evaluated on it


@dataclass(frozen=True, slots=True)
class _Sorted:
    """All devices sorted for one request: what depends on nothing that changes."""

    sorts: tuple[_Sort, ...]
    candidates: tuple[int, ...]
    faults: dict[int, str]


class Allocator:
    """One node of one world. Devices are sorted by class and selector once for each different request."""

    def __init__(
        self, world: World, node: str, matches: Matcher = evaluate, pools: PoolIndex | None = None
    ) -> None:
        """``pools`` is the index of the world's pools, for whoever asks for many nodes of it."""
        self._classes = world.classes
        self._matches = matches
        self._sorted: dict[ExactRequest, _Sorted] = {}
        index = pools_of(world) if pools is None else pools
        pools_here = index.reached_by(world.node_named(node))
        ready = [pool for pool in pools_here if pool.state is PoolState.READY]
        self._devices = [(pool.driver, device) for pool in ready for _, device in pool.devices]
        self._ids = [device_id for pool in ready for device_id, _ in pool.devices]
        self._unfinished = any(pool.state is PoolState.INCOMPLETE for pool in pools_here)
        self._notes = tuple(
            f"pool {pool.driver}/{pool.name} is {_POOL_WORDS[pool.state]}"
            for pool in pools_here
            if pool.state in _POOL_WORDS
        )

    def allocate(self, claim: ClaimSpec, taken: Set[DeviceId] = _NOBODY) -> Allocation | NoFit:
        """The first complete solution, or the reasons why there is none."""
        fault = self.fault_of(claim)
        if fault is not None:
            return NoFit(error=fault)
        requests = self.alternatives(claim)
        try:
            found = self.find(requests, taken)
            waiting = found is None and (self._unfinished or self._would_fit(requests, taken))
        except SelectorError as fault_met:
            return NoFit(error=str(fault_met))
        if found is not None:
            return found
        funnels = [
            self._funnel(request, sub, taken) for request in claim.requests for sub in request.alternatives
        ]
        common = (constraints.words(constraint) for constraint in claim.constraints)
        return NoFit(tuple(funnels), waiting=waiting, notes=(*common, *self._notes))

    def alternatives(self, claim: ClaimSpec) -> list[list[Alternative]]:
        """The claim's requests with the devices that would do, taken or not."""
        rules = constraints.rules_of(claim, self._devices)
        return [
            [self._alternative(request, sub, rules) for sub in request.alternatives]
            for request in claim.requests
        ]

    def find(
        self, requests: Sequence[Sequence[Alternative]], taken: Set[DeviceId] = _NOBODY
    ) -> Allocation | None:
        """The first complete solution, or None without the reasons; SelectorError when one is met."""
        found = search(requests, self._ids, taken)
        return None if found is None else Allocation(tuple(found))

    def _would_fit(self, requests: Sequence[Sequence[Alternative]], taken: Set[DeviceId]) -> bool:
        return bool(taken) and search(requests, self._ids, _NOBODY) is not None

    def fault_of(self, claim: ClaimSpec) -> str | None:
        """What is wrong with the claim before any device is looked at."""
        for fault in constraints.faults(claim):
            return fault
        for request in claim.requests:
            for sub in request.alternatives:
                wrong = self._fault_of_request(sub.exactly)
                if wrong is not None:
                    return f"request {_name(request, sub)}: {wrong}"
        least = sum(min(sub.exactly.count for sub in request.alternatives) for request in claim.requests)
        if least > MOST_DEVICES:
            return f"number of requested devices {least} exceeds the claim limit of {MOST_DEVICES}"
        return None

    def _fault_of_request(self, exact: ExactRequest) -> str | None:
        faults = (
            (exact.device_class not in self._classes, f"device class {exact.device_class} does not exist"),
            (
                exact.mode is not AllocationMode.EXACT_COUNT,
                "asking for all devices cannot be placed by this version",
            ),
            (exact.count < 1, "count must be greater than zero"),
            (bool(exact.capacity), "a part of a device's capacity cannot be given by this version"),
            (exact.admin_access is not None, "administrative access cannot be given by this version"),
        )
        return next((words for wrong, words in faults if wrong), None)

    def _alternative(
        self, request: Request, sub: SubRequest, rules: Sequence[tuple[Constraint, Rule]]
    ) -> Alternative:
        sorted_ = self._sort_all(sub.exactly)
        name = _name(request, sub)
        held_to = tuple(
            rule for constraint, rule in rules if constraints.concerns(constraint, request.name, name)
        )
        return Alternative(name, sub.exactly.count, sorted_.candidates, sorted_.faults, held_to)

    def _sort_all(self, exact: ExactRequest) -> _Sorted:
        known = self._sorted.get(exact)
        if known is not None:
            return known
        sorts: list[_Sort] = []
        faults: dict[int, str] = {}
        for number, (driver, device) in enumerate(self._devices):
            try:
                sorts.append(self._sort(exact, driver, device))
            except SelectorError as fault:
                sorts.append(_Sort.FAULT)
                faults[number] = f"{fault} (on device {self._ids[number]})"
        worth_trying = {_Sort.SUITABLE, _Sort.FAULT}
        candidates = tuple(number for number, sort in enumerate(sorts) if sort in worth_trying)
        self._sorted[exact] = _Sorted(tuple(sorts), candidates, faults)
        return self._sorted[exact]

    def _sort(self, exact: ExactRequest, driver: str, device: Device) -> _Sort:
        if device.consumes_counters or device.binding_conditions:
            return _Sort.UNUSABLE
        if not self._passes(self._classes[exact.device_class].selectors, driver, device):
            return _Sort.OTHER_CLASS
        if not self._passes(exact.selectors, driver, device):
            return _Sort.REFUSED
        blocking = [taint for taint in device.taints if taint.blocks]
        if all(any(toleration.covers(taint) for toleration in exact.tolerations) for taint in blocking):
            return _Sort.SUITABLE
        return _Sort.TAINTED

    def _passes(self, selectors: Sequence[str], driver: str, device: Device) -> bool:
        return all(self._matches(expression, driver, device) for expression in selectors)

    def _funnel(self, request: Request, sub: SubRequest, taken: Set[DeviceId]) -> Funnel:
        sorted_ = self._sort_all(sub.exactly)
        return Funnel(
            request=_name(request, sub),
            device_class=sub.exactly.device_class,
            needed=sub.exactly.count,
            seen=len(sorted_.sorts),
            unusable=sorted_.sorts.count(_Sort.UNUSABLE),
            other_class=sorted_.sorts.count(_Sort.OTHER_CLASS),
            refused=sorted_.sorts.count(_Sort.REFUSED),
            tainted=sorted_.sorts.count(_Sort.TAINTED),
            taken=sum(1 for number in sorted_.candidates if self._ids[number] in taken),
        )


def _name(request: Request, sub: SubRequest) -> str:
    return f"{request.name}/{sub.name}" if request.first_available else request.name
