"""The answers of `allot why` as text and as JSON: the sentence, the funnel, and what would help."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any, Final

import click

from allotment.cli.shared import safe
from allotment.cli.watching.notices import progress
from allotment.cli.why.asked import Answer
from allotment.events.model import CampaignState, CampaignView
from allotment.events.programs import ProgramState, ProgramView
from allotment.needs.words import left_words
from allotment.pictures.counts import counted
from allotment.planning.why.steps import Lost, Stage, Step
from allotment.planning.why.trying import Change
from allotment.planning.why.why import Alternative, State, Why

FORMAT_VERSION: Final = 1
MOST_LOST: Final = 6
COLOURS: Final = {State.FITS: "green", State.WAITS: "yellow", State.NEVER: "red"}
_UNDER_WAY: Final = {CampaignState.RUNNING, CampaignState.PREPARING}


def as_text(answers: list[Answer], world: str) -> Iterator[str]:
    """Everything in words, a line each."""
    for place, answer in enumerate(answers):
        if place:
            yield ""
        yield from _answer(answer, answer.world or world)


def as_data(answers: list[Answer], world: str) -> dict[str, Any]:
    """Everything as plain data."""
    return {
        "format_version": FORMAT_VERSION,
        "world": world,
        "answers": [_answer_data(answer) for answer in answers],
    }


def _answer(answer: Answer, world: str) -> Iterator[str]:
    name = click.style(safe(answer.name), bold=True)
    told = answer.told
    if told is None:
        yield from (f"{name}: {safe(words)}" for words in answer.given_up)
        return
    if answer.is_over and answer.run is not None:
        yield f"{name}: {click.style(safe(_run_words(answer.run)), fg=COLOURS[State.FITS])}"
        yield f"  its need ({safe(told.asks)}), held against {safe(world)}: {safe(told.sentence)}"
        return
    if answer.all_runs and answer.run is not None:
        words = f"{_run_words(answer.run)}; nothing of it waits"
        yield f"{name}: {click.style(safe(words), fg=COLOURS[State.FITS])}"
        yield f"  asked for: {safe(told.asks)} ({answer.kind}), of {safe(world)}"
        yield from ([f"  its share: {safe(answer.share)}"] if answer.share else [])
        return
    state, _, rest = told.sentence.partition(": ")
    yield f"{name}: {click.style(safe(state), fg=COLOURS[told.state])}{': ' if rest else ''}{safe(rest)}"
    yield f"  asked for: {safe(told.asks)} ({answer.kind}), of {safe(world)}"
    if answer.run is not None:
        yield f"  its run: {safe(_run_words(answer.run))}"
    if answer.share:
        yield f"  its share: {safe(answer.share)}"
    for alternative in told.alternatives:
        yield ""
        if len(told.alternatives) > 1:
            yield f"  {safe(alternative.name)}: {safe(alternative.asks)}"
        yield from (f"  {line}" for line in funnel_lines(alternative))
    if told.state is not State.FITS:
        yield ""
        yield from change_lines(told)
    notes = [*answer.given_up, *told.notes]
    if notes:
        yield ""
    yield from (f"note: {safe(note)}" for note in notes)


def _run_words(view: CampaignView | ProgramView) -> str:
    """How it stands, and what its engine says of why it waits."""
    if isinstance(view, ProgramView):
        up = f", {len(view.up)} of {view.most} up" if view.state is ProgramState.RUNNING else ""
        return f"{view.state}{up}" + (f": {view.message}" if view.message else "")
    waits = view.waits if view.state in _UNDER_WAY else None
    state = "waits" if waits else str(view.state)
    why = waits or (view.message if view.state in {CampaignState.STOPPED, CampaignState.SUSPENDED} else None)
    return f"{state}, {progress(view, time.time())}" + (f": {why}" if why else "")


def funnel_lines(alternative: Alternative) -> Iterator[str]:
    """Where devices fall out, and what those have."""
    steps = alternative.steps
    width = max(len(f"{step.left:,}") for step in steps)
    for step in steps:
        yield f"{step.left:>{width},} {safe(left_words(step.left, step.words))}"
        yield from (f"{' ' * width}   {line}" for line in _lost_lines(step))
    if alternative.fault is not None:
        yield click.style(f"error: {safe(alternative.fault)}", fg="red")


def _lost_lines(step: Step) -> Iterator[str]:
    sign = "" if step.stage in {Stage.NODE, Stage.CONSTRAINT} else "-"
    for each in step.lost[:MOST_LOST]:
        yield click.style(f"{sign}{each.count:,} {safe(each.card)}{_why(each)}", dim=True)
    rest = step.lost[MOST_LOST:]
    if rest:
        more = sum(each.count for each in rest)
        yield click.style(f"{sign}{more:,} more, for {counted(len(rest), 'further reason')}", dim=True)


def _why(lost: Lost) -> str:
    return f": {safe(lost.why)}" if lost.why else ""


def change_lines(told: Why) -> Iterator[str]:
    """What would make it fit, the smallest first."""
    if not told.changes:
        yield "  no change of one thing or two makes it fit here"
        return
    yield "  what would make it fit (each was tried):"
    for place, change in enumerate(told.changes, 1):
        yield f"  {place}. {safe(change.words)}{_outcome(change)}"


def _outcome(change: Change) -> str:
    first = change.devices[0].device if change.devices else "no device"
    more = f" and {len(change.devices) - 1} more" if len(change.devices) > 1 else ""
    where = safe(f"{first}{more} of {change.node}")
    then = f" -> {where}" if change.now else f" -> {where}, once it is free"
    return click.style(then, dim=True)


def _answer_data(answer: Answer) -> dict[str, Any]:
    told = answer.told
    base = {"name": answer.name, "kind": answer.kind, "given_up": list(answer.given_up)}
    base |= {"world": answer.world}
    run = _run_data(answer.run)
    if told is None:
        return {**base, "state": "no-claim", "run": run}
    nothing_waits = answer.is_over or answer.all_runs
    return {
        **base,
        **answer_data(told),
        "run": run,
        "share": answer.share or None,
        "nothing_waits": nothing_waits,
    }


def answer_data(told: Why) -> dict[str, Any]:
    """What there is to say of devices, as plain data."""
    placed = told.placed
    return {
        "state": str(told.state),
        "sentence": told.sentence,
        "asks": told.asks,
        "cause": None if told.cause is None else {**asdict(told.cause), "kind": str(told.cause.kind)},
        "placed": None
        if placed is None
        else {"node": placed.node, "devices": [str(each) for each in placed.allocation.ids]},
        "alternatives": [alternative_data(each) for each in told.alternatives],
        "changes": [remedy_data(each) for each in told.changes],
        "notes": list(told.notes),
    }


def _run_data(view: CampaignView | ProgramView | None) -> dict[str, Any] | None:
    if view is None:
        return None
    waits = view.waits if isinstance(view, CampaignView) else None
    return {"state": str(view.state), "waits": waits, "message": view.message}


def alternative_data(each: Alternative) -> dict[str, Any]:
    """One way to meet a claim, with its funnel, as plain data."""
    return {
        "name": each.name,
        "asks": each.asks,
        "count": each.count,
        "would_do": each.would,
        "free": each.free,
        "fault": each.fault,
        "funnel": [
            {
                "stage": str(step.stage),
                "clause": step.words,
                "expression": step.text or None,
                "left": step.left,
                "lost": [
                    {"devices": lost.count, "card": lost.card, "why": lost.why, "nodes": list(lost.nodes)}
                    for lost in step.lost
                ],
            }
            for step in each.steps
        ],
    }


def remedy_data(change: Change) -> dict[str, Any]:
    """A change that was tried, as plain data."""
    return {
        "kind": str(change.kind),
        "words": change.words,
        "fits_now": change.now,
        "node": change.node,
        "devices": [str(each) for each in change.devices],
        "ended": [each.who for each in change.ended],
        "together": change.together,
        "claim": change.claim.to_dict(),
    }
