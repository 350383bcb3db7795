"""What was measured, for people and as JSON: figures, a picture, advice, and what is not known."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, Final

import click

from allotment.cli.pictures import histogram, sparkline
from allotment.cli.shared import safe
from allotment.cli.words import span
from allotment.pictures.counts import counted
from allotment.planning.advice import Advice
from allotment.planning.measure import CardMeasure
from allotment.quantities import format_gi

FORMAT_VERSION: Final = 1


@dataclass(frozen=True, slots=True)
class Told:
    """One pipeline: what was measured of its recipe, with advice, and what else there is of it."""

    pipeline: str
    recipe: str
    measures: tuple[tuple[CardMeasure, tuple[Advice, ...]], ...]
    other_recipes: int = 0
    unread: int = 0


def lines(told: Told) -> Iterator[str]:
    """A pipeline as a person reads it."""
    yield f"{click.style(safe(told.pipeline), bold=True)}: recipe {told.recipe}"
    if told.unread:
        yield f"  {counted(told.unread, 'manifest')} could not be read, and nothing here is of them"
    elif not told.measures:
        yield "  no complete volume yet: `allot run` makes some"
    for measure, advice in told.measures:
        yield from _card(measure, advice)
    if told.other_recipes:
        recipes = "another recipe" if told.other_recipes == 1 else f"{told.other_recipes} other recipes"
        yield f"  results of {recipes} are left out: another recipe uses other memory"


def _card(measure: CardMeasure, advice: tuple[Advice, ...]) -> Iterator[str]:
    seconds = measure.page_seconds
    name = safe(measure.card.name) or "no card"
    yield f"  {click.style(name, bold=True)}: {counted(measure.pages, 'page')}"
    yield (
        f"    page times   {span(measure.seconds[0])} {histogram(measure.seconds)} {span(seconds.max)}"
        f"   half within {span(seconds.p50)}, 95 of 100 within {span(seconds.p95)}"
    )
    if measure.peaks and measure.entry is not None:
        values = [amount for _, amount in measure.peaks]
        yield (
            f"    peak memory  {sparkline(values)} {format_gi(min(values))} to {format_gi(max(values))}"
            f"   a volume each; steadiness {measure.entry.steadiness:.1%}"
        )
    yield f"    device wait  {measure.device_wait:.0%} of the time"
    for sentence in measure.evidence:
        yield f"    measured     {safe(sentence)}"
    for each in advice:
        yield f"    {click.style('advice', fg='green')}       {safe(each.message)}"
        if each.write:
            yield f"                 write  {each.write}"
    for sentence in measure.unknown:
        yield f"    not known    {safe(sentence)}"


def as_json(told: list[Told]) -> dict[str, Any]:
    """Everything, as other programs read it."""
    return {
        "format_version": FORMAT_VERSION,
        "pipelines": [
            {
                "pipeline": each.pipeline,
                "recipe": each.recipe,
                "other_recipes": each.other_recipes,
                "unread": each.unread,
                "cards": [_card_json(measure, advice) for measure, advice in each.measures],
            }
            for each in told
        ],
    }


def _card_json(measure: CardMeasure, advice: tuple[Advice, ...]) -> dict[str, Any]:
    entry = measure.entry
    return {
        "card": measure.card.name,
        "product": measure.card.product,
        "pages": measure.pages,
        "page_seconds": asdict(measure.page_seconds),
        "device_wait": measure.device_wait,
        "peaks": dict(measure.peaks),
        "measured": None if entry is None else asdict(entry),
        "steady": None if entry is None else entry.why_not_steady() is None,
        "evidence": list(measure.evidence),
        "advice": [asdict(each) for each in advice],
        "unknown": list(measure.unknown),
    }
