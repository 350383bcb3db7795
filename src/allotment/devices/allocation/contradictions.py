"""What makes a pool invalid: it contradicts itself, so that nothing of it may be given.

In the words of ``buildPool`` of k8s.io/dynamic-resource-allocation, which keeps the first thing it finds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from allotment.devices.slices import CounterSet, ResourceSlice


def double_name(slices: Iterable[ResourceSlice]) -> str | None:
    """In words, which device is there twice."""
    names = Counter(device.name for published in slices for device in published.devices)
    return next((f"duplicate device name {name}" for name, count in names.items() if count > 1), None)


def missing_counter(counters: Sequence[ResourceSlice], slices: Iterable[ResourceSlice]) -> str | None:
    """In words, which counter set is there twice, or which counter is taken that is not declared."""
    declared: dict[str, CounterSet] = {}
    for each in (each for published in counters for each in published.shared_counters):
        if each.name in declared:
            return f"duplicate counter set name {each.name}"
        declared[each.name] = each
    consumptions = (
        consumption
        for published in slices
        for device in published.devices
        for consumption in device.consumes_counters
    )
    for consumption in consumptions:
        if consumption.counter_set not in declared:
            return f"counter set {consumption.counter_set} not found"
        for counter in consumption.counters:
            if counter not in declared[consumption.counter_set].counters:
                return f"counter {counter} not found in counter set {consumption.counter_set}"
    return None
