"""Extended resources that a DeviceClass stands for: charged as the class is, and not a second time.

The rules are those of ``extended_resources.go`` in ``pkg/dra``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from allotment.devices.validation.classes import is_extended_resource
from allotment.quantities.kubernetes import Quantity
from allotment.scheduling.kueue.dra.charging import ClaimError, FaultKind
from allotment.scheduling.kueue.dra.mapping import ClassMapping
from allotment.scheduling.kueue.dra.rounding import whole
from allotment.scheduling.kueue.gates import Gate
from allotment.scheduling.state.amounts import NANOS, plus

Raw = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ExtendedClass:
    """A DeviceClass that stands for an extended resource, and when it was made."""

    name: str
    resource: str
    created: float = 0.0


@dataclass(frozen=True, slots=True)
class Extended:
    """What pods are charged instead of extended resources: amounts by resource, and the names replaced."""

    charges: Mapping[str, int] = field(default_factory=dict)
    replaced: frozenset[str] = frozenset()


def extended_charges(
    spec: Raw,
    classes: Iterable[ExtendedClass],
    mapping: ClassMapping,
    gates: frozenset[Gate],
    *,
    place: str = "spec",
) -> Extended:
    """What one pod is charged for extended resources; raises ClaimError."""
    by_resource: dict[str, list[ExtendedClass]] = {}
    for each in classes:
        by_resource.setdefault(each.resource, []).append(each)
    charges: dict[str, int] = {}
    replaced: set[str] = set()
    for resource, amounts in _requests(spec).items():
        found = by_resource.get(resource)
        if found is None:
            continue
        # the class made last counts, of those of one moment the first by name
        chosen = min(found, key=lambda each: (-each.created, each.name))
        _refuse_measured(chosen, mapping, gates, place, resource)
        for amount in amounts[0] + amounts[1]:
            if amount.nanos % NANOS:
                told = "extended resource quantity must be an integer"
                raise ClaimError(FaultKind.INVALID, f"{place}.resources.requests.{resource}", told)
        total = max(max(map(whole, amounts[0]), default=0), sum(map(whole, amounts[1])))
        key = mapping.resources.get(chosen.name, resource)
        charges[key] = plus(charges.get(key, 0), total)
        replaced.add(resource)
    return Extended(charges, frozenset(replaced))


def _requests(spec: Raw) -> dict[str, tuple[list[Quantity], list[Quantity]]]:
    """What init containers and containers ask of each extended resource, where it is more than nothing."""
    found: dict[str, tuple[list[Quantity], list[Quantity]]] = {}
    for index, kind in enumerate(("initContainers", "containers")):
        for container in spec.get(kind) or ():
            requests = (container.get("resources") or {}).get("requests") or {}
            for name, text in requests.items():
                amount = Quantity.parse(str(text))
                if amount.nanos > 0 and is_extended_resource(name):
                    found.setdefault(name, ([], []))[index].append(amount)
    return found


def _refuse_measured(
    chosen: ExtendedClass, mapping: ClassMapping, gates: frozenset[Gate], place: str, resource: str
) -> None:
    """Only a claim can say what it wants of a counter or a capacity."""
    measures = (
        (Gate.COUNTERS, mapping.counters, "counters", "CEL selectors for counter-based"),
        (Gate.CAPACITY, mapping.capacities, "capacity sources", "capacity.requests for capacity-based"),
    )
    for gate, sources, measure, way in measures:
        if gate in gates and chosen.name in sources:
            told = (
                f"extended resource {resource} resolves to DeviceClass {chosen.name} "
                f"with {measure} configured; use ResourceClaimTemplates with {way} quota"
            )
            raise ClaimError(FaultKind.INVALID, place, told)
