"""On what a gain rests that the other column does not have: when it would not be there.

Each condition is looked for in what was played, and has the figures of it: how much slower pods that share a
card may be before nothing is left, how much work a pod that is taken back does again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from statistics import fmean
from typing import Final

from allotment.planning.compare.comparison import Cell, Column, Row, Unit
from allotment.planning.compare.rows import FAIRNESS, FREE_NODES, MAKESPAN
from allotment.planning.compare.words import lasting
from allotment.simulation.outcome import End, Span
from allotment.simulation.work import Kind

Gain = tuple[Row, Cell, Cell]
MEMORY: Final = "a model's memory is not known and steady: nothing keeps pods on one card apart"


def not_if(column: Column, against: Column, gains: Sequence[Gain]) -> tuple[str, ...]:
    """When the gains of a column over another would not be there, each as a condition."""
    return (
        *_shared(column, against, gains),
        *_taken(column, against, gains),
        *_whole(column, against, gains),
    )


def _spans(column: Column) -> tuple[Span, ...]:
    return column.course.spans if column.course is not None else ()


def _shared(column: Column, against: Column, gains: Sequence[Gain]) -> Iterator[str]:
    """Parts of cards: steady memory, and pods that do not slow each other down by what is gained."""
    if not any(0 < span.gpus < 1 for span in _spans(column)):
        return
    if any(0 < span.gpus < 1 for span in _spans(against)):
        return
    yield MEMORY
    factor = _factor(gains)
    by = f" more than {factor:.1f} times" if factor else ""
    many = _on_one_card(_spans(column))
    turns = f"; those that keep it busy take turns, and {many} on one take up to {many} times as long"
    yield (
        f"pods that share a card slow each other down{by}: they are taken to be as fast as alone"
        + (turns if many > 1 else "")
    )


def _on_one_card(spans: Sequence[Span]) -> int:
    """How many pods are on one card at most."""
    changes = defaultdict[tuple[str, str], list[tuple[float, int]]](list)
    for span in spans:
        for card in (span.shared or span.devices) if 0 < span.gpus < 1 else ():
            changes[span.node, card] += [(span.bound, 1), (span.ended, -1)]
    many = (accumulate(change for _at, change in sorted(each)) for each in changes.values())
    return max((max(each) for each in many), default=0)


def _factor(gains: Sequence[Gain]) -> float | None:
    """How many times as long the other takes, until all is over or in what is gained most."""
    ends = [each for each in gains if each[0].unit is Unit.SECONDS and not each[0].key.startswith("wait.")]
    ends.sort(key=lambda each: each[0].key != MAKESPAN.key)
    for _, here, there in ends:
        if here.spread.p50 and there.spread.p50:
            return there.spread.p50 / here.spread.p50
    return None


def _taken(column: Column, against: Column, gains: Sequence[Gain]) -> Iterator[str]:
    """What is taken back for those who gain."""
    taken = [span for span in _spans(column) if span.end is End.RECLAIMED]
    if not taken or any(span.end is End.RECLAIMED for span in _spans(against)):
        return
    works = {span.work: span.team for span in _spans(column)}
    served = {name for span in taken for name in (span.by, works.get(span.by, ""))} - {""}
    if gains and not any(row.of in served or row.key == FAIRNESS.key for row, *_ in gains):
        return
    again = lasting(fmean(span.lost + max(0.0, min(span.ready, span.ended) - span.bound) for span in taken))
    pods = "pod was" if len(taken) == 1 else "pods were"
    each = "and did" if len(taken) == 1 else "each of which did"
    yield (
        f"a pod that is taken back loses much more than here ({len(taken)} {pods} in the first draw, {each} "
        f"{again} again in the mean)"
    )
    yield "no two teams want the same cards at once: it is then that something is taken back"


def _whole(column: Column, against: Column, gains: Sequence[Gain]) -> Iterator[str]:
    """Nodes that are kept free for pods of several cards."""
    alone = [row for row, *_ in gains if row.key.split(".")[-2:-1] in ([Kind.FLEET], [Kind.GANG])]
    others = [row for row, *_ in gains if row not in alone and row.of]
    if not alone or others:
        return
    teams = {row.of for row in alone}
    free, before = (each.cells.get(FREE_NODES.key) for each in (column, against))
    is_wide = any(span.gpus > 1 and span.team in teams for span in _spans(column))
    if not is_wide or free is None or before is None:
        return
    if (free.spread.p50 or 0.0) > (before.spread.p50 or 0.0):
        yield (
            "nothing asks for several cards of one node at once: what gains is the "
            f"{alone[0].title}, for which nodes are kept free"
        )


def other_cards(column: Column, against: Column) -> str:
    """On which kind of card a column does more of the work than another, in the first draw."""
    here, there = _cards(column), _cards(against)
    card = max(here, key=lambda each: (here[each] - there.get(each, 0.0), each), default="")
    if not card or here[card] <= there.get(card, 0.0):
        return ""
    before = 100 * there.get(card, 0.0)
    return f"{column.name} has {100 * here[card]:.0f} % of them on {card}, and {against.name} {before:.0f} %"


def _cards(column: Column) -> Mapping[str, float]:
    """Which part of the GPU-hours is on which kind of card."""
    hours = defaultdict[str, float](float)
    for span in _spans(column):
        hours[span.card] += span.gpus * (span.ended - span.bound)
    total = sum(hours.values())
    return {card: each / total for card, each in hours.items()} if total else {}
