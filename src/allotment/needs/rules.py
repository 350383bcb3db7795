"""Every rule that a check of needs can name, in one sentence each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

NOT_YET: Final = "not-in-this-version"
TOO_LARGE: Final = "claim-too-large"
UNKNOWN_CARD: Final = "unknown-card"
BAD_SELECT: Final = "bad-select"
MISSES_CARDS: Final = "memory-of-cards"
UNGUARDED: Final = "unguarded-key"
SAME_OF_ONE: Final = "same-of-one"
NEVER_FITS: Final = "never-fits"

RULES: Final[Mapping[str, str]] = {
    NOT_YET: "A need uses a key that this version of Allotment cannot do yet.",
    TOO_LARGE: "A need asks for more devices or alternatives than one claim can hold.",
    UNKNOWN_CARD: "A need names a kind of card that neither the catalogue nor the platform knows.",
    BAD_SELECT: "A need's own selector is one that Kubernetes would refuse.",
    MISSES_CARDS: "A need's amount of memory leaves out cards that are sold with as much.",
    UNGUARDED: "A need's own selector fails on devices that do not publish what it reads.",
    SAME_OF_ONE: "A need asks what its cards share, and for one card.",
    NEVER_FITS: "Nothing in the world that was looked at can meet the need, whatever is free.",
}
