"""Pages of plans, comparisons and shares: whole files that need nothing else, whatever stands in them."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from allotment.cli.pages.compare import compare_page
from allotment.cli.pages.counted_cards import CountedCards
from allotment.cli.pages.course import Planned, cards, extent_of, shares_of
from allotment.cli.pages.filled import filled_page
from allotment.cli.pages.plan import plan_page
from allotment.cli.pages.plan_picture import plan_picture
from allotment.cli.pages.shares import shares_page
from allotment.pictures.over_time import QueueOverTime, Reclaimed, SharesOverTime
from allotment.planning.compare.comparison import Comparison
from allotment.planning.plan.plan import Changes, Plan
from allotment.simulation.filling.fill import Filled, Point
from allotment.simulation.filling.policies import Name
from allotment.simulation.filling.ranking import Ties
from allotment.simulation.outcome import Outcome
from allotment.simulation.quantiles import Spread
from tests.cli.page_values import TEAMS, comparison, outcome, plan, work_plan
from tests.pictures.reading import HOSTILE, image, page_parts, parsed, words

NOTHING = Plan("here", 0.0, "kueue", "archive", Changes("the commit main"))
EMPTY = Outcome("kueue", 0, 0.0, (), (), (), ())


def test_the_course_of_a_plan_is_an_image_too() -> None:
    text = words(image(plan_picture(plan())))
    assert "What runs on each card, placed by Kueue" in text
    assert "Who has the cards" in text
    assert "speech-batch" in text
    assert "Nothing of it runs." in words(image(plan_picture(NOTHING)))


@pytest.mark.parametrize("name", HOSTILE)
def test_no_name_is_markup_in_an_image(name: str) -> None:
    image(plan_picture(plan(name=name)))


def with_work(**changes: Any) -> Plan:
    return replace(plan(), works=(replace(work_plan(), **changes),))


def text_of(page: str) -> str:
    return words(page_parts(page))


def test_a_plan_says_what_when_what_it_costs_and_who_pays() -> None:
    text = text_of(plan_page(plan()))
    for each in (
        "Plan for kyrkobocker-2",
        "Not kept: at most 90 EUR in nine of ten draws.",
        "All of it ends after 3 h 6 min (p90 4 h 24 min).",
        "Who pays: speech's speech-batch.",
        "l4-24gb: memory 22.49Gi is less than 40Gi",
        "WaitingForQuota: the team has used its quota, 4 of 4 GPUs",
        "22 of 24 volumes left",
        "82.00 EUR (p90 95.00 EUR)",
        "KAI is not simulated here",
        "2 assumptions",
        "guess",
        "seen on the cluster, beta",
        "pages take half as long again",
    ):
        assert each in text


def test_a_note_that_is_about_all_of_it_is_told_once() -> None:
    found = plan()
    works = [
        replace(each, fits=replace(each.fits, notes=("of this work alone", "of all of it")))
        for each in found.works
        if each.fits
    ]
    text = text_of(plan_page(replace(found, works=tuple(works[:1]), notes=("of all of it",))))
    assert (text.count("of this work alone"), text.count("of all of it")) == (1, 1)


def test_clock_times_are_of_the_zone_that_is_asked_for() -> None:
    zone = timezone(timedelta(hours=2), "EET")
    made = text_of(plan_page(plan(), zone))
    assert "29 Nov 14:10" in made
    assert "Clock times are EET." in made
    assert "29 Nov 12:10" in text_of(plan_page(plan()))


def test_start_and_end_are_told_by_the_clock_too() -> None:
    text = text_of(plan_page(replace(plan(), end=Spread(3600.0, 3690.0, 7200.0))))
    assert "ends after 1 h 2 min p90 2 h · 29 Nov 13:02" in text
    assert re.search(r"starts after .*? · 29 Nov 12:\d\d", text)


def test_a_world_without_a_time_has_no_clock() -> None:
    text = text_of(plan_page(replace(plan(), at=0.0)))
    assert "Clock times" not in text
    assert "1 h 30 min" in text


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (NOTHING, "nothing changes"),
        (replace(plan(), course=None, payers=(), others=0), "Nobody: there is no other work."),
        (
            replace(plan(), course=EMPTY, payers=()),
            "Nobody: no work of others is taken back or later for it.",
        ),
        (with_work(never="no card has 40Gi"), "kyrkobocker-2 will never run: no card has 40Gi."),
        (with_work(end=Spread(None, None, None), window=()), "not within the horizon"),
        (with_work(kind="fleet"), "1 to 8 replicas"),
        (replace(plan(), until=0.0), "Plan for"),
    ],
    ids=["nothing", "no course", "empty course", "never", "beyond", "fleet", "no horizon"],
)
def test_a_plan_of_any_kind_is_a_page(value: Plan, said: str) -> None:
    assert said in text_of(plan_page(value))


def test_a_comparison_says_what_is_better_by_how_much_and_why() -> None:
    text = text_of(compare_page(comparison()))
    for each in (
        "Worth adding kai? Yes, against kueue: all is over 26 min earlier, beyond chance.",
        "Worth adding both? No, against kueue.",
        "32 draws. What counts is beyond chance.",
        "No, against default, which the platform has",
        "≈ too little to count",
        "▲ better, -18 %",
        "▼ worse",
        "~ may be chance",
        "both: a fallback list cannot be counted by Kueue",
        "every team keeps within its quota",
        "default lets it wait, because the team's quota lends 2 GPUs.",
        "Under kai",
    ):
        assert each in text


@pytest.mark.parametrize(
    "value",
    [
        replace(comparison(), columns=comparison().columns[:1], advice=(), differs=()),
        replace(comparison(), columns=comparison().columns[3:], advice=(), differs=()),
        replace(comparison(), columns=(), rows=(), advice=(), differs=(), works=()),
    ],
    ids=["one column", "none that could be played", "nothing"],
)
def test_a_comparison_of_any_kind_is_a_page(value: Comparison) -> None:
    page_parts(compare_page(value))


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_names_from_outside_stay_text(text: str) -> None:
    page_parts(plan_page(plan(6, 1, name=text)))
    page_parts(compare_page(comparison(6, 1, name=text)))
    page_parts(
        shares_page(
            SharesOverTime(
                text, (QueueOverTime(text),), 9.0, reclaims=(Reclaimed(1.0, text, text, said=text),)
            )
        )
    )


def test_pages_are_the_same_bytes_for_the_same_values() -> None:
    assert plan_page(plan()) == plan_page(plan())
    assert compare_page(comparison()) == compare_page(comparison())


def test_pages_of_many_volumes_and_nodes_can_be_mailed() -> None:
    assert len(plan_page(plan(200, 50)).encode()) < 1_000_000
    assert len(plan_page(plan(5000, 50)).encode()) < 1_000_000
    assert len(compare_page(comparison(200, 50)).encode()) < 1_500_000


def test_cards_are_in_the_order_of_their_numbers_and_idle_ones_are_told() -> None:
    course = outcome(40, 3)
    chart, idle = cards(replace(course, gpus=(("a100-80gb", 30),)), extent_of(course), "c", "Cards")
    order = [chart.svg.index(f"node-{node}" if node < 0 else f"gpu-0{node} ·") for node in range(3)]
    assert order == sorted(order)
    assert idle == "6 more cards are left out, on which nothing runs."


def test_cards_that_are_only_counted_have_as_many_rows_as_are_in_use_at_once() -> None:
    course = outcome(4, 1)
    spans = [
        replace(span, devices=(), bound=at, ended=at + 50.0)
        for span, at in zip(course.spans, (0, 10, 60, 70), strict=False)
    ]
    spans[1] = replace(spans[1], gpus=2.0)
    chart, idle = cards(replace(course, spans=tuple(spans)), extent_of(course), "c", "Cards")
    assert "4 runs of 2 works on 3 cards." in " ".join(words(parsed(chart.svg)).split())
    assert idle == "5 more cards are left out, on which nothing runs."


def test_pods_that_share_a_card_are_on_one_row() -> None:
    course = outcome(4, 1)
    runs = ((0, 100, ("a",)), (10, 60, ("a",)), (20, 90, ("b",)), (95, 120, ("c",)), (97, 130, ("a",)))
    spans = [
        replace(
            span,
            devices=(),
            gpus=0.5,
            bound=float(since),
            ready=float(since),
            ended=float(until),
            shared=shared,
        )
        for span, (since, until, shared) in zip(course.spans, runs, strict=False)
    ]
    shown = replace(course, spans=tuple(spans), gpus=(("a100-80gb", 2),))
    chart, idle = cards(shown, extent_of(shown), "c", "Cards")
    assert "gpu-00 · 2 × a100-80gb" in chart.svg
    assert idle == ""
    counted = CountedCards()
    assert [counted.places(span) for span in spans] == [[0], [0], [1], [1], [0]]


def test_shares_of_a_course_are_those_of_its_spans() -> None:
    course = outcome(40, 2)
    shares = shares_of(course, extent_of(course), TEAMS)
    assert [(queue.name, queue.quota, queue.limit) for queue in shares.queues] == [
        ("archive", 4.0, 12.0),
        ("speech", 8.0, None),
    ]
    assert shares.total == 16
    assert {each.queue for each in shares.reclaims} == {"speech"}
    assert shares.reclaims[0].by == "archive's kyrkobocker-2"
    assert all(queue.allocated[-1][1] == 0 for queue in shares.queues)


def filling(policy: Name, ties: Ties, given: float, seeds: int = 3) -> list[Filled]:
    return [
        Filled(
            policy,
            ties,
            seed,
            given + seed,
            100,
            7,
            tuple(Point(at, min(at, given), at / 9) for at in range(130)),
        )
        for seed in range(seeds)
    ]


def test_a_filling_says_how_much_each_policy_gives_out() -> None:
    fillings = [
        filling(Name.FGD, Ties.RANDOM, 92.0),
        filling(Name.FGD, Ties.FIRST, 90.0),
        filling(Name.BEST_FIT, Ties.RANDOM, 85.0),
    ]
    text = " ".join(text_of(filled_page("openb", 1213, 6212, fillings)).split())
    for each in (
        "Filled: openb",
        "1,213 nodes with 6,212 cards, 3 seeds",
        "fgd, ties random 93.00 %",
        "best-fit random 86.00 % 1.00 870 7",
    ):
        assert each in text


@pytest.mark.parametrize("fillings", [[], [[]], [filling(Name.FGD, Ties.RANDOM, 0.0, seeds=1)]], ids=range(3))
def test_a_filling_of_any_size_is_a_page(fillings: list[list[Filled]]) -> None:
    page_parts(filled_page("x", 0, 0, fillings))


def test_many_works_are_shown_by_their_teams() -> None:
    course = outcome(60, 2)
    jobs = replace(course, spans=tuple(replace(span, work=f"job-{n}") for n, span in enumerate(course.spans)))
    chart, _ = cards(jobs, extent_of(jobs), "c", "Cards", Planned([("job-3", "job-3 (planned)")]))
    assert [words for _, words in chart.legend][:3] == ["job-3 (planned)", "team archive", "team speech"]


def test_a_comparison_of_very_much_work_can_be_opened() -> None:
    course = outcome(10_000, 100)
    found = comparison(6, 1)
    first = replace(found.columns[0], course=course)
    page = compare_page(replace(found, columns=(first, *found.columns[1:])))
    assert len(page.encode()) < 1_500_000
    page_parts(page)


def test_shares_over_time_have_their_mean_and_what_was_taken_back() -> None:
    value = SharesOverTime(
        "this machine",
        (
            QueueOverTime("archive", 2.0, 4.0, allocated=((0.0, 1.0), (50.0, 3.0))),
            QueueOverTime("speech", 2.0, allocated=((0.0, 2.0),)),
        ),
        100.0,
        total=4.0,
        reclaims=(Reclaimed(50.0, "speech", "archive", 1.0, "speech gives back what it borrowed"),),
        clock=datetime(2026, 11, 29, 8, 0, tzinfo=UTC),
        notes=("The ledger was lost for 3 s.",),
    )
    text = text_of(shares_page(value, "Three teams on one machine"))
    for each in (
        "Three teams on one machine",
        "archive 2 4 2 3 0",
        "speech 2 – 2 2 1",
        "100%",
        "29 Nov 08:00",
    ):
        assert each in " ".join(text.split())
