"""What a plan's forms make of names and messages that want to be marks, mentions, escapes or HTML."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allotment.cli.forms.plan_data import as_json
from allotment.cli.forms.plan_markdown import as_markdown
from allotment.cli.forms.plan_text import as_text
from allotment.cli.forms.plan_words import amounts, many, moment, risk_words
from allotment.cli.pages.plan import plan_page
from allotment.planning.plan.plan import (
    Becomes,
    CardUse,
    Change,
    Changes,
    Fits,
    Held,
    Payer,
    Plan,
    Risk,
    Waiting,
    WorkPlan,
)
from allotment.planning.scenes.values import Assumption, Source
from allotment.planning.why.why import State
from allotment.simulation.quantiles import Band, Spread

HOSTILE: Final = (
    "<img src=x onerror=alert(1)> @team |cell| [a](http://x) \x1b[31mred\x1b[0m\r\nnew `c` **b** \u202e#1"
)
NOW: Final = 1_800_000_000.0
HOUR: Final = Spread(3600.0, 7200.0, 10_800.0)
BEYOND: Final = Spread(3600.0, None, None)


def plan_with(text: str) -> Plan:
    """A plan in which everything that comes from outside is this text."""
    work = WorkPlan(
        name=text,
        team=text,
        kind="campaign",
        units=10,
        left=7,
        pages=70,
        most=4,
        fits=Fits(text, State.FITS, text, 16, 8, 4, ((text, 8),), text, notes=(text,)),
        start=HOUR,
        end=HOUR,
        late=0.25,
        window=(Band(0.0, 1, 2, 3), Band(3600.0, 0, 0, 1)),
        cards=(CardUse(text, HOUR, 2.5),),
        gpu_hours=HOUR,
        money=HOUR,
        waits=(Waiting(text, text, HOUR),),
        reclaimed=HOUR,
        pages_lost=HOUR,
        failed=HOUR,
        basis=text,
    )
    return Plan(
        world=text,
        at=NOW,
        scheduler=text,
        team=text,
        changes=Changes(
            text, (Change(text, Becomes.NEW, (text,)), Change(text, Becomes.REFUSED, (text,))), (text,)
        ),
        works=(
            work,
            replace(work, never=text),
            replace(work, kind="fleet", end=BEYOND),
            replace(work, end=BEYOND),
        ),
        draws=40,
        seed=1,
        until=86_400.0,
        end=HOUR,
        gpu_hours=HOUR,
        money=HOUR,
        currency=text,
        payers=(
            Payer(text, text, "campaign", HOUR, HOUR, BEYOND, 0.5),
            Payer(text, text, "fleet", later=HOUR, draws=0.1),
        ),
        others=3,
        assumptions=(Assumption(text, text, Source.GUESS, text),),
        risks=(Risk(text, text, HOUR, 6), Risk(text, text, BEYOND, 1)),
        caveats=(text,),
        notes=(text,),
        held=(Held("budget", 100.0, None, False, 1.0), Held("deadline", 7200.0, 10_800.0, False, 0.2)),
    )


def test_a_terminal_is_not_steered() -> None:
    for width in (None, 60, 100):
        lines = as_text(plan_with(HOSTILE), NOW, width)
        bare = re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(lines))
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f\u202e]", bare)
        assert "\x1b[31mred" not in "\n".join(lines)


def test_a_message_of_several_lines_is_one() -> None:
    two = "node(s) did not match.\n2 node(s) were full."
    plan = plan_with("words")
    works = tuple(replace(each, never=each.never and two) for each in plan.works)
    waiting = replace(works[0], waits=(Waiting("reason", two, HOUR),))
    text = "\n".join(as_text(replace(plan, works=(waiting, *works[1:])), NOW, None))
    assert "\\x0a" not in text
    assert text.count("did not match. 2 node(s)") == 2


@pytest.mark.parametrize(("gpus", "is_said"), [((("L4", 2),), True), ((), False)])
def test_that_no_card_is_needed_is_said_where_cards_are_known(
    gpus: tuple[tuple[str, int], ...], is_said: bool
) -> None:
    plan = plan_with("words")
    plan = replace(plan, gpus=gpus, works=(replace(plan.works[0], fits=None),))
    for text in ("\n".join(as_text(plan, NOW, None)), as_markdown(plan, NOW)):
        assert ("needs no card" in text) is is_said


def test_a_pull_request_shows_it_and_does_nothing() -> None:
    found = as_markdown(plan_with(HOSTILE), NOW)
    assert "<img" not in found
    assert "@team" not in found
    assert "**b**" not in found
    assert not re.search(r"(?<!\\)`", found)
    assert "](http" not in found.replace("\\](", "")
    assert "\r" not in found
    assert "\u202e" not in found
    assert not re.search("\x1b", found)
    table = [line for line in found.splitlines() if line.startswith("| ")]
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in table} == {6}


def test_a_page_holds_no_marks_of_it() -> None:
    assert "<img" not in plan_page(plan_with(HOSTILE))


@given(st.text(max_size=40))
def test_no_text_breaks_any_form(text: str) -> None:
    plan = plan_with(text)
    assert json.loads(as_json(plan))["works"][0]["name"] == text
    lines = as_markdown(plan, NOW).splitlines()
    table = [line for line in lines if line.startswith("| ")]
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in table} == {6}
    assert as_text(plan, NOW, 80)


@pytest.mark.parametrize(
    ("payer", "words"),
    [
        (
            Payer("served", "museum", "fleet", later=Spread(0, 7200.0, 18_000.0), draws=0.8),
            "fleet served (team museum): 2 GPU-hours (p90 5) less (in 80% of the draws)",
        ),
        (
            Payer(
                "maps", "museum", "campaign", Spread(0, 2, 4), Spread(0, 1, 2), Spread(0, 3600.0, 7200.0), 1.0
            ),
            "taken back 2 times (p90 4), 1 page (p90 2) done again, ends 1 h later (p90 2 h later) (in all",
        ),
    ],
)
def test_who_pays_is_told_by_name(payer: Payer, words: str) -> None:
    plan = replace(plan_with("x"), payers=(payer,))
    assert words in "\n".join(as_text(plan, NOW, None))


def test_what_never_runs_has_nobody_who_pays() -> None:
    plan = plan_with("x")
    never = replace(plan, works=tuple(each for each in plan.works if each.never))
    for shown, is_told in ((plan, True), (never, False)):
        assert ("who pays" in as_text(shown, NOW, None)) is is_told
        assert ("**who pays**" in as_markdown(shown, NOW)) is is_told
        assert ("Who pays" in plan_page(shown)) is is_told


@pytest.mark.parametrize(
    ("missed", "words"),
    [
        (0.0, "missed in none of the draws"),
        (0.25, "missed in 25% of the draws"),
        (1.0, "missed in all of the draws"),
    ],
)
def test_a_deadline_is_told_by_the_draws_that_miss_it(missed: float, words: str) -> None:
    plan = plan_with("x")
    work = replace(plan.works[0], late=missed)
    told = as_text(replace(plan, works=(work,), held=()), NOW, None)
    assert f"  deadline  {words}" in told


def test_an_end_on_another_day_is_not_shown_before_it_comes() -> None:
    plan = plan_with("x")
    shown = moment(plan, 86_400.0 + 61.0, NOW).partition(" (")
    day = datetime.fromtimestamp(NOW + 86_400.0 + 61.0, UTC).astimezone()
    assert shown[0] == "in 1 d 1 h"
    assert shown[2] == f"{(day + timedelta(seconds=59)):%Y-%m-%d %H:%M})"


def test_a_line_of_intervals_says_what_its_signs_are_and_of_which_zone_its_clock_is() -> None:
    told = "\n".join(as_text(plan_with("x"), NOW, None))
    assert "start, and end: ├ p10 ● p50 ┤ p90" in told
    zone = datetime.fromtimestamp(NOW, UTC).astimezone()
    assert f"as of {zone:%H:%M:%S} {zone:%Z}" in told


@pytest.mark.parametrize(
    ("draws", "words"),
    [(6, "1 h later, p90 1 h 30 min later"), (1, "1 h later in the one draw in which it was tried")],
)
def test_a_risk_that_was_tried_once_has_no_nine_tenths(draws: int, words: str) -> None:
    assert risk_words(Risk("pages take longer", "books", Spread(3000.0, 3600.0, 5400.0), draws)) == words


def test_a_risk_of_no_end_says_that_there_is_none() -> None:
    words = "it does not end within the horizon any more"
    assert risk_words(Risk("one node less", "books", Spread(None, None, None), 10)) == words


def test_figures_are_told_by_their_middle_with_nine_tenths_beside() -> None:
    assert amounts(Spread(4000.0, 5565.0, 7633.0), "EUR") == "5,565 EUR (p90 7,633)"
    assert amounts(Spread(2.0, 2.0, 2.0), "h") == "2 h"
    assert many(Spread(1.0, 1.0, 3.0), "page") == "1 page (p90 3)"
