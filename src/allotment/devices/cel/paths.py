"""Ways into a device, made for speed: the fields of ``device`` and what their maps hold.

Nearly every selector looks up one attribute by a constant domain and name, so that is two dict look-ups and
nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from allotment.devices.cel import containers
from allotment.devices.cel import values as v
from allotment.devices.cel.devices import DeviceView
from allotment.devices.cel.problems import EvaluationError
from allotment.devices.cel.values import NOTHING, OptionalValue, Value

Slots = list[Value]
Compute = Callable[[DeviceView, Slots], Value]
"""``(device, the values of local names)`` to a value; EvaluationError where there is none.

Where an expression is about something else than a device, its variables stand in the device's place.
"""


def driver(device: DeviceView, _slots: Slots) -> Value:
    """``device.driver``."""
    return device.driver


def attributes(device: DeviceView, _slots: Slots) -> Value:
    """``device.attributes``."""
    return device.attributes


def capacity(device: DeviceView, _slots: Slots) -> Value:
    """``device.capacity``."""
    return device.capacity


def multiple(device: DeviceView, _slots: Slots) -> Value:
    """``device.allowMultipleAllocations``."""
    return device.multiple


def variable(name: str) -> Compute:
    """A variable, where there are others than ``device``."""

    def compute(variables: Any, _slots: Slots) -> Value:
        try:
            return variables[name]
        except KeyError:
            raise EvaluationError(f"no such attribute(s): {name}") from None

    return compute


def itself(device: Any, _slots: Slots) -> Value:
    """``device``."""
    return device


FIELDS: dict[str, Compute] = {
    "driver": driver,
    "attributes": attributes,
    "capacity": capacity,
    "allowMultipleAllocations": multiple,
}


def domain(field: Compute, name: str) -> Compute:
    """``device.attributes['domain']``: never an error."""
    if field is attributes:
        return lambda device, _slots: device.attributes[name]
    return lambda device, _slots: device.capacity[name]


def entry(field: Compute, name: str, identifier: str) -> Compute:
    """``device.attributes['domain'].name``."""
    message = f"no such key: {identifier}"
    if field is attributes:

        def attribute(device: DeviceView, _slots: Slots) -> Value:
            try:
                return device.attributes[name][identifier]
            except KeyError:
                raise EvaluationError(message) from None

        return attribute

    def amount(device: DeviceView, _slots: Slots) -> Value:
        try:
            return device.capacity[name][identifier]
        except KeyError:
            raise EvaluationError(message) from None

    return amount


def has_entry(field: Compute, name: str, identifier: str) -> Compute:
    """``has(device.attributes['domain'].name)``."""
    if field is attributes:
        return lambda device, _slots: identifier in device.attributes[name]
    return lambda device, _slots: identifier in device.capacity[name]


def selected(value: Value, key: Value, *, optional: bool = False) -> Value:
    """``value[key]`` or ``value.?key``; of an optional, what it holds under the key, as an optional."""
    if type(value) is OptionalValue:
        if not value.present:
            return value
        value, optional = value.value, True
    if type(value) is DeviceView:
        found = value.field(key)
        return OptionalValue(found) if optional else found
    if not optional:
        return containers.index(value, key)
    found = containers.find(value, key)
    return NOTHING if found is v.MISSING else OptionalValue(found)


def is_present(value: Value, key: Value) -> bool:
    """Whether a value has something under a key."""
    if type(value) is OptionalValue:
        return value.present and is_present(value.value, key)
    return type(value) is DeviceView or containers.find(value, key) is not v.MISSING
