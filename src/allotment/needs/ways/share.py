"""``share:`` as numbers: a part of a card, or an amount of its memory."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from allotment.devices.catalogue import Card
from allotment.needs.cards import Kinds, cards_taken
from allotment.needs.fault import Fault
from allotment.needs.memory import in_words
from allotment.needs.rules import SHARE_OVER_CARD
from allotment.platform.need import Need
from allotment.quantities import parse_bytes


def asked_bytes(need: Need) -> int | None:
    """The amount of memory that is asked for; None where a part of the card is."""
    return parse_bytes(need.share) if isinstance(need.share, str) else None


def asked_part(need: Need, memory: int | None) -> float | None:
    """The part of a card of so much memory; None where an amount is asked of a card that is not known."""
    if isinstance(need.share, float | int):
        return float(need.share)
    amount = asked_bytes(need)
    return min(1.0, amount / memory) if amount and memory else None


def shared_cards(need: Need, memory: int | None) -> float | None:
    """The cards that the parts of a pod are together."""
    part = asked_part(need, memory)
    return None if part is None else part * need.count


def over_card(need: Need, kinds: Kinds) -> Iterator[Fault]:
    """An amount that none of the cards has which the need names, or bounds from above."""
    amount = asked_bytes(need)
    named = need.card or (need.memory is not None and need.memory.at_most is not None)
    taken = cards_taken(need, kinds) if named else ()
    if amount is None or not taken:
        return
    largest = max(taken, key=_memory)
    if _memory(largest) < amount:
        has = f"the largest that this need takes, {largest.id}, has {in_words(_memory(largest))}"
        message = f"`share: {need.share}` is more than a card has: {has}"
        hint = "ask for a smaller share, or for larger cards"
        yield Fault(("share",), SHARE_OVER_CARD, message, hint)


def _memory(card: Card) -> int:
    return card.memory or 0


def pods_on_a_card(need: Need, memory: int | None) -> int | None:
    """How many pods with this part go on one card; None where that cannot be told."""
    amount = asked_bytes(need)
    if amount is not None:
        return memory // amount if memory else None
    return int(1 / Fraction(str(need.share))) if need.share else None
