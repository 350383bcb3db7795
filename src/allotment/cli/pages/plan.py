"""A plan as a page: what changes, when it starts and ends, its cost, who pays, what could make it wrong."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, tzinfo
from typing import Final

from allotment.cli.forms.plan_words import bound_words, if_they_stay, scheduler_name
from allotment.cli.pages.colours import Colours
from allotment.cli.pages.course import share_parts
from allotment.cli.pages.plan_picture import drawn_course, plan_colours, title_of
from allotment.cli.pages.plan_works import Drawn, fits_section, time_section, work_section
from allotment.cli.pages.words import assumptions, half, hours, interval, money, notes, tenths, whole
from allotment.pictures.chart import Table
from allotment.pictures.counts import counted
from allotment.pictures.markup import Markup, element
from allotment.pictures.page import KeyFigure, Page, Section, figure, items, page, paragraph, shown
from allotment.pictures.spans import HOUR, span_words
from allotment.pictures.ticks import Extent, when_words
from allotment.planning.plan.plan import Becomes, Change, Payer, Plan, Risk
from allotment.simulation.quantiles import Spread

SIGNS: Final = {
    Becomes.NEW: "+",
    Becomes.CHANGED: "~",
    Becomes.GONE: "−",
    Becomes.REFUSED: "!",
    Becomes.UNCHANGED: "=",
}
MOST_WORKS: Final = 20
MOST_CHANGES: Final = 60


def plan_page(plan: Plan, zone: tzinfo = UTC) -> str:
    """The file's text; clock times are of the zone."""
    clock = datetime.fromtimestamp(plan.at, zone) if plan.at > 0 else None
    return page(
        Page(
            title_of(plan),
            "allot plan",
            _about(plan, clock),
            _lead(plan),
            tuple(_figures(plan, clock)),
            tuple(_sections(plan, clock)),
            tuple(_foot(plan, clock)),
        )
    )


def _about(plan: Plan, clock: datetime | None) -> str:
    parts = [
        f"team {plan.team}" if plan.team else "",
        f"on {plan.world}",
        f"placed by {scheduler_name(plan)}",
    ]
    parts.append(f"{counted(plan.draws, 'draw')} from seed {plan.seed}" if plan.draws else "")
    parts.append(f"seen {_moment(0.0, clock)} {clock.tzname() or ''}".rstrip() if clock else "")
    return ", ".join(part for part in parts if part)


def _moment(at: float, clock: datetime | None) -> str:
    return when_words(at, Extent(0.0, HOUR, clock))


def _lead(plan: Plan) -> str:
    """The answer in a sentence or two."""
    if plan.is_nothing:
        return "Everything is as the files say: there is nothing to do."
    never = [each for each in plan.works if each.never]
    if never:
        return f"{never[0].name} will never run: {never[0].never}."
    broken = [each.words for each in plan.held if not each.is_kept]
    parts = [*(f"Not kept: {words}." for words in broken), *_waiting(plan)]
    if plan.works and any(each.ends for each in plan.works):
        parts.append(f"All of it ends after {interval(plan.end, span_words)}.")
    if plan.works:
        parts.append(_payers(plan.payers))
    return " ".join(part for part in parts if part)


def _waiting(plan: Plan) -> Iterator[str]:
    """What waits for others beyond the horizon, and what that hangs on."""
    for each in plan.works[:MOST_WORKS]:
        if each.waits_for or if_they_stay(plan, each):
            others = f" for others: {each.waits_for}" if each.waits_for else ""
            yield f"{each.name} waits{others}; it does not begin{if_they_stay(plan, each)}."


def _payers(payers: Sequence[Payer]) -> str:
    if not payers:
        return "Nobody else pays."
    names = [f"{each.team}'s {each.name}" if each.team else each.name for each in payers[:3]]
    rest = f" and {len(payers) - 3} more" if len(payers) > 3 else ""
    return f"Who pays: {', '.join(names)}{rest}."


def _figures(plan: Plan, clock: datetime | None) -> Iterator[KeyFigure]:
    works = [each for each in plan.works if not each.never]
    if works:
        first = min(works, key=lambda each: (each.start.p50 is None, each.start.p50 or 0.0))
        yield KeyFigure("starts after", half(first.start, span_words), _detail(first.start, clock))
        if any(each.ends for each in works):
            yield KeyFigure("ends after", half(plan.end, span_words), _detail(plan.end, clock))
        yield KeyFigure("GPU-hours", half(plan.gpu_hours, hours), tenths(plan.gpu_hours, hours))
        if plan.money is not None and any(each.cards for each in works):
            words = money(plan.currency)
            yield KeyFigure("cost", half(plan.money, words), tenths(plan.money, words))
        who = "nobody" if not plan.payers else counted(len(plan.payers), "work")
        yield KeyFigure("who pays", who, "beside what is planned" if plan.payers else "")
    if plan.held:
        broken = sum(not each.is_kept for each in plan.held)
        missed = f"{broken} missed" if len(plan.held) == 1 else f"{broken} of {len(plan.held)} missed"
        yield KeyFigure("bounds", missed if broken else "kept", "held against p90")


def _detail(when: Spread, clock: datetime | None) -> str:
    """What nine tenths keep to, and by the clock when the middle of the draws is."""
    at = _moment(when.p50, clock) if clock and when.p50 is not None else ""
    return " · ".join(part for part in (tenths(when, span_words), at) if part)


def _sections(plan: Plan, clock: datetime | None) -> Iterator[Section]:
    changes = [each for each in plan.changes.changes if each.becomes is not Becomes.UNCHANGED]
    if changes or plan.changes.notes:
        yield _changes(plan, changes)
    if plan.held:
        rows = [bound_words(plan, each, plan.at) for each in plan.held]
        yield Section("Bounds", (items(rows),), kind="verdict " + ("yes" if plan.is_kept else "no"))
    fitting = [each for each in plan.works if each.fits is not None]
    if fitting:
        yield fits_section(fitting[:MOST_WORKS], (*plan.caveats, *plan.notes))
    running = [each for each in plan.works if not each.never]
    if running:
        yield time_section(running[:MOST_WORKS], plan.until, clock)
    colours = plan_colours(plan)
    for place, each in enumerate(running[:MOST_WORKS]):
        drawn = Drawn(f"w{place}", colours.of_work(each.name), clock)
        yield work_section(each, plan, drawn)
    yield from _course(plan, clock, colours)
    if running:
        yield _paying(plan)
    yield from _wrong(plan)


def _changes(plan: Plan, changes: Sequence[Change]) -> Section:
    lines = [
        element("li", _sign(each), element("b", each.name), f" {each.becomes}", _words(each.words))
        for each in changes[:MOST_CHANGES]
    ]
    if len(changes) > MOST_CHANGES:
        lines.append(element("li", f"and {len(changes) - MOST_CHANGES} more"))
    listed = element("ul", *lines, class_="signed") if lines else Markup()
    return Section("What changes", (listed, notes(plan.changes.notes)), f"Against {plan.changes.against}.")


def _sign(change: Change) -> Markup:
    return element("span", SIGNS[change.becomes], class_="sign", aria_hidden="true")


def _words(words: Sequence[str]) -> Markup:
    return element("p", "; ".join(words), class_="soft") if words else Markup()


def _course(plan: Plan, clock: datetime | None, colours: Colours) -> Iterator[Section]:
    """The pictures of the course in the middle."""
    drawn = drawn_course(plan, clock, colours)
    if drawn is None:
        return
    yield Section(
        "Cards over time",
        (figure(drawn.cards), paragraph(drawn.idle, "soft") if drawn.idle else Markup()),
        "In the draw in the middle: half of them end sooner.",
        is_long=True,
    )
    if drawn.shares is not None:
        yield Section(
            "Who has the cards",
            share_parts(drawn.shares, "share", colours),
            "In the same draw. What a team has over its quota may be taken back.",
            is_long=True,
        )


def _paying(plan: Plan) -> Section:
    if not plan.payers:
        words = "Nobody: no work of others is taken back or later for it."
        if not plan.others and plan.others_stay is not None:
            words = f"Nobody: {plan.others_stay.subject}, and what they have is not taken from them."
        elif not plan.others:
            words = "Nobody: there is no other work."
        return Section("Who pays", (paragraph(words),))
    rows = tuple(
        (
            f"{each.team}'s {each.name}" if each.team else each.name,
            each.kind,
            interval(each.reclaimed, whole),
            interval(each.pages_lost, whole),
            interval(each.later, span_words),
            f"{each.draws:.0%}",
        )
        for each in plan.payers
    )
    titles = ("work", "kind", "pods taken back", "pages done again", "later by", "of the draws")
    table = Table(titles, rows, frozenset({2, 3, 4, 5}))
    lead = (
        "Whose work is set back by it, against the same draws without it. Of a fleet, GPU time that it lacks."
    )
    return Section("Who pays", (shown(table),), lead)


def _wrong(plan: Plan) -> Iterator[Section]:
    parts: list[Markup] = []
    if plan.risks:
        rows = tuple((each.words, each.work, _later(each)) for each in plan.risks)
        parts.append(shown(Table(("if", "then", "ends later by"), rows, frozenset({2}))))
    parts += [notes((*plan.caveats, *plan.notes)), assumptions(plan.assumptions)]
    if any(parts):
        yield Section("What could make this wrong", tuple(parts))


def _later(risk: Risk) -> str:
    words = interval(risk.later, span_words)
    return f"{words} (one draw)" if risk.draws == 1 else words


def _foot(plan: Plan, clock: datetime | None) -> Iterator[str]:
    cards_ = ", ".join(f"{count:,} × {card}" for card, count in plan.gpus)
    if plan.draws:
        yield f"Cards: {cards_}." if cards_ else "No cards are known."
        yield "p50 is what half of the draws keep to, p90 what nine of ten keep to."
    if clock is not None:
        yield f"Clock times are {clock.tzname() or 'local'}."
