"""Every way to share a card, one module each, and the table of them.

``sharing: mig`` is two of them, which make the same claim: whether slices are there or cut on demand is the
cluster's.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from allotment.needs.ways.consumable import CONSUMABLE
from allotment.needs.ways.fraction import FRACTION
from allotment.needs.ways.mig_in_advance import MIG_IN_ADVANCE
from allotment.needs.ways.mig_on_demand import MIG_ON_DEMAND
from allotment.needs.ways.mps import MPS
from allotment.needs.ways.time_slicing import TIME_SLICING
from allotment.needs.ways.way import Isolation, Scope, Way
from allotment.needs.ways.whole import WHOLE

__all__ = ["WAYS", "Isolation", "Scope", "Way", "way_of", "ways_of"]

WAYS: Final[Mapping[str, Way]] = {
    way.id: way for way in (WHOLE, MIG_IN_ADVANCE, MIG_ON_DEMAND, TIME_SLICING, MPS, FRACTION, CONSUMABLE)
}


def way_of(word: str) -> Way:
    """The way that a word of ``sharing:`` means; of the two kinds of MIG the one set up in advance."""
    return next(way for way in WAYS.values() if way.word == word)


def ways_of(word: str) -> tuple[Way, ...]:
    """Every way that a word can turn out to be."""
    return tuple(way for way in WAYS.values() if way.word == word)
