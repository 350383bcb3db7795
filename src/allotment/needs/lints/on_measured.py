"""Lints of `measured.yaml` by itself: a card that nobody knows, as an id or as the product name it reports.

It is a warning and not an error: a card may be newer than the catalogue, and what was measured on it is kept.
"""

from __future__ import annotations

from collections.abc import Iterator

from allotment.devices.catalogue import cards
from allotment.errors import Finding, Severity, did_you_mean
from allotment.needs.lints.looked import known_card
from allotment.needs.rules import UNKNOWN_CARD
from allotment.repository.measured import MeasuredFile


def unknown_cards(measured: MeasuredFile) -> Iterator[Finding]:
    """Entries of cards that the catalogue does not know; of a slice, the card is named first."""
    ids = [card.id for card in cards()]
    for entry in measured.entries:
        if known_card(entry.card) is None and entry.card.partition(" ")[0] not in ids:
            message = f"`{entry.card}` is no card of the catalogue, so this holds for no card that is known"
            hint = did_you_mean(entry.card, ids) or "write the card as `allot measure` names it"
            yield Finding(measured.position(entry), UNKNOWN_CARD, message, hint, Severity.WARNING)
