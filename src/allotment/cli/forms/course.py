"""A simulated course in a few lines of text: what each card does when, how much is in use, how many wait.

A card is a row of signs, a letter for each work; where there are more cards than rows, a row is a node and
shows how many of its cards are in use.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from string import ascii_lowercase
from typing import Final

from allotment.cli.pictures import WIDEST, interval, levels, sparkline, track
from allotment.cli.words import span
from allotment.pictures.counts import counted
from allotment.simulation.outcome import End, Outcome, Span
from allotment.simulation.quantiles import Spread

MOST_ROWS: Final = 12
MOST_KEYS: Final = 6
OTHERS: Final = "*"
TAKEN: Final = "!"


def course_lines(outcome: Outcome, works: Sequence[str], width: int = WIDEST) -> Iterator[str]:
    """The cards over time, and how many pods wait; ``works`` have the first letters."""
    spans = [each for each in outcome.spans if each.gpus > 0]
    until = last_of(outcome)
    if not spans or until <= 0:
        return
    rows = _by_card(spans)
    about = f"cards over time, 0 to {span(until)}, in the draw in the middle"
    if len(rows) <= MOST_ROWS:
        yield about
        signs = _signs(spans, works)
        yield from _tracks(rows, signs, until, width)
        yield f"  {_keys(signs, spans)}"
    else:
        yield f"{about}; a row is a node, as high as its cards in use"
        yield from _nodes(spans, until, width)
    waiting = levels(_waits(outcome), until, width)
    if any(waiting):
        most = counted(round(max(waiting)) or 1, "pod")
        yield f"  waiting  {sparkline(waiting, width)}  {most} at most"


def when_line(start: Spread, end: Spread, until: float, width: int = WIDEST) -> str:
    """The intervals of a start and an end on one line, over the time that is shown."""
    first, last = (interval(each.p10, each.p50, each.p90, until, width) for each in (start, end))
    return "".join(
        after if after != " " else before for before, after in zip_longest(first, last, fillvalue=" ")
    )


def use_line(outcome: Outcome, until: float, width: int = WIDEST) -> str:
    """How many cards are in use over time, as heights of all there are."""
    most = float(sum(count for _, count in outcome.gpus))
    values = levels(_changes(outcome.spans), until, width)
    return sparkline(values, width, max(most, *values) if values else most)


def last_of(outcome: Outcome) -> float:
    """When the last of what ends was over; the horizon where all of it goes on."""
    lasts = [each.ended for each in outcome.spans if each.end is not End.RUNNING]
    return min(outcome.until, max(lasts)) if lasts else outcome.until


def _by_card(spans: Sequence[Span]) -> dict[tuple[str, str], list[Span]]:
    rows = defaultdict[tuple[str, str], list[Span]](list)
    for each in spans:
        for device in each.devices or ("",):
            rows[each.node, device.rpartition("/")[2]].append(each)
    return dict(sorted(rows.items()))


def _signs(spans: Sequence[Span], works: Sequence[str]) -> dict[str, str]:
    """A letter for each work; those that are not named have the rest, by how long they run."""
    lengths: dict[str, float] = {}
    for each in spans:
        lengths[each.work] = lengths.get(each.work, 0.0) + each.ended - each.bound
    others = sorted((work for work in lengths if work not in works), key=lambda work: (-lengths[work], work))
    present = [work for work in dict.fromkeys(works) if work in lengths]
    ordered = [*present, *others]
    return {
        work: ascii_lowercase[place] if place < MOST_KEYS else OTHERS for place, work in enumerate(ordered)
    }


def _tracks(
    rows: Mapping[tuple[str, str], Sequence[Span]], signs: Mapping[str, str], until: float, width: int
) -> Iterator[str]:
    names = [" ".join(part for part in key if part) for key in rows]
    widest = max(map(len, names))
    for name, spans in zip(names, rows.values(), strict=True):
        stretches = [(each.bound, each.ended, signs[each.work]) for each in spans]
        line = list(track(stretches, until, width))
        for each in spans:
            if each.end is End.RECLAIMED:
                line[min(width - 1, int(each.ended / until * width))] = TAKEN
        yield f"  {name:<{widest}}  {''.join(line)}"


def _keys(signs: Mapping[str, str], spans: Sequence[Span]) -> str:
    keys = [f"{sign} {work}" for work, sign in signs.items() if sign != OTHERS]
    others = sum(sign == OTHERS for sign in signs.values())
    keys += [f"{OTHERS} {others} others"] if others else []
    keys += [f"{TAKEN} taken back"] if any(each.end is End.RECLAIMED for each in spans) else []
    return ", ".join(keys)


def _nodes(spans: Sequence[Span], until: float, width: int) -> Iterator[str]:
    nodes = defaultdict[str, list[Span]](list)
    for each in spans:
        nodes[each.node].append(each)
    listed = sorted(nodes.items())[:MOST_ROWS]
    widest = max(len(name) for name, _ in listed)
    for name, own in listed:
        values = levels(_changes(own), until, width)
        most = len({device for each in own for device in each.devices}) or max(values)
        yield f"  {name:<{widest}}  {sparkline(values, width, max(most, *values))}"
    if len(nodes) > MOST_ROWS:
        yield f"  … and {counted(len(nodes) - MOST_ROWS, 'more node')}"


def _changes(spans: Sequence[Span]) -> Iterator[tuple[float, float]]:
    for each in spans:
        if each.gpus > 0:
            yield each.bound, each.gpus
            yield each.ended, -each.gpus


def _waits(outcome: Outcome) -> Iterator[tuple[float, float]]:
    for each in outcome.waits:
        yield each.since, float(each.pods)
        yield each.until, -float(each.pods)
