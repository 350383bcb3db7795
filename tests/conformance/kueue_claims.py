"""Kueue's own cases of what claims and extended resources are charged to quota."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from allotment.devices.classes import DeviceClass
from allotment.devices.slices import (
    Capacity,
    CounterConsumption,
    Device,
    Pool,
    RequestPolicy,
    ResourceSlice,
    ValidRange,
)
from allotment.quantities.kubernetes import Quantity
from allotment.scheduling.kueue.dra.charging import Charger, ClaimError
from allotment.scheduling.kueue.dra.extended import ExtendedClass, extended_charges
from allotment.scheduling.kueue.dra.mapping import read_mapping
from allotment.scheduling.kueue.dra.rounding import (
    UNSATISFIABLE,
    capacity_charge,
    charged,
    counter_charge,
    to_range,
    to_values,
    whole,
)
from allotment.scheduling.state.read_workloads import seconds
from tests.conformance.kueue_scene import Case, Raw

Answer = tuple[object, object]


def _amount(text: str) -> int:
    return whole(Quantity.parse(text))


def _device(raw: Raw) -> Device:
    attributes = {name: next(iter(value.values())) for name, value in (raw.get("attributes") or {}).items()}
    capacity = {name: _capacity(value) for name, value in (raw.get("capacity") or {}).items()}
    counters = tuple(
        CounterConsumption(
            each.get("counterSet", ""), {name: value["value"] for name, value in each["counters"].items()}
        )
        for each in raw.get("consumesCounters") or ()
    )
    return Device(raw["name"], attributes, capacity, counters)


def _capacity(raw: Raw) -> Capacity:
    policy = raw.get("requestPolicy")
    if policy is None:
        return Capacity(raw["value"])
    span = policy.get("validRange")
    found = ValidRange(span["min"], span.get("max"), span.get("step")) if span else None
    return Capacity(
        raw["value"], RequestPolicy(policy.get("default"), tuple(policy.get("validValues") or ()), found)
    )


def _slice(raw: Raw) -> ResourceSlice:
    spec = raw["spec"]
    pool = spec.get("pool") or {}
    return ResourceSlice(
        raw["metadata"]["name"],
        spec["driver"],
        Pool(pool.get("name", ""), pool.get("generation", 1), pool.get("resourceSliceCount", 1)),
        devices=tuple(_device(each) for each in spec.get("devices") or ()),
    )


def _class(raw: Raw) -> DeviceClass:
    selectors = (raw.get("spec") or {}).get("selectors") or ()
    expressions = tuple(each["cel"]["expression"] for each in selectors if each.get("cel"))
    return DeviceClass(raw["metadata"]["name"], expressions)


def run_claims(case: Case) -> Answer:
    """The charges of a workload's claims, or the faults."""
    objects = case.given["claimObjects"]
    specs = {
        f"{raw['metadata'].get('namespace', '')}/{raw['metadata']['name']}": raw.get("spec") or {}
        for raw in objects
    }
    templates = {key: spec["spec"] for key, spec in specs.items() if "spec" in spec}
    slices = [_slice(raw) for raw in objects if "driver" in (raw.get("spec") or {})]
    plain = [raw for raw in objects if not {"driver", "spec", "devices"} & (raw.get("spec") or {}).keys()]
    charger = Charger(
        read_mapping(case.given["deviceClassMappings"]),
        templates,
        {each.name: each for each in map(_class, plain)},
        slices,
        case.settings().gates,
    )
    workload = case.given["workload"]
    want = case.expected
    expected: Any = {
        name: {key: _amount(text) for key, text in amounts.items()}
        for name, amounts in (want.get("want") or {}).items()
    }
    if want.get("wantErr"):
        expected = [(each["Type"], each["Field"]) for each in want["wantErr"]]
    try:
        found: Any = charger.charges(workload["metadata"].get("namespace", ""), workload["spec"]["podSets"])
    except ClaimError as fault:
        found = [(str(fault.kind), fault.place)]
    return expected, found


def run_counters(case: Case) -> Answer:
    """What devices draw of a counter."""
    given = case.given
    amount = counter_charge(given["cc"]["counterName"], map(_device, given["matched"]), given["count"])
    found = {} if amount is None else {given["quotaResource"]: amount}
    want = case.expected.get("want") or {}
    return {name: _amount(text) for name, text in want.items()}, found


def run_capacity(case: Case) -> Answer:
    """What devices give of a capacity."""
    given, want = case.given, case.expected
    name = "memory"
    amount = capacity_charge(name, map(_device, given["matched"]), given.get("explicitRequest"))
    if isinstance(amount, str):
        never = amount == UNSATISFIABLE.format(name)
        return want.get("wantErrType"), "FieldValueInvalid" if never else "InternalError"
    return _amount(want["wantCharge"]), charged(amount, given["count"])


def run_range(case: Case) -> Answer:
    """An amount that a range allows."""
    given = case.given
    found = to_range(Quantity.parse(given["value"]), given.get("min"), given.get("max"), given.get("step"))
    return _wanted(case), None if found is None else str(found)


def run_values(case: Case) -> Answer:
    """An amount of a list."""
    found = to_values(Quantity.parse(case.given["value"]), case.given["validValues"])
    return _wanted(case), None if found is None else str(found)


def _wanted(case: Case) -> str | None:
    return None if case.expected.get("wantErr") else case.expected["want"]


def run_extended(case: Case) -> Answer:
    """The charges of extended resources."""
    classes = [
        ExtendedClass(
            raw["metadata"]["name"],
            raw["spec"]["extendedResourceName"],
            seconds(raw["metadata"].get("creationTimestamp")),
        )
        for raw in case.objects("deviceClasses")
        if (raw.get("spec") or {}).get("extendedResourceName")
    ]
    mapping = read_mapping(case.given.get("mapperMappings") or ())
    charges: dict[str, Any] = {}
    replaced: dict[str, Any] = {}
    faults: list[Any] = []
    for index, each in enumerate(case.given["workload"]["spec"]["podSets"]):
        spec = each["template"]["spec"]
        place = f"spec.podSets[{index}].template.spec"
        try:
            found = extended_charges(spec, classes, mapping, case.settings().gates, place=place)
        except ClaimError as fault:
            faults.append(str(fault.kind))
            continue
        if found.charges:
            charges[each["name"]] = dict(found.charges)
            replaced[each["name"]] = sorted(found.replaced)
    want = case.expected
    if want.get("wantErr"):
        return True, bool(faults)
    expected = {
        name: {key: _amount(text) for key, text in amounts.items()}
        for name, amounts in (want.get("want") or {}).items()
    }
    names = {name: sorted(each) for name, each in (want.get("wantReplaced") or {}).items()}
    return (expected, names), (charges, replaced)


def run_lookup(case: Case) -> Answer:
    """Which resource a class is charged to."""
    mapping = read_mapping(case.given["config"])
    lookups = case.given["lookups"]
    expected = [each.get("expectedRes") if each.get("expectedExists") else None for each in lookups]
    return expected, [mapping.resources.get(each["deviceClass"]) for each in lookups]


TESTS: Mapping[str, Callable[[Case], Answer]] = {
    "Test_GetResourceRequests": run_claims,
    "TestComputeCounterCharges": run_counters,
    "TestComputeCapacityCharge": run_capacity,
    "TestRoundToValidRange": run_range,
    "TestRoundToValidValues": run_values,
    "TestResolveExtendedResourceQuota": run_extended,
    "TestDRAResourceMapper_Lookup": run_lookup,
}
