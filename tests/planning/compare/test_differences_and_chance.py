"""When two columns differ by more than chance, by how much, and what differs first."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allotment.planning.compare.comparison import Better, Cell, Counts, Row, Told, Unit
from allotment.planning.compare.differences import difference, sign_test
from allotment.planning.compare.first_difference import Course, first_difference
from allotment.planning.compare.rows import FAIRNESS
from allotment.planning.compare.words import by_how_much, interval, lasting, said
from allotment.simulation.outcome import End, Outcome, Span, WaitSpan
from allotment.simulation.quantiles import spread
from allotment.simulation.work import Ask, Kind, Work
from allotment.simulation.work import Unit as Volume

TIME = Row("makespan", "all that ends is over", Unit.SECONDS)
USE = Row("use", "cards in use", Unit.PART, Better.MORE)
NODES = Row("free-nodes", "whole nodes free", Unit.NODES, Better.NEITHER)
ENDS = Row("finish.books", "books ends", Unit.SECONDS, counts=Counts(0.1, 120.0))
WEEK = 604_800.0
SLOW = tuple(1000.0 + n for n in range(10))


@pytest.mark.parametrize(
    ("row", "values", "base", "told"),
    [
        (TIME, SLOW, SLOW, Told.SAME),
        (TIME, tuple(each + 5 for each in SLOW), SLOW, Told.SAME),
        (TIME, tuple(each - 300 for each in SLOW), SLOW, Told.BETTER),
        (TIME, tuple(each + 300 for each in SLOW), SLOW, Told.WORSE),
        (TIME, tuple(each + 300 * (-1) ** n for n, each in enumerate(SLOW)), SLOW, Told.CHANCE),
        (TIME, (700.0,) * 5, (1000.0,) * 5, Told.CHANCE),
        (TIME, (None,) * 6, (1000.0,) * 6, Told.WORSE),
        (USE, (0.9,) * 8, (0.6,) * 8, Told.BETTER),
        (USE, (0.6,) * 8, (0.9,) * 8, Told.WORSE),
        (NODES, (2.0,) * 8, (1.0,) * 8, Told.OTHER),
        (TIME, tuple(each + 50 for each in SLOW), SLOW, Told.SMALL),
        (TIME, (1096.0,) * 8, (1000.0,) * 8, Told.WORSE),
        (TIME, (1094.0,) * 8, (1000.0,) * 8, Told.SMALL),
        (FAIRNESS, (0.996,) * 8, (0.9,) * 8, Told.BETTER),
        (FAIRNESS, (0.994,) * 8, (0.9,) * 8, Told.SMALL),
        (ENDS, tuple(each + 110 for each in SLOW), SLOW, Told.SMALL),
        (ENDS, tuple(each + 130 for each in SLOW), SLOW, Told.WORSE),
        (NODES, (1.06,) * 8, (1.0,) * 8, Told.SMALL),
    ],
)
def test_a_difference_is_told_that_is_beyond_chance_and_large_enough(
    row: Row, values: tuple[float | None, ...], base: tuple[float | None, ...], told: Told
) -> None:
    assert difference(row, values, base, WEEK).told is told


@pytest.mark.parametrize(
    ("less", "more", "chance"),
    [(0, 0, 1.0), (6, 0, 0.03125), (5, 0, 0.0625), (9, 1, 0.021484375), (5, 5, 1.0)],
)
def test_the_sign_test_is_that_of_the_tables(less: int, more: int, chance: float) -> None:
    assert sign_test(less, more) == pytest.approx(chance)


@given(less=st.integers(0, 60), more=st.integers(0, 60))
def test_either_way_is_as_likely(less: int, more: int) -> None:
    assert sign_test(less, more) == sign_test(more, less)
    assert 0 < sign_test(less, more) <= 1


BOOKS = Work("books", "archive", Kind.CAMPAIGN, Ask(gpus=1.0), (Volume("v1"), Volume("v2")), most=2)


def run(index: int, bound: float, *, node: str = "n1", end: End = End.COMPLETE, by: str = "") -> Span:
    return Span("books", "archive", index, 1, node, (), "L4", 1.0, bound, bound, bound + 600, end, by=by)


STAYS = "its window stays 1 wide"


def outcome(*spans: Span, waits: tuple[WaitSpan, ...] = ()) -> Outcome:
    return Outcome("kueue", 1, 5000.0, spans, waits, (), ())


WAITS = (WaitSpan("books", "WaitingForQuota", "1 more needed", 0.0, 600.0),)


@pytest.mark.parametrize(
    ("here", "there", "sentence"),
    [
        (
            outcome(run(0, 0), run(1, 600), waits=WAITS),
            outcome(run(0, 0), run(1, 2)),
            "after 2s kai starts v2 of books on n1; kueue keeps it waiting until 10m, because 1 more needed",
        ),
        (
            outcome(run(0, 0), run(1, 2)),
            outcome(run(0, 0)),
            "after 2s kueue starts v2 of books on n1; kai does not start it, because " + STAYS,
        ),
        (
            outcome(run(0, 0)),
            outcome(run(0, 0, end=End.RECLAIMED, by="maps")),
            "after 10m kai takes v1 of books back from n1 for maps; kueue lets it run",
        ),
        (
            outcome(run(0, 0)),
            outcome(run(0, 0, node="n2")),
            "after 0s kai places v1 of books on n2; kueue on n1",
        ),
    ],
)
def test_the_first_difference_is_said_with_its_reason(here: Outcome, there: Outcome, sentence: str) -> None:
    found = first_difference(Course.of("kueue", here, (BOOKS,)), Course.of("kai", there, (BOOKS,)))
    assert found is not None
    assert found.sentence == sentence


def test_what_comes_a_little_later_is_pace_and_no_difference() -> None:
    soon, later = (Course.of("kai", outcome(run(0, at)), (BOOKS,)) for at in (0, 3))
    assert first_difference(soon, later) is None


def test_a_window_is_told_as_wide_as_it_is_in_that_column() -> None:
    at_once = Course.of("wide", outcome(run(0, 0), run(1, 0)), (BOOKS,))
    in_turn = Course.of("narrow", outcome(run(0, 0), run(1, 600)), (replace(BOOKS, most=1),))
    found = first_difference(at_once, in_turn)
    assert found is not None
    assert found.because == "its window is 1 wide until then"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0, "0s"), (45, "45s"), (7800, "2h10m"), (7829, "2h11m"), (90_000, "1d1h"), (-60, "-1m")],
)
def test_times_are_said_in_their_two_largest_units(seconds: float, words: str) -> None:
    assert lasting(seconds) == words


@pytest.mark.parametrize(
    ("value", "unit", "words"),
    [
        (None, Unit.SECONDS, "not in time"),
        (0.5, Unit.PART, "50 %"),
        (1234.0, Unit.COUNT, "1,234"),
        (1.5, Unit.NODES, "1.50"),
        (12.34, Unit.GPU_HOURS, "12.3"),
        (3.0, Unit.MONEY, "3.00 EUR"),
        (6593.24, Unit.MONEY, "6,593 EUR"),
    ],
)
def test_no_figure_is_without_its_unit(value: float | None, unit: Unit, words: str) -> None:
    assert said(value, unit, "EUR") == words


@pytest.mark.parametrize(
    ("unit", "here", "there", "words"),
    [
        (Unit.SECONDS, 3600.0, 7200.0, "-50 %"),
        (Unit.SECONDS, 3.0, 9000.0, "-99.9 %"),
        (Unit.SECONDS, 0.0, 9000.0, "-100 %"),
        (Unit.SECONDS, 9000.0, 3600.0, "+150 %"),
        (Unit.MONEY, 40.0, 10.0, "4 times"),
        (Unit.PART, 0.99, 1.0, "-1 point"),
        (Unit.PART, 0.9, 0.6, "+30 points"),
        (Unit.PART, 0.601, 0.6, ""),
        (Unit.COUNT, 2.0, 1.0, ""),
        (Unit.SECONDS, 5.0, 0.0, ""),
    ],
)
def test_how_much_it_is_is_said_of_the_figures_that_are_shown(
    unit: Unit, here: float, there: float, words: str
) -> None:
    found = difference(Row("some", "some", unit), (here,) * 6, (there,) * 6, WEEK)
    assert by_how_much(found, unit) == words


def test_an_interval_of_one_value_is_that_value() -> None:
    assert interval(Cell(spread((60.0, 60.0)), (60.0, 60.0)), Unit.SECONDS) == "1m"
    assert interval(Cell(spread((60.0, 90.0)), (60.0, 90.0)), Unit.SECONDS) == "1m (1m–1m30s)"


def test_a_part_may_be_of_another_figure() -> None:
    again = Row("lost", "GPU-hours spent again", Unit.GPU_HOURS, counts=Counts(0.1, of="gpu-hours"))
    here, there, hours = (0.9,) * 8, (0.1,) * 8, (10.0,) * 8
    assert difference(again, here, there, WEEK).told is Told.WORSE
    assert difference(again, here, there, WEEK, hours).told is Told.SMALL
    assert difference(again, here, there, WEEK, hours).counts_from == pytest.approx(0.95)


@given(
    values=st.lists(st.floats(0, 1e6), min_size=6, max_size=12),
    base=st.lists(st.floats(0, 1e6), min_size=12, max_size=12),
)
def test_what_is_told_better_counts_in_the_figures_that_are_shown(
    values: list[float], base: list[float]
) -> None:
    found = difference(TIME, values, base[: len(values)], WEEK)
    if found.told in {Told.BETTER, Told.WORSE}:
        assert abs(found.size) >= found.counts_from - 1e-6
        assert (found.size < 0) == (found.told is Told.BETTER)
        assert found.chance <= 0.05
