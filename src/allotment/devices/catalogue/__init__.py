"""The catalogue of cards: what each is called, what it reports, and how it can be cut.

Real clusters are described by their slices. The catalogue serves where there are none: a fleet that somebody
only describes, a card that a pipeline names, and the words for why a card sold with 80 GB is no card of 80Gi.
"""

from __future__ import annotations

from allotment.devices.catalogue.card import Card, Figure, MigLayout, MigProfile, Placement
from allotment.devices.catalogue.find import by_product_name, cards, find

__all__ = ["Card", "Figure", "MigLayout", "MigProfile", "Placement", "by_product_name", "cards", "find"]
