"""A plan as text: what changes, then for each work which cards, when and how much, then who pays, and why.

One campaign is one screen. What a newcomer looks for comes first, what an expert asks after comes below.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import click

from allotment.cli.columns import folded
from allotment.cli.forms.course import course_lines, when_line
from allotment.cli.forms.plan_words import (
    MARKS,
    amounts,
    assumption_words,
    begins,
    bound_words,
    change_words,
    drawn,
    fits_words,
    heading,
    late_words,
    many,
    moments,
    money_words,
    nothing_words,
    one_line,
    payer_words,
    risk_words,
    scheduler_words,
    set_back_words,
    title,
    uses_words,
)
from allotment.cli.pictures import WIDEST, sparkline
from allotment.cli.shared import safe
from allotment.cli.words import span
from allotment.pictures.counts import counted
from allotment.planning.plan.plan import Becomes, Change, Plan, WorkPlan
from allotment.simulation.outcome import Outcome

MOST: Final = 12
FEW_ASSUMPTIONS: Final = 6
LEGEND: Final = "start, and end: ├ p10 ● p50 ┤ p90"
_COLOURS: Final = {
    Becomes.NEW: "green",
    Becomes.CHANGED: "yellow",
    Becomes.GONE: "red",
    Becomes.REFUSED: "red",
}


def as_text(plan: Plan, now: float, width: int | None) -> list[str]:
    """The plan's lines, on so wide a terminal."""
    return [piece for line in _lines(plan, now) for piece in folded(line, width)]


def _lines(plan: Plan, now: float) -> Iterator[str]:
    if plan.is_nothing:
        yield click.style(safe(nothing_words(plan)), fg="green")
        yield from (f"  {_change_line(each)}" for each in plan.changes.changes if each.words)
        yield from (f"note: {safe(one_line(note))}" for note in (*plan.changes.notes, *plan.notes))
        return
    yield click.style(safe(heading(plan)), bold=True)
    yield f"  {safe(drawn(plan, now))}"
    yield from _changes(plan)
    for work in plan.works:
        yield ""
        yield from _work(plan, work, now)
    if plan.course is not None:
        yield from _course(plan, plan.course)
    if plan.works:
        yield from _below(plan, now)
    for caveat in plan.caveats:
        yield click.style(f"beware: {safe(caveat)}", fg="yellow")
    yield from (f"note: {safe(one_line(note))}" for note in (*plan.changes.notes, *plan.notes))


def _changes(plan: Plan) -> Iterator[str]:
    changing = [each for each in plan.changes.changes if each.becomes is not Becomes.UNCHANGED]
    same = len(plan.changes.changes) - len(changing)
    yield ""
    yield f"what changes, against {safe(plan.changes.against)}"
    yield from (f"  {_change_line(each)}" for each in changing[:MOST])
    if len(changing) > MOST:
        yield f"  … and {len(changing) - MOST:,} more"
    if same:
        yield f"  {MARKS[Becomes.UNCHANGED]} {same:,} unchanged"


def _change_line(change: Change) -> str:
    mark = click.style(MARKS[change.becomes], fg=_COLOURS.get(change.becomes))
    return f"{mark} {safe(change.name)}: {safe(change_words(change))}"


def _work(plan: Plan, work: WorkPlan, now: float) -> Iterator[str]:
    yield click.style(safe(title(work)), bold=True)
    yield from (f"  {name:<9} {safe(words)}" for name, words in _rows(plan, work, now) if words)


def _rows(plan: Plan, work: WorkPlan, now: float) -> Iterator[tuple[str, str]]:
    yield "cards", fits_words(plan, work)
    if work.fits is not None and (work.never or work.waits_for or not work.fits.would):
        yield from (("try", each.words) for each in work.fits.remedies[:2])
    if work.never:
        yield "never", one_line(work.never)
        return
    if work.waits_for:
        yield "waits for", f"others: {one_line(work.waits_for)}"
    yield "starts", begins(plan, work, now)
    if work.ends:
        yield "ends", moments(plan, work.end, now)
    if work.late is not None:
        yield "deadline", late_words(work.late)
    if work.window:
        until = work.window[-1].at
        line = sparkline([band.p50 for band in work.window])
        most = max(band.p90 for band in work.window)
        if work.ends:
            yield "when", f"{when_line(work.start, work.end, until):<{WIDEST}} {LEGEND}"
        yield "runs", f"{line} {counted(round(most), 'pod')} at most, over {span(until)}"
    if work.cards:
        yield "uses", uses_words(work.cards)
    yield "costs", money_words(plan, work)
    for wait in work.waits:
        if wait.seconds.p50 is None or wait.seconds.p50 >= 1:
            seconds = "beyond the horizon" if wait.seconds.p50 is None else span(wait.seconds.p50)
            yield "waits", f"{seconds}: {one_line(wait.message or wait.reason)}"
    yield "taken", f"back {back}" if (back := set_back_words(work)) else ""
    if not work.failed.is_nothing:
        yield "fails", many(work.failed, "volume")
    yield "rests on", work.basis


def _course(plan: Plan, course: Outcome) -> Iterator[str]:
    for number, line in enumerate(course_lines(course, [work.name for work in plan.works])):
        if not number:
            yield ""
        yield safe(line)


def _below(plan: Plan, now: float) -> Iterator[str]:
    if len(plan.works) > 1:
        yield ""
        money = f", {amounts(plan.money, plan.currency)}" if plan.money is not None else ""
        hours = amounts(plan.gpu_hours, "GPU-hours")
        yield safe(f"all of it ends {moments(plan, plan.end, now)}; {hours}{money}")
    for held in plan.held:
        colour = "green" if held.is_kept else "red"
        yield click.style(safe(bound_words(plan, held, now)), fg=colour)
    if all(work.never for work in plan.works):
        return
    yield ""
    yield "who pays"
    payers = [f"{each.kind} {each.name} (team {each.team}): {payer_words(each)}" for each in plan.payers]
    yield from _list([*payers, *scheduler_words(plan)], MOST)
    if plan.risks:
        yield ""
        yield "what could make this wrong (each was tried), and when it ends then"
        yield from _list([f"{each.words}: {risk_words(each)}" for each in plan.risks], MOST)
    if plan.assumptions:
        yield ""
        yield "what this rests on"
        yield from _list([assumption_words(each) for each in plan.assumptions], FEW_ASSUMPTIONS)


def _list(lines: Sequence[str], most: int) -> Iterator[str]:
    yield from (f"  {safe(line)}" for line in lines[:most])
    if len(lines) > most:
        yield f"  … and {len(lines) - most:,} more (-o json, -o markdown and -o html have all)"
