"""Where round numbers of memory go wrong, told before any world is looked at, from the catalogue of cards.

Cards report less than they are sold as: a need for the number on the box leaves out the very card that was
meant. "More than" leaves out the card that has exactly that much. And a decimal suffix is less than it looks.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from allotment.devices.catalogue import Card, cards
from allotment.needs.memory import in_words
from allotment.platform.need import MemoryRange
from allotment.quantities import GI, MI, format_gi

_DECIMAL = 10**9
_ROOM = GI // 2  # a need this much below what is sold is no mistake for it


def sold_but_not_reported(memory: MemoryRange) -> tuple[Card, ...]:
    """The cards that are sold with as much as is needed and report less, those that report most first."""
    asked = _asked(memory)
    meant = [card for card in cards() if asked is not None and _sounds_like(card, asked)]
    return tuple(sorted(meant, key=lambda card: -(card.memory or 0)))


def memory_warnings(memory: MemoryRange | None) -> Iterator[tuple[str, str]]:
    """What somebody who wrote this may not have meant, as message and hint."""
    if memory is None:
        return
    if missed := sold_but_not_reported(memory):
        sizes = [
            f"{' and '.join(card.id for card in alike)} {format_gi(size)} ({size // MI}Mi)"
            for size, alike in groupby(missed, key=lambda card: card.memory or 0)
        ]
        least = format_gi(missed[-1].memory or 0)
        asked, sold = in_words(_asked(memory) or 0), missed[0].sold_gb.value
        yield (
            f"{asked} leaves out cards that are sold with {sold} GB and report less: {', '.join(sizes)}",
            f"write `memory: {least}` if {'they' if len(missed) > 1 else 'it'} will do",
        )
    exact = [card.id for card in cards() if card.memory is not None and card.memory == memory.more_than]
    if exact:
        size = in_words(memory.more_than or 0)
        yield (
            f"more than {size} leaves out {' and '.join(exact)}, with exactly {size}",
            f"write `memory: {size}` for at least that much",
        )
    for amount in (memory.at_least, memory.more_than, memory.at_most):
        if amount and amount % _DECIMAL == 0 and amount % MI:
            decimal = amount // _DECIMAL
            yield (
                f"`{decimal}G` is decimal: {format_gi(amount)}",
                f"write {decimal}Gi if that is meant, or {format_gi(amount)} to say it plainly",
            )


def _sounds_like(card: Card, asked: int) -> bool:
    """Whether the need is the number that the card is sold by, or between that and what it reports."""
    if card.memory is None or card.form == "vGPU guest":
        return False
    sold = card.sold_gb.value * GI
    return card.memory < asked <= sold and sold - asked < _ROOM


def _asked(memory: MemoryRange) -> int | None:
    return memory.at_least if memory.at_least is not None else memory.more_than
