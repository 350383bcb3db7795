"""What is advised: beside which scheduler, for what reasons, from how many draws on, and when not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from allotment.planning.compare.advising import advice_for, rests_on
from allotment.planning.compare.comparison import Advice, Better, Cell, Column, Counts, Row, Unit, Verdict
from allotment.planning.compare.rows import FAIRNESS, FREE_NODES, HOURS, PRICE
from allotment.planning.scenes.values import Assumption, Source
from allotment.simulation.outcome import End, Outcome, Span
from allotment.simulation.quantiles import spread

TIME = Row("makespan", "all that ends is over", Unit.SECONDS)
BOOKS = Row("finish.books", "books ends", Unit.SECONDS, of="books")
MAPS = Row("finish.maps", "maps ends", Unit.SECONDS, of="maps")
FLEETS = Row("wait.lab.fleet.max", "wait of lab's fleet", Unit.SECONDS, of="lab", counts=Counts(0.1, 90.0))
USE = Row("use", "cards in use", Unit.PART, Better.NEITHER)
ROWS = (TIME, BOOKS, MAPS, FLEETS, FAIRNESS, FREE_NODES, USE, HOURS, PRICE)
WEEK = 604_800.0
DRAWS = 8


def span(work: str = "books", team: str = "archive", **more: object) -> Span:
    values = {"gpus": 1.0, "bound": 0.0, "ready": 60.0, "ended": 600.0, "end": End.COMPLETE, **more}
    return Span(work, team, 0, 1, "n1", (), "L4", **values)  # type: ignore[arg-type]


def column(name: str, *spans: Span, **figures: float | tuple[float | None, ...]) -> Column:
    """A column with the same figure in each draw, or with those that are given, by a word for the row."""
    keys = {"time": TIME.key, "books": BOOKS.key, "maps": MAPS.key, "wait": FLEETS.key}
    keys |= {"hours": HOURS.key, "cost": PRICE.key}
    keys |= {"fairness": FAIRNESS.key, "free": FREE_NODES.key, "use": USE.key}
    cells = {}
    for word, value in figures.items():
        values = value if isinstance(value, tuple) else tuple(value - 0.0001 * draw for draw in range(DRAWS))
        cells[keys[word]] = Cell(spread(values), values)
    course = Outcome(name, 1, 5000.0, spans, (), (), ())
    return Column(name, name, cells=cells, course=course)


def advised(*columns: Column, has: str = "") -> list[Advice]:
    return advice_for(columns, ROWS, WEEK, "EUR", has)


@pytest.mark.parametrize(
    ("here", "there", "verdict", "words"),
    [
        (
            {"time": 3600.0},
            {"time": 7200.0},
            Verdict.YES,
            "better: all that ends is over after 1h instead of 2h (-50 %, so in 8 of 8 draws)",
        ),
        (
            {"time": 3600.0},
            {"time": 3700.0},
            Verdict.NO,
            (
                "nothing differs by as much as counts; small: all that ends is over after 1h instead of 1h2m "
                "(-3 %, so in 8 of 8 draws)"
            ),
        ),
        ({"time": 3600.0}, {"time": 3600.0}, Verdict.NO, "nothing that is weighed differs"),
        (
            {"time": 7200.0},
            {"time": 3600.0},
            Verdict.NO,
            (
                "nothing is better; worse: all that ends is over after 2h instead of 1h "
                "(+100 %, so in 8 of 8 draws)"
            ),
        ),
        (
            {"books": 3600.0, "maps": 7200.0},
            {"books": 7200.0, "maps": 3600.0},
            Verdict.MAYBE,
            (
                "better: books ends after 1h instead of 2h (-50 %, so in 8 of 8 draws); worse: maps ends "
                "after 2h instead of 1h (+100 %, so in 8 of 8 draws)"
            ),
        ),
        ({"wait": 10.0}, {"wait": 70.0}, Verdict.NO, "nothing differs by as much as counts"),
        (
            {"fairness": 0.95},
            {"fairness": 0.7},
            Verdict.YES,
            "better: fairness (Jain, of deserved) 95 % instead of 70 % (+25 points, so in 8 of 8 draws)",
        ),
        ({"use": 0.95, "time": 3600.0}, {"use": 0.5, "time": 3600.0}, Verdict.NO, "nothing that is weighed"),
    ],
)
def test_what_counts_is_weighed_and_told_with_its_size_and_its_draws(
    here: dict[str, float], there: dict[str, float], verdict: Verdict, words: str
) -> None:
    (found,) = advised(column("default", **there), column("kai", **here))
    assert (found.verdict, found.against) == (verdict, "default")
    assert words in found.sentence


def test_a_gain_over_the_worse_of_simpler_ones_is_none() -> None:
    slow, fast, between = (
        column(name, time=hours * 3600.0) for name, hours in (("kueue", 2.5), ("default", 1.3), ("kai", 1.8))
    )
    kueue, kai = advised(fast, slow, between)
    assert (kueue.verdict, kueue.against) == (Verdict.NO, "default")
    assert (kai.verdict, kai.against) == (Verdict.NO, "default")


def test_of_simpler_ones_that_leave_as_much_to_gain_the_simplest_is_named() -> None:
    (_, kai, both) = advised(
        *(
            column(name, time=hours * 3600.0)
            for name, hours in (("default", 2), ("kueue", 2), ("kai", 1), ("both", 1))
        )
    )
    assert (kai.verdict, kai.against) == (Verdict.YES, "default")
    assert (both.verdict, both.against) == (Verdict.NO, "kai")


def test_what_the_platform_has_is_kept_or_left_and_not_added() -> None:
    columns = [column("default", time=3600.0), column("kueue", time=7200.0), column("kai", time=5400.0)]
    kueue, kai = advised(*columns, has="kueue")
    assert kueue.sentence.startswith("worth keeping kueue? no, against default: nothing is better")
    assert kai.verdict is Verdict.NO
    assert kai.now is not None
    assert kai.now.verdict is Verdict.YES
    assert "yes, against kueue, which the platform has: better: all that ends" in kai.sentence
    assert advised(*columns, has="default")[1].now is None


def test_with_too_few_draws_the_answer_is_that_it_cannot_be_told() -> None:
    (one,) = advised(column("default", time=(7200.0,)), column("kai", time=(3600.0,)))
    assert one.verdict is Verdict.UNKNOWN
    assert one.sentence == (
        "worth adding kai? cannot be told, against default: 1 draw cannot tell a difference from chance: "
        "take 6 or more; better so far: all that ends is over after 1h instead of 2h (-50 %)"
    )
    (two,) = advised(column("default", time=(7200.0,) * 2), column("kai", time=(7200.0,) * 2))
    assert two.reasons == ("2 draws cannot tell a difference from chance: take 6 or more",)


def test_what_may_be_chance_and_would_count_cannot_be_told() -> None:
    wild = (3000.0,) * 5 + (9000.0,) * 3
    (found,) = advised(column("default", time=7200.0), column("kai", time=wild))
    assert found.verdict is Verdict.UNKNOWN
    assert found.reasons[0].startswith("may be chance: all that ends is over after 50m instead of 2h")
    assert "in 5 of 8 draws" in found.reasons[0]


def test_chance_that_would_not_count_is_a_no() -> None:
    mixed = tuple(7200.0 + 400.0 * (-1) ** draw for draw in range(DRAWS))
    (found,) = advised(column("default", time=7200.0), column("kai", time=mixed))
    assert (found.verdict, found.reasons) == (
        Verdict.NO,
        ("nothing that is weighed differs beyond chance",),
    )


def test_a_gain_by_parts_of_cards_says_how_much_slower_they_may_be() -> None:
    parts = span(gpus=0.25)
    (found,) = advised(column("default", span(), time=7200.0), column("kai", parts, time=1800.0))
    memory, slower = found.not_if
    assert memory.startswith("a model's memory is not known and steady")
    assert slower.startswith("pods that share a card slow each other down more than 4.0 times")
    assert "take turns" not in slower  # nobody shares the card with it


@pytest.mark.parametrize("is_counted", [True, False])
def test_a_gain_by_parts_says_how_much_slower_those_are_that_take_turns(*, is_counted: bool) -> None:
    parts = [
        replace(
            span(gpus=0.25, bound=bound, ended=bound + 100.0),
            node=node,
            shared=(card,) if is_counted else (),
            devices=() if is_counted else (card,),
        )
        for node, card, bound in (
            ("a", "x", 0.0),
            ("a", "x", 50.0),
            ("a", "y", 60.0),
            ("b", "x", 60.0),
            ("a", "x", 100.0),  # just as the first is gone
        )
    ]
    (found,) = advised(column("default", span(), time=7200.0), column("kai", *parts, time=1800.0))
    said = "; those that keep it busy take turns, and 2 on one take up to 2 times as long"
    assert found.not_if[1].endswith(said)


def test_a_gain_by_taking_back_says_what_that_costs() -> None:
    lender = span(end=End.RECLAIMED, by="maps", lost=30.0)
    borrower = span("maps", "lab", bound=600.0, ready=660.0, ended=900.0)
    (found,) = advised(column("default", span(), maps=7200.0), column("kai", lender, borrower, maps=1800.0))
    back, at_once = found.not_if
    assert "1 pod was in the first draw, and did 1m30s again in the mean" in back
    assert at_once.startswith("no two teams want the same cards at once")
    (other,) = advised(column("default", span(), books=7200.0), column("kai", lender, borrower, books=1800.0))
    assert other.not_if == ()


def test_a_gain_of_whole_nodes_says_so_where_nothing_else_gains() -> None:
    chat = span("chat", "lab", gpus=4.0)
    before, after = column("default", wait=3600.0, free=0.1), column("kai", chat, wait=60.0, free=1.4)
    (found,) = advised(before, after)
    (condition,) = found.not_if
    assert condition == (
        "nothing asks for several cards of one node at once: what gains is the wait of lab's fleet, for "
        "which nodes are kept free"
    )
    (narrow,) = advised(before, column("kai", replace(chat, gpus=1.0), wait=60.0, free=1.4))
    assert narrow.not_if == ()


def test_as_many_hours_on_cheaper_cards_are_told_and_not_weighed() -> None:
    cheap, dear = span(), replace(span(), card="H100")
    before, after = column("default", cheap, dear, cost=20.0), column("kai", cheap, cheap, cost=10.0)
    (found,) = advised(before, after)
    (words,) = found.costs
    assert found.verdict is Verdict.NO
    assert words.startswith("not weighed: cost of what ends 10.00 EUR instead of 20.00 EUR (-50 %")
    assert "kai has 100 % of them on L4, and default 50 %" in words
    (faster,) = advised(
        column("default", cheap, dear, cost=20.0, hours=2.0), column("kai", cheap, cost=10.0, hours=1.0)
    )
    assert (faster.verdict, faster.costs) == (Verdict.YES, ())


def test_what_the_other_cannot_do_at_all_is_a_yes_and_what_cannot_be_had_a_no() -> None:
    cannot = Column("default", "default", refused="no fractions")
    (yes,) = advised(cannot, column("kai", time=3600.0))
    assert (yes.verdict, yes.reasons) == (Verdict.YES, ("default cannot do this work: no fractions",))
    (no,) = advised(column("default", time=3600.0), replace(cannot, name="kai", scheduler="kai"))
    assert (no.verdict, no.reasons) == (Verdict.NO, ("it cannot be had so: no fractions",))


def test_what_never_ends_in_time_has_no_size() -> None:
    never = (None,) * DRAWS
    (found,) = advised(column("default", time=3600.0), column("kai", time=never))
    assert found.costs == ("worse: all that ends is over not in time instead of 1h (in 8 of 8 draws)",)


def test_it_is_said_how_many_draws_there_are_and_how_much_was_assumed() -> None:
    assumed = tuple(
        Assumption(subject, "1", source)
        for subject, source in (("a", Source.GUESS), ("b", Source.GUESS), ("c", Source.MEASURED))
    )
    columns = [replace(column("default", time=1.0), assumptions=assumed)]
    assert rests_on(columns, 8).startswith(
        "8 draws of these works alone. A difference counts that is beyond chance (sign test, 5 %)"
    )
    assert rests_on(columns, 8).endswith("It rests on 2 guesses, which are listed below.")
    assert rests_on([], 1) == "1 draw: chance can be told from 6 draws on."
