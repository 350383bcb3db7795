"""What the server holds a device of a slice to.

From the validation of ``Device`` in ``resource.k8s.io``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from allotment.devices.server import Server
from allotment.devices.validation import raw
from allotment.devices.validation.attributes import of_attributes
from allotment.devices.validation.capacities import of_capacities
from allotment.devices.validation.counters import of_consumption
from allotment.devices.validation.names import of_label, of_label_key
from allotment.devices.validation.node_resources import of_node_resources
from allotment.devices.validation.nodes import of_device_nodes
from allotment.devices.validation.problems import Loc, Problem, Reason, each, invalid
from allotment.devices.validation.raw import Raw
from allotment.devices.validation.taints import most_taints, of_taint

MOST_CONDITIONS: Final = 4
_CONDITIONS: Final = "bindingConditions"
_FAILURES: Final = "bindingFailureConditions"


def of_device(
    device: Raw, loc: Loc, sets: Mapping[str, Raw], server: Server, *, per_device: bool
) -> Iterator[Problem]:
    """A device; ``sets`` are its slice's counter sets, ``per_device`` whether it says its nodes itself."""
    yield from of_label(raw.text(device, "name"), (*loc, "name"))
    yield from of_attributes(device, loc, server)
    yield from of_capacities(device, loc, server)
    yield from each(
        raw.tables(device, "taints"),
        (*loc, "taints"),
        lambda taint, where: of_taint(taint, where, server),
        server=server,
        most=most_taints(server),
    )
    yield from of_consumption(device, loc, sets, server)
    yield from of_device_nodes(device, loc, per_device=per_device)
    yield from of_conditions(device, loc, server)
    yield from of_node_resources(device, loc, server)


def of_conditions(value: Raw, loc: Loc, server: Server) -> Iterator[Problem]:
    """The conditions on which binding waits, of a device and of the result that says it was given."""
    waited, failed = raw.texts(value, _CONDITIONS), raw.texts(value, _FAILURES)
    if not waited and not failed:
        return
    for name, conditions in ((_CONDITIONS, waited), (_FAILURES, failed)):
        yield from each(conditions, (*loc, name), of_label_key, server=server, most=MOST_CONDITIONS)
        yield from _of_twice(conditions, (*loc, name))
    for place, condition in enumerate(failed):
        if condition in waited:
            words = "bindingFailureConditions must not overlap with bindingConditions"
            yield invalid((*loc, _FAILURES, place), f"`{condition}`: {words}")
    if not waited:
        yield invalid((*loc, _CONDITIONS), "bindingConditions are required to use bindingFailureConditions")
    if not failed:
        yield invalid((*loc, _FAILURES), "bindingFailureConditions are required to use bindingConditions")


def _of_twice(conditions: Sequence[str], loc: Loc) -> Iterator[Problem]:
    for place, condition in enumerate(conditions):
        if condition in conditions[:place]:
            yield Problem((*loc, place), Reason.DUPLICATE, f'Duplicate value: "{condition}"')
