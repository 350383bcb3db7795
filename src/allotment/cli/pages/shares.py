"""Who had the cards, as a page: queues that share one machine, or a cluster, over time."""

from __future__ import annotations

from allotment.cli.pages.course import share_parts
from allotment.pictures.chart import Table
from allotment.pictures.counts import counted
from allotment.pictures.over_time import SharesOverTime, Steps
from allotment.pictures.page import KeyFigure, Page, Section, items, page, shown
from allotment.pictures.spans import span_words
from allotment.pictures.ticks import Extent, amount_words, when_words


def shares_page(shares: SharesOverTime, title: str = "") -> str:
    """The file's text."""
    extent = shares.extent
    rows = tuple(
        (
            queue.name,
            "–" if queue.quota is None else amount_words(queue.quota),
            "–" if queue.limit is None else amount_words(queue.limit),
            amount_words(_mean(queue.allocated, extent)),
            amount_words(max((each for _, each in queue.allocated), default=0.0)),
            amount_words(sum(each.amount for each in shares.reclaims if each.queue == queue.name)),
        )
        for queue in shares.queues
    )
    titles = ("queue", "quota", "limit", "in the mean", "at most", "taken back")
    sections = [
        Section(
            "Deserved, fair and allocated",
            share_parts(shares, "share"),
            f"In {shares.unit}. Deserved is what a quota guarantees; fair is what a queue gets when what is "
            "idle is shared out; what is over it may be taken back.",
            is_long=True,
        ),
        Section("In numbers", (shown(Table(titles, rows, frozenset(range(1, 6)))),), f"In {shares.unit}."),
    ]
    if shares.reclaims:
        sections.append(Section("Taken back", (shown(_taken(shares, extent)),), is_long=True))
    if shares.notes:
        sections.append(Section("To know", (items(shares.notes),)))
    value = Page(
        title or f"Shares of {shares.name}",
        "allot queues",
        f"{counted(len(shares.queues), 'queue')}, {span_words(extent.length)}"
        + (f" from {when_words(shares.since, extent)}" if shares.clock else ""),
        figures=tuple(_figures(shares, extent)),
        sections=tuple(sections),
    )
    return page(value)


def _figures(shares: SharesOverTime, extent: Extent) -> list[KeyFigure]:
    mean = sum(_mean(queue.allocated, extent) for queue in shares.queues)
    figures = [KeyFigure("queues", f"{len(shares.queues)}")]
    if shares.total:
        figures.append(KeyFigure(f"{shares.unit} in use", f"{mean / shares.total:.0%}", "in the mean"))
    figures.append(
        KeyFigure("taken back", amount_words(sum(each.amount for each in shares.reclaims)), "in all")
    )
    return figures


def _mean(steps: Steps, extent: Extent) -> float:
    """The mean of steps over the time that is shown."""
    end = extent.since + extent.length
    bounds = [*(at for at, _ in steps[1:]), end]
    total = sum(
        value * max(0.0, min(until, end) - max(at, extent.since))
        for (at, value), until in zip(steps, bounds, strict=False)
    )
    return round(total / extent.length, 2)


def _taken(shares: SharesOverTime, extent: Extent) -> Table:
    rows = tuple(
        (when_words(each.at, extent), each.queue, each.by or "–", amount_words(each.amount), each.said)
        for each in sorted(shares.reclaims, key=lambda each: (each.at, each.queue, each.by))[:200]
    )
    left_out = max(0, len(shares.reclaims) - 200)
    return Table(("at", "from", "for", shares.unit, ""), rows, frozenset({0, 3}), left_out)
