"""Pictures of time in lines of text: tracks, intervals, heights, and a course of them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allotment.cli.forms.course import MOST_ROWS, course_lines, last_of, use_line, when_line
from allotment.cli.pictures import interval, levels, sparkline, track
from allotment.simulation.outcome import Outcome, WaitSpan
from allotment.simulation.quantiles import Spread
from tests.cli.page_values import outcome


@pytest.mark.parametrize(
    ("stretches", "line"),
    [
        ((), "··········"),
        (((0, 10, "a"),), "aaaaaaaaaa"),
        (((0, 5, "a"), (5, 10, "b")), "aaaaabbbbb"),
        (((2, 4.2, "a"), (4.2, 5, "b")), "··aab·····"),
        (((0, 0.2, "a"),), "··········"),
        (((-5, 1, "a"), (9, 99, "b")), "a········b"),
    ],
)
def test_a_track_shows_what_takes_most_of_each_column(
    stretches: tuple[tuple[float, float, str], ...], line: str
) -> None:
    assert track(stretches, 10, 10) == line


@pytest.mark.parametrize(
    ("low", "middle", "high", "line"),
    [
        (1, 3, 8, " ├─●────┤"),
        (0, 0, 0, "●"),
        (1, 3, None, " ├─●─────→"),
        (1, None, None, " ├───────→"),
        (None, None, None, ""),
        (9, 10, 12, "         ●"),
    ],
)
def test_an_interval_is_a_line_with_a_dot(
    low: float | None, middle: float | None, high: float | None, line: str
) -> None:
    assert interval(low, middle, high, 10, 10) == line


@given(st.lists(st.tuples(st.floats(0, 100), st.floats(0, 100), st.integers(1, 4)), max_size=20))
def test_levels_keep_how_much_there_is(found: list[tuple[float, float, int]]) -> None:
    changes = [
        (at, by)
        for start, end, size in found
        for at, by in ((min(start, end), size), (max(start, end), -size))
    ]
    whole = sum(abs(end - start) * size for start, end, size in found)
    assert sum(levels(changes, 100, 25)) * 4 == pytest.approx(whole, abs=0.01)


def test_heights_are_of_what_the_whole_stands_for() -> None:
    assert sparkline([1, 2], highest=4) == "▃▅"
    assert sparkline([4, 8], highest=4) == "██"
    assert sparkline([1, 2]) == "▅█"
    assert levels([], 0) == []
    assert track([], 0) == ""


def test_start_and_end_stand_on_one_line() -> None:
    assert when_line(Spread(0, 1, 2), Spread(5, 7, 9), 10, 10) == "├●┤  ├─●─┤"
    assert when_line(Spread(0, 0, 0), Spread(5, 7, None), 10, 10) == "●    ├─●─→"
    assert when_line(Spread(3, 6, 9), Spread(8, None, None), 10, 10) == "   ├──●─├→"
    assert when_line(Spread(None, None, None), Spread(None, None, None), 10, 10) == ""


def test_a_small_course_has_a_row_for_each_card_and_letters_for_works() -> None:
    lines = list(course_lines(outcome(20, 1), ("kyrkobocker-2",), 30))
    assert lines[0].startswith("cards over time, 0 to ")
    assert len(lines) == 10
    assert lines[-1].startswith("  a kyrkobocker-2, b ")
    assert lines[-1].endswith("! taken back")
    assert all(line.startswith("  gpu-00 gpu-") for line in lines[1:-1])


def test_a_large_course_has_a_row_for_each_node() -> None:
    lines = list(course_lines(outcome(400, 20), ()))
    assert len(lines) == MOST_ROWS + 2
    assert lines[-1] == "  … and 8 more nodes"


def test_what_waits_is_shown_over_time() -> None:
    course = replace(outcome(20, 1), waits=(WaitSpan("w", "r", "m", 0.0, 600.0, 5),))
    assert list(course_lines(course, ()))[-1].strip().endswith("5 pods at most")


def test_of_nothing_there_is_no_picture() -> None:
    nothing = Outcome("kueue", 0, 100.0, (), (), (), ())
    assert list(course_lines(nothing, ())) == []
    assert use_line(nothing, last_of(nothing)).strip() == ""


def test_use_is_as_high_as_part_of_all_cards() -> None:
    course = replace(outcome(40, 1), gpus=(("a100-80gb", 16),))
    assert max(use_line(course, last_of(course))) == "▅"
