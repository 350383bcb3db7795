"""What the server holds the spec of a ResourceSlice to.

From the validation of ``ResourceSlice`` in ``resource.k8s.io``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from allotment.devices.server import Server
from allotment.devices.validation import raw
from allotment.devices.validation.attributes import LISTS, of_partition_type
from allotment.devices.validation.counters import of_counter_sets
from allotment.devices.validation.devices import of_device
from allotment.devices.validation.names import of_driver, of_pool
from allotment.devices.validation.nodes import of_slice_nodes
from allotment.devices.validation.problems import Loc, Problem, Reason, each, invalid
from allotment.devices.validation.raw import Raw
from allotment.errors import did_you_mean

MOST_DEVICES: Final = 128
MOST_DEVICES_WITH_EXTRAS: Final = 64
PREPARE: Final = "NodePrepareResources"
UNPREPARE: Final = "NodeUnprepareResources"
EVERYTHING: Final = "*"
_OPERATIONS: Final = (EVERYTHING, PREPARE, UNPREPARE)
_BOTH: Final = "only one of `sharedCounters` or `devices` is allowed"


def of_slice_spec(spec: Raw, loc: Loc, server: Server) -> Iterator[Problem]:
    """The spec of a slice."""
    yield from of_driver(raw.text(spec, "driver"), (*loc, "driver"), server)
    yield from _of_pool(raw.table(spec, "pool"), (*loc, "pool"))
    yield from of_slice_nodes(spec, loc)
    if _has_both(spec) and server.is_at_least(35):
        tolerated = "Kubernetes 1.34 still took it, 1.35 and later do not" if server.lenient else ""
        yield Problem(
            loc, Reason.INVALID, _BOTH, "publish two slices", at=(*loc, "sharedCounters"), tolerated=tolerated
        )
    devices = raw.tables(spec, "devices")
    sets = {raw.text(one, "name"): one for one in raw.tables(spec, "sharedCounters")}
    per_device = bool(raw.flag(spec, "perDeviceNodeSelection"))
    yield from each(
        devices,
        (*loc, "devices"),
        lambda device, where: of_device(device, where, sets, server, per_device=per_device),
        server=server,
        most=most_devices(devices, server),
        key=lambda device: raw.text(device, "name"),
        named="name",
    )
    yield from of_counter_sets(spec, loc, server)
    yield from of_partition_type(spec, loc, server)
    yield from of_operations(spec, loc, server)


def _has_both(spec: Raw) -> bool:
    return raw.listed(spec, "devices") is not None and raw.listed(spec, "sharedCounters") is not None


def most_devices(devices: Sequence[Raw], server: Server) -> int:
    """How many devices fit in a slice with such devices; fewer where they have taints, counters or lists."""
    if len(devices) <= MOST_DEVICES_WITH_EXTRAS or not server.is_at_least(35):
        return MOST_DEVICES
    extras = any(
        device.get("taints") or device.get("consumesCounters") or _has_lists(device, server)
        for device in devices
    )
    return MOST_DEVICES_WITH_EXTRAS if extras else MOST_DEVICES


def _has_lists(device: Raw, server: Server) -> bool:
    if not server.is_at_least(36):
        return False
    return any(
        raw.listed(attribute, key) is not None
        for _, attribute in raw.entries(device, "attributes")
        for key in LISTS
    )


def _of_pool(pool: Raw, loc: Loc) -> Iterator[Problem]:
    yield from of_pool(raw.text(pool, "name"), (*loc, "name"))
    if raw.number(pool, "resourceSliceCount") <= 0:
        yield invalid((*loc, "resourceSliceCount"), "must be greater than zero")
    if raw.number(pool, "generation") < 0:
        yield invalid((*loc, "generation"), "must be greater than or equal to zero")


def of_operations(value: Raw, loc: Loc, server: Server) -> Iterator[Problem]:
    """The operations of the node that a driver does without (Kubernetes 1.37, alpha)."""
    operations, here = raw.texts(value, "skipNodeOperations"), (*loc, "skipNodeOperations")
    yield from each(operations, here, _of_operation, server=server, key=lambda operation: operation)
    if PREPARE in operations and not {UNPREPARE, EVERYTHING} & set(operations):
        yield invalid(here, f"{PREPARE} cannot be skipped unless {UNPREPARE} is also skipped")


def _of_operation(operation: str, loc: Loc) -> Iterator[Problem]:
    if operation not in _OPERATIONS:
        words = f"`{operation}` is not supported: supported values: {', '.join(_OPERATIONS)}"
        yield Problem(loc, Reason.NOT_SUPPORTED, words, did_you_mean(operation, _OPERATIONS))
