from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allotment.quantities.kubernetes import Quantity
from allotment.quantities.quantity_text import QuantityTextError


@pytest.mark.parametrize(
    ("text", "canonical", "whole"),
    [
        ("0", "0", 0),
        ("1Gi", "1Gi", 2**30),
        ("1.5Gi", "1536Mi", None),
        ("1024Mi", "1Gi", 2**30),
        ("1e3", "1e3", 1000),
        ("1000", "1k", 1000),
        ("0.1", "100m", None),
        ("0.0001", "100u", None),
        ("1E", "1E", 10**18),
        ("1.0", "1", None),
        (".5", "500m", None),
        ("1.", "1.", 1),
        ("Ki", "0", 0),
        ("-1.5", "-1500m", None),
        ("1e-20", "1e-9", None),
        ("0.1Gi", "107374182400m", None),
        ("9223372036854775807", "9223372036854775807", None),
        ("99999Ei", "9223372036854775807", None),
        ("12345678901234567890", "12345678901234567890", None),
        ("1025Ki", "1025Ki", 1025 * 1024),
    ],
)
def test_texts_and_what_they_come_to(text: str, canonical: str, whole: int | None) -> None:
    amount = Quantity.parse(text)
    assert str(amount) == canonical
    assert amount.as_integer() == whole


@pytest.mark.parametrize("text", ["", "1GiB", "1,3G", "1e", "200K", "lots", "1 Gi", "1e5.5", "--1", "1ki"])
def test_what_is_no_quantity(text: str) -> None:
    with pytest.raises(QuantityTextError):
        Quantity.parse(text)


def test_an_amount_beyond_64_bits_is_still_added_up() -> None:
    total = Quantity.parse("9223372036854775807").add(Quantity.of_integer(1))
    assert str(total) == "9223372036854775808"
    assert total.as_integer() is None


def test_a_huge_exponent_takes_no_time() -> None:
    assert Quantity.parse("1e2000000000") > Quantity.parse("1E")
    assert Quantity.parse("1e-2000000000") == Quantity.parse("1n")


TEXTS = st.tuples(
    st.integers(-(10**9), 10**9),
    st.sampled_from(["", "n", "u", "m", "k", "M", "G", "Ki", "Mi", "Gi", "e3", "e-3"]),
).map(lambda parts: f"{parts[0]}{parts[1]}")
FACTORS: dict[str, Fraction] = {
    "": Fraction(1),
    "n": Fraction(1, 10**9),
    "u": Fraction(1, 10**6),
    "m": Fraction(1, 1000),
    "k": Fraction(10**3),
    "M": Fraction(10**6),
    "G": Fraction(10**9),
    "Ki": Fraction(2**10),
    "Mi": Fraction(2**20),
    "Gi": Fraction(2**30),
    "e3": Fraction(1000),
    "e-3": Fraction(1, 1000),
}


def exact(text: str) -> Fraction:
    suffix = text.lstrip("+-0123456789")
    return Fraction(int(text.removesuffix(suffix))) * FACTORS[suffix]


@given(TEXTS, TEXTS)
def test_arithmetic_and_order_are_exact(one: str, other: str) -> None:
    first, second = Quantity.parse(one), Quantity.parse(other)
    assert first.compare(second) == (exact(one) > exact(other)) - (exact(one) < exact(other))
    assert Fraction(first.add(second).nanos, 10**9) == exact(one) + exact(other)
    assert first.add(second).sub(second) == first


@given(TEXTS)
def test_the_canonical_text_says_the_same(text: str) -> None:
    amount = Quantity.parse(text)
    again = Quantity.parse(str(amount))
    assert again == amount
    assert str(again) == str(amount)
