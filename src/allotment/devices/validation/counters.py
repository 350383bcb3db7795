"""What the server holds counter sets to, and what devices take from them.

From the validation of ``CounterSet`` and ``DeviceCounterConsumption`` in ``resource.k8s.io``. Kubernetes 1.34
limits the numbers of a whole slice and wants the sets in the same slice; 1.35 and later limit each set.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from allotment.devices.server import Server
from allotment.devices.validation import raw
from allotment.devices.validation.names import of_label
from allotment.devices.validation.problems import Key, Loc, Problem, Reason, each, invalid, required, too_many
from allotment.devices.validation.raw import Raw
from allotment.devices.validation.requests import of_quantity

MOST_SETS: Final = 8
MOST_CONSUMED_SETS: Final = 2
MOST_COUNTERS: Final = 32
MOST_GROUPS: Final = 2
MOST_COUNTERS_OF_DEVICES: Final = 1024  # of a whole slice, in 1.34
_LONGEST_NAME: Final = 63


def of_counter_sets(spec: Raw, loc: Loc, server: Server) -> Iterator[Problem]:
    """The counter sets of a slice."""
    sets, here = raw.tables(spec, "sharedCounters"), (*loc, "sharedCounters")
    if not server.is_at_least(35):
        total = sum(len(raw.table(one, "counters")) for one in sets)
        if total > MOST_COUNTERS:
            yield invalid(here, f"the total number of shared counters must not exceed {MOST_COUNTERS}")
        total = sum(_count(device) for device in raw.tables(spec, "devices"))
        if total > MOST_COUNTERS_OF_DEVICES:
            words = f"the total number of counters in devices must not exceed {MOST_COUNTERS_OF_DEVICES}"
            yield invalid((*loc, "devices"), words)
    yield from each(
        sets,
        here,
        lambda one, where: _of_set(one, where, server),
        server=server,
        most=MOST_SETS if server.is_at_least(35) else None,
        key=lambda one: raw.text(one, "name"),
        named="name",
    )


def _of_set(one: Raw, loc: Loc, server: Server) -> Iterator[Problem]:
    if name := raw.text(one, "name"):
        yield from of_label(name, (*loc, "name"))
    else:
        yield required((*loc, "name"))
    yield from _of_counters(one, loc, server)


def _of_counters(value: Raw, loc: Loc, server: Server) -> Iterator[Problem]:
    counters, here = raw.table(value, "counters"), (*loc, "counters")
    if not counters:
        yield required(here, "at least one counter is required")
        return
    if server.is_at_least(35) and len(counters) > MOST_COUNTERS:
        yield too_many(here, len(counters), MOST_COUNTERS)
        return
    for name, counter in raw.entries(value, "counters"):
        key = Key(name, _LONGEST_NAME)
        for problem in of_label(name, here if server.is_at_least(36) else (*here, key)):
            yield problem._replace(at=(*here, name))
        yield from of_quantity(raw.quantity(counter, "value"), (*here, key, "value"))


def of_consumption(device: Raw, loc: Loc, sets: Mapping[str, Raw], server: Server) -> Iterator[Problem]:
    """What a device takes from counter sets; ``sets`` are those of its slice."""
    consumed: Sequence[Raw] = raw.tables(device, "consumesCounters")
    if not consumed:
        return
    here = (*loc, "consumesCounters")
    yield from each(
        consumed,
        here,
        lambda one, where: _of_one(one, where, server),
        server=server,
        most=MOST_CONSUMED_SETS if server.is_at_least(35) else None,
        key=lambda one: raw.text(one, "counterSet"),
        named="counterSet",
    )
    if server.is_at_least(35):
        return
    if _count(device) > MOST_COUNTERS:
        yield invalid(loc, f"the total number of counters must not exceed {MOST_COUNTERS}")
    for place, one in enumerate(consumed):
        yield from _of_known(one, (*here, place), sets)


def _of_one(one: Raw, loc: Loc, server: Server) -> Iterator[Problem]:
    name = raw.text(one, "counterSet")
    if not name:
        yield required((*loc, "counterSet"))
    elif server.is_at_least(35):
        yield from of_label(name, (*loc, "counterSet"))
    yield from _of_counters(one, loc, server)
    yield from each(
        raw.texts(one, "compatibilityGroups"),
        (*loc, "compatibilityGroups"),
        of_label,
        server=server,
        most=MOST_GROUPS,
        key=lambda group: group,
    )


def _of_known(one: Raw, loc: Loc, sets: Mapping[str, Raw]) -> Iterator[Problem]:
    """The counters must be those of the slice's own sets."""
    known = sets.get(raw.text(one, "counterSet"))
    if known is None:
        words = "must reference a counterSet defined in the ResourceSlice sharedCounters"
        yield invalid((*loc, "counterSet"), words)
        return
    for name in raw.table(one, "counters"):
        if name not in raw.table(known, "counters"):
            words = f"`{name}` must reference a counter defined in the ResourceSlice sharedCounters"
            yield Problem((*loc, "counters"), Reason.INVALID, words, at=(*loc, "counters", name))


def _count(device: Raw) -> int:
    return sum(len(raw.table(one, "counters")) for one in raw.tables(device, "consumesCounters"))
