"""The works of a plan on its page: on which cards each fits, when it runs, how wide it is, what it costs."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from allotment.cli.pages.words import half, hours, interval, money, shown_until, whole
from allotment.pictures.band import BandChart, BandMark, Moment, band
from allotment.pictures.chart import Table
from allotment.pictures.counts import counted
from allotment.pictures.markup import Markup
from allotment.pictures.page import Section, figure, items, paragraph, shown, together
from allotment.pictures.rows import BarRow, Bars, IntervalRow, Intervals, bars, intervals
from allotment.pictures.spans import HOUR, MINUTE, span_words
from allotment.pictures.ticks import Extent
from allotment.planning.plan.plan import Fits, Plan, Waiting, WorkPlan
from allotment.planning.why.why import State
from allotment.simulation.quantiles import Spread

STATES: Final = {State.FITS: "fits now", State.WAITS: "fits, and waits", State.NEVER: "never fits"}


def fits_section(works: Sequence[WorkPlan], told: Collection[str] = ()) -> Section:
    """Which cards would do, by work; notes that are ``told`` elsewhere are not told here."""
    rows = tuple(_fit_row(each, each.fits) for each in works if each.fits is not None)
    titles = ("work", "", "devices that would do", "free", "what stands in the way of the others")
    parts = [shown(Table(titles, rows, frozenset({3})))]
    for each in works:
        if each.fits is not None:
            helps = [f"{each.name}: {remedy.words}" for remedy in each.fits.remedies]
            helps += [note for note in each.fits.notes if note not in told]
            parts += [items(helps)] if helps else []
    return Section("Which cards fit", tuple(parts))


def _fit_row(work: WorkPlan, fits: Fits) -> tuple[str, ...]:
    kinds = ", ".join(f"{count:,} × {card}" for card, count in fits.cards)
    would = f"{fits.would:,} of {fits.all:,}" + (f": {kinds}" if kinds else "")
    why = work.waits_for or fits.obstacle or (fits.sentence if fits.state is not State.FITS else "")
    return work.name, STATES[fits.state], would, f"{fits.free:,}", why


def time_section(works: Sequence[WorkPlan], until: float, clock: datetime | None) -> Section:
    """Start and end of all works on one scale."""
    last = shown_until([each.end if each.ends else each.start for each in works], until)
    extent = Extent(0.0, last, clock)
    rows: list[IntervalRow] = []
    for each in works:
        start, end = each.start, each.end
        rows.append(
            IntervalRow("starts", start.p10, start.p50, start.p90, _after(each, start=True), None, each.name)
        )
        if each.ends:
            rows.append(
                IntervalRow("ends", end.p10, end.p50, end.p90, _after(each, start=False), None, each.name)
            )
    chart = intervals(Intervals("When each work starts and ends", tuple(rows), extent), "when")
    return Section("When", (figure(chart),))


def _after(work: WorkPlan, *, start: bool) -> str:
    words = interval(work.start if start else work.end, span_words)
    if not start and work.finishes < 1:
        words += f", in {work.finishes:.0%} of the draws"
    if not start and work.late is not None:
        words += f", late in {work.late:.0%}"
    return words


@dataclass(frozen=True, slots=True)
class Drawn:
    """How a work is drawn: the name of its pictures, its colour on the page, and the clock."""

    name: str
    paint: int
    clock: datetime | None = None


def work_section(work: WorkPlan, plan: Plan, drawn: Drawn) -> Section:
    """One work: its window over time, why it waits, its cards and its cost."""
    return Section(
        work.name,
        tuple(_work_parts(work, plan, drawn)),
        _said(work),
        is_long=True,
    )


def _said(work: WorkPlan) -> str:
    left = f"{work.left:,} of {counted(work.units, 'volume')} left"
    if work.kind == "campaign":
        what = left + (f", {counted(work.pages, 'page')}" if work.pages else "")
        what += (
            f" (nobody knows yet how many pages {work.uncounted:,} of them have)" if work.uncounted else ""
        )
        wide = f"window {work.least} to {work.most}" if work.least != work.most else f"window {work.most}"
    elif work.kind == "gang":
        what, wide = "", counted(work.most, "worker")
    else:
        what, wide = "", f"{work.least} to {work.most} replicas"
    parts = [work.kind, f"of team {work.team}" if work.team else "", what, wide]
    basis = f" Run times: {work.basis}." if work.basis else ""
    return ", ".join(part for part in parts if part) + f".{basis}"


def _work_parts(work: WorkPlan, plan: Plan, drawn: Drawn) -> Iterator[Markup]:
    if len(work.window) > 1:
        yield _window(work, plan.until, drawn)
    if any(_is_told(each) for each in work.waits):
        yield _waits(work, drawn)
    if work.cards:
        yield _costs(work, plan)
    counts = [
        (work.reclaimed, "pods taken back"),
        (work.pages_lost, "pages done again"),
        (work.failed, "volumes that fail"),
    ]
    lines = [f"{words}: {interval(spread, whole)}" for spread, words in counts if not spread.is_nothing]
    if lines:
        yield items(lines)


def _is_told(wait: Waiting) -> bool:
    """Whether a wait is long enough to speak of, in one draw of ten at least."""
    return wait.seconds.p90 is None or wait.seconds.p90 >= 1


def _window(work: WorkPlan, until: float, drawn: Drawn) -> Markup:
    moments = tuple(Moment(each.at, each.p10, each.p50, each.p90) for each in work.window)
    extent = Extent(0.0, min(until, moments[-1].at) or until, drawn.clock)
    marks = [_mark("starts", work.start)]
    if work.ends:
        marks.append(_mark("ends", work.end))
    word = {"fleet": "replicas", "gang": "workers"}.get(work.kind, "window")
    levels = ((float(work.most), f"{word} at most {work.most}"),)
    title = f"Pods of {work.name} over time"
    value = BandChart(title, "pods", moments, extent, tuple(marks), levels, drawn.paint)
    return figure(band(value, f"{drawn.name}-window"), "Pods over time")


def _mark(does: str, spread: Spread) -> BandMark:
    return BandMark(f"{does} after {half(spread, span_words)}", spread.p10, spread.p50, spread.p90)


def _waits(work: WorkPlan, drawn: Drawn) -> Markup:
    waits = [each for each in work.waits if _is_told(each)]
    size, unit = _unit(max((each.seconds.p90 or each.seconds.p50 or 0.0) for each in waits))
    rows = tuple(
        BarRow(
            f"{each.reason}: {each.message}" if each.message else each.reason,
            ((drawn.paint, (each.seconds.p50 or 0.0) / size),),
            interval(each.seconds, span_words),
            None if each.seconds.p90 is None else each.seconds.p90 / size,
        )
        for each in waits
    )
    chart = bars(Bars(f"For what {work.name} waits", rows, unit), f"{drawn.name}-waits")
    words = "The bar is the middle of the draws, the line p90. Reasons may hold at the same time."
    return together(figure(chart, "Waits"), paragraph(words, "soft"))


def _unit(seconds: float) -> tuple[float, str]:
    """In what a span of time is shown on a scale."""
    if seconds >= 3 * HOUR:
        return HOUR, "hours"
    return (MINUTE, "minutes") if seconds >= 3 * MINUTE else (1.0, "seconds")


def _costs(work: WorkPlan, plan: Plan) -> Markup:
    """Hours by card, and what they cost where any card has a price."""
    words = money(plan.currency)
    titles = ("card", "GPU-hours", "price of an hour", "cost")
    rows = [
        (
            each.card,
            interval(each.hours, hours),
            "–" if each.price is None else words(each.price),
            "–" if each.price is None else interval(_times(each.hours, each.price), words),
        )
        for each in work.cards
    ]
    total = "–" if work.money is None else interval(work.money, words)
    rows += [("all", interval(work.gpu_hours, hours), "", total)] if len(rows) > 1 else []
    shown_columns = 4 if any(each.price is not None for each in work.cards) else 2
    return shown(
        Table(
            titles[:shown_columns],
            tuple(row[:shown_columns] for row in rows),
            frozenset(range(1, shown_columns)),
        )
    )


def _times(spread: Spread, by: float) -> Spread:
    p10, p50, p90 = (None if each is None else each * by for each in (spread.p10, spread.p50, spread.p90))
    return Spread(p10, p50, p90)
