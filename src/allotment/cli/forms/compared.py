"""A comparison for people, pull requests and programs: one table, the first difference, the advice.

What programs read has a module of its own, and so has the table of text.
"""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import wrap
from typing import Final

import click

from allotment.cli.forms.compared_table import cells, lines_of, shown_rows
from allotment.cli.forms.course import last_of, use_line
from allotment.cli.forms.markdown import plain
from allotment.cli.forms.markdown import rows as markdown_rows
from allotment.cli.shared import safe
from allotment.cli.words import span
from allotment.pictures.counts import counted
from allotment.planning.compare.comparison import Advice, Comparison, Verdict
from allotment.planning.compare.differences import FEWEST
from allotment.planning.scenes.values import Assumption

WIDTH: Final = 100
LONG_NAME: Final = 44
VERDICTS: Final = {
    Verdict.YES: "green",
    Verdict.MAYBE: "yellow",
    Verdict.NO: "cyan",
    Verdict.UNKNOWN: "magenta",
}


def as_text(found: Comparison, width: int | None = None) -> Iterator[str]:
    """All of it for people, in lines of at most 100 characters."""
    limit = min(width or WIDTH, WIDTH)
    yield from (click.style(line, bold=True) for line in wrap(safe(_headline(found)), limit))
    yield ""
    yield from lines_of(found, limit)
    legend = _folded(_legend(found), limit)
    yield from ("", *legend) if legend else ()
    for line in found.alike:
        yield from _folded(safe(line), limit)
    for column in found.columns:
        if column.refused:
            yield from _folded(f"{safe(column.name)} cannot do it: {safe(column.refused)}", limit)
    if found.unended:
        yield from ("", click.style("What does not end", bold=True))
        for line in found.unended:
            yield from _folded(safe(line), limit, "  ")
    yield from _use(found)
    if found.differs:
        yield from ("", click.style("First decision that differs", bold=True))
        for each in found.differs:
            yield from _folded(safe(each.sentence), limit, "  ")
    if found.advice:
        yield from ("", click.style("Advice", bold=True))
        yield from _folded(safe(found.advice_rests_on), limit, "  ")
        for one in found.advice:
            yield from _advice(one, limit)
    yield from _assumed(found, limit)


def as_markdown(found: Comparison) -> Iterator[str]:
    """All of it for a pull request."""
    yield f"### {plain(_headline(found))}"
    yield ""
    titles = ("", *(column.name for column in found.played))
    yield from markdown_rows(titles, ((row.title, *cells(found, row)) for row in shown_rows(found)))
    yield from ("", plain(_legend(found)))
    for line in found.alike:
        yield from ("", plain(line))
    for column in found.columns:
        if column.refused:
            yield from ("", plain(f"{column.name} cannot do it: {column.refused}"))
    if found.unended:
        yield from ("", "**What does not end**", "")
        yield from (f"- {plain(line)}" for line in found.unended)
    if found.differs:
        yield from ("", "**First decision that differs**", "")
        yield from (f"- {plain(each.sentence)}" for each in found.differs)
    if found.advice:
        yield from ("", "**Advice**", "", plain(found.advice_rests_on), "")
        for one in found.advice:
            yield f"- {plain(one.question)} **{plain(one.answer)}**"
            yield from (f"  - {plain(line)}" for line in one.lines)
    lines = [*_assumptions(found)]
    if lines:
        yield from ("", f"<details><summary>{counted(len(lines), 'assumption')}</summary>", "")
        yield from (f"- {plain(line)}" for line in lines)
        yield from ("", "</details>")


def _headline(found: Comparison) -> str:
    cards = ", ".join(f"{count} {card}" for card, count in found.gpus)
    first = f"{counted(len(found.works), 'work')} in {found.world}" + (f" ({cards})" if cards else "")
    names = ", ".join(column.name for column in found.columns)
    return f"{first}, decided by {names}; {counted(found.draws, 'draw')} from seed {found.seed}"


def _legend(found: Comparison) -> str:
    middle = "The middle of the draws, and where eight tenths of them lie." if found.draws > 1 else ""
    if len(found.played) < 2:
        return middle
    base = found.played[0].name
    if found.draws < FEWEST:
        so_few = f"~ differs, which {counted(found.draws, 'draw')} cannot tell from chance; no mark: alike."
        return f"Against {base}, seed by seed: {so_few} {middle}".rstrip()
    return (
        f"Against {base}, seed by seed: + better, - worse, * other, all beyond chance (sign test, 5 %) and "
        "as large as counts; ≈ beyond chance, and too little to count; ~ may be chance; no mark: alike. "
        f"{middle}"
    )


def _use(found: Comparison) -> Iterator[str]:
    """Cards in use over time, all columns on one scale; a long name has a line of its own."""
    played = [
        (safe(column.name), column.course)
        for column in found.played
        if column.course is not None and any(each.gpus > 0 for each in column.course.spans)
    ]
    until = max((last_of(course) for _, course in played), default=0.0)
    if until <= 0:
        return
    yield from ("", f"cards in use over {span(until)}, in the first draw")
    widest = max((len(name) for name, _ in played if len(name) <= LONG_NAME), default=0)
    for name, course in played:
        is_long = len(name) > widest
        if is_long:
            yield from _folded(name, WIDTH, "  ")
        yield f"  {'' if is_long else name:<{widest}}  {use_line(course, until)}".rstrip()


def _advice(advice: Advice, limit: int) -> Iterator[str]:
    answer = click.style(safe(advice.answer), fg=VERDICTS[advice.verdict], bold=True)
    yield f"  {safe(advice.question)} {answer}"
    for words in advice.lines:
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
