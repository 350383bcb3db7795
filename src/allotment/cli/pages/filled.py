"""Fillings of a cluster by placement policies as a page: how much each gives out, and what it leaves over."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import fmean, stdev

from allotment.pictures.chart import Table
from allotment.pictures.counts import counted
from allotment.pictures.lines import Line, Lines, lines
from allotment.pictures.page import KeyFigure, Page, Section, figure, page, shown
from allotment.pictures.rows import IntervalRow, Intervals, intervals
from allotment.simulation.filling.fill import Filled, Point

Runs = Sequence[Filled]
MOST_FIGURES = 6


def filled_page(name: str, nodes: int, cards: int, fillings: Sequence[Runs]) -> str:
    """The file's text; each filling is one policy and tie rule, with all seeds."""
    ordered = sorted((runs for runs in fillings if runs), key=lambda runs: -_mean(runs))
    seeds = len(ordered[0]) if ordered else 0
    about = f"{counted(nodes, 'node')} with {cards:,} cards, {counted(seeds, 'seed')}"
    figures = tuple(
        KeyFigure(_name(runs, ordered), f"{_mean(runs):.2f} %", "of all cards given out")
        for runs in ordered[:MOST_FIGURES]
    )
    sections = (
        Section(
            "What is given out",
            (figure(intervals(_given(ordered), "given")), shown(_table(ordered, cards))),
            "Of all cards, once as much was asked for as there is at most: from the least to the most of "
            "the seeds, with the mean.",
        ),
        Section(
            "While it fills",
            (
                figure(lines(_lines("Cards given out", ordered, _given_at), "out"), "Given out"),
                figure(lines(_lines("Fragments", ordered, _fragments_at), "left"), "Fragments"),
            ),
            "The first seed. Fragments are idle, and of no use to the tasks that usually come.",
        ),
    )
    return page(Page(f"Filled: {name}", "allot simulate", about, "", figures, sections if ordered else ()))


def _mean(runs: Runs) -> float:
    return fmean(each.given for each in runs)


def _name(runs: Runs, of: Sequence[Runs]) -> str:
    """The policy, with its tie rule where there is more than one."""
    rules = {str(each[0].ties) for each in of if each[0].policy == runs[0].policy}
    return f"{runs[0].policy}, ties {runs[0].ties}" if len(rules) > 1 else str(runs[0].policy)


def _given(fillings: Sequence[Runs]) -> Intervals:
    rows = tuple(
        IntervalRow(
            _name(runs, fillings),
            min(each.given for each in runs),
            _mean(runs),
            max(each.given for each in runs),
            f"{_mean(runs):.2f} %",
            place,
        )
        for place, runs in enumerate(fillings)
    )
    return Intervals("Cards given out", rows, None, 100.0, "%", "from the least to the most, dot at the mean")


def _table(fillings: Sequence[Runs], cards: int) -> Table:
    rows = tuple(
        (
            str(runs[0].policy),
            str(runs[0].ties),
            f"{_mean(runs):.2f} %",
            f"{stdev([each.given for each in runs]):.2f}" if len(runs) > 1 else "–",
            f"{(100 - _mean(runs)) / 100 * cards:,.0f}",
            f"{fmean(each.turned_away for each in runs):,.0f}",
        )
        for runs in fillings
    )
    titles = ("policy", "ties", "given out", "± SD", "cards left", "turned away")
    return Table(titles, rows, frozenset(range(2, 6)))


def _lines(title: str, fillings: Sequence[Runs], value: Callable[[Point], float]) -> Lines:
    listed = tuple(
        Line(
            _name(runs, fillings),
            tuple((float(point.demand), value(point)) for point in runs[0].points),
        )
        for runs in fillings
    )
    return Lines(title, listed, "% asked for", "% of all cards")


def _given_at(point: Point) -> float:
    return point.given


def _fragments_at(point: Point) -> float:
    return point.fragments
