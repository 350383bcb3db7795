"""Rows for cards that are only counted: which of a node's a run is on, when nobody says.

Whoever counts cards gives them no names, so a run gets the first rows that are free, as many as it has. Parts
of cards are another matter: which pods are on one card together the scheduler decides, and it is shown so.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, field

from allotment.simulation.outcome import Span


@dataclass(slots=True)
class _Card:
    """A card of a node: until when it is in use, and the name under which pods share it, if they do."""

    until: float = -math.inf
    shared: str = ""


@dataclass(slots=True)
class CountedCards:
    """The cards in use so far by node; runs have to come in the order in which they began."""

    cards: dict[str, list[_Card]] = field(default_factory=lambda: defaultdict(list))

    def places(self, span: Span) -> list[int]:
        """The rows of a run, from 0 on."""
        found: list[int] = []
        for name in span.shared or ("",) * math.ceil(span.gpus):
            place = self._place(span, name, found)
            card = self.cards[span.node][place]
            card.until, card.shared = max(card.until, span.ended), name
            found.append(place)
        return found

    def _place(self, span: Span, name: str, taken: list[int]) -> int:
        """Where others are on the card of that name, else the first that is free, else one more."""
        cards = self.cards[span.node]
        for place, card in enumerate(cards):
            if name and card.shared == name and card.until > span.bound:
                return place
        for place, card in enumerate(cards):
            if card.until <= span.bound and place not in taken:
                return place
        cards.append(_Card())
        return len(cards) - 1
