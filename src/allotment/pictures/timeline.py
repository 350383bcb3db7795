"""The timeline of cards: a row for each, under its node, and on it what runs there, from when until when.

What a run does before its first page (its start, its model) is paler; a run that lost its card to somebody
else ends in a mark. Works have a colour and a pattern each, the rest share one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Final

from allotment.pictures.chart import AXIS, Chart, Table, drawing, swatch, time_axis
from allotment.pictures.counts import counted
from allotment.pictures.folded import Body, draw_folded
from allotment.pictures.lanes import MOST_ROWS, Bar, Drawn, Row, drawn_rows
from allotment.pictures.markup import Markup, element, joined, number, percent
from allotment.pictures.palette import MANY, REST, Paints, fill, patterns
from allotment.pictures.ticks import Extent, when_words

ROW, GAP, HEAD, NARROWEST_LANE = 15.0, 3.0, 22.0, 5.0
NARROWEST = 0.0008
LETTER, PADDING = 0.0072, 0.01
"""How much of a wide page's width a letter takes, and the room around a word."""
MOST_LETTERS: Final = 9
MOST_TOLD: Final = 1_000
MOST_TABLE: Final = 200


@dataclass(frozen=True, slots=True)
class Mark:
    """A moment that is marked over the whole height, and its words."""

    at: float
    label: str


@dataclass(frozen=True, slots=True)
class Place:
    """Where a row or a lane of it stands, and whether its bars say what they are."""

    y: float
    height: float
    told: bool


@dataclass(frozen=True, slots=True)
class Timeline:
    """The rows in the order in which they stand, the bars, and the works in the order of their colours.

    ``paints`` are the colours that things have on the page already; without any they are given out here.
    """

    title: str
    rows: tuple[Row, ...]
    bars: tuple[Bar, ...]
    extent: Extent
    works: tuple[tuple[str, str], ...] = ()
    marks: tuple[Mark, ...] = ()
    paints: Mapping[str, int] = field(default_factory=dict, hash=False)


def timeline(value: Timeline, name: str) -> Chart:
    """The picture; ``name`` is its own on the page."""
    paints = _paints(value, name)
    if len(value.rows) <= MOST_ROWS:
        parts, heads, height, noted = _rows(value, paints)
    else:
        parts, heads, height, noted = draw_folded(value.rows, value.bars, value.extent, paints)
    top = HEAD if value.marks else 4.0
    body, over = (
        element("svg", *each, class_="rows", y=top, width="100%", height=number(max(1.0, height)))
        for each in (parts, heads)
    )
    bottom = top + height
    used = {paints.of(bar.work) for bar in value.bars}
    svg = drawing(
        name,
        value.title,
        _about(value),
        bottom + AXIS,
        patterns(name, used),
        time_axis(value.extent, top, bottom),
        body,
        *(_mark(mark, value.extent, bottom) for mark in value.marks),
        over,
    )
    is_rowed = len(value.rows) <= MOST_ROWS
    return Chart(svg, _legend(value, paints), _table(value), noted, is_rowed, bottom + AXIS)


def _paints(value: Timeline, name: str) -> Paints:
    """The colour of each work; of those that are not named, the ones that run longest come first."""
    if value.paints:
        return Paints(name, value.paints)
    named = [work for work, _ in value.works]
    lengths: dict[str, float] = {}
    for bar in value.bars:
        lengths[bar.work] = lengths.get(bar.work, 0.0) + bar.end - bar.start
    others = sorted((work for work in lengths if work not in set(named)), key=lambda w: (-lengths[w], w))
    return Paints(name, {work: place for place, work in enumerate([*named, *others])})


def _rows(value: Timeline, paints: Paints) -> Body:
    parts: list[Markup] = []
    heads: list[Markup] = []
    y = 0.0
    drawn = drawn_rows(value.rows, value.bars, value.extent)
    bars = [bar for each in drawn for lane in each.lanes for bar in lane]
    for group, rows in groupby(drawn, key=lambda each: each.row.group):
        listed = list(rows)
        if group:
            heads.append(element("text", _head(group, listed), class_="head", x=0, y=y + 15))
            y += HEAD
        for each in listed:
            height = max(ROW, NARROWEST_LANE * len(each.lanes))
            parts.append(_row(each, value.extent, paints, Place(y, height, told=len(bars) <= MOST_TOLD)))
            y += height + GAP
    notes = ("Short runs next to each other are drawn as one.",) if any(bar.runs > 1 for bar in bars) else ()
    return parts, heads, y, notes


def _head(group: str, rows: Sequence[Drawn]) -> str:
    kinds: dict[str, int] = {}
    for each in rows:
        if each.row.kind:
            kinds[each.row.kind] = kinds.get(each.row.kind, 0) + 1
    words = ", ".join(f"{count} × {kind}" for kind, count in kinds.items())
    return f"{group} · {words}" if words else group


def _row(each: Drawn, extent: Extent, paints: Paints, place: Place) -> Markup:
    track = element("rect", class_="track", y=place.y, width="100%", height=place.height)
    middle = place.y + place.height / 2 + 4
    label = element(
        "text",
        element("title", each.row.label),
        _short(each.row.label),
        class_="row end",
        x=-6,
        y=middle,
    )
    size = place.height / max(1, len(each.lanes))
    bars = [
        _bar(bar, extent, paints, Place(place.y + number * size, size, told=place.told))
        for number, lane in enumerate(each.lanes)
        for bar in lane
    ]
    return joined((track, label, *bars))


def _bar(bar: Bar, extent: Extent, paints: Paints, place: Place) -> Markup:
    begin, end = extent.share(bar.start), extent.share(bar.end)
    width = max(end - begin, NARROWEST)
    inner: list[Markup] = [element("title", _told(bar, extent))] if place.told else []
    inner.append(element("rect", fill=paints.fill(bar.work), width="100%", height="100%"))
    if bar.start < bar.ready and bar.start < bar.end:
        part = min(1.0, (bar.ready - bar.start) / (bar.end - bar.start))
        if part * width > NARROWEST:
            inner.append(element("rect", class_="veil", width=percent(part), height="100%"))
    kind = "struck" if bar.struck else "cut"
    inner.append(element("line", class_=kind, x1="100%", x2="100%", y2="100%"))
    if bar.short and place.height >= ROW and width >= PADDING + LETTER * len(bar.short):
        inner.append(element("text", bar.short, class_="name", x=5, y=place.height / 2 + 4))
    height = place.height if place.height >= ROW else max(1.0, place.height - 1)
    return element("svg", *inner, x=percent(begin), y=place.y, width=percent(width), height=height)


def _short(label: str) -> str:
    """As much of a name as there is room for, its end rather than its middle."""
    return label if len(label) <= MOST_LETTERS else f"{label[:2]}…{label[3 - MOST_LETTERS :]}"


def _told(bar: Bar, extent: Extent) -> str:
    many = f"{bar.runs} runs of {bar.work}" if bar.runs > 1 else bar.label or bar.work
    times = f"{when_words(bar.start, extent)} to {when_words(bar.end, extent)}"
    return "\n".join(part for part in (many, times, bar.said if bar.runs == 1 else "") if part)


def _mark(mark: Mark, extent: Extent, bottom: float) -> Markup:
    share = extent.share(mark.at)
    x = percent(share)
    anchor = "start" if share < 0.15 else "end" if share > 0.85 else "middle"
    line = element("line", class_="mark", x1=x, x2=x, y1=16, y2=bottom)
    return joined((line, element("text", mark.label, class_=f"tick {anchor} strong", x=x, y=11)))


def _legend(value: Timeline, paints: Paints) -> tuple[tuple[Markup, str], ...]:
    words = dict(value.works)
    present = {bar.work for bar in value.bars}
    own = [work for work, place in paints.places.items() if place < MANY and work in present]
    keys = [(swatch(_filled(paints.fill(work))), words.get(work) or work) for work in own]
    others = len(present) - len(own)
    if others:
        keys.append((swatch(_filled(fill(paints.name, REST))), f"{others:,} others"))
    if any(bar.ready > bar.start for bar in value.bars):
        veil = element("rect", class_="veil", width=11, height=12)
        first = paints.fill(own[0]) if own else fill(paints.name, REST)
        keys.append((swatch(_filled(first), veil), "paler: starts, loads its model"))
    if any(bar.struck for bar in value.bars):
        keys.append((swatch(element("line", class_="struck", x1=9, x2=9, y2=12)), "card taken back"))
    return tuple(keys)


def _filled(paint: str) -> Markup:
    return element("rect", fill=paint, width=18, height=12)


def _about(value: Timeline) -> str:
    if not value.bars:
        return f"{counted(len(value.rows), 'card')}, on which nothing runs."
    works = len({bar.work for bar in value.bars})
    runs = {(bar.work, bar.label, bar.start): bar.struck for bar in value.bars}
    struck = sum(runs.values())
    lost = f" {struck} of them lost their card to others." if struck else ""
    where = f"of {counted(works, 'work')} on {counted(len(value.rows), 'card')}"
    return f"{counted(len(runs), 'run')} {where}.{lost} The numbers follow."


def _table(value: Timeline) -> Table | None:
    if not value.bars:
        return None
    bars = sorted(value.bars, key=lambda bar: (bar.start, bar.end, bar.row, bar.work, bar.label))
    labels = {row.key: f"{row.group}/{row.label}" if row.group else row.label for row in value.rows}
    rows = tuple(
        (
            bar.label or bar.work,
            labels.get(bar.row, bar.row),
            when_words(bar.start, value.extent),
            when_words(bar.end, value.extent),
            bar.said,
        )
        for bar in bars[:MOST_TABLE]
    )
    return Table(("run", "card", "from", "to", ""), rows, frozenset({2, 3}), max(0, len(bars) - MOST_TABLE))
