"""Spans of time are said in two units at most, and never as less than they are."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allotment.pictures.spans import DAY, HOUR, rounded_up, span_words

SIZES = {"d": 86_400, "h": 3_600, "min": 60, "s": 1}


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0"), (0.04, "0"), (4, "4 s"), (4.26, "4.3 s"), (9.97, "10 s"), (45, "45 s"), (45.2, "46 s"),
        (59.4, "1 min"), (60, "1 min"), (200, "3 min 20 s"), (3599.6, "1 h"), (3600, "1 h"),
        (3885.7, "1 h 5 min"), (6059, "1 h 41 min"), (4500, "1 h 15 min"), (7199, "2 h"),
        (DAY - 1, "1 d"), (3 * DAY + 4 * HOUR, "3 d 4 h"), (1e6 * DAY, "1,000,000 d"),
        (-90, "-1 min 30 s"), (1e-9 + 45, "45 s"), (math.inf, "–"), (math.nan, "–"),
    ],
)  # fmt: skip
def test_spans_have_two_units_at_most(seconds: float, words: str) -> None:
    assert span_words(seconds) == words


@given(st.floats(10, 1e9))
def test_a_span_is_never_said_as_less_and_by_less_than_its_smaller_unit_as_more(seconds: float) -> None:
    parts = span_words(seconds).replace(",", "").split()
    said = sum(int(count) * SIZES[unit] for count, unit in zip(parts[::2], parts[1::2], strict=True))
    assert said == rounded_up(seconds)
    assert seconds - 1e-3 <= said < seconds + 3_600
    assert len(parts) <= 4
