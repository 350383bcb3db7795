"""Fillings for people and programs: how much each policy gives out, and how far tie rules move that."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from statistics import fmean, stdev
from typing import Any, Final

from allotment.cli.columns import Column, table
from allotment.cli.pictures import sparkline
from allotment.cli.shared import safe
from allotment.pictures.counts import counted
from allotment.simulation.filling.fill import Filled

FORMAT_VERSION: Final = 1
Runs = Sequence[Filled]


def as_text(name: str, nodes: int, cards: int, fillings: Sequence[Runs], width: int | None) -> Iterator[str]:
    """A line for each policy and tie rule."""
    runs = len(fillings[0])
    yield f"{safe(name)} on {counted(nodes, 'node')} with {cards:,} cards, {counted(runs, 'seed')}"
    yield ""
    columns = [
        Column("POLICY"),
        Column("TIES"),
        Column("GIVEN OUT", right=True),
        Column("± SD", right=True),
        Column("CARDS LEFT", right=True),
        Column("TURNED AWAY", right=True),
        Column("FRAGMENTS WHILE IT FILLS"),
    ]
    yield from table(columns, [_line(each, cards) for each in fillings], width)
    yield ""
    yield "Given out: of all cards, once as much was asked for as there is at most; the mean of the seeds."
    yield "Fragments: of all cards, idle and of no use to the tasks that usually come."


def _line(runs: Runs, cards: int) -> tuple[str, ...]:
    given = [each.given for each in runs]
    first = runs[0]
    step = max(1, len(first.points) // 24)
    return (
        str(first.policy),
        str(first.ties),
        f"{fmean(given):.2f} %",
        f"{stdev(given):.2f}" if len(given) > 1 else "–",
        f"{(100 - fmean(given)) / 100 * cards:,.0f}",
        f"{fmean(each.turned_away for each in runs):,.0f}",
        sparkline([point.fragments for point in first.points[::step]]),
    )


def as_data(name: str, nodes: int, cards: int, fillings: Sequence[Runs]) -> dict[str, Any]:
    """All of it, with the way of each seed."""
    return {
        "format_version": FORMAT_VERSION,
        "trace": name,
        "nodes": nodes,
        "cards": cards,
        "fillings": [
            {
                "policy": runs[0].policy,
                "ties": runs[0].ties,
                "given": fmean(each.given for each in runs),
                "seeds": [asdict(each) for each in runs],
            }
            for runs in fillings
        ],
    }
