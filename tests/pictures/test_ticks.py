from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allotment.pictures.spans import DAY, HOUR
from allotment.pictures.ticks import (
    Extent,
    amount_words,
    moment_words,
    number_ticks,
    time_ticks,
    when_words,
)

MORNING = datetime(2026, 11, 29, 8, 2, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("since", "until", "labels"),
    [
        (0, 0, ["0", "1 s"]),
        (0, 10, ["0", "1 s", "2 s", "3 s", "4 s", "5 s", "6 s", "7 s", "8 s", "9 s", "10 s"]),
        (0, 0.3, ["0"]),
        (75, 95, ["1 min 16 s", "1 min 18 s", *(f"1 min {at} s" for at in range(20, 36, 2))][:10]),
        (HOUR, 2 * HOUR, ["1 h", *(f"1 h {at} min" for at in range(10, 60, 10)), "2 h"]),
        (HOUR / 2, 7 * HOUR, ["1 h", "2 h", "3 h", "4 h", "5 h", "6 h", "7 h"]),
        (0, 3 * DAY, ["0", "12 h", "1 d", "1 d 12 h", "2 d", "2 d 12 h", "3 d"]),
        (0, 70 * DAY, ["0", "7 d", "14 d", "21 d", "28 d", "35 d", "42 d", "49 d", "56 d", "63 d", "70 d"]),
    ],
)  # fmt: skip
def test_times_fall_on_what_people_count_in(since: float, until: float, labels: list[str]) -> None:
    assert [tick.label for tick in time_ticks(Extent(since, until))] == labels


def test_with_a_clock_times_fall_on_its_full_ones() -> None:
    ticks = time_ticks(Extent(0, 4 * HOUR, MORNING))
    assert [tick.label for tick in ticks][:3] == ["08:30", "09:00", "09:30"]
    assert ticks[0].at == 1650
    over_midnight = time_ticks(Extent(0, 36 * HOUR, MORNING), most=8)
    assert [tick.label for tick in over_midnight] == ["12:00", "18:00", "30 Nov", "06:00", "12:00", "18:00"]


def test_a_clock_shows_times_of_its_zone() -> None:
    zone = timezone(timedelta(hours=5, minutes=30))
    clock = MORNING.astimezone(zone)
    assert time_ticks(Extent(0, 4 * HOUR, clock))[0].label == "14:00"
    assert when_words(0, Extent(0, HOUR, clock)) == "29 Nov 13:32"
    assert when_words(30, Extent(0, HOUR, clock)) == "29 Nov 13:33"
    assert when_words(60, Extent(0, HOUR, clock)) == "29 Nov 13:34"  # 13:33:30 is not told as before it


def test_of_minutes_seconds_are_told() -> None:
    clock = MORNING.replace(hour=8, minute=2, second=30)
    assert [when_words(at, Extent(0, 29, clock)) for at in (0, 1.4, 29)] == [
        "29 Nov 08:02:30",
        "29 Nov 08:02:32",
        "29 Nov 08:02:59",
    ]


@pytest.mark.parametrize(
    ("at", "minutes", "words"),
    [
        (0.0, 5, "29 Nov 08:02:30"),
        (28.95, 5, "29 Nov 08:02:58"),
        (29.9999, 5, "29 Nov 08:03:00"),
        (29.0, 60, "29 Nov 08:02"),
        (89.9, 60, "29 Nov 08:03"),
        (90.0, 60, "29 Nov 08:04"),
    ],
)
def test_what_was_is_told_as_the_clock_showed_it(at: float, minutes: int, words: str) -> None:
    clock = MORNING.replace(hour=8, minute=2, second=30)
    assert when_words(at, Extent(0, minutes * 60, clock, is_past=True)) == words


@given(st.integers(0, 999_999))
def test_a_full_time_is_told_as_that_whatever_the_clock_began_with(microsecond: int) -> None:
    clock = MORNING.replace(microsecond=microsecond)
    labels = [tick.label for tick in time_ticks(Extent(0, HOUR, clock))]
    assert labels == ["08:10", "08:20", "08:30", "08:40", "08:50", "09:00"]
    assert moment_words(0.0, MORNING, 1.0) == "08:02:30"
    assert when_words(math.inf, Extent(0, 1, MORNING)) == "–"


@given(
    st.floats(0, 1e7),
    st.floats(0, 1e9),
    st.integers(2, 12),
    st.sampled_from([None, MORNING, MORNING.astimezone(timezone(timedelta(hours=-3)))]),
)
def test_ticks_are_few_in_order_and_within(
    since: float, length: float, most: int, clock: datetime | None
) -> None:
    extent = Extent(since, since + length, clock)
    ticks = [tick.at for tick in time_ticks(extent, most)]
    assert len(ticks) <= most + 1
    assert ticks == sorted(set(ticks))
    slack = 1e-6 * max(1.0, since, extent.length)
    assert all(since - slack <= at <= since + extent.length + slack for at in ticks)


@given(st.floats(0, 1e12), st.integers(2, 10))
def test_numbers_go_up_to_the_highest(highest: float, most: int) -> None:
    ticks = number_ticks(highest, most)
    assert ticks[0].at == 0
    assert ticks[-1].at >= highest * (1 - 1e-6)
    assert 2 <= len(ticks) <= most + 2


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (0, "0"), (0.004, "0.004"), (0.5, "0.5"), (12.34, "12.3"), (1234.5, "1,234"), (1e16, "1e+16"),
        (math.inf, "–"), (-2.0, "-2"), (20.0, "20"),
    ],
)  # fmt: skip
def test_amounts_have_no_more_digits_than_say_something(value: float, words: str) -> None:
    assert amount_words(value) == words


def test_every_moment_has_a_place_in_any_extent() -> None:
    assert Extent(5, 5).share(5) == 0
    assert Extent(0, math.inf).share(math.inf) == 1
    assert Extent(0, 10).share(-3) == 0
    assert Extent(0, 10).share(30) == 1
