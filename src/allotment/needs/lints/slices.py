"""The slices of the catalogue that are less than a card, as far as their memory is known or bounded.

Where nobody has told the memory of a profile, its name bounds it: ``3g.71gb`` has at most 71Gi.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from allotment.devices.catalogue import cards
from allotment.needs.cards import Kinds, UnknownCardError, admits, chosen_cards
from allotment.needs.memory import in_words
from allotment.platform.need import MemoryRange, Need
from allotment.quantities import GI

_NAMED: Final = re.compile(r"\d+g\.(\d+)gb")
_ROOM: Final = GI  # a need this much below the name of a slice is no mistake for it


@dataclass(frozen=True, slots=True)
class SmallerSlice:
    """A slice: ``memory`` is what it reports, or where nobody knows at most has (``told`` is False)."""

    card: str
    profile: str
    memory: int
    named: int
    told: bool

    @property
    def words(self) -> str:
        """Its memory in words."""
        return in_words(self.memory) if self.told else f"at most {in_words(self.memory)}"

    def may_have(self, asked: MemoryRange) -> bool:
        """Whether its memory may lie within the bounds."""
        least = max(asked.at_least or 0, (asked.more_than or -1) + 1)
        return self.memory >= least and (
            asked.at_most is None or not self.told or self.memory <= asked.at_most
        )


def real_slices(need: Need, kinds: Kinds) -> list[SmallerSlice]:
    """The slices of the cards that the need names, or of all that can be cut; never a whole card."""
    try:
        choice = chosen_cards(need.card, kinds)
    except UnknownCardError:
        return []
    found: list[SmallerSlice] = []
    for card in cards():
        if card.mig is None or (need.card and not admits(choice, card)):
            continue
        for profile in card.mig.profiles:
            name = _NAMED.fullmatch(profile.name)
            if name is None or card.mig.is_whole_card(profile):
                continue
            named, told = int(name[1]) * GI, profile.memory.value
            found.append(SmallerSlice(card.id, profile.name, told or named, named, told is not None))
    return found


def named_after(need: Need, kinds: Kinds) -> list[SmallerSlice]:
    """The slices that are named after what is asked for, and report less."""
    asked = need.memory
    least = 0 if asked is None else max(asked.at_least or 0, asked.more_than or 0)
    return [
        each
        for each in real_slices(need, kinds)
        if each.told and each.memory < least <= each.named and each.named - least < _ROOM
    ]
