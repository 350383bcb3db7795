"""How near one kind of card is to another that was asked for and is not there.

What a need names a card for is not said, so that the nearest is one of the same architecture, then one that
has as much memory, then the one that lacks least of it. Facts: the catalogue of cards.
"""

from __future__ import annotations

from collections.abc import Sequence

from allotment.devices.catalogue import Card, cards


def cards_named(words: str) -> tuple[Card, ...]:
    """The catalogue's cards in words such as ``H100-SXM-80 or A100-80``, or of such architectures."""
    names = words.split(" or ")
    return tuple(card for card in cards() if card.id in names or card.architecture.value in names)


def how_far(card: Card, asked: Sequence[Card]) -> tuple[bool, int, int]:
    """A value that is the smaller the nearer the card is to any of those."""
    memory = card.memory or 0
    if not asked:
        return False, 0, -memory
    return min(
        (
            card.architecture.value != other.architecture.value,
            max(0, (other.memory or 0) - memory),
            abs((other.memory or 0) - memory),
        )
        for other in asked
    )
