"""One of a kind is said otherwise than two."""

from __future__ import annotations

import pytest

from allotment.pictures.counts import counted


@pytest.mark.parametrize(
    ("number", "words", "told"),
    [
        (0, ("page",), "0 pages"),
        (1, ("page",), "1 page"),
        (1_000, ("page",), "1,000 pages"),
        (1, ("retry is", "retries are"), "1 retry is"),
        (2, ("retry is", "retries are"), "2 retries are"),
    ],
)
def test_a_count_goes_with_its_word(number: int, words: tuple[str, ...], told: str) -> None:
    assert counted(number, *words) == told
