"""Causes, each a small function over a part: it yields what it sees evidence for, and nothing else.

The order of a table is the order in which things happen to a Job: it is admitted, its pods are made, find
nodes, start, and end. Where nothing runs, the first cause is what holds it up. Where something does, what
is broken comes before what merely waits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from allotment.kubernetes.follow.causes import (
    admission,
    creating,
    ended,
    failures,
    given_up,
    nodes,
    paused,
    queued,
    scheduling,
    starting,
    together,
)
from allotment.kubernetes.follow.model import Cause
from allotment.kubernetes.follow.part import Part
from allotment.kubernetes.follow.pods import Phase

Find = Callable[[Part], Iterator[Cause]]

ENDED: Final[tuple[Find, ...]] = (ended.finished, ended.failed)
STOPPED: Final[tuple[Find, ...]] = (paused.deactivated, paused.suspended, paused.queue_stopped)
ADMISSION: Final[tuple[Find, ...]] = (
    queued.no_kueue,
    given_up.given_up,
    queued.no_queue,
    admission.inactive,
    queued.reclaimed,
    admission.refused,
    admission.checks,
    queued.not_evaluated,
    queued.no_workload,
)
PLACES: Final[tuple[Find, ...]] = (
    creating.not_created,
    creating.claims_not_created,
    creating.class_missing,
    scheduling.selector_fails,
    scheduling.no_driver,
    together.no_kai,
    together.kai_queue_missing,
    together.reclaiming,
    scheduling.handed_over,
    together.kai_group,
    together.gang,
    scheduling.topology,
    scheduling.no_node,
    together.kai_silent,
    scheduling.not_looked_at,
    creating.gated,
)
STARTS: Final[tuple[Find, ...]] = (
    starting.image,
    starting.configuration,
    starting.devices_not_ready,
    starting.starting,
)
ENDINGS: Final[tuple[Find, ...]] = (failures.failures, nodes.disrupted)
NODES: Final[tuple[Find, ...]] = (nodes.lost,)

ONE_IS_ENOUGH: Final = (ADMISSION, PLACES, STARTS)
"""What comes later in one of these says the same of the same pods, or waits until the first is mended."""


def causes_of(part: Part) -> tuple[Cause, ...]:
    """Everything that there is evidence for, the root first."""
    over = tuple(cause for find in ENDED for cause in find(part))
    if over:
        return (*over[:1], *(cause for cause in failures.failures(part) if over[0].kind != "finished"))
    if part.in_phase(Phase.RUNNING):
        return _of_tables(part, NODES, STARTS, ENDINGS, PLACES, STOPPED, ADMISSION)
    stopped = _of_tables(part, STOPPED)
    if stopped:
        return (*stopped, *_of_tables(part, NODES, ENDINGS))
    return _of_tables(part, ADMISSION, PLACES, STARTS, NODES, ENDINGS)


def _of_tables(part: Part, *tables: tuple[Find, ...]) -> tuple[Cause, ...]:
    return tuple(cause for table in tables for cause in _of_table(table, part))


def _of_table(table: tuple[Find, ...], part: Part) -> Iterator[Cause]:
    for find in table:
        found = tuple(find(part))
        yield from found
        if found and table in ONE_IS_ENOUGH:
            return
