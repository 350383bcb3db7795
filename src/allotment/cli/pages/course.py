"""One simulated course as pictures: its cards over time, and who has how many of them."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from allotment.cli.pages.colours import ALL_OF_A_TEAM, NOBODY, Colours
from allotment.cli.pages.counted_cards import CountedCards
from allotment.pictures.chart import Chart
from allotment.pictures.lanes import Bar, Row
from allotment.pictures.markup import Markup
from allotment.pictures.over_time import QueueOverTime, Reclaimed, SharesOverTime, Steps
from allotment.pictures.page import figure
from allotment.pictures.shares import queue_charts, stack
from allotment.pictures.spans import span_words
from allotment.pictures.ticks import Extent
from allotment.pictures.timeline import Mark, Timeline, timeline
from allotment.simulation.metrics import Metrics
from allotment.simulation.outcome import End, Outcome, Span
from allotment.simulation.over_time import OverTime, summed
from allotment.simulation.setting import TeamShare

MARGIN: Final = 1.03
MOST_QUEUES: Final = 12
MOST_WORKS: Final = 24
"""With more works than these, those that are not planned are shown by their teams."""
_ENDS: Final[Mapping[End, str]] = {
    End.COMPLETE: "complete",
    End.FAILED: "failed",
    End.RECLAIMED: "taken back",
    End.NODE_LOST: "its node was lost",
    End.SHRUNK: "given back: its window shrank",
    End.RUNNING: "still runs",
}


@dataclass(frozen=True, slots=True)
class Planned:
    """What a course is shown for: its works in the order of their colours, with words, and moments.

    ``colours`` are those of the page, where there are other pictures on it.
    """

    works: Sequence[tuple[str, str]] = ()
    marks: Sequence[Mark] = ()
    colours: Colours | None = None


def extent_of(outcome: Outcome, ends: Iterable[float | None] = (), clock: datetime | None = None) -> Extent:
    """The time in which anything happens: a little longer than the last end, not beyond the horizon."""
    lasts = [span.ended for span in outcome.spans if span.end is not End.RUNNING]
    lasts += [at for at in ends if at is not None]
    last = max(lasts, default=0.0) * MARGIN
    return Extent(0.0, min(outcome.until, last) if last > 0 else outcome.until, clock)


def cards(
    outcome: Outcome, extent: Extent, name: str, title: str, planned: Planned | None = None
) -> tuple[Chart, str]:
    """The timeline of the cards on which anything ran, and a sentence about the others."""
    shown = planned or Planned()
    by_team = len({span.work for span in outcome.spans}) > MOST_WORKS
    own = {work for work, _ in shown.works}
    counted = CountedCards()
    rows: dict[str, Row] = {}
    bars: list[Bar] = []
    for span in sorted(outcome.spans, key=lambda span: span.bound):
        if span.gpus <= 0 or span.bound >= extent.since + extent.length:
            continue
        for row in _rows(span, counted):
            rows.setdefault(row.key, row)
            of = f"{ALL_OF_A_TEAM}{span.team or NOBODY}" if by_team and span.work not in own else span.work
            bars.append(_bar(span, of, row, extent))
    ordered = sorted(rows.values(), key=lambda row: (row.group, _by_number(row.label), row.key))
    paints = shown.colours.on_cards if shown.colours is not None else {}
    value = Timeline(
        title, tuple(ordered), tuple(bars), extent, tuple(shown.works), tuple(shown.marks), paints
    )
    chart = timeline(value, name)
    return chart, _idle(outcome, ordered)


def _rows(span: Span, counted: CountedCards) -> Iterable[Row]:
    """The cards of a run; where they are only counted, as many as it has of those that are free."""
    if not span.devices:
        for place in counted.places(span):
            yield Row(f"{span.node}/#{place:04}", "", span.node, span.card)
    for device in span.devices:
        yield Row(f"{span.node}/{device}", device.rpartition("/")[2], span.node, span.card)


def _by_number(label: str) -> tuple[str, int]:
    """Names with a number at their end in the order of the numbers."""
    bare = label.rstrip("0123456789")
    return bare, int(label[len(bare) :][:9] or 0)


def _bar(span: Span, of: str, row: Row, extent: Extent) -> Bar:
    pages = f"{span.pages:,} pages" if span.pages else ""
    taken = f" for {span.by}" if span.by else ""
    lost = f", {span_words(span.lost)} to do again" if span.lost else ""
    words = ", ".join(part for part in (f"{_ENDS[span.end]}{taken}{lost}", pages) if part)
    return Bar(
        row.key,
        of,
        span.bound,
        min(span.ended, extent.since + extent.length),
        span.ready,
        span.end is End.RECLAIMED,
        label=f"{span.work} {span.index}",
        short=str(span.index),
        said=words,
        weight=span.gpus / (len(span.devices) or math.ceil(span.gpus)),
    )


def _idle(outcome: Outcome, rows: Sequence[Row]) -> str:
    """How many cards there are beside those that are drawn."""
    idle = sum(count for _, count in outcome.gpus) - len(rows)
    if idle <= 0 or any(0 < span.gpus < 1 for span in outcome.spans):
        return ""
    return (
        f"{idle:,} more cards are left out, on which nothing runs." if idle > 1 else "One more card is idle."
    )


def shares_of(
    outcome: Outcome, extent: Extent, teams: Mapping[str, TeamShare], figures: Metrics | None = None
) -> SharesOverTime:
    """How many GPUs each team has over time, and with figures what it deserves and asks for."""
    given = defaultdict[str, list[tuple[float, float]]](list)
    for span in outcome.spans:
        if span.gpus > 0:
            given[span.team] += [(span.bound, span.gpus), (span.ended, -span.gpus)]
    names = [team for team in teams if team in given or (figures and team in figures.asked)]
    names += sorted(set(given) - set(names))
    queues = tuple(
        QueueOverTime(
            team or NOBODY,
            quota=teams[team].quota if team in teams else None,
            limit=teams[team].limit if team in teams else None,
            weight=teams[team].weight if team in teams else None,
            fair=_steps(figures.deserved, team) if figures else (),
            allocated=summed(given[team]).points,
            asked=_steps(figures.asked, team) if figures else (),
        )
        for team in names
    )
    teams_of = {span.work: span.team for span in outcome.spans}
    return SharesOverTime(
        outcome.scheduler,
        queues,
        extent.until,
        total=float(sum(count for _, count in outcome.gpus)) or None,
        reclaims=tuple(_reclaims(outcome.spans, teams_of)),
        clock=extent.clock,
    )


def _steps(series: Mapping[str, OverTime], team: str) -> Steps:
    return series[team].points if team in series else ()


def _reclaims(spans: Sequence[Span], teams: Mapping[str, str]) -> Iterable[Reclaimed]:
    """What was taken back, that of one moment for one work together."""
    found: dict[tuple[float, str, str, str], float] = {}
    for span in spans:
        if span.end is End.RECLAIMED:
            key = (span.ended, span.team or NOBODY, span.work, span.by)
            found[key] = found.get(key, 0.0) + span.gpus
    for (at, team, work, by), amount in found.items():
        who = f"{teams[by]}'s {by}" if teams.get(by) else by
        yield Reclaimed(at, team, who, amount, f"{work} loses {counted_gpus(amount)}")


def counted_gpus(amount: float) -> str:
    """``1 GPU``, ``2 GPUs``, ``0.5 GPUs``."""
    return f"{amount:g} GPU" if amount == 1 else f"{amount:g} GPUs"


def share_parts(value: SharesOverTime, name: str, colours: Colours | None = None) -> tuple[Markup, ...]:
    """The pictures of shares: all together, then a queue after the other."""
    paints = colours.teams if colours is not None else None
    charts = queue_charts(value, name, paints)[:MOST_QUEUES]
    all_of_them = stack(value, f"{name}-all", paints)
    together = (figure(all_of_them, "All of them"),) if len(value.queues) > 1 else ()
    return (*together, *(figure(chart, queue_words(queue, value.unit)) for queue, chart in charts))


def queue_words(queue: QueueOverTime, unit: str) -> str:
    """A queue by its name and its share."""
    parts = [
        f"{word} {amount:g} {unit}"
        for word, amount in (("quota", queue.quota), ("limit", queue.limit))
        if amount is not None
    ]
    return f"{queue.name} · {', '.join(parts)}" if parts else queue.name
