"""Where partitions lie on a card: what fits together, and the first places that do not overlap.

A card has memory slots, a profile may begin only at some of them, and the media engines are there once. What
NVIDIA lists as possible layouts follows from this alone.
Facts: NVIDIA MIG User Guide; ``nvidia-smi mig -lgipp``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from allotment.devices.catalogue import MigLayout, MigProfile

_MEDIA = "+me"


class Cut(NamedTuple):
    """A partition of a card: its profile, and the memory slot at which it begins."""

    profile: MigProfile
    start: int

    @property
    def slots(self) -> int:
        """The memory slots that it covers, a bit each."""
        return ((1 << self.profile.memory_slices) - 1) << self.start


def has_media(profile: MigProfile) -> bool:
    """Whether it takes the media engines, which a card has once."""
    return _MEDIA in profile.name


def is_plain(profile: MigProfile) -> bool:
    """Whether it is cut by slots alone, and not with or without media or graphics engines."""
    return not set(profile.name) & {"+", "-"}


def all_cuts(layout: MigLayout) -> tuple[Cut, ...]:
    """Every partition that such a card can have, each at each of its places."""
    return tuple(
        Cut(profile, placement.start) for profile in layout.profiles for placement in profile.placements
    )


def fit_together(cuts: Sequence[Cut]) -> bool:
    """Whether a card can have all of these at once."""
    used = 0
    for cut in cuts:
        if used & cut.slots:
            return False
        used |= cut.slots
    return sum(has_media(cut.profile) for cut in cuts) <= 1


def full_layouts(layout: MigLayout, profiles: Sequence[MigProfile]) -> Iterator[tuple[Cut, ...]]:
    """Every way to cut a card into these profiles so that no further one would fit, in order of the slots."""
    cuts = [cut for cut in all_cuts(layout) if cut.profile in profiles]
    for found in _disjoint(cuts, 0, layout.slots):
        if not any(fit_together((*found, cut)) for cut in cuts if cut not in found):
            yield found


def _disjoint(cuts: Sequence[Cut], begin: int, end: int) -> Iterator[tuple[Cut, ...]]:
    """Every set of cuts from a slot on that a card can have at once."""
    if begin >= end:
        yield ()
        return
    yield from _disjoint(cuts, begin + 1, end)
    for cut in cuts:
        if cut.start == begin:
            for rest in _disjoint(cuts, begin + cut.profile.memory_slices, end):
                if not (has_media(cut.profile) and any(has_media(other.profile) for other in rest)):
                    yield (cut, *rest)


def lay_out(wanted: Sequence[MigProfile], slots: int) -> tuple[Cut, ...] | None:
    """Places for all of them, the largest first and each as low as it can be; None when they do not fit."""
    if sum(has_media(profile) for profile in wanted) > 1:
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
        cut = Cut(profile, placement.start)
        if used & cut.slots:
            continue
        rest = _place(wanted[1:], used | cut.slots)
        if rest is not None:
            return [cut, *rest]
    return None


@lru_cache(maxsize=4096)
def room_left(layout: MigLayout, used: int) -> tuple[MigProfile, ...]:
    """What else a card has room for when the slots of ``used`` are gone: plain profiles, largest first."""
    plain = [profile for profile in layout.profiles if is_plain(profile)]
    found: list[MigProfile] = []
    for profile in sorted(plain, key=lambda each: (-each.memory_slices, -each.compute_slices)):
        for placement in reversed(profile.placements):
            cut = Cut(profile, placement.start)
            if not used & cut.slots:
                used |= cut.slots
                found.append(profile)
    return tuple(found)
