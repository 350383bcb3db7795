"""A device as selectors see it: the types that are declared for it, and its values.

``device.driver``, ``device.attributes[domain].name``, ``device.capacity[domain].name`` and, since 1.34,
``device.allowMultipleAllocations``. A name without a domain is the driver's. A domain that a device does not
name is an empty map, not an error, though ``in`` says that it is not there. Sizes are the API's limits; costs
are estimated from them. After ``cel/compile.go`` of k8s.io/dynamic-resource-allocation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from allotment.devices.cel import cel_types as t
from allotment.devices.cel import values as v
from allotment.devices.cel.library.quantities import parse_quantity
from allotment.devices.cel.library.versions import parse_semver
from allotment.devices.slices import AttributeValue, Capacity, Device, Scalar, Version

NAME: Final = "device"
STRUCT: Final = "kubernetes.DRADevice"
MOST_ENTRIES: Final = 32
LONGEST_DOMAIN: Final = 63
LONGEST_NAME: Final = 32
LONGEST_DRIVER: Final = 63
LARGEST_SCALAR: Final = 64


@dataclass(frozen=True, slots=True)
class Size:
    """How large a declared value can be, and what it is made of."""

    most: int | None = None
    key: Size | None = None
    element: Size | None = None


def device_fields(*, attribute: t.CelType, multiple: bool) -> Mapping[str, t.CelType]:
    """The fields of ``device`` and their types."""
    fields = {
        "driver": t.STRING,
        "attributes": t.map_of(t.STRING, t.map_of(t.STRING, attribute)),
        "capacity": t.map_of(t.STRING, t.map_of(t.STRING, t.QUANTITY)),
    }
    return {**fields, "allowMultipleAllocations": t.BOOL} if multiple else fields


ATTRIBUTE_SIZE: Final = Size(LARGEST_SCALAR)
_NAMES: Final = Size(LONGEST_NAME)
_DOMAINS: Final = Size(LONGEST_DOMAIN)
FIELD_SIZES: Final[Mapping[str, Size]] = {
    "driver": Size(LONGEST_DRIVER),
    "attributes": Size(
        MOST_ENTRIES, key=_DOMAINS, element=Size(MOST_ENTRIES, key=_NAMES, element=ATTRIBUTE_SIZE)
    ),
    "capacity": Size(MOST_ENTRIES, key=_DOMAINS, element=Size(MOST_ENTRIES, key=_NAMES, element=Size())),
    "allowMultipleAllocations": Size(1),
}


class Domains(dict[str, dict[str, v.Value]]):
    """A map from domains to maps, in which a domain that is not there is empty."""

    __slots__ = ()

    def __missing__(self, domain: object) -> dict[str, v.Value]:
        return {}


v.register_map(Domains)


class DeviceView:
    """A device made ready for selectors."""

    __slots__ = ("attributes", "capacity", "driver", "multiple")

    def __init__(
        self,
        driver: str,
        attributes: Mapping[str, AttributeValue],
        capacity: Mapping[str, Capacity],
        *,
        multiple: bool,
    ) -> None:
        self.driver = driver
        self.multiple = multiple
        self.attributes = Domains()
        self.capacity = Domains()
        for name, value in attributes.items():
            domain, identifier = _qualified(name, driver)
            self.attributes.setdefault(domain, {})[identifier] = _attribute(value)
        for name, amount in capacity.items():
            domain, identifier = _qualified(name, driver)
            self.capacity.setdefault(domain, {})[identifier] = parse_quantity(amount.value)

    def field(self, name: str) -> v.Value:
        """A field of ``device`` by its name."""
        return getattr(self, _FIELDS[name])


v.register_object(DeviceView)
_FIELDS: Final = {
    "driver": "driver",
    "attributes": "attributes",
    "capacity": "capacity",
    "allowMultipleAllocations": "multiple",
}


class DeviceViews:
    """Views of devices, each made once, as long as this lives."""

    def __init__(self) -> None:
        self._views: dict[tuple[str, int], tuple[Device, DeviceView]] = {}

    def __len__(self) -> int:
        """How many devices have been made ready."""
        return len(self._views)

    def view(self, driver: str, device: Device) -> DeviceView:
        """The view of a device."""
        key = (driver, id(device))
        known = self._views.get(key)
        if known is not None:
            return known[1]
        view = device_view(driver, device)
        self._views[key] = device, view
        return view


def device_view(driver: str, device: Device) -> DeviceView:
    """A device as selectors see it; EvaluationError where an attribute or a capacity cannot be read."""
    return DeviceView(driver, device.attributes, device.capacity, multiple=device.allow_multiple_allocations)


def _qualified(name: str, driver: str) -> tuple[str, str]:
    """Domain and name of an attribute."""
    domain, slash, identifier = name.partition("/")
    return (domain, identifier) if slash else (driver, name)


def _attribute(value: AttributeValue) -> v.Value:
    if isinstance(value, tuple):
        return [_scalar(item) for item in value]
    return _scalar(value)


def _scalar(value: Scalar) -> v.Value:
    return parse_semver(value.text) if isinstance(value, Version) else value
