"""What a pod gets: a partition of a card, or the whole of it; and the least room that a part of a load takes.

Whoever packs needs no profiles but the stretches of memory slots that would do. Of two stretches of which one
lies in the other the smaller is enough; the profile is chosen afterwards, the one with most computing.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from allotment.devices.catalogue import Card, MigProfile
from allotment.devices.mig.cuts import Cut, has_media
from allotment.devices.mig.load import Part


class Stretch(NamedTuple):
    """Memory slots of a card, from ``start`` on; ``media`` says that the media engines go with them."""

    start: int
    size: int
    media: bool = False


@dataclass(frozen=True, slots=True)
class Seat:
    """What one pod gets of a card. Without a ``profile`` it is the whole of a card that is not cut."""

    card: int
    part: int
    start: int
    profile: MigProfile | None

    @property
    def name(self) -> str:
        """The profile, or that it is a whole card."""
        return "whole card" if self.profile is None else self.profile.name

    @property
    def cut(self) -> Cut | None:
        """The partition, where it is one."""
        return None if self.profile is None else Cut(self.profile, self.start)


def slots_of(card: Card) -> int:
    """How many slots there are to give: those of its memory, or a single one where it cannot be cut."""
    return 1 if card.mig is None else card.mig.slots


@lru_cache(maxsize=1024)
def stretches(card: Card, part: Part) -> tuple[Stretch, ...]:
    """Every smallest stretch of the card that would do for the part."""
    found: set[Stretch] = set()
    if card.mig is not None:
        for profile in card.mig.profiles:
            if part.served_by(card, profile):
                media = has_media(profile)
                found.update(Stretch(each.start, each.size, media) for each in profile.placements)
    if part.served_by(card, None):
        found.add(Stretch(0, slots_of(card)))
    return tuple(sorted(each for each in found if not any(_is_smaller(other, each) for other in found)))


def seat_profile(card: Card, part: Part, stretch: Stretch) -> MigProfile | None:
    """The profile to cut there: of those that would do, the one with most computing."""
    profiles = () if card.mig is None else card.mig.profiles
    fitting = [
        profile
        for profile in profiles
        if part.served_by(card, profile)
        and has_media(profile) == stretch.media
        and any((each.start, each.size) == stretch[:2] for each in profile.placements)
    ]
    return max(fitting, key=lambda profile: profile.compute_slices, default=None)


def _is_smaller(one: Stretch, other: Stretch) -> bool:
    """Whether the one lies within the other and takes no more engines."""
    within = other.start <= one.start and one.start + one.size <= other.start + other.size
    return one != other and within and one.media <= other.media
