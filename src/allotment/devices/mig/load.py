"""A load: how many pods need which part of a card, as a person writes it: ``8 x 9.5Gi, 2 x 40Gi``.

``K x PART``, comma-separated. A part is an amount of memory (at least ``9.5Gi``, strictly more ``>40Gi``, a
range ``9Gi..20Gi``), a MIG profile (``1g.10gb``), or ``whole`` for a card that is not cut. The order is kept:
a scheduler takes what comes first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from allotment.devices.catalogue import Card, MigProfile
from allotment.devices.mig.cuts import is_plain
from allotment.devices.mig.memory import partition_memory
from allotment.errors import UsageError
from allotment.quantities import QuantityError, parse_bytes

MOST_PODS: Final = 100_000
MOST_KINDS: Final = 12
FORM: Final = (
    "`K x PART`, comma-separated, such as `8 x 9.5Gi, 2 x 40Gi`; a part may be a profile, or `whole`"
)
_LEAST: Final = 1 << 20

_ENTRY: Final = re.compile(r"\s*(?:(?P<count>\d+)\s*[x×*]\s*)?(?P<part>\S.*?)\s*", re.IGNORECASE)
_PROFILE: Final = re.compile(r"\d+g\.\d+gb(?:[+-][a-z.]+)*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Part:
    """What one pod needs of a card: memory within bounds (bytes), a profile by its name, or all of a card.

    ``whole`` refuses partitions; without it a whole card serves too, if it has the memory. ``cards`` are the
    ids of the catalogue that may serve it, empty for any. ``words`` is how a person wrote it.
    """

    words: str
    at_least: int = 0
    at_most: int | None = None
    profile: str | None = None
    whole: bool = False
    cards: tuple[str, ...] = ()

    def allows(self, memory: int | None) -> bool:
        """Whether so much memory would do; what is not known (None) never does, unless nothing is asked."""
        if memory is None:
            return not self.at_least and self.at_most is None
        return memory >= self.at_least and (self.at_most is None or memory <= self.at_most)

    def served_by(self, card: Card, profile: MigProfile | None) -> bool:
        """Whether a partition of this card, or the whole of it (None), would do.

        A profile that covers all of its card is that card in disguise: only who names it gets it.
        """
        if self.cards and card.id not in self.cards:
            return False
        if profile is None:
            return self.profile is None and self.allows(card.memory)
        if self.profile is not None:
            return profile.name == self.profile
        if self.whole or not is_plain(profile) or card.mig is None or card.mig.is_whole_card(profile):
            return False
        return self.allows(partition_memory(card, profile))


@dataclass(frozen=True, slots=True)
class Load:
    """So many pods of each part, in the order in which they come."""

    parts: tuple[Part, ...]
    counts: tuple[int, ...]

    @property
    def total(self) -> int:
        """How many pods there are."""
        return sum(self.counts)

    def __str__(self) -> str:
        pairs = zip(self.counts, self.parts, strict=True)
        return ", ".join(f"{count} x {part.words}" for count, part in pairs)


def load_of(entries: Sequence[tuple[Part, int]]) -> Load:
    """The load of these entries; what is asked for twice is one entry, where it came first."""
    counts: dict[Part, int] = {}
    for part, count in entries:
        counts[part] = counts.get(part, 0) + count
    return Load(tuple(counts), tuple(counts.values()))


def parse_load(text: str) -> Load:
    """The load that the words say; UsageError with the column of what makes no sense."""
    load = load_of(list(_entries(text)))
    if load.total > MOST_PODS or len(load.parts) > MOST_KINDS:
        what = f"{load.total:,} pods of {len(load.parts)} kinds are more than can be planned"
        raise _wrong(1, what, f"plan at most {MOST_PODS:,} pods of {MOST_KINDS} kinds at once")
    return load


def _entries(text: str) -> Iterator[tuple[Part, int]]:
    column = 1
    for piece in text.split(","):
        at = column + len(piece) - len(piece.lstrip())
        match = _ENTRY.fullmatch(piece)
        if match is None:
            raise _wrong(at, "an entry is missing here", f"the form is {FORM}")
        count = 1 if match["count"] is None else int(match["count"][:9])
        if count < 1:
            raise _wrong(at, "none of a part cannot be planned", "leave the entry out, or ask for 1 or more")
        yield _part(match["part"], at + match.start("part") - (at - column)), count
        column += len(piece) + 1


def _part(text: str, column: int) -> Part:
    if text.lower() == "whole":
        return Part("whole", whole=True)
    if _PROFILE.fullmatch(text):
        return Part(text.lower(), profile=text.lower())
    try:
        if text.startswith(">"):
            return Part(text, at_least=parse_bytes(text[1:].strip()) + 1)
        least, dots, most = text.partition("..")
        part = Part(text, parse_bytes(least.strip()), parse_bytes(most.strip()) if dots else None)
    except QuantityError as error:
        raise _wrong(column, f"`{text}` is no part of a card: {error.message}", error.hint or FORM) from None
    if part.at_most is not None and part.at_most < part.at_least:
        raise _wrong(column, f"`{text}` ends before it begins", "write the smaller amount first")
    if part.at_least == 0:
        raise _wrong(column, f"`{text}` is nothing", "ask for some memory, a profile, or `whole`")
    if part.at_least < _LEAST:
        raise _wrong(column, f"`{text}` is {part.at_least:,} bytes", f"write a unit: `{text}Gi`")
    return part


def _wrong(column: int, what: str, remedy: str) -> UsageError:
    return UsageError(what, where=f"the load, column {column}", remedy=remedy)
