"""What pages say of intervals: the half of the draws, and what nine tenths keep to."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from allotment.pictures.chart import Table
from allotment.pictures.counts import counted
from allotment.pictures.markup import Markup
from allotment.pictures.page import items, numbers
from allotment.pictures.ticks import amount_words
from allotment.planning.scenes.values import Assumption
from allotment.simulation.quantiles import Spread

BEYOND = "not within the horizon"
Words = Callable[[float], str]
MARGIN, BEYOND_MARGIN = 1.04, 1.25


def half(spread: Spread, words: Words) -> str:
    """The half of the draws."""
    return BEYOND if spread.p50 is None else words(spread.p50)


def tenths(spread: Spread, words: Words) -> str:
    """Nine tenths of the draws, in a few words for under a figure."""
    if spread.p90 is None:
        return f"p90 {BEYOND}" if spread.p50 is not None else ""
    return f"p90 {words(spread.p90)}" if spread.p90 != spread.p50 or spread.p10 != spread.p50 else ""


def interval(spread: Spread, words: Words) -> str:
    """``4 h (p90 5 h)``; one figure where the draws do not differ."""
    after = tenths(spread, words)
    return half(spread, words) + (f" ({after})" if after else "")


def money(currency: str) -> Words:
    """Amounts of a currency."""
    return lambda value: f"{value:,.0f} {currency}" if value >= 100 else f"{value:,.2f} {currency}"


def hours(value: float) -> str:
    """GPU-hours, where the unit stands beside."""
    return amount_words(round(value, 1) if value >= 1 else round(value, 2))


def whole(value: float) -> str:
    """A number of things."""
    return f"{value:,.0f}"


def shown_until(spreads: Iterable[Spread], until: float) -> float:
    """How far a scale of intervals goes: what is not known lies beyond it, and does not make it longer."""
    listed = list(spreads)
    known = [at for each in listed for at in (each.p10, each.p50, each.p90) if at is not None]
    beyond = any(each.p90 is None for each in listed)
    last = max(known, default=0.0) * (BEYOND_MARGIN if beyond else MARGIN)
    return min(until, last) if last > 0 else until or 1.0


def assumptions(listed: tuple[Assumption, ...]) -> Markup:
    """What is taken for granted, as a table that opens on demand."""
    if not listed:
        return Markup()
    rows = tuple(
        (
            each.subject,
            each.value,
            f"{each.source}" + (f", {each.maturity}" if each.maturity else ""),
            ". ".join(part for part in (each.said, each.remedy) if part),
        )
        for each in listed
    )
    table = Table(("about", "taken for it", "from", ""), rows)
    return numbers(table, f"{counted(len(listed), 'assumption')}")


def sentence(text: str) -> str:
    """A text that others may have written, with a full stop."""
    return text if text.endswith((".", "!", "?")) else f"{text}."


def notes(lines: tuple[str, ...]) -> Markup:
    """Sentences to know, each once."""
    return items(tuple(dict.fromkeys(lines)))
