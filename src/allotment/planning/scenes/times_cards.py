"""Kinds of card as run times are kept by: catalogue ids, and nothing for what runs on processors."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from allotment.devices.catalogue.find import cards
from allotment.planning.measure import known_card

NO_CARD: Final = ""
_IDS: Final = frozenset(card.id for card in cards())


def card_of(product: str) -> str:
    """The kind of card of a product's name, as a driver tells it."""
    return kind_of(known_card(product).name)


def kind_of(name: str) -> str:
    """The card of a slice: a slice is known by the card that it is a part of."""
    first, _, profile = name.partition(" ")
    return first if profile and first in _IDS else name


def cards_words(names: Collection[str]) -> str:
    """The kinds of card by their names; without a card it is processors."""
    return ", ".join(name or "processors" for name in names)
