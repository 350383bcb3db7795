"""Phrases of a plan that its forms share: intervals of time, money and counts, and what becomes of what."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final

from allotment.cli.words import clock, local, span
from allotment.pictures.counts import counted
from allotment.planning.plan.plan import Becomes, CardUse, Change, Held, Payer, Plan, Risk, WorkPlan
from allotment.planning.scenes.values import Assumption
from allotment.simulation.quantiles import Spread

MARKS: Final = {
    Becomes.NEW: "+",
    Becomes.CHANGED: "~",
    Becomes.GONE: "-",
    Becomes.REFUSED: "!",
    Becomes.UNCHANGED: "=",
}
AT_ONCE: Final = 1.0
_SCHEDULERS: Final = {
    "default": "the default scheduler",
    "kueue": "Kueue",
    "kai": "KAI",
    "both": "Kueue and KAI",
    "local": "its own engine",
}
_UNIT: Final = {"campaign": "volume", "fleet": "replica", "gang": "worker"}


def one_line(text: str) -> str:
    """A message that may have several lines on one."""
    return " ".join(text.split())


def heading(plan: Plan) -> str:
    """What is planned, where, and by whom."""
    return f"plan for team {plan.team}, on {plan.world}, placed by {scheduler_name(plan)}"


def drawn(plan: Plan, now: float) -> str:
    """As of when, and how often it was played."""
    at = f"as of {clock(plan.at, now)} {local(plan.at):%Z}".rstrip()
    if not plan.draws:
        return at
    seeds = f"seeds {plan.seed} to {plan.seed + plan.draws - 1}"
    times = "once" if plan.draws == 1 else f"{plan.draws:,} times"
    meaning = "p50 is the middle, p90 is kept by nine of ten"
    return f"played {times} ({seeds}); {meaning}; {at}"


def nothing_words(plan: Plan) -> str:
    """That there is nothing to do, and against what that is."""
    return f"nothing to do, held against {plan.changes.against}" if plan.changes.changes else "nothing to do"


def change_words(change: Change) -> str:
    """What becomes of one thing, and how."""
    return "; ".join(change.words) or str(change.becomes)


def title(work: WorkPlan) -> str:
    """What a work is: its size and its window."""
    if work.kind == "campaign":
        left = "" if work.left == work.units else f" of {work.units:,}"
        size = f"{work.left:,}{left} {'volume' if work.units == 1 else 'volumes'}"
        return f"campaign {work.name}: {size}{_pages(work)}, window {_range(work)}"
    unit = _UNIT[work.kind]
    return f"{work.kind} {work.name}: {_range(work)} {unit}{'' if work.most == 1 else 's'}"


def _pages(work: WorkPlan) -> str:
    if not work.uncounted:
        return f", {counted(work.pages, 'page')}"
    known = f", {work.pages:,} pages in some" if work.pages else ""
    return f"{known} (how many pages {'the others' if known else 'they'} have nobody knows yet)"


def fits_words(plan: Plan, work: WorkPlan) -> str:
    """Which cards would do, and what stands first in the way of the others; nothing where none are known."""
    if work.fits is None:
        return "needs no card" if plan.gpus else ""
    fits = work.fits
    cards = ", ".join(f"{count:,} x {card}" for card, count in fits.cards[:4])
    told = fits.sentence + (f" ({cards})" if cards and fits.would else "")
    if fits.would and fits.free < fits.would:
        told += f", {fits.free:,} of them free now"
    if work.waits_for or not fits.obstacle or work.never == fits.obstacle:
        return told
    return f"{told}; {fits.obstacle}"


def moment(plan: Plan, seconds: float | None, now: float, *, begins: bool = False) -> str:
    """A moment of the plan: how long until it, and by the clock; what begins within a second does at once."""
    if seconds is None:
        return f"not within {span(plan.until)}"
    if begins and seconds < AT_ONCE:
        return "at once"
    return f"in {span(seconds)} ({_by_the_clock(plan.at + seconds, now)})"


def begins(plan: Plan, work: WorkPlan, now: float) -> str:
    """When a work begins; of one that does not, what that hangs on."""
    return moments(plan, work.start, now, begins=True) + if_they_stay(plan, work)


def if_they_stay(plan: Plan, work: WorkPlan) -> str:
    """That a work does not begin if others stay, and how to say when they end."""
    known = plan.others_stay
    if known is None or work.never or work.start.p50 is not None:
        return ""
    told = f" ({known.remedy})" if known.remedy else ""
    return f", if others stay{told}"


def _by_the_clock(at: float, now: float) -> str:
    """When the clock shows what is not before the moment: where it shows no seconds, up to the minute."""
    shows_seconds = local(at).date() == local(now).date()
    return clock(math.ceil(round(at, 3)) if shows_seconds else math.ceil(at / 60) * 60, now)


def moments(plan: Plan, spread: Spread, now: float, *, begins: bool = False) -> str:
    """When, at the half and nine tenths."""
    middle, late = (moment(plan, each, now, begins=begins) for each in (spread.p50, spread.p90))
    return f"{middle}, p90 {late}" if middle != late else middle


def amounts(spread: Spread, unit: str = "") -> str:
    """A figure in the middle, and what nine of ten draws keep to: ``5,565 EUR (p90 7,633)``."""
    middle, most = _figure(spread.p50), _figure(spread.p90)
    return f"{middle}{f' {unit}' if unit else ''}" + (f" (p90 {most})" if most != middle else "")


def many(spread: Spread, word: str) -> str:
    """A figure of what is counted: ``1 page``, ``3 pages (p90 5)``."""
    return amounts(spread, word if _figure(spread.p50) == "1" else f"{word}s")


def uses_words(uses: tuple[CardUse, ...]) -> str:
    """Which cards, for how many hours."""
    return ", ".join(f"{amounts(use.hours, 'h')} of {use.card or 'a card of no name'}" for use in uses)


def money_words(plan: Plan, work: WorkPlan) -> str:
    """What a work costs; empty where no price is known."""
    if work.money is None or not work.cards:
        return ""
    prices = ", ".join(f"{use.price:g} an hour of {use.card}" for use in work.cards if use.price is not None)
    return f"{amounts(work.money, plan.currency)}" + (f", at {prices}" if prices else "")


def set_back_words(work: WorkPlan) -> str:
    """How often it is itself taken back; empty where it is not."""
    if work.reclaimed.is_nothing and work.pages_lost.is_nothing:
        return ""
    return f"{many(work.reclaimed, 'time')}, {many(work.pages_lost, 'page')} done again"


def payer_words(payer: Payer) -> str:
    """How somebody pays."""
    parts = []
    if not payer.reclaimed.is_nothing:
        parts.append(f"taken back {many(payer.reclaimed, 'time')}")
    if not payer.pages_lost.is_nothing:
        parts.append(f"{many(payer.pages_lost, 'page')} done again")
    later = _later(payer)
    parts += [later] if later else []
    if not parts:
        parts.append("taken back or later in few of the draws")
    return f"{', '.join(parts)} ({in_words(payer.draws)})"


def risk_words(risk: Risk) -> str:
    """By how much something moves the end."""
    if risk.later.p50 is None:
        return "it does not end within the horizon any more"
    if risk.draws == 1:
        return f"{signed(risk.later.p50)} in the one draw in which it was tried"
    return f"{signed(risk.later.p50)}, p90 {signed(risk.later.p90)}"


def signed(seconds: float | None) -> str:
    """A span by which something is later, or earlier."""
    if seconds is None:
        return "beyond the horizon"
    if abs(seconds) < 1:
        return "no later"
    return f"{span(abs(seconds))} {'later' if seconds > 0 else 'earlier'}"


def bound_words(plan: Plan, held: Held, now: float) -> str:
    """Whether a bound is kept, and by how much."""
    kept = "kept" if held.is_kept else "missed"
    if held.words == "budget":
        reached = "no price is known" if held.reached is None else f"p90 is {_money(plan, held.reached)}"
        return f"budget of {_money(plan, held.limit)} {kept}: {reached}"
    chance = f", {late_words(held.missed)}"
    limit = f"deadline in {span(held.limit)} ({clock(plan.at + held.limit, now)})"
    return f"{limit} {kept}: p90 ends {moment(plan, held.reached, now)}{chance}"


def late_words(missed: float) -> str:
    """In how many of the draws a deadline is missed."""
    return f"missed {in_words(missed)}"


def in_words(share: float) -> str:
    """A share of the draws."""
    if share in {0.0, 1.0}:
        return f"in {'all' if share else 'none'} of the draws"
    return f"in {share:.0%} of the draws"


def assumption_words(each: Assumption) -> str:
    """What is assumed, and on what basis."""
    maturity = f", {each.maturity}" if each.maturity is not None else ""
    said = f": {each.said}" if each.said else ""
    return f"{each.subject}: {each.value} ({each.source}{maturity}{said})"


def scheduler_words(plan: Plan) -> Iterator[str]:
    """Where nobody is there who could pay."""
    if plan.payers:
        return
    if not plan.others and plan.others_stay is not None:
        yield f"nobody: {plan.others_stay.subject}, and what they have is not taken from them"
    elif not plan.others:
        yield "nobody: nothing else is known to run or wait there"
    else:
        yield f"nobody: of {counted(plan.others, 'other work')} none is taken back or a minute later"


def scheduler_name(plan: Plan) -> str:
    """Who places, by the name that people know it by."""
    return _SCHEDULERS.get(plan.scheduler, plan.scheduler)


def _range(work: WorkPlan) -> str:
    return f"{work.most:,}" if work.least == work.most else f"{work.least:,}..{work.most:,}"


def _later(payer: Payer) -> str:
    if payer.later.is_nothing:
        return ""
    if payer.kind == "fleet":
        hours = Spread(*(None if each is None else each / 3600 for each in _of(payer.later)))
        return f"{amounts(hours, 'GPU-hours')} less"
    return f"ends {signed(payer.later.p50)} (p90 {signed(payer.later.p90)})"


def _of(spread: Spread) -> tuple[float | None, float | None, float | None]:
    return spread.p10, spread.p50, spread.p90


def _money(plan: Plan, amount: float) -> str:
    return f"{_figure(amount)} {plan.currency}"


def _figure(value: float | None) -> str:
    if value is None:
        return "more than the horizon holds"
    if value >= 100 or round(value, 1) == round(value) >= 10 or value == round(value):
        return f"{value:,.0f}"
    return f"{value:,.1f}" if value >= 10 else f"{value:.2g}"
