"""What both kinds of MIG have in common: the class, the whole card in disguise, and what a slice counts as.

The largest profile of a card is the whole card under another name. A list of "a slice, else a whole card"
would take it for the slice: on an H100 a need for 40Gi passes 3g.40gb, which has 39.5Gi, and gets 7g.80gb.
Profiles that cover all memory of their card are therefore left out: 7g on cards of eight memory slots, 4g on
the A30 and the RTX PRO 6000. (An API server refuses ``matches`` here: it cannot tell how long a text may be.)
What KAI makes of slices is from its page on DRA (0.17), its roadmap and its issue 2100.
Facts: NVIDIA MIG User Guide; ``nvidia-smi mig -lgip`` of the cards in the catalogue.
"""

from __future__ import annotations

from typing import Final

from allotment.devices.known_classes import NVIDIA_DRIVER
from allotment.platform.need import Need

LESS_THAN_A_CARD: Final = (
    "!['7g.', '4g.24gb', '4g.96gb'].exists(whole, "
    f"device.attributes['{NVIDIA_DRIVER}'].?profile.orValue('').startsWith(whole))"
)
LINTS: Final = (
    "slice-is-whole-card",
    "memory-of-slices",
    "smallest-slice",
    "slices-apart",
    "same-card-refused",
    "never-fits",
)
UNPROMISED: Final = (
    "does not say that it places slices by claims: those that are set up in advance are devices like "
    "others to its allocator, and may wait for ever nonetheless; those that are cut on demand do"
)
ROADMAP: Final = "MIG by claims is on KAI's roadmap of 2026; see its issue 2100"
KEEPS_APART: Final = "memory, caches and engines of a slice are its own, held apart by the card itself"


def part_of_card(need: Need, memory: int | None) -> float | None:
    """The part of a card's memory that is asked for; None where the card or the amount is not known."""
    asked = need.memory
    least = max(asked.at_least or 0, asked.more_than or 0) if asked is not None else 0
    return min(1.0, least / memory) * need.count if memory and least else None
