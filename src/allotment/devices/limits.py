"""The limits that the API sets on slices and claims, as far as they are cheap to check.

An object that the API server would refuse is better refused here, in its own words. From the validation of
``resource.k8s.io/v1`` (Kubernetes 1.36); each function returns what is wrong, and nothing when all is well.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from allotment.devices.claims import MOST_ALTERNATIVES, AllocationMode, ClaimSpec, ExactRequest
from allotment.devices.slices import Device, ResourceSlice, Version

_LABEL = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
_SUBDOMAIN = re.compile(rf"{_LABEL.pattern}(\.{_LABEL.pattern})*")
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,31}")
_MOST_DEVICES_IN_SLICE = 128
_MOST_DEVICES_WITH_EXTRAS = 64
_MOST_LISTED = 32
_LONGEST_TEXT = 64
_LONGEST_EXPRESSION = 10 * 1024


def slice_problems(published: ResourceSlice) -> tuple[str, ...]:
    """What is wrong with a slice."""
    return tuple(_of_slice(published))


def claim_problems(claim: ClaimSpec) -> tuple[str, ...]:
    """What is wrong with a claim."""
    return tuple(_of_claim(claim))


def _of_slice(published: ResourceSlice) -> Iterator[str]:
    if not _is_name(published.driver, longest=63):
        yield f"driver `{published.driver}` is no DNS subdomain of at most 63 characters"
    parts = published.pool.name.split("/")
    if len(published.pool.name) > 253 or not all(_is_name(part, longest=253) for part in parts):
        yield f"pool `{published.pool.name}` is no DNS subdomains of at most 253 characters"
    if published.pool.generation < 0 or published.pool.resource_slice_count < 1:
        yield "a pool has a generation from 0 and at least one slice"
    reaches = (
        published.node_name,
        published.node_selector,
        published.all_nodes,
        published.per_device_node_selection,
    )
    if sum(bool(each) for each in reaches) != 1:
        yield "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required"
    if published.devices and published.shared_counters:
        yield "only one of `sharedCounters` or `devices` is allowed"
    extras = any(device.taints or device.consumes_counters for device in published.devices)
    most = _MOST_DEVICES_WITH_EXTRAS if extras else _MOST_DEVICES_IN_SLICE
    if len(published.devices) > most:
        yield f"devices must have at most {most} items"
    for name in _twice(device.name for device in published.devices):
        yield f"device `{name}`: Duplicate value"
    for device in published.devices:
        yield from (f"device `{device.name}`: {problem}" for problem in _of_device(device))


def _of_device(device: Device) -> Iterator[str]:
    if not _LABEL.fullmatch(device.name):
        yield "its name is no DNS label"
    if len(device.attributes) + len(device.capacity) > _MOST_LISTED:
        yield f"the total number of attributes and capacities must not exceed {_MOST_LISTED}"
    for key in (*device.attributes, *device.capacity):
        domain, slash, identifier = key.rpartition("/")
        if not _IDENTIFIER.fullmatch(identifier) or (slash and not _is_name(domain, longest=63)):
            yield f"`{key}` is no C identifier, with or without a domain before it"
    for key, value in device.attributes.items():
        text = value.text if isinstance(value, Version) else value
        if isinstance(text, str) and len(text.encode()) > _LONGEST_TEXT:
            yield f"attribute `{key}` is longer than {_LONGEST_TEXT} bytes"


def _of_claim(claim: ClaimSpec) -> Iterator[str]:
    lists = {"requests": claim.requests, "constraints": claim.constraints, "config": claim.config}
    for name, listed in lists.items():
        if len(listed) > _MOST_LISTED:
            yield f"{name} must have at most {_MOST_LISTED} items"
    for name in _twice(request.name for request in claim.requests):
        yield f"request `{name}`: Duplicate value"
    for request in claim.requests:
        if not _LABEL.fullmatch(request.name):
            yield f"request `{request.name}`: its name is no DNS label"
        if len(request.first_available) > MOST_ALTERNATIVES:
            yield f"request `{request.name}`: firstAvailable must have at most {MOST_ALTERNATIVES} items"
        for name in _twice(sub.name for sub in request.first_available):
            yield f"request `{request.name}/{name}`: Duplicate value"
        for sub in request.alternatives:
            yield from (f"request `{request.name}`: {problem}" for problem in _of_request(sub.exactly))


def _of_request(exact: ExactRequest) -> Iterator[str]:
    if not _is_name(exact.device_class, longest=253):
        yield f"device class `{exact.device_class}` is no DNS subdomain"
    if exact.mode is AllocationMode.EXACT_COUNT and exact.count < 1:
        yield "count: must be greater than zero"
    if len(exact.selectors) > _MOST_LISTED:
        yield f"selectors must have at most {_MOST_LISTED} items"
    if any(len(expression.encode()) > _LONGEST_EXPRESSION for expression in exact.selectors):
        yield f"a selector is longer than {_LONGEST_EXPRESSION} bytes"


def _is_name(text: str, *, longest: int) -> bool:
    return len(text) <= longest and _SUBDOMAIN.fullmatch(text) is not None


def _twice(names: Iterable[str]) -> Iterator[str]:
    return (name for name, count in Counter(names).items() if count > 1)
