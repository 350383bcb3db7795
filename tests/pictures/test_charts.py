"""Bands, shares, intervals and bars, from nothing at all to very much."""

from __future__ import annotations

import math
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allotment.pictures.band import BandChart, BandMark, Moment, band
from allotment.pictures.chart import Chart
from allotment.pictures.curves import MOST_STEPS, area, line, value_at, within
from allotment.pictures.lines import Line, Lines, lines
from allotment.pictures.over_time import QueueOverTime, Reclaimed, SharesOverTime, Steps
from allotment.pictures.rows import BarRow, Bars, IntervalRow, Intervals, bars, intervals
from allotment.pictures.shares import queue_charts, stack
from allotment.pictures.ticks import Extent
from tests.pictures.reading import HOSTILE, parsed, words

HOUR = 3600.0
CLOCK = datetime(2026, 11, 29, 8, 0, tzinfo=UTC)


def moments(count: int) -> tuple[Moment, ...]:
    return tuple(Moment(at * 60.0, at % 3, at % 5 + 1, at % 8 + 2) for at in range(count))


def queues(count: int, steps: int) -> SharesOverTime:
    allocated = tuple((at * 10.0, float(at % 6)) for at in range(steps))
    return SharesOverTime(
        "here",
        tuple(
            QueueOverTime(f"q{n}", 4.0, 8.0, fair=((0, 3.0),), allocated=allocated, asked=((0, 50.0),))
            for n in range(count)
        ),
        steps * 10.0,
        total=16.0,
        reclaims=tuple(Reclaimed(each * 30.0, f"q{each % 2}", "q1") for each in range(4)),
    )


def check(chart: Chart) -> str:
    parsed("".join((chart.svg, *(sign for sign, _ in chart.legend))))
    assert "nan" not in chart.svg
    assert "inf" not in chart.svg
    return chart.svg


@pytest.mark.parametrize("count", [0, 1, 2, 61, 10_000])
@pytest.mark.parametrize("until", [0.0, HOUR, 1e9])
def test_a_band_is_whole_however_much_there_is(count: int, until: float) -> None:
    value = BandChart(
        "Window", "pods", moments(count), Extent(0, until), (BandMark("end", 10, 20, None),), ((8, "most"),)
    )
    made = check(band(value, "b"))
    assert len(made) < 80_000
    assert made == band(value, "b").svg


def test_a_band_says_what_it_shows() -> None:
    marks = (BandMark("starts", 0, 60, 120), BandMark("ends", 5000, None, None))
    chart = band(
        BandChart("Window", "pods", moments(8), Extent(0, HOUR, CLOCK), marks, ((8, "at most 8"),)), "b"
    )
    text = words(parsed(chart.svg))
    assert "pods over time, 5 at most in half of the draws." in text
    assert "starts: 29 Nov 08:01 in the middle, 29 Nov 08:02 at nine tenths." in text
    assert "ends: not within the time shown in the middle" in text
    assert "at most 8" in text
    assert chart.table is not None
    assert chart.table.rows[0] == ("29 Nov 08:00", "0", "1", "2")


@pytest.mark.parametrize(("count", "steps"), [(0, 0), (1, 0), (1, 1), (3, 100), (12, 10_000)])
def test_shares_are_whole_however_much_there_is(count: int, steps: int) -> None:
    value = queues(count, steps)
    charts = queue_charts(value, "q")
    assert [queue.name for queue, _ in charts] == [queue.name for queue in value.queues]
    for _, chart in charts:
        check(chart)
    made = check(stack(value, "all"))
    assert len(made) + sum(len(chart.svg) for _, chart in charts) < 400_000


def test_a_queue_is_told_by_its_lines_and_what_was_taken_from_it() -> None:
    ((_, first), (_, second)) = queue_charts(queues(2, 30), "q")
    assert [key for _, key in first.legend] == [
        "allocated",
        "deserved: its quota",
        "fair: with what others lend",
        "asked for",
        "card taken back from it",
    ]
    assert first.svg.count('class="lost"') == second.svg.count('class="lost"') == 2
    assert "Cards are taken back from it 2 times." in words(parsed(first.svg))


def test_what_is_asked_beyond_everything_does_not_flatten_the_picture() -> None:
    ((_, chart),) = queue_charts(queues(1, 30), "q")
    assert "20 GPUs" in words(parsed(chart.svg))


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_names_from_outside_stay_text(text: str) -> None:
    shares = SharesOverTime(
        text,
        (QueueOverTime(text, allocated=((0, 1.0),)),),
        10,
        unit=text,
        reclaims=(Reclaimed(5, text, text, said=text),),
    )
    check(stack(shares, "s"))
    check(queue_charts(shares, "q")[0][1])
    check(intervals(Intervals(text, (IntervalRow(text, 0, 1, 2, text, group=text),), unit=text), "i"))
    check(bars(Bars(text, (BarRow(text, ((0, 1.0),), text),), text, ((0, text),)), "b"))
    check(
        band(BandChart(text, text, moments(3), Extent(0, 9), (BandMark(text, 0, 1, 2),), ((1, text),)), "b")
    )


@pytest.mark.parametrize(
    "row",
    [
        IntervalRow("a", 0, 0, 0),
        IntervalRow("a", 1, 2, None),
        IntervalRow("a", 1, None, None),
        IntervalRow("a", None, None, None),
        IntervalRow("a", 5e9, 6e9, 7e9),
    ],
    ids=["nothing", "no p90", "no p50", "beyond", "far"],
)
@pytest.mark.parametrize(
    "extent", [None, Extent(0, 0), Extent(0, HOUR, CLOCK)], ids=["plain", "empty", "clock"]
)
def test_intervals_are_drawn_whatever_is_not_known(row: IntervalRow, extent: Extent | None) -> None:
    check(intervals(Intervals("Ends", (row,), extent), "i"))


def test_what_lies_beyond_the_scale_ends_in_an_arrow() -> None:
    beyond = intervals(Intervals("Ends", (IntervalRow("a", 1, 2, None),), Extent(0, 10)), "i").svg
    known = intervals(Intervals("Ends", (IntervalRow("a", 1, 2, 3),), Extent(0, 10)), "i").svg
    assert beyond.count("beyond") == 1
    assert known.count("beyond") == 0
    assert known.count('class="stop') == 1


@pytest.mark.parametrize("parts", [(), ((0, 0.0),), ((0, 1.0), (1, 2.0), (99, 3.0))])
def test_bars_are_drawn_in_parts(parts: tuple[tuple[int, float], ...]) -> None:
    made = check(bars(Bars("Waits", (BarRow("a", parts, "3 min", 2.5),), "min"), "b"))
    assert made.count("url(#b-p") == sum(part > 0 for _, part in parts)
    check(bars(Bars("Waits", (), "min"), "b"))


@pytest.mark.parametrize("count", [0, 1, 2, 10_000])
def test_lines_are_whole_however_many_points_there_are(count: int) -> None:
    listed = tuple(Line(f"l{n}", tuple((float(x), x * n / 10) for x in range(count))) for n in range(10))
    chart = lines(Lines("Given", listed, "% asked", "% given", 100.0), "l")
    assert len(check(chart)) < 60_000
    assert [key for _, key in chart.legend] == [each.name for each in listed]
    check(lines(Lines("Given", (), "a", "b"), "l"))


steps = st.lists(st.tuples(st.floats(-10, 110), st.floats(0, 50)), max_size=40).map(
    lambda found: tuple(sorted(found, key=lambda step: step[0]))
)


@given(steps)
def test_steps_hold_from_one_to_the_next(found: Steps) -> None:
    extent = Extent(0, 100)
    kept = within(found, extent)
    assert kept[0][0] == 0
    for at in (0.0, 0.5, 33.3, 99.9):
        assert value_at(kept, at) == value_at(found, at)
    for path in (
        line(found, extent, 50, 90),
        area((), found, extent, 50, 90),
        area(found, (), extent, 50, 90),
    ):
        assert path.startswith("M0 ")
        assert "nan" not in path


def test_very_many_steps_keep_their_lowest_and_highest() -> None:
    found = tuple((at / 100, math.sin(at / 50) + 1) for at in range(20_000))
    kept = within(found, Extent(0, 200))
    assert len(kept) <= 2 * MOST_STEPS
    assert max(value for _, value in kept) == max(value for _, value in found)
    assert min(value for _, value in kept) == min(value for _, value in found)
