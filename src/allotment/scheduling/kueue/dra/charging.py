"""The charges of a workload's claims, or why there are none: for good or, where devices lack, for now.

Only claims from templates are charged, for each pod; a claim by name is refused. Selectors are compiled, and
looked at against all published devices: fewer than are asked for is a reason to wait, nothing else. The
rules are those of ``claims.go``, ``counters.go`` and ``capacity.go`` in ``pkg/dra``, and of
``HasResourceClaim`` in ``pkg/workload``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from allotment.devices.cel.environment import Environment
from allotment.devices.cel.source import CompileError
from allotment.devices.classes import DeviceClass
from allotment.devices.selectors import SelectorError, evaluate, program
from allotment.devices.slices import Device, ResourceSlice
from allotment.scheduling.kueue.dra.mapping import ClassMapping, Source
from allotment.scheduling.kueue.dra.rounding import UNSATISFIABLE, capacity_charge, charged, counter_charge
from allotment.scheduling.kueue.gates import Gate
from allotment.scheduling.state.amounts import plus

Raw = Mapping[str, Any]
Charges = dict[str, int]


class FaultKind(StrEnum):
    """What kind of fault it is; only the last may pass by itself."""

    INVALID = "FieldValueInvalid"
    NOT_FOUND = "FieldValueNotFound"
    RETRY = "InternalError"


class ClaimError(Exception):
    """Why claims cannot be charged: a kind, the place in the workload, and a sentence."""

    def __init__(self, kind: FaultKind, place: str, detail: str) -> None:
        super().__init__(detail)
        self.kind, self.place, self.detail = kind, place, detail

    @property
    def passes(self) -> bool:
        """Whether it is worth trying again."""
        return self.kind is FaultKind.RETRY


@dataclass(frozen=True, slots=True)
class Charger:
    """Charges claims. ``templates`` are claim specs by ``namespace/name``."""

    mapping: ClassMapping
    templates: Mapping[str, Raw] = field(default_factory=dict)
    classes: Mapping[str, DeviceClass] = field(default_factory=dict)
    slices: Sequence[ResourceSlice] = ()
    gates: frozenset[Gate] = frozenset({Gate.COUNTERS})

    def charges(self, namespace: str, pod_sets: Sequence[Raw]) -> dict[str, Charges]:
        """What one pod of each set is charged; raises ClaimError with the first fault."""
        looks = [self._by_count]
        looks += [self._by_counter] if Gate.COUNTERS in self.gates else []
        looks += [self._by_capacity] if Gate.CAPACITY in self.gates else []
        found: dict[str, Charges] = {}
        for look in looks:
            for index, pod_set in enumerate(pod_sets):
                for place, spec in self._claims(namespace, index, pod_set):
                    for resource, amount in look(place, spec).items():
                        charges = found.setdefault(pod_set.get("name", ""), {})
                        charges[resource] = plus(charges.get(resource, 0), amount)
        return found

    def _claims(self, namespace: str, index: int, pod_set: Raw) -> Iterator[tuple[str, Raw]]:
        """The claims of a pod that come from templates, each with its place."""
        spec = (pod_set.get("template") or {}).get("spec") or {}
        for number, claim in enumerate(spec.get("resourceClaims") or ()):
            name = claim.get("resourceClaimTemplateName")
            if name is None:
                continue
            place = f"spec.podSets[{index}].template.spec.resourceClaims[{number}]"
            found = self.templates.get(f"{namespace}/{name}")
            if found is None:
                detail = f"failed to get claim spec for ResourceClaimTemplate {name}: it is not there"
                raise ClaimError(FaultKind.RETRY, place, detail)
            yield place, found

    def _by_count(self, place: str, spec: Raw) -> Charges:
        """So many devices of each class, less those that are charged by another measure."""
        requests = (spec.get("devices") or {}).get("requests") or ()
        counts: dict[str, int] = {}
        for index, request in enumerate(requests):
            device_class, count = _counted(f"{place}.devices.requests[{index}]", request)
            if device_class:
                counts[device_class] = plus(counts.get(device_class, 0), count)
        self._look_for_devices(place, requests)
        charges: Charges = {}
        for device_class, count in counts.items():
            resource = self.mapping.resources.get(device_class)
            if resource is None:
                detail = f"DeviceClass {device_class} is not mapped in DRA configuration"
                raise ClaimError(FaultKind.NOT_FOUND, f"{place}.resourceClaimTemplateName", detail)
            if not self._has_measure(device_class):
                charges[resource] = plus(charges.get(resource, 0), count)
        return charges

    def _has_measure(self, device_class: str) -> bool:
        counted = Gate.COUNTERS in self.gates and device_class in self.mapping.counters
        return counted or (Gate.CAPACITY in self.gates and device_class in self.mapping.capacities)

    def _look_for_devices(self, place: str, requests: Sequence[Raw]) -> None:
        """Refuse for now what more devices are asked for than there are; one device serves one request."""
        taken: set[int] = set()
        devices = [(published.driver, device) for published in self.slices for device in published.devices]
        for index, request in enumerate(requests):
            exactly = request.get("exactly") or {}
            wanted = _expressions(exactly)
            if not wanted:
                continue
            where = f"{place}.devices.requests[{index}]"
            name, need = exactly.get("deviceClassName", ""), exactly.get("count", 1)
            tests = (*self._class_selectors(where, name), *_compiled(f"{where}.exactly.selectors", wanted))
            found = 0
            for number, (driver, device) in enumerate(devices):
                if found >= need:
                    break
                if number not in taken and _passes(tests, driver, device, f"{where}.exactly.selectors", name):
                    taken.add(number)
                    found += 1
            if found < need:
                detail = (
                    f"insufficient matching devices for CEL selector in DeviceClass {name}: "
                    f"{found} device(s) match in the cluster but {need} requested"
                )
                raise ClaimError(FaultKind.RETRY, f"{where}.exactly.selectors", detail)

    def _class_selectors(self, where: str, name: str) -> tuple[str, ...]:
        if not name:
            return ()
        found = self.classes.get(name)
        if found is None:
            raise ClaimError(FaultKind.RETRY, where, f"failed to get DeviceClass {name}")
        return _compiled(where, found.selectors)

    def _by_counter(self, place: str, spec: Raw) -> Charges:
        """What devices draw of counters, for classes that are measured so."""
        charges: Charges = {}
        for where, exactly, source, count in self._measured(place, spec, self.mapping.counters):
            devices = self._devices(where, exactly, source, count, "counter")
            amount = counter_charge(source.name, devices, count)
            if amount is None:
                detail = f'matched devices have no consumesCounters entry for counter "{source.name}"'
                raise ClaimError(FaultKind.RETRY, where, detail)
            charges[source.resource] = plus(charges.get(source.resource, 0), amount)
        return charges

    def _by_capacity(self, place: str, spec: Raw) -> Charges:
        """What devices give of capacities, for classes that are measured so."""
        charges: Charges = {}
        for where, exactly, source, count in self._measured(place, spec, self.mapping.capacities):
            devices = self._devices(where, exactly, source, count, "capacity")
            asked = ((exactly.get("capacity") or {}).get("requests") or {}).get(source.name)
            amount = capacity_charge(source.name, devices, asked)
            if isinstance(amount, str):
                never = amount == UNSATISFIABLE.format(source.name)
                raise ClaimError(FaultKind.INVALID if never else FaultKind.RETRY, where, amount)
            resource = self.mapping.resources[exactly["deviceClassName"]]
            charges[resource] = plus(charges.get(resource, 0), charged(amount, count))
        return charges

    def _measured(
        self, place: str, spec: Raw, sources: Mapping[str, tuple[Source, ...]]
    ) -> Iterator[tuple[str, Raw, Source, int]]:
        for index, request in enumerate((spec.get("devices") or {}).get("requests") or ()):
            exactly = request.get("exactly")
            if exactly is None or exactly.get("adminAccess"):
                continue
            for source in sources.get(exactly.get("deviceClassName", ""), ()):
                yield f"{place}.devices.requests[{index}]", exactly, source, exactly.get("count", 1)

    def _devices(self, where: str, exactly: Raw, source: Source, count: int, kind: str) -> list[Device]:
        """The devices of complete pools of a driver that a request may mean."""
        tests = (
            *_compiled(where, (source.selector,) if source.selector else ()),
            *self._class_selectors(where, exactly.get("deviceClassName", "")),
            *_compiled(f"{where}.exactly.selectors", _expressions(exactly)),
        )
        found = []
        for device in _of_complete_pools(self.slices, source.driver):
            try:
                if all(evaluate(test, source.driver, device) for test in tests):
                    found.append(device)
            except SelectorError as error:
                detail = f"CEL evaluation error for device {device.name}: {error}"
                raise ClaimError(FaultKind.RETRY, where, detail) from error
        if len(found) < count:
            detail = (
                f"insufficient matching devices for {kind} driver: "
                f"{len(found)} device(s) match but {count} requested"
            )
            raise ClaimError(FaultKind.RETRY, where, detail)
        return found


def _counted(where: str, request: Raw) -> tuple[str, int]:
    """The class and number of a request; no class where nothing is charged."""
    if request.get("firstAvailable"):
        raise ClaimError(FaultKind.INVALID, where, "FirstAvailable device selection is not supported")
    exactly = request.get("exactly")
    if exactly is None:
        detail = "Exactly must be set if FirstAvailable is nil"
        raise ClaimError(FaultKind.INVALID, where, detail)
    _compiled(f"{where}.exactly.selectors", _expressions(exactly))
    if exactly.get("adminAccess"):
        return "", 0
    mode = exactly.get("allocationMode", "")
    if mode != "ExactCount":
        told = (
            "AllocationMode 'All' is not supported"
            if mode == "All"
            else f"unsupported allocation mode: {mode}"
        )
        raise ClaimError(FaultKind.INVALID, f"{where}.exactly.allocationMode", told)
    return exactly.get("deviceClassName", ""), exactly.get("count", 0)


def _expressions(exactly: Raw) -> tuple[str, ...]:
    selectors = exactly.get("selectors") or ()
    return tuple(each["cel"].get("expression", "") for each in selectors if each.get("cel"))


def _compiled(where: str, expressions: Sequence[str]) -> tuple[str, ...]:
    """The expressions, if they are such at all."""
    for expression in expressions:
        try:
            program(expression, Environment())
        except CompileError as error:
            raise ClaimError(FaultKind.INVALID, where, f"CEL compilation failed: {error}") from error
    return tuple(expressions)


def _passes(tests: Sequence[str], driver: str, device: Device, where: str, name: str) -> bool:
    try:
        return all(evaluate(test, driver, device) for test in tests)
    except SelectorError as error:
        detail = f"CEL evaluation failed for DeviceClass {name}: {error}"
        raise ClaimError(FaultKind.INVALID, where, detail) from error


def _of_complete_pools(slices: Sequence[ResourceSlice], driver: str) -> Iterator[Device]:
    """The devices of a driver's pools: the newest generation of each, where all of its slices are there."""
    pools: dict[str, list[ResourceSlice]] = {}
    for published in slices:
        if published.driver != driver:
            continue
        known = pools.get(published.pool.name)
        if known is None or published.pool.generation > known[0].pool.generation:
            pools[published.pool.name] = [published]
        elif published.pool.generation == known[0].pool.generation:
            known.append(published)
    for pool in pools.values():
        if len(pool) == pool[0].pool.resource_slice_count:
            for published in pool:
                yield from published.devices
