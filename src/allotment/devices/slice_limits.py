"""What the API server holds a ResourceSlice to: names, numbers of things, and what excludes what.

From the validation of ``ResourceSlice`` in ``resource.k8s.io/v1`` (Kubernetes 1.36), in its words where it
has some. Rules that newer versions set and older ones do not are marked as tolerated.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from allotment.devices.capacity_limits import of_policy
from allotment.devices.nodes import NodeSelector
from allotment.devices.rules import (
    Loc,
    Problem,
    amount,
    at_most,
    is_label,
    is_label_key,
    is_label_value,
    is_qualified,
    is_subdomain,
    is_version,
    twice,
)
from allotment.devices.slices import AttributeValue, Device, ResourceSlice, Taint, Version

MOST_DEVICES_IN_SLICE = 128
MOST_DEVICES_WITH_EXTRAS = 64
_MOST_LISTED = 32
_MOST_VALUES = 48
_MOST_TAINTS = 16
_MOST_CONDITIONS = 4
_MOST_COUNTER_SETS = 8
_MOST_CONSUMED_SETS = 2
_LONGEST_TEXT = 64
_EFFECTS = ("NoSchedule", "NoExecute", "None")
_REACH = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required"
_OPERATORS: Mapping[str, range] = {  # how many values each takes
    "In": range(1, 1 << 30),
    "NotIn": range(1, 1 << 30),
    "Exists": range(1),
    "DoesNotExist": range(1),
    "Gt": range(1, 2),
    "Lt": range(1, 2),
}


def of_slice(published: ResourceSlice) -> Iterator[Problem]:
    """What is wrong with a slice."""
    if not is_subdomain(published.driver, 63):
        yield Problem(
            ("driver",), f"driver `{published.driver}` is no DNS subdomain of at most 63 characters"
        )
    yield from _of_pool(published)
    yield from _of_reach(published)
    if published.devices and published.shared_counters:
        text = "only one of `sharedCounters` or `devices` is allowed"
        yield Problem(("sharedCounters",), text, "Kubernetes 1.34 still took it, 1.35 and later do not")
    extras = any(
        device.taints or device.consumes_counters or _has_lists(device) for device in published.devices
    )
    most = MOST_DEVICES_WITH_EXTRAS if extras else MOST_DEVICES_IN_SLICE
    yield from at_most(published.devices, most, ("devices",), "devices")
    if len({device.name for device in published.devices}) < len(published.devices):
        for name in twice(device.name for device in published.devices):
            place = max(at for at, device in enumerate(published.devices) if device.name == name)
            yield Problem(("devices", place, "name"), f"device `{name}`: Duplicate value", "")
    yield from _of_counter_sets(published)
    for place, device in enumerate(published.devices):
        for problem in _of_device(device, per_device=published.per_device_node_selection):
            loc = ("devices", place, *problem.loc)
            yield Problem(loc, f"device `{device.name}`: {problem.text}", problem.tolerated)


def _of_pool(published: ResourceSlice) -> Iterator[Problem]:
    pool = published.pool
    if len(pool.name) > 253 or not all(is_subdomain(part) for part in pool.name.split("/")):
        yield Problem(("pool", "name"), f"pool `{pool.name}` is no DNS subdomains of at most 253 characters")
    if pool.generation < 0:
        yield Problem(("pool", "generation"), "a pool has a generation from 0 on")
    if pool.resource_slice_count < 1:
        yield Problem(("pool", "resourceSliceCount"), "a pool has at least one slice")


def _of_reach(published: ResourceSlice) -> Iterator[Problem]:
    reaches = (
        published.node_name,
        published.node_selector,
        published.all_nodes,
        published.per_device_node_selection,
    )
    if sum(bool(each) for each in reaches) != 1:
        yield Problem((), _REACH)
    if published.node_selector:
        yield from _of_selector(published.node_selector, ("nodeSelector", "nodeSelectorTerms"))


def _of_selector(selector: NodeSelector, loc: Loc) -> Iterator[Problem]:
    if len(selector.terms) != 1:
        yield Problem(loc, "must have exactly one node selector term")
    for place, term in enumerate(selector.terms):
        lists = {"matchExpressions": term.match_expressions, "matchFields": term.match_fields}
        for name, requirements in lists.items():
            for number, need in enumerate(requirements):
                here = (*loc, place, name, number)
                values = _OPERATORS.get(need.operator)
                if values is None:
                    known = ", ".join(_OPERATORS)
                    yield Problem(
                        (*here, "operator"), f"`{need.operator}` is no operator of a node selector: {known}"
                    )
                elif len(need.values) not in values:
                    yield Problem(
                        here, f"operator {need.operator} does not go with {len(need.values)} values"
                    )


def _of_counter_sets(published: ResourceSlice) -> Iterator[Problem]:
    yield from at_most(published.shared_counters, _MOST_COUNTER_SETS, ("sharedCounters",), "sharedCounters")
    for name in twice(each.name for each in published.shared_counters):
        yield Problem(("sharedCounters",), f"counter set `{name}`: Duplicate value")
    for place, shared in enumerate(published.shared_counters):
        if not is_label(shared.name):
            yield Problem(("sharedCounters", place, "name"), f"counter set `{shared.name}`: no DNS label")
        for problem in _of_counters(shared.counters):
            loc = ("sharedCounters", place, *problem.loc)
            yield Problem(loc, f"counter set `{shared.name}`: {problem.text}")


def _of_counters(counters: Mapping[str, str]) -> Iterator[Problem]:
    if not counters:
        yield Problem(("counters",), "at least one counter is required")
    yield from at_most(counters, _MOST_LISTED, ("counters",), "counters")
    for name, value in counters.items():
        if not is_label(name):
            yield Problem(("counters", name), f"counter `{name}` is no DNS label")
        if amount(value) is None:
            yield Problem(("counters", name, "value"), f"counter `{name}`: `{value}` is no quantity")


def _of_device(device: Device, *, per_device: bool) -> Iterator[Problem]:
    if not is_label(device.name):
        yield Problem(("name",), "its name is no DNS label")
    if len(device.attributes) + len(device.capacity) > _MOST_LISTED:
        yield Problem((), f"the total number of attributes and capacities must not exceed {_MOST_LISTED}")
    for field, keys in (("attributes", device.attributes), ("capacity", device.capacity)):
        for key in keys:
            if not is_qualified(key):
                yield Problem((field, key), f"`{key}` is no C identifier, with or without a domain before it")
    yield from _of_attributes(device.attributes)
    for key, capacity in device.capacity.items():
        if amount(capacity.value) is None:
            yield Problem(("capacity", key, "value"), f"capacity `{key}`: `{capacity.value}` is no quantity")
        elif capacity.request_policy is not None:
            for problem in of_policy(capacity, shared=device.allow_multiple_allocations):
                loc = ("capacity", key, "requestPolicy", *problem.loc)
                yield Problem(loc, f"capacity `{key}`: {problem.text}")
    yield from _of_consumption(device)
    yield from _of_device_reach(device, per_device=per_device)
    yield from at_most(device.taints, _MOST_TAINTS, ("taints",), "taints")
    for place, taint in enumerate(device.taints):
        yield from of_taint(taint, ("taints", place))
    if device.binding_conditions or device.binding_failure_conditions:
        yield from _of_conditions(device)


def _of_attributes(attributes: Mapping[str, AttributeValue]) -> Iterator[Problem]:
    for key, value in attributes.items():
        for each in value if isinstance(value, tuple) else (value,):
            text = each.text if isinstance(each, Version) else each
            if isinstance(text, str) and len(text.encode()) > _LONGEST_TEXT:
                yield Problem(("attributes", key), f"attribute `{key}` is longer than {_LONGEST_TEXT} bytes")
            elif isinstance(each, Version) and not is_version(each.text):
                words = "must be a string compatible with semver.org spec 2.0.0"
                yield Problem(("attributes", key), f"attribute `{key}` is `{each.text}`: {words}")
    total = sum(len(value) if isinstance(value, tuple) else 1 for value in attributes.values())
    if total > max(_MOST_VALUES, len(attributes)):
        yield Problem(("attributes",), f"the total number of values must not exceed {_MOST_VALUES}")


def _has_lists(device: Device) -> bool:
    return any(isinstance(value, tuple) for value in device.attributes.values())


def _of_consumption(device: Device) -> Iterator[Problem]:
    yield from at_most(
        device.consumes_counters, _MOST_CONSUMED_SETS, ("consumesCounters",), "consumesCounters"
    )
    for name in twice(each.counter_set for each in device.consumes_counters):
        yield Problem(("consumesCounters",), f"counter set `{name}`: Duplicate value")
    for place, consumption in enumerate(device.consumes_counters):
        for problem in _of_counters(consumption.counters):
            yield Problem(("consumesCounters", place, *problem.loc), problem.text)


def _of_device_reach(device: Device, *, per_device: bool) -> Iterator[Problem]:
    reaches = sum(bool(each) for each in (device.node_name, device.node_selector, device.all_nodes))
    if per_device and reaches != 1:
        words = "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required"
        yield Problem((), f"{words} when `perDeviceNodeSelection` is set")
    elif reaches and not per_device:
        yield Problem((), "it may say its own nodes only when `perDeviceNodeSelection` is set in the slice")
    if device.node_selector:
        yield from _of_selector(device.node_selector, ("nodeSelector", "nodeSelectorTerms"))


def of_taint(taint: Taint, loc: Loc) -> Iterator[Problem]:
    """What is wrong with a taint."""
    if not is_label_key(taint.key):
        yield Problem((*loc, "key"), f"taint `{taint.key}`: its key is no name of a label")
    if not is_label_value(taint.value):
        yield Problem((*loc, "value"), f"taint `{taint.key}`: its value is no value of a label")
    if taint.effect not in _EFFECTS:
        known = ", ".join(_EFFECTS)
        yield Problem((*loc, "effect"), f"taint `{taint.key}`: `{taint.effect}` is no effect: {known}")


def _of_conditions(device: Device) -> Iterator[Problem]:
    lists: Mapping[str, Sequence[str]] = {
        "bindingConditions": device.binding_conditions,
        "bindingFailureConditions": device.binding_failure_conditions,
    }
    for name, conditions in lists.items():
        if not conditions:
            yield Problem((), f"`{name}` is required when the other one is set")
        yield from at_most(conditions, _MOST_CONDITIONS, (name,), name)
        for each in twice(conditions):
            yield Problem((name,), f"condition `{each}`: Duplicate value")
        for place, each in enumerate(conditions):
            if not is_label_key(each):
                yield Problem((name, place), f"condition `{each}` is no name of a label")
    if set(device.binding_conditions) & set(device.binding_failure_conditions):
        yield Problem(
            ("bindingFailureConditions",), "bindingFailureConditions must not overlap with bindingConditions"
        )
