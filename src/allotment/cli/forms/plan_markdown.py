"""A plan for a pull request: a verdict, a table of the works, and the rest to unfold.

Whatever comes from files, clusters and prices is text, and stays it: see ``markdown``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from allotment.cli.forms.markdown import plain, rows
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
    moments,
    nothing_words,
    one_line,
    payer_words,
    risk_words,
    scheduler_words,
    set_back_words,
    title,
)
from allotment.cli.pictures import sparkline
from allotment.planning.plan.plan import Becomes, Plan, WorkPlan

_TITLES = ("work", "starts", "ends", "GPU-hours", "costs")


def as_markdown(plan: Plan, now: float) -> str:
    """The plan as a comment of a pull request."""
    return "\n".join(_lines(plan, now)).rstrip()


def _lines(plan: Plan, now: float) -> Iterator[str]:
    yield f"### {plain(heading(plan))}"
    yield ""
    if plan.is_nothing:
        yield f"**{plain(nothing_words(plan))}**"
        yield ""
        yield from _list((*plan.changes.notes, *plan.notes))
        return
    for held in plan.held:
        yield f"- **{plain(bound_words(plan, held, now))}**"
    if plan.held:
        yield ""
    if plan.works:
        yield from rows(_TITLES, [_row(plan, work, now) for work in plan.works], right=False)
        yield ""
        yield from _list([line for work in plan.works for line in _said(plan, work)])
        yield ""
        yield from _paying(plan)
    yield from _list([f"beware: {each}" for each in plan.caveats])
    yield from _unfolded("what changes", [f"against {plan.changes.against}", *_changes(plan)])
    risks = [f"{each.words}: {risk_words(each)}" for each in plan.risks]
    yield from _unfolded("what could make this wrong, and when it ends then", risks)
    yield from _unfolded("what this rests on", [assumption_words(each) for each in plan.assumptions])
    yield from _list((*plan.changes.notes, *plan.notes))
    yield ""
    yield f"_{plain(drawn(plan, now))}_"


def _paying(plan: Plan) -> Iterator[str]:
    if all(work.never for work in plan.works):
        return
    yield "**who pays**"
    yield ""
    payers = [f"{each.kind} {each.name} of team {each.team}: {payer_words(each)}" for each in plan.payers]
    yield from _list([*payers, *scheduler_words(plan)])
    yield ""


def _row(plan: Plan, work: WorkPlan, now: float) -> Sequence[str]:
    if work.never:
        return title(work), "never", "never", "", ""
    return (
        title(work),
        begins(plan, work, now),
        moments(plan, work.end, now) if work.ends else "does not end",
        amounts(work.gpu_hours),
        "" if work.money is None or not work.cards else amounts(work.money, plan.currency),
    )


def _said(plan: Plan, work: WorkPlan) -> Iterator[str]:
    if fits := fits_words(plan, work):
        yield f"{work.name}: {fits}"
    if work.never:
        yield f"{work.name} never runs: {work.never}"
    if work.waits_for:
        yield f"{work.name} waits for others: {work.waits_for}"
    if work.fits is not None and (work.waits_for or not work.fits.would):
        yield from (f"{work.name} would fit: {each.words}" for each in work.fits.remedies[:2])
    if work.window and not work.never:
        yield f"{work.name} runs {sparkline([band.p50 for band in work.window])}"
    set_back = set_back_words(work)
    if set_back:
        yield f"{work.name} is itself taken back {set_back}"
    if work.basis:
        yield f"{work.name} rests on {work.basis}"


def _changes(plan: Plan) -> list[str]:
    changing = [each for each in plan.changes.changes if each.becomes is not Becomes.UNCHANGED]
    return [f"{MARKS[each.becomes]} {each.name}: {change_words(each)}" for each in changing]


def _list(lines: Sequence[str]) -> Iterator[str]:
    yield from (f"- {plain(one_line(line))}" for line in lines)


def _unfolded(summary: str, lines: Sequence[str]) -> Iterator[str]:
    """Lines to unfold; the summary is a line of HTML, and so is never text from outside."""
    if not lines:
        return
    yield f"<details><summary>{summary}</summary>"
    yield ""
    yield from _list(lines)
    yield ""
    yield "</details>"
    yield ""
