"""What runs where, as plain numbers, made few enough to draw: bars side by side, runs as one, nodes as one.

A card that several pods share has a lane for each at a time. Bars that would be thinner than anybody can see
go together with their neighbours of the same work, and the more of them there are, the coarser that is. Where
there are too many cards for a row each, a row is a node, or a kind of card, and shows how much of it each
work has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from allotment.pictures.ticks import Extent

MOST_ROWS: Final = 96
MOST_BARS: Final = 2_500
THINNEST: Final = 1 / 700
BINS: Final = 240


@dataclass(frozen=True, slots=True)
class Row:
    """A card: its node is the ``group``, ``kind`` what sort of card it is."""

    key: str
    label: str
    group: str = ""
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Bar:
    """One run on a row: of the work ``work``, busy with pages from ``ready`` on.

    ``struck`` ended early because somebody took the card back. ``weight`` is how much of the card it has.
    ``short`` is what stands on it where there is room, ``said`` a sentence about it, ``runs`` how many runs
    were drawn as one.
    """

    row: str
    work: str
    start: float
    end: float
    ready: float = 0.0
    struck: bool = False
    label: str = ""
    short: str = ""
    said: str = ""
    weight: float = 1.0
    runs: int = 1


@dataclass(frozen=True, slots=True)
class Drawn:
    """A row as it is drawn: in each of its lanes bars that do not touch."""

    row: Row
    lanes: tuple[tuple[Bar, ...], ...]


@dataclass(frozen=True, slots=True)
class Folded:
    """Several cards as one row: of ``size`` cards, how many each paint has on average in each bin of time."""

    label: str
    size: float
    layers: tuple[tuple[int, tuple[float, ...]], ...]


def drawn_rows(rows: Sequence[Row], bars: Sequence[Bar], extent: Extent) -> tuple[Drawn, ...]:
    """A row for every card, with few enough bars to look at."""
    known = {row.key for row in rows}
    shown = [bar for bar in bars if bar.row in known and bar.end >= bar.start]
    by_row: dict[str, list[Bar]] = {row.key: [] for row in rows}
    for bar in sorted(shown, key=lambda bar: (bar.start, bar.end, bar.work, bar.label)):
        by_row[bar.row].append(bar)
    laid = {key: _in_lanes(found) for key, found in by_row.items()}
    least = THINNEST
    while True:
        merged = {key: tuple(_merged(lane, extent, least) for lane in lanes) for key, lanes in laid.items()}
        if least > 1 or sum(len(lane) for lanes in merged.values() for lane in lanes) <= MOST_BARS:
            return tuple(Drawn(row, merged[row.key]) for row in rows)
        least *= 2


def _in_lanes(bars: Iterable[Bar]) -> list[list[Bar]]:
    """Bars in as few lanes as they need, each in the first that is free."""
    lanes: list[list[Bar]] = []
    for bar in bars:
        free = next((lane for lane in lanes if lane[-1].end <= bar.start), None)
        if free is None:
            lanes.append([bar])
        else:
            free.append(bar)
    return lanes


def _merged(lane: Sequence[Bar], extent: Extent, least: float) -> tuple[Bar, ...]:
    """The lane with bars that are too thin joined to the neighbour before them."""
    done: list[Bar] = []
    thin = least * extent.length
    for bar in lane:
        last = done[-1] if done else None
        if last and last.work == bar.work and _near(last, bar, thin):
            runs = last.runs + bar.runs
            done[-1] = replace(
                last, end=bar.end, struck=bar.struck, runs=runs, ready=last.start, label="", short=""
            )
        elif not last or bar.end - bar.start >= thin / 8 or bar.start - last.end >= thin or least <= THINNEST:
            done.append(bar)
    return tuple(done)


def _near(last: Bar, bar: Bar, thin: float) -> bool:
    return bar.start - last.end < thin and min(bar.end - bar.start, last.end - last.start) < thin


def folded_rows(
    rows: Sequence[Row], bars: Sequence[Bar], extent: Extent, paint_of: Callable[[str], int]
) -> tuple[Folded, ...]:
    """A row for every node, or where these too are too many for every kind of card."""
    groups = {row.group for row in rows}
    is_by_kind = len(groups) > MOST_ROWS
    chosen = {row.key: (row.kind or "all cards") if is_by_kind else row.group for row in rows}
    sizes: dict[str, float] = {}
    layers: dict[str, dict[int, list[Bar]]] = {}
    for row in rows:
        sizes[chosen[row.key]] = sizes.get(chosen[row.key], 0) + 1
    for bar in bars:
        if bar.row in chosen:
            layers.setdefault(chosen[bar.row], {}).setdefault(paint_of(bar.work), []).append(bar)
    return tuple(
        Folded(
            label,
            size,
            tuple((paint, _busy(own, extent)) for paint, own in sorted(layers.get(label, {}).items())),
        )
        for label, size in sizes.items()
    )


def _busy(bars: Iterable[Bar], extent: Extent) -> tuple[float, ...]:
    """How many cards the bars have on average in each bin."""
    ends = [0.0] * (BINS + 1)
    slopes = [0.0] * (BINS + 2)
    for bar in bars:
        for at, sign in ((bar.start, bar.weight), (bar.end, -bar.weight)):
            place = extent.share(at) * BINS
            whole = min(BINS, int(place))
            ends[whole] += sign * (1 - (place - whole))
            slopes[whole + 1] += sign
    level, busy = 0.0, []
    for place in range(BINS):
        level += slopes[place]
        busy.append(round(max(0.0, level + ends[place]), 4))
    return tuple(busy)
