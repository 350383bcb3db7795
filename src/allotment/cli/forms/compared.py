"""A comparison for people, pull requests and programs: one table, the first difference, the advice.

The table of text has two lines to a figure that varies: its middle, and the interval below. Rows in which
nothing happens in any column are left out; so are those of works that end alike, where there are many.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import wrap
from typing import Any, Final

import click

from allotment.cli.columns import Column as TableColumn
from allotment.cli.columns import cut, table
from allotment.cli.forms.course import last_of, use_line
from allotment.cli.forms.markdown import plain
from allotment.cli.forms.markdown import rows as markdown_rows
from allotment.cli.shared import safe
from allotment.cli.words import counted, span
from allotment.planning.compare.comparison import Advice, Column, Comparison, Row, Told, Verdict
from allotment.planning.compare.words import interval, said
from allotment.planning.scenes.values import Assumption
from allotment.simulation.quantiles import Spread

WIDTH: Final = 100
MOST_WORKS: Final = 8
LABEL: Final = 30
MARKS: Final = {Told.BETTER: "+", Told.WORSE: "-", Told.CHANCE: "~", Told.OTHER: "*", Told.SAME: " "}
COLOURS: Final = {"+": "green", "-": "red"}
VERDICTS: Final = {Verdict.YES: "green", Verdict.MAYBE: "yellow", Verdict.NO: "cyan"}


def as_text(found: Comparison, width: int | None = None) -> Iterator[str]:
    """All of it for people, in lines of at most 100 characters."""
    limit = min(width or WIDTH, WIDTH)
    names = _names(found, limit)
    yield from (click.style(line, bold=True) for line in wrap(safe(_headline(found)), limit))
    yield ""
    yield from _table(found, names, limit)
    yield ""
    yield from _folded(_legend(found), limit)
    for column, name in zip(found.played, names, strict=True):
        if name != column.name:
            yield from _folded(f"{name}: {safe(column.name)}", limit)
    for column in found.columns:
        if column.refused:
            yield from _folded(f"{safe(column.name)} cannot do it: {safe(column.refused)}", limit)
    yield from _use(found, names)
    if found.differs:
        yield from ("", click.style("First decision that differs", bold=True))
        for each in found.differs:
            yield from _folded(safe(each.sentence), limit, "  ")
    if found.advice:
        yield from ("", click.style("Advice", bold=True))
        for one in found.advice:
            yield from _advice(one, limit)
    yield from _assumed(found, limit)


def as_markdown(found: Comparison) -> Iterator[str]:
    """All of it for a pull request."""
    yield f"### {plain(_headline(found))}"
    yield ""
    titles = ("", *(column.name for column in found.played))
    yield from markdown_rows(titles, ((row.title, *_cells(found, row)) for row in shown_rows(found)))
    yield from ("", plain(_legend(found)))
    for column in found.columns:
        if column.refused:
            yield from ("", plain(f"{column.name} cannot do it: {column.refused}"))
    if found.differs:
        yield from ("", "**First decision that differs**", "")
        yield from (f"- {plain(each.sentence)}" for each in found.differs)
    if found.advice:
        yield from ("", "**Advice**", "")
        yield from (f"- {plain(each.sentence)}" for each in found.advice)
    lines = [*_assumptions(found)]
    if lines:
        yield from ("", f"<details><summary>{counted(len(lines), 'assumption')}</summary>", "")
        yield from (f"- {plain(line)}" for line in lines)
        yield from ("", "</details>")


def as_data(found: Comparison) -> dict[str, Any]:
    """All of it for programs."""
    return {
        "format_version": found.format_version,
        "world": found.world,
        "works": list(found.works),
        "seed": found.seed,
        "draws": found.draws,
        "until": found.until,
        "currency": found.currency,
        "gpus": dict(found.gpus),
        "rows": [_row_data(row) for row in found.rows],
        "columns": [_column_data(column) for column in found.columns],
        "differs": [
            {
                "column": each.name,
                "against": each.base,
                "at": round(each.at, 3),
                "work": each.work,
                "sentence": each.sentence,
                "because": each.because,
            }
            for each in found.differs
        ],
        "advice": [_advice_data(each) for each in found.advice],
        "assumptions": [_assumption_data(each) for each in found.assumptions],
        "notes": list(found.notes),
    }


def shown_rows(found: Comparison) -> list[Row]:
    """The rows that stand in a table: those in which anything happens, and not too many of single works."""
    happening = [row for row in found.rows if _happens(found, row)]
    of_works = [row for row in happening if row.key.startswith("finish.")]
    if len(of_works) <= MOST_WORKS:
        return happening
    told = [row for row in of_works if any(_mark(column, row).strip() for column in found.played)]
    kept = set(told[:MOST_WORKS])
    return [row for row in happening if row not in of_works or row in kept]


def _happens(found: Comparison, row: Row) -> bool:
    cells = [column.cells[row.key] for column in found.played if row.key in column.cells]
    return any(value != 0 for cell in cells for value in cell.values)


def _headline(found: Comparison) -> str:
    cards = ", ".join(f"{count} {card}" for card, count in found.gpus)
    first = f"{counted(len(found.works), 'work')} in {found.world}" + (f" ({cards})" if cards else "")
    names = ", ".join(column.name for column in found.columns)
    return f"{first}, decided by {names}; {counted(found.draws, 'draw')} from seed {found.seed}"


def _legend(found: Comparison) -> str:
    base = found.played[0].name
    if len(found.played) < 2:
        return "The middle of the draws, and the interval that eight tenths of them lie in."
    return (
        f"Against {base}, seed by seed: + better, - worse, * other beyond chance (sign test, 5 %), ~ may be "
        "chance, no mark: alike. The middle of the draws, and where eight tenths of them lie."
    )


def _mark(column: Column, row: Row) -> str:
    cell = column.cells.get(row.key)
    return " " if cell is None or cell.difference is None else MARKS[cell.difference.told]


def _cells(found: Comparison, row: Row) -> Iterator[str]:
    for column in found.played:
        cell = column.cells.get(row.key)
        words = "–" if cell is None else interval(cell, row.unit, found.currency)
        yield f"{words} {_mark(column, row)}".rstrip()


def _names(found: Comparison, limit: int) -> list[str]:
    """The columns' names as they stand above the table, where long ones are cut and told below it."""
    room = max(8, (limit - LABEL) // len(found.played) - 2)
    return [
        column.name if len(column.name) <= room else f"{cut(column.scheduler, room - 2)}/{place}"
        for place, column in enumerate(found.played)
    ]


def _table(found: Comparison, names: Sequence[str], limit: int) -> list[str]:
    lines: list[tuple[str, ...]] = []
    for row in shown_rows(found):
        title = safe(row.title)
        middles, intervals = zip(*(_two_lines(found, column, row) for column in found.played), strict=True)
        lines.append((title, *middles))
        if any(each.strip() for each in intervals):
            lines.append(("", *intervals))
    last = max((len(line[-1]) for line in lines), default=0)
    shown = [f"{name}  " for name in names]
    shown[-1] = shown[-1].rjust(last)
    columns = [
        TableColumn("", least=LABEL // 2),
        *(TableColumn(name.upper(), least=8, right=True, paint=_painted) for name in shown),
    ]
    return table(columns, [(*line[:-1], line[-1].rjust(len(shown[-1]))) for line in lines], limit)


def _two_lines(found: Comparison, column: Column, row: Row) -> tuple[str, str]:
    cell = column.cells.get(row.key)
    if cell is None:
        return "–  ", ""
    middle = said(cell.spread.p50, row.unit, found.currency)
    whole = interval(cell, row.unit, found.currency)
    below = whole.partition(" (")[2].removesuffix(")") if whole != middle else ""
    return f"{middle} {_mark(column, row)}", f"{below}  " if below else ""


def _painted(cell: str, piece: str) -> str:
    colour = COLOURS.get(cell[-1:])
    return click.style(piece, fg=colour) if colour else piece


def _use(found: Comparison, names: Sequence[str]) -> Iterator[str]:
    """Cards in use over time, all columns on one scale."""
    played = [
        (name, column.course) for name, column in zip(names, found.played, strict=True) if column.course
    ]
    until = max((last_of(course) for _, course in played), default=0.0)
    if until <= 0:
        return
    yield from ("", f"cards in use over {span(until)}, in the first draw")
    widest = max(len(safe(name)) for name, _ in played)
    yield from (f"  {safe(name):<{widest}}  {use_line(course, until)}".rstrip() for name, course in played)


def _advice(advice: Advice, limit: int) -> Iterator[str]:
    question = f"worth adding {advice.adding}, against {advice.against}, for this work? "
    answer = click.style(str(advice.verdict), fg=VERDICTS[advice.verdict], bold=True)
    yield f"  {question}{answer}"
    for words in (*advice.reasons, *advice.costs, *(f"not if {each}" for each in advice.not_if)):
        yield from _folded(safe(words), limit, "    ")


def _assumed(found: Comparison, limit: int) -> Iterator[str]:
    lines = [*_assumptions(found)]
    if lines:
        yield from ("", click.style("Assumed", bold=True))
    for line in lines:
        yield from _folded(safe(line), limit, "  ")


def _assumptions(found: Comparison) -> Iterator[str]:
    """What every column rests on, then what some do, with their names."""
    yield from (_assumption(each) for each in found.assumptions)
    names: dict[str, list[str]] = {}
    for column in found.played:
        for line in dict.fromkeys((*map(_assumption, column.assumptions), *column.notes)):
            names.setdefault(line, []).append(column.name)
    yield from (f"{', '.join(those)}: {line}" for line, those in names.items())
    yield from found.notes


def _assumption(each: Assumption) -> str:
    maturity = f", {each.maturity}" if each.maturity is not None else ""
    said_too = f": {each.said}" if each.said else ""
    return f"{each.subject}: {each.value} ({each.source}{maturity}){said_too}"


def _folded(text: str, limit: int, indent: str = "") -> list[str]:
    return wrap(text, limit, initial_indent=indent, subsequent_indent=f"{indent}  ")


def _row_data(row: Row) -> dict[str, Any]:
    return {"key": row.key, "title": row.title, "unit": row.unit, "better": row.better, "of": row.of}


def _spread_data(spread: Spread) -> dict[str, float | None]:
    return {name: _rounded(getattr(spread, name)) for name in ("p10", "p50", "p90")}


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 6)


def _column_data(column: Column) -> dict[str, Any]:
    return {
        "name": column.name,
        "scheduler": column.scheduler,
        "changes": list(column.changes),
        "refused": column.refused or None,
        "cells": {key: _cell_data(column, key) for key in column.cells},
        "assumptions": [_assumption_data(each) for each in column.assumptions],
        "notes": list(column.notes),
    }


def _cell_data(column: Column, key: str) -> dict[str, Any]:
    cell = column.cells[key]
    data: dict[str, Any] = {**_spread_data(cell.spread), "values": [_rounded(each) for each in cell.values]}
    if cell.difference is not None:
        found = cell.difference
        data["difference"] = {
            **_spread_data(found.spread),
            "less": found.less,
            "more": found.more,
            "chance": round(found.chance, 6),
            "relative": _rounded(found.relative),
            "told": found.told,
        }
    return data


def _advice_data(advice: Advice) -> dict[str, Any]:
    return {
        "adding": advice.adding,
        "against": advice.against,
        "verdict": advice.verdict,
        "reasons": list(advice.reasons),
        "costs": list(advice.costs),
        "not_if": list(advice.not_if),
        "sentence": advice.sentence,
    }


def _assumption_data(each: Assumption) -> dict[str, Any]:
    return {
        "subject": each.subject,
        "value": each.value,
        "source": each.source,
        "said": each.said,
        "maturity": each.maturity,
        "remedy": each.remedy,
    }
