"""How much memory a partition has: as the catalogue knows it, or as can be taken for sure where it does not.

Nobody has published what the partitions of the newest cards report. Of those that are known, none reports
less than 91 % of its share of the card by slots (an H200's 1g); that much is assumed.
"""

from __future__ import annotations

from typing import Final

from allotment.devices.catalogue import Card, MigProfile
from allotment.quantities import MI

_SURE: Final = 0.91
_GRAIN: Final = 64 * MI


def partition_memory(card: Card, profile: MigProfile) -> int | None:
    """Bytes of a partition; None when not even the card's own memory is known."""
    if profile.memory.value is not None:
        return profile.memory.value
    if card.mig is None or card.memory is None:
        return None
    share = card.memory * profile.memory_slices / card.mig.slots
    return int(share * _SURE) // _GRAIN * _GRAIN


def is_assumed(card: Card, profile: MigProfile) -> bool:
    """Whether the figure is taken from the card's share, and not from anybody's card."""
    return profile.memory.value is None and card.memory is not None
