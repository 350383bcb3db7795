"""A played trace as a page: its figures, who waited how long, how much was in use, the cards over time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from allotment.cli.pages.course import MOST_QUEUES, cards, extent_of, share_parts, shares_of
from allotment.cli.pages.words import notes, plain_hours, span
from allotment.cli.words import counted
from allotment.pictures.chart import Chart, Table
from allotment.pictures.markup import Markup
from allotment.pictures.over_time import QueueOverTime, SharesOverTime
from allotment.pictures.page import KeyFigure, Page, Section, figure, page, paragraph, shown
from allotment.pictures.rows import IntervalRow, Intervals, intervals
from allotment.pictures.shares import stack
from allotment.pictures.ticks import Extent, amount_words
from allotment.simulation.metrics import Metrics, Waiting
from allotment.simulation.outcome import Outcome
from allotment.simulation.setting import TeamShare

HOUR = 3600.0
MOST_TEAMS = 24


@dataclass(frozen=True, slots=True)
class Played:
    """One way in which the trace was played: by a scheduler, or with other settings."""

    name: str
    outcome: Outcome
    figures: Metrics
    teams: Mapping[str, TeamShare] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def simulate_page(title: str, about: str, played: Sequence[Played], said: Sequence[str] = ()) -> str:
    """The file's text; ``said`` are sentences about all of it."""
    return page(
        Page(
            title,
            "allot simulate",
            about,
            "",
            tuple(_figures(played)),
            tuple(_sections(played, said)),
            tuple(f"Cards under {each.name}: {_cards(each.outcome)}." for each in played[:1]),
        )
    )


def _figures(played: Sequence[Played]) -> Iterator[KeyFigure]:
    for each in played[:6]:
        last = each.figures.makespan
        unfinished = f"{counted(each.figures.unfinished, 'work')} not over" if each.figures.unfinished else ""
        words = span(last) if last is not None else f"after {span(each.outcome.until)}"
        used = f"{each.figures.use:.0%} of the cards in use"
        detail = ", ".join(part for part in (unfinished, used) if part)
        yield KeyFigure(f"{each.name}: all over after" if last is not None else each.name, words, detail)


def _sections(played: Sequence[Played], said: Sequence[str]) -> Iterator[Section]:
    if not played:
        yield Section("Nothing was played", (notes(tuple(said)),))
        return
    yield Section("All figures", (shown(_table(played)),))
    waits = list(_waits(played))
    if waits:
        last = max((row.high or 0.0 for row in waits), default=0.0) or 1.0
        value = Intervals("Waits by team", tuple(waits), Extent(0.0, last * 1.03))
        lead = "How long works wait for their first pod: half of them, and nine tenths."
        yield Section("Waiting", (figure(intervals(value, "waits")),), lead, is_long=True)
    last = max(extent_of(each.outcome).until for each in played)
    for place, each in enumerate(played):
        yield _course(each, Extent(0.0, last), f"c{place}")
    listed = (*said, *(f"{each.name}: {note}" for each in played for note in each.notes))
    if listed:
        yield Section("What this rests on", (notes(listed),))


def _table(played: Sequence[Played]) -> Table:
    rows = tuple((words, *(told(each) for each in played)) for words, told in _ROWS)
    return Table(("", *(each.name for each in played)), rows, frozenset(range(1, len(played) + 1)))


def _span(seconds: float | None) -> str:
    return "–" if seconds is None else span(seconds)


def _part(part: float | None) -> str:
    return "–" if part is None else f"{part:.1%}"


_ROWS: Final[tuple[tuple[str, Callable[[Played], str]], ...]] = (
    ("works", lambda each: f"{len(each.outcome.ends):,}"),
    ("runs of pods", lambda each: f"{len(each.outcome.spans):,}"),
    ("all that ends is over after", lambda each: _span(each.figures.makespan)),
    ("works that do not end", lambda each: f"{each.figures.unfinished:,}"),
    ("cards in use", lambda each: f"{each.figures.use:.1%}"),
    ("given of what was asked for", lambda each: f"{each.figures.served:.1%}"),
    ("whole nodes free, in the mean", lambda each: amount_words(round(each.figures.free_nodes, 2))),
    ("fairness (Jain, of deserved)", lambda each: _part(each.figures.fairness)),
    ("pods reclaimed", lambda each: f"{each.figures.reclaims:,}"),
    ("GPU-hours spent again", lambda each: plain_hours(each.figures.lost / HOUR)),
    ("GPU-hours", lambda each: plain_hours(each.figures.given / HOUR)),
)


def _waits(played: Sequence[Played]) -> Iterator[IntervalRow]:
    """By team and kind of work, one way of playing under the other."""
    groups: dict[tuple[str, str], list[tuple[int, Played, Waiting]]] = {}
    for place, each in enumerate(played):
        for wait in each.figures.waits:
            groups.setdefault((wait.team, str(wait.kind)), []).append((place, each, wait))
    for (team, kind), found in list(groups.items())[:MOST_TEAMS]:
        for place, each, wait in found:
            never = f", {wait.never:,} never ran" if wait.never else ""
            words = f"{span(wait.p50)} (p90 {span(wait.p90)}, longest {span(wait.most)}{never})"
            who = f"{team}'s {kind}s" if team else f"{kind}s"
            group = f"{who}, {wait.works:,} of them" if wait.works > 1 else who
            yield IntervalRow(each.name, wait.p50, wait.p50, wait.p90, words, place, group)


def _course(each: Played, extent: Extent, name: str) -> Section:
    title = f"What runs on each card under {each.name}"
    chart, idle = cards(each.outcome, extent, f"{name}-cards", title)
    parts: list[Markup] = [figure(_use(each, extent, f"{name}-use"), "Cards in use")]
    if each.outcome.spans:
        parts += [figure(chart, "Cards over time"), paragraph(idle, "soft") if idle else Markup()]
    shares = shares_of(each.outcome, extent, each.teams, each.figures)
    if len(shares.queues) > 1:
        parts += share_parts(shares, f"{name}-share")
    more = len(shares.queues) - MOST_QUEUES
    if more > 0:
        parts.append(paragraph(f"{counted(more, 'more team')} are left out.", "soft"))
    return Section(f"Under {each.name}", tuple(parts), is_long=True)


def _use(each: Played, extent: Extent, name: str) -> Chart:
    """How many cards are in use, of all there are."""
    total = float(sum(count for _, count in each.outcome.gpus)) or None
    queue = QueueOverTime("in use", allocated=each.figures.in_use.points)
    value = SharesOverTime(each.name, (queue,), extent.until, total=total)
    return stack(value, name)


def _cards(outcome: Outcome) -> str:
    return ", ".join(f"{count:,} × {card}" for card, count in outcome.gpus) or "none"
