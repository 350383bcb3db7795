"""Finding a card by what people write: ``h100-sxm`` for ``H100-SXM-80``.

Case, and what stands between the parts of an id, do not matter. A leading part will do when it names one
card, and whole parts go before cut ones: ``H20`` is the H20-96 and not an H200 cut short. Parts of product
names name nothing: too many of them mislead (a GH200 480GB has 96 GB).
"""

from __future__ import annotations

from difflib import get_close_matches
from functools import cache

from allotment.devices.catalogue.card import Card
from allotment.devices.catalogue.reading import read_cards
from allotment.errors import UsageError


@cache
def cards() -> tuple[Card, ...]:
    """Every card of the catalogue."""
    return read_cards()


def find(text: str) -> Card:
    """The card that the text names; UsageError, with the likely ones, when it names none or several."""
    found = _named(text)
    if len(found) == 1:
        return found[0]
    if found:
        ids = ", ".join(f"`{card.id}`" for card in found)
        raise UsageError(f"`{text}` names several cards of the catalogue", remedy=f"write one of {ids}")
    known = {card.id.lower(): card.id for card in cards()}
    closest = get_close_matches(text.lower(), known, n=1)
    hint = f"did you mean `{known[closest[0]]}`?" if closest else f"known: {', '.join(known.values())}"
    raise UsageError(f"the catalogue has no card `{text}`", remedy=hint)


def by_product_name(name: str) -> Card | None:
    """The card that reports this product name, as a whole; None when no card of the catalogue does."""
    return _by_name().get(name)


@cache
def _by_name() -> dict[str, Card]:
    return {name: card for card in cards() for name in card.names.value}


def _named(text: str) -> list[Card]:
    """The cards that the text may mean, by the strictest reading that finds any."""
    asked = _parts(text)
    together = "".join(asked)
    if not together:
        return []
    ids = [(card, _parts(card.id)) for card in cards()]
    return (
        [card for card, parts in ids if "".join(parts) == together]
        or [card for card, parts in ids if _is_leading(together, parts)]
        or [card for card, parts in ids if "".join(parts).startswith(together)]
    )


def _is_leading(together: str, parts: list[str]) -> bool:
    return any("".join(parts[:end]) == together for end in range(1, len(parts)))


def _parts(text: str) -> list[str]:
    return text.strip().lower().replace("-", " ").replace("_", " ").split()
