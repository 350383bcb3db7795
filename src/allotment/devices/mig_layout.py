"""Where partitions lie on a card: the first places that do not overlap.

A card has memory slots, a profile may begin only at some of them, and the media engines are there once.
Facts: NVIDIA MIG User Guide; its own table of what fits together follows from disjoint slots alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from allotment.devices.catalogue import MigProfile

_MEDIA = "+me"


class Cut(NamedTuple):
    """A partition of a card: its profile, and the memory slot at which it begins."""

    profile: MigProfile
    start: int


def lay_out(wanted: Sequence[MigProfile], slots: int) -> tuple[Cut, ...] | None:
    """Places for all of them, the largest first and each as low as it can be; None when they do not fit."""
    if sum(_MEDIA in profile.name for profile in wanted) > 1:
        return None
    if sum(profile.memory_slices for profile in wanted) > slots:
        return None
    ordered = sorted(wanted, key=lambda profile: -profile.memory_slices)
    found = _place(ordered, 0)
    return None if found is None else tuple(sorted(found, key=lambda cut: cut.start))


def _place(wanted: Sequence[MigProfile], used: int) -> list[Cut] | None:
    """Places for the rest while the slots of ``used`` (a bit each) are gone."""
    if not wanted:
        return []
    profile = wanted[0]
    for placement in profile.placements:
        bits = ((1 << placement.size) - 1) << placement.start
        if used & bits:
            continue
        rest = _place(wanted[1:], used | bits)
        if rest is not None:
            return [Cut(profile, placement.start), *rest]
    return None
