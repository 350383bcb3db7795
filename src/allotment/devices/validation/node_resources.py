"""What the server holds the resources of a node to that a device takes when it is given out.

From the validation of ``nodeAllocatableResourceMappings`` (Kubernetes 1.36, alpha) and of
``nodeAllocatableResources``, which took its place in 1.37.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from allotment.devices.rules import amount
from allotment.devices.server import Server
from allotment.devices.validation import raw
from allotment.devices.validation.problems import Key, Loc, Problem, Reason, invalid, required
from allotment.devices.validation.raw import Raw
from allotment.devices.validation.requests import of_quantity

_LONGEST_NAME: Final = 316
_OURS: Final = "nodeAllocatableResources"
_FORMER: Final = "nodeAllocatableResourceMappings"
_HUGE_PAGES: Final = "hugepages-"
_NAME: Final = "must be a node allocatable resource name"


def of_node_resources(device: Raw, loc: Loc, server: Server) -> Iterator[Problem]:
    """The resources of the node that a device takes."""
    capacities = raw.table(device, "capacity")
    if server.is_at_least(37):
        for name, resource in raw.entries(device, _OURS):
            yield from _of_resource(name, resource, (*loc, _OURS), capacities)
    elif server.is_at_least(36):
        for name, resource in raw.entries(device, _FORMER):
            yield from _of_former(name, resource, (*loc, _FORMER), capacities)


def _of_former(name: str, mapping: Raw, loc: Loc, capacities: Raw) -> Iterator[Problem]:
    here = (*loc, Key(name, _LONGEST_NAME))
    if "/" in name and "kubernetes.io/" not in name:
        yield invalid(here, f"`{name}` {_NAME}")
    yield from _of_sign(mapping, "allocationMultiplier", here, least=1)
    yield from _of_capacity_key(raw.said(mapping, "capacityKey"), here, capacities)


def _of_resource(name: str, resource: Raw, loc: Loc, capacities: Raw) -> Iterator[Problem]:
    here = (*loc, Key(name, _LONGEST_NAME))
    if name not in {"cpu", "memory"} and not name.startswith(_HUGE_PAGES):
        yield invalid(here, f"`{name}` {_NAME}: cpu, memory or hugepages-…")
    mapping, overhead = raw.part(resource, "mapping"), raw.part(resource, "overhead")
    if mapping is None and overhead is None:
        yield required(here, "at least one of mapping or overhead must be set")
    if mapping is not None:
        yield from _of_mapping(mapping, (*here, "mapping"), capacities)
    if overhead is None:
        return
    if raw.quantity(overhead, "perPod") is None and raw.quantity(overhead, "perContainer") is None:
        yield invalid((*here, "overhead"), "at least one of perPod or perContainer must be set")
    for key in ("perPod", "perContainer"):
        yield from _of_sign(overhead, key, (*here, "overhead"), least=0)


def _of_mapping(mapping: Raw, loc: Loc, capacities: Raw) -> Iterator[Problem]:
    key, multiplier = raw.said(mapping, "capacityKey"), raw.quantity(mapping, "capacityMultiplier")
    by_device = raw.quantity(mapping, "deviceMultiplier")
    yield from _of_capacity_key(key, loc, capacities)
    if key is not None and multiplier is None:
        yield required((*loc, "capacityMultiplier"), "capacityMultiplier is required when capacityKey is set")
    elif key is not None:
        yield from _of_sign(mapping, "capacityMultiplier", loc, least=1)
    elif multiplier is not None:
        yield required((*loc, "capacityKey"), "capacityKey is required when capacityMultiplier is set")
    yield from _of_sign(mapping, "deviceMultiplier", loc, least=1)
    if (key is None) == (by_device is None):
        yield invalid(loc, "must specify exactly one of: `capacityKey`, `deviceMultiplier`")


def _of_capacity_key(key: str | None, loc: Loc, capacities: Raw) -> Iterator[Problem]:
    if key == "":
        yield invalid((*loc, "capacityKey"), "capacityKey must not be an empty string")
    elif key is not None and key not in capacities:
        yield Problem((*loc, "capacityKey"), Reason.NOT_FOUND, f"the device has no capacity `{key}`")


def _of_sign(value: Raw, key: str, loc: Loc, *, least: int) -> Iterator[Problem]:
    text = raw.quantity(value, key)
    yield from of_quantity(text, (*loc, key))
    found = None if text is None else amount(text)
    if found is not None and found.sign < least:
        yield invalid((*loc, key), f"{text} must be {'positive' if least else 'non-negative'}")
