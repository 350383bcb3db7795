"""Who has the cards over time: for each queue what is deserved, fair, allocated and asked for, on one scale.

The area is what a queue has. Where it is over the line of what it deserves, it uses what others lend; where
the dotted line of what it asks for is over the area, it waits. A mark on the axis is a card taken back.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from allotment.pictures.chart import (
    AXIS,
    Chart,
    Levels,
    Table,
    drawing,
    stretched,
    swatch,
    time_axis,
)
from allotment.pictures.counts import counted, of_unit
from allotment.pictures.curves import area, line, value_at, within
from allotment.pictures.markup import Markup, element, joined, percent
from allotment.pictures.over_time import QueueOverTime, Reclaimed, SharesOverTime, Steps
from allotment.pictures.palette import REST, fill, paint, patterns
from allotment.pictures.ticks import Extent, Tick, amount_words, number_ticks, when_words

HEIGHT, TOP, STACK = 96.0, 26.0, 150.0
MOST_TABLE: Final = 60
LINES: Final = (
    ("deserved", "deserved: its quota"),
    ("fair", "fair: with what others lend"),
    ("asked", "asked for"),
)


@dataclass(frozen=True, slots=True)
class Scale:
    """What the pictures of all queues have in common."""

    extent: Extent
    ticks: tuple[Tick, ...]
    unit: str


def queue_charts(
    value: SharesOverTime, name: str, paints: Mapping[str, int] | None = None
) -> tuple[tuple[QueueOverTime, Chart], ...]:
    """A picture for each queue, all on one scale; ``paints`` are the colours that queues have already."""
    extent = value.extent
    ticks = number_ticks(_highest(value, extent), 4)
    scale = Scale(extent, ticks, value.unit)
    lost = {
        queue.name: [each for each in value.reclaims if each.queue == queue.name] for queue in value.queues
    }
    return tuple(
        (queue, _queue(queue, given, scale, lost[queue.name], f"{name}{place}"))
        for place, (queue, given) in enumerate(zip(value.queues, _paints(value, paints), strict=True))
    )


def _paints(value: SharesOverTime, paints: Mapping[str, int] | None) -> list[int]:
    """The colour of each queue: its own on the page, or its place."""
    if paints is None:
        return list(range(len(value.queues)))
    return [paints.get(queue.name, REST) for queue in value.queues]


def _highest(value: SharesOverTime, extent: Extent) -> float:
    """The top of the scale; what is asked for beyond all there is does not make the rest flat."""
    shown = [0.0]
    for queue in value.queues:
        for series in (_deserved(queue), queue.fair, queue.allocated):
            shown += [each for _, each in within(series, extent)]
    asked = [each for queue in value.queues for _, each in within(queue.asked, extent)]
    most = max(shown)
    ceiling = max(most, value.total or most * 1.5)
    return max(most, min(max(asked, default=0.0), ceiling))


def _deserved(queue: QueueOverTime) -> Steps:
    if queue.deserved or queue.quota is None:
        return queue.deserved
    return ((float("-inf"), queue.quota),)


def _queue(queue: QueueOverTime, place: int, scale: Scale, lost: Sequence[Reclaimed], name: str) -> Chart:
    extent, bottom = scale.extent, TOP + HEIGHT
    levels = Levels(scale.ticks, scale.unit, TOP, HEIGHT)
    highest = levels.highest
    series = {"deserved": _deserved(queue), "fair": queue.fair, "asked": _capped(queue.asked, highest)}
    paths = [
        element("path", class_=f"area f{paint(place)}", d=area((), queue.allocated, extent, highest, HEIGHT)),
        *(
            element("path", class_=kind, d=line(series[kind], extent, highest, HEIGHT))
            for kind, _ in LINES
            if series[kind]
        ),
    ]
    svg = drawing(
        name,
        f"{queue.name}: {scale.unit} over time",
        _about(queue, extent, scale.unit, len(lost)),
        bottom + AXIS,
        time_axis(extent, TOP, bottom),
        levels.lines(),
        stretched(TOP, HEIGHT, *paths),
        levels.numbers(),
        *(_lost(each, extent, bottom) for each in lost),
    )
    keys = [(swatch(element("rect", class_=f"area f{paint(place)}", width=18, height=12)), "allocated")]
    keys += [
        (swatch(element("path", class_=kind, d="M0 6H18")), words) for kind, words in LINES if series[kind]
    ]
    if lost:
        keys.append((swatch(element("path", class_="lost", d="M4 1H14L9 11Z")), "card taken back from it"))
    return Chart(svg, tuple(keys), _table(queue, extent), height=bottom + AXIS)


def _capped(steps: Steps, highest: float) -> Steps:
    return tuple((at, min(each, highest)) for at, each in steps)


def _lost(each: Reclaimed, extent: Extent, bottom: float) -> Markup:
    """A triangle over the picture, at the moment."""
    words = each.said or (f"taken back for {each.by}" if each.by else "taken back")
    place = element(
        "svg", _triangle(words, each, extent), x=percent(extent.share(each.at)), y=2, class_="open"
    )
    x = percent(extent.share(each.at))
    return joined((element("line", class_="lost-line", x1=x, x2=x, y1=10, y2=bottom), place))


def _triangle(words: str, each: Reclaimed, extent: Extent) -> Markup:
    return element(
        "path", element("title", f"{when_words(each.at, extent)}: {words}"), class_="lost", d="M-5 0H5L0 9Z"
    )


def _about(queue: QueueOverTime, extent: Extent, unit: str, lost: int) -> str:
    had = [each for _, each in within(queue.allocated, extent)]
    words = [
        f"{queue.name} has between {amount_words(min(had))} and {of_unit(amount_words(max(had)), unit)}."
    ]
    if queue.quota is not None:
        words.append(f"It deserves {amount_words(queue.quota)}.")
    if queue.limit is not None:
        words.append(f"Its limit is {amount_words(queue.limit)}.")
    if lost:
        words.append(f"Cards are taken back from it {counted(lost, 'time')}.")
    return " ".join(words)


def _table(queue: QueueOverTime, extent: Extent) -> Table:
    series = {
        "allocated": queue.allocated,
        "deserved": _deserved(queue),
        "fair": queue.fair,
        "asked": queue.asked,
    }
    present = {title: within(steps, extent) for title, steps in series.items() if steps}
    moments = sorted({at for steps in present.values() for at, _ in steps})
    rows = tuple(
        (when_words(at, extent), *(amount_words(value_at(steps, at)) for steps in present.values()))
        for at in moments[:MOST_TABLE]
    )
    titles = ("from", *("asked for" if title == "asked" else title for title in present))
    return Table(titles, rows, frozenset(range(len(titles))), max(0, len(moments) - MOST_TABLE))


def stack(value: SharesOverTime, name: str, paints: Mapping[str, int] | None = None) -> Chart:
    """What all queues have, one over the other, against what there is."""
    extent = value.extent
    places = _paints(value, paints)
    layers = list(zip(places, _layers(value.queues, extent), strict=True))
    top = max([value.total or 0.0, *(each for _, steps in layers for _, each in within(steps, extent))])
    levels = Levels(number_ticks(top, 4), value.unit, TOP, STACK)
    highest, bottom = levels.highest, TOP + STACK
    ground: Steps = ()
    paths = []
    for place, steps in layers:
        paths.append(
            element(
                "path", fill=fill(name, place), class_="layer", d=area(ground, steps, extent, highest, STACK)
            )
        )
        ground = steps
    parts = [
        patterns(name, {place for place, _ in layers}),
        time_axis(extent, TOP, bottom),
        levels.lines(),
        stretched(TOP, STACK, *paths),
        levels.numbers(),
    ]
    if value.total is not None:
        y = levels.y(value.total)
        words = f"all {of_unit(amount_words(value.total), value.unit)}"
        parts.append(element("line", class_="bound", x1=0, x2="100%", y1=y, y2=y))
        parts.append(element("text", words, class_="tick end strong", x="100%", y=y - 4))
    about = f"{value.unit} of {len(value.queues)} queues one over the other, from below in the order given."
    keys = tuple(
        (swatch(element("rect", fill=fill(name, place), width=18, height=12)), queue.name)
        for place, queue in zip(places, value.queues, strict=True)
    )
    svg = drawing(name, f"{value.unit} by queue over time", about, bottom + AXIS, *parts)
    return Chart(svg, keys, height=bottom + AXIS)


def _layers(queues: Iterable[QueueOverTime], extent: Extent) -> Iterable[Steps]:
    """The top of each queue's layer: its own and all before it."""
    ground: Steps = ()
    for queue in queues:
        own = within(queue.allocated, extent)
        moments = sorted({at for at, _ in own} | {at for at, _ in ground})
        ground = tuple((at, value_at(own, at) + value_at(ground, at)) for at in moments)
        yield ground
