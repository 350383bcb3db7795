"""A comparison as a page: the advice, the table, the first decision that differs, each course in pictures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from allotment.cli.forms.compared_table import shown_rows
from allotment.cli.pages.colours import Colours, colours_of
from allotment.cli.pages.course import Planned, cards, extent_of, share_parts, shares_of
from allotment.cli.pages.words import assumptions, notes, sentence, shown_until
from allotment.pictures.counts import counted
from allotment.pictures.markup import Markup, element
from allotment.pictures.page import KeyFigure, Page, Section, figure, heading, items, page, paragraph
from allotment.pictures.palette import MANY
from allotment.pictures.rows import IntervalRow, Intervals, intervals
from allotment.pictures.spans import span_words
from allotment.pictures.ticks import Extent
from allotment.planning.compare.comparison import (
    Advice,
    Cell,
    Column,
    Comparison,
    Row,
    Told,
    Unit,
    Verdict,
)
from allotment.planning.compare.differences import FEWEST
from allotment.planning.compare.words import by_how_much, interval, said

MARKS: Final = {
    Told.BETTER: ("▲", "better", "good"),
    Told.WORSE: ("▼", "worse", "alarm"),
    Told.OTHER: ("◆", "other", ""),
    Told.SMALL: ("≈", "too little to count", "soft"),
    Told.CHANCE: ("~", "may be chance", "soft"),
    Told.SAME: ("", "", ""),
}
VERDICTS: Final = {
    Verdict.YES: "yes",
    Verdict.MAYBE: "",
    Verdict.NO: "neither",
    Verdict.UNKNOWN: "neither",
}
MOST_CHARTS: Final = 8
ALWAYS: Final = frozenset({"makespan", "use"})


def compare_page(found: Comparison, command: str = "allot compare") -> str:
    """The file's text; ``command`` is what was asked."""
    names = ", ".join(column.name for column in found.columns)
    return page(
        Page(
            f"Compared: {names}" if len(found.columns) > 1 else f"Under {names}",
            command,
            f"{counted(len(found.works), 'work')} on {found.world}, {counted(found.draws, 'draw')} "
            f"from seed {found.seed}, played for {span_words(found.until)} at most",
            _lead(found),
            tuple(_figures(found)),
            tuple(_sections(found)),
            tuple(_foot(found)),
        )
    )


def _lead(found: Comparison) -> str:
    """All the answers, each with the first reason of a yes."""
    return " ".join(
        f"{_capital(each.question)} {_capital(each.answer)}"
        + (f": {each.reasons[0]}." if each.reasons and each.verdict is Verdict.YES else ".")
        for each in found.advice
    )


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _figures(found: Comparison) -> Iterator[KeyFigure]:
    """When all is over, by column: what everybody asks first."""
    row = next((row for row in found.rows if row.key == "makespan"), None)
    for column in found.played[:6]:
        cell = column.cells.get(row.key) if row else None
        if row is None or cell is None:
            continue
        mark, words, _ = _mark(cell)
        whole = interval(cell, row.unit).partition(" (")[2].removesuffix(")")
        detail = ", ".join(part for part in (whole, f"{mark} {words}".strip()) if part)
        yield KeyFigure(f"{column.name}: {row.title} after", said(cell.spread.p50, row.unit), detail)


def _sections(found: Comparison) -> Iterator[Section]:
    for place, advice in enumerate(found.advice):
        yield _advice(advice, found.advice_rests_on if not place else "")
    yield _table(found)
    refused = [f"{column.name}: {column.refused}" for column in found.columns if column.refused]
    if refused:
        yield Section("What cannot do it", (items(refused),))
    if found.unended:
        yield Section(
            "What does not end", (items([sentence(each) for each in found.unended]),), "In the first draw."
        )
    if found.differs:
        lines = [sentence(f"{each.name}: {each.sentence}") for each in found.differs]
        yield Section("The first decision that differs", (items(lines),), "In the first draw.")
    yield from _charts(found)
    courses = [column.course for column in found.played if column.course is not None]
    named = found.works if len(found.works) <= MANY else ()
    colours = colours_of(named, courses, found.teams)
    for place, column in enumerate(found.played):
        yield from _course(column, found, f"c{place}", colours)
    yield from _assumed(found)


def _advice(advice: Advice, rests_on: str) -> Section:
    parts: list[Markup] = [items([_capital(each) for each in (*advice.reasons, *advice.costs)])]
    if advice.not_if:
        parts += [heading("Not if"), items(advice.not_if)]
    if advice.now is not None:
        now = advice.now
        parts.append(heading(f"{_capital(now.answer)}, which the platform has"))
        parts.append(items([_capital(each) for each in (*now.reasons, *now.costs)]))
    title = f"{_capital(advice.question)} {_capital(advice.answer)}"
    return Section(title, tuple(parts), rests_on, kind=f"verdict {VERDICTS[advice.verdict]}".strip())


def _table(found: Comparison) -> Section:
    """Figures against columns, with the sign and the word of each difference."""
    head = element("tr", element("th", "", scope="col"), *(_title(column) for column in found.played))
    rows = [
        element(
            "tr",
            element("th", row.title, scope="row"),
            *(_cell(column.cells.get(row.key), row, found.currency) for column in found.played),
        )
        for row in shown_rows(found)
    ]
    table = element("table", element("thead", head), element("tbody", *rows))
    base = found.played[0].name if found.played else ""
    lead = "The middle of the draws, and below it where eight of ten lie." if found.draws > 1 else ""
    if len(found.played) > 1 and found.draws < FEWEST:
        lead += f" {counted(found.draws, 'draw')} cannot tell a difference from {base} from chance."
    elif len(found.played) > 1:
        lead += (
            f" Better and worse are against {base}, seed by seed: beyond chance (sign test, 5 %), and as "
            "large as counts."
        )
    wrapped = element("div", table, class_="wide", tabindex="0", role="group", aria_label="all figures")
    alike = items([sentence(_capital(each)) for each in found.alike]) if found.alike else Markup()
    return Section("All figures", (wrapped, alike), lead, is_long=True)


def _title(column: Column) -> Markup:
    changes = element("small", ", ".join(column.changes)) if column.changes else Markup()
    name = column.scheduler if column.changes else column.name
    return element("th", name, changes, class_="n", scope="col")


def _cell(cell: Cell | None, row: Row, currency: str) -> Markup:
    if cell is None:
        return element("td", "–", class_="n")
    whole = interval(cell, row.unit, currency)
    middle, _, rest = whole.partition(" (")
    mark, words, kind = _mark(cell)
    told = (
        element("small", element("span", f"{mark} {words}{_by(cell, row)}", class_=kind or None))
        if mark
        else Markup()
    )
    return element(
        "td", middle, element("small", rest.removesuffix(")")) if rest else Markup(), told, class_="n"
    )


def _mark(cell: Cell) -> tuple[str, str, str]:
    return MARKS[cell.difference.told] if cell.difference is not None else ("", "", "")


def _by(cell: Cell, row: Row) -> str:
    """By how much, where that is known and may not be chance."""
    found = cell.difference
    if found is None or found.told is Told.CHANCE or cell.spread.p50 is None:
        return ""
    how = by_how_much(found, row.unit)
    return f", {how}" if how else ""


def _charts(found: Comparison) -> Iterator[Section]:
    rows = [row for row in shown_rows(found) if _is_shown(row, found)]
    times = [row for row in rows if row.unit is Unit.SECONDS][:MOST_CHARTS]
    if times:
        last = _last(found, times)
        value = Intervals("Times of the columns", tuple(_intervals(found, times)), Extent(0.0, last))
        yield Section("Waiting and finish", (figure(intervals(value, "times")),), is_long=True)
    parts = [row for row in rows if row.unit is Unit.PART][:MOST_CHARTS]
    if parts:
        value = Intervals("Use and fairness", tuple(_intervals(found, parts, 100.0)), None, 100.0, "%")
        yield Section("Use and fairness", (figure(intervals(value, "parts")),), is_long=True)


def _is_shown(row: Row, found: Comparison) -> bool:
    """Whether a picture of a row says anything: columns differ in it, or everybody asks for it."""
    spreads = {column.cells[row.key].spread for column in found.played if row.key in column.cells}
    return len(spreads) > 1 or (bool(spreads) and row.key in ALWAYS)


def _last(found: Comparison, rows: Sequence[Row]) -> float:
    spreads = [
        column.cells[row.key].spread for row in rows for column in found.played if row.key in column.cells
    ]
    return shown_until(spreads, found.until)


def _intervals(found: Comparison, rows: Sequence[Row], times: float = 1.0) -> Iterator[IntervalRow]:
    for row in rows:
        for column in found.played:
            cell = column.cells.get(row.key)
            if cell is None:
                continue
            low, middle, high = (
                None if each is None else each * times
                for each in (cell.spread.p10, cell.spread.p50, cell.spread.p90)
            )
            words = interval(cell, row.unit, found.currency)
            yield IntervalRow(column.name, low, middle, high, words, None, row.title)


def _course(column: Column, found: Comparison, name: str, colours: Colours) -> Iterator[Section]:
    if column.course is None or not column.course.spans:
        return
    last = max((extent_of(each.course).until for each in found.played if each.course), default=found.until)
    extent = Extent(0.0, last)
    named = [(work, work) for work in found.works] if len(found.works) <= MANY else []
    planned = Planned(named, colours=colours)
    title = f"What runs on each card under {column.name}"
    chart, idle = cards(column.course, extent, f"{name}-cards", title, planned)
    parts = [figure(chart), paragraph(idle, "soft") if idle else Markup()]
    shares = shares_of(column.course, extent, found.teams, column.figures)
    if len(shares.queues) > 1:
        parts += [heading("Who has the cards"), *share_parts(shares, f"{name}-share", colours)]
    yield Section(f"Under {column.name}", tuple(parts), "In the first draw.", is_long=True)


def _assumed(found: Comparison) -> Iterator[Section]:
    parts = [notes(found.notes), assumptions(found.assumptions)]
    for column in found.played:
        own = [notes(column.notes), assumptions(column.assumptions)]
        if any(own):
            parts += [heading(f"Under {column.name}"), *own]
    if any(parts):
        yield Section("What this rests on", tuple(parts))


def _foot(found: Comparison) -> Iterator[str]:
    cards_ = ", ".join(f"{count:,} × {card}" for card, count in found.gpus)
    if cards_:
        yield f"Cards: {cards_}."
    yield "All columns play the same works under the same seeds."
