"""One of a kind is said otherwise than two."""

from __future__ import annotations

import pytest

from allotment.pictures.counts import counted, of_unit


@pytest.mark.parametrize(
    ("number", "words", "told"),
    [
        (0, ("page",), "0 pages"),
        (1, ("page",), "1 page"),
        (1_000, ("page",), "1,000 pages"),
        (2, ("class",), "2 classes"),
        (2, ("index",), "2 indexes"),
        (3, ("ValidatingAdmissionPolicy",), "3 ValidatingAdmissionPolicies"),
        (2, ("day",), "2 days"),
        (1, ("retry is", "retries are"), "1 retry is"),
        (2, ("retry is", "retries are"), "2 retries are"),
    ],
)
def test_a_count_goes_with_its_word(number: int, words: tuple[str, ...], told: str) -> None:
    assert counted(number, *words) == told


def test_an_amount_goes_with_its_unit() -> None:
    assert [of_unit(each, "pods") for each in ("0", "1", "1.5", "11")] == [
        "0 pods",
        "1 pod",
        "1.5 pods",
        "11 pods",
    ]
