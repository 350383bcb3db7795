"""Concurrent admission: one workload tried in several flavors at once, each try a variant of its own.

A variant does not run while one with a better flavor does, and takes the place of one with a worse. The rules
are those of ``findAdmitted*Sibling`` and ``isMigrationAllowed`` in ``pkg/scheduler`` (gate
ConcurrentAdmission, alpha).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from allotment.scheduling.kueue.charges import Info
from allotment.scheduling.kueue.ground import Ground

BELOW_LAST = "Target flavor is below LastAcceptableFlavorName"


@dataclass(frozen=True, slots=True)
class Sibling:
    """Another variant of the same workload that runs, with how far down the list its flavor is."""

    info: Info
    index: int


def more_favorable(ground: Ground, info: Info) -> Sibling | None:
    """A variant that runs in a better flavor."""
    return _sibling(ground, info, lambda other, own: other < own)


def less_favorable(ground: Ground, info: Info) -> Sibling | None:
    """A variant that runs in a worse flavor."""
    return _sibling(ground, info, lambda other, own: other > own)


def _sibling(ground: Ground, info: Info, fits: Callable[[int, int], bool]) -> Sibling | None:
    parent, own = info.workload.parent, _index(ground, info)
    if parent is None or own is None:
        return None
    for other in ground.holders(ground.node(info)):
        if other.workload.uid == info.workload.uid or other.workload.parent != parent:
            continue
        index = _index(ground, other) if other.workload.admitted else None
        if index is not None and fits(index, own):
            return Sibling(other, index)
    return None


def _index(ground: Ground, info: Info) -> int | None:
    """Where a variant's flavor stands in the list of its queue."""
    queue, allowed = ground.node(info).queue, info.workload.allowed_flavors
    if queue is None or not queue.groups or not allowed:
        return None
    flavors = queue.groups[0].flavors
    return flavors.index(allowed[0]) if allowed[0] in flavors else None


def may_migrate(ground: Ground, info: Info, _sibling: Sibling) -> str | None:
    """Why a variant may not take another's place; None if it may."""
    queue, own = ground.node(info).queue, _index(ground, info)
    last = queue.last_acceptable_flavor if queue else None
    if queue is None or last is None or own is None:
        return None
    flavors = queue.groups[0].flavors
    return BELOW_LAST if last in flavors and own > flavors.index(last) else None
