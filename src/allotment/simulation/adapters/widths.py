"""How many pods of a work there can be."""

from __future__ import annotations

from allotment.simulation.work import Kind, Work


def open_indexes(work: Work) -> int:
    """How many indexes have anything left to do when a work is handed in."""
    units, pack = work.units, max(1, work.pack)
    if work.kind is not Kind.CAMPAIGN:
        return work.most
    return sum(
        any(unit.done < unit.pages for unit in units[first : first + pack])
        for first in range(0, len(units), pack)
    )


def width_of(work: Work, indexes: int) -> int:
    """How many pods may exist with so many indexes left."""
    return min(work.most, indexes) if work.kind is Kind.CAMPAIGN else work.most


def least_of(work: Work, indexes: int) -> int:
    """How wide a new Job is whose width may be moved; one that may not is whole."""
    return max(1, min(work.least, width_of(work, indexes))) if work.kind is Kind.CAMPAIGN else work.most
