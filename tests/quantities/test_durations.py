"""Durations: the units of Go and days, whole seconds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allotment.quantities import QuantityError, format_duration, parse_duration


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90s", 90), ("10m", 600), ("1h30m", 5400), ("2d", 172_800), ("1.5h", 5400), ("0s", 0), (45, 45)],
)
def test_durations_are_read(text: str | int, seconds: int) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize(
    "text", ["", "10", "m", "10 m", "30m1h", "1.5s", "-1h", "ten", -1, 2**31, "99999999999d"]
)
def test_what_is_no_duration_is_refused(text: str | int) -> None:
    with pytest.raises(QuantityError) as caught:
        parse_duration(text)
    assert caught.value.hint == "write 90s, 10m, 1h30m or 2d"


@given(st.integers(0, 2**31 - 1))
def test_a_duration_comes_back_from_how_it_is_shown(seconds: int) -> None:
    assert parse_duration(format_duration(seconds)) == seconds
