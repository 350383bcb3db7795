"""Quantities are those of Kubernetes, exact, and what is none is refused with what was most likely meant."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allotment.quantities import (
    GI,
    MI,
    QuantityError,
    format_bytes,
    format_gi,
    parse_bytes,
    parse_exact,
    parse_quantity,
)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("40Gi", 40 * GI),
        ("0.5Gi", GI // 2),
        ("1.5", Fraction(3, 2)),
        (".5", Fraction(1, 2)),
        ("5.", 5),
        ("500m", Fraction(1, 2)),
        ("1k", 1000),
        ("2M", 2_000_000),
        ("1E", 10**18),
        ("1e3", 1000),
        ("1E3", 1000),
        ("1e-3", Fraction(1, 1000)),
        ("-1Ki", -1024),
        ("+1", 1),
        (7, 7),
        (0.1, Fraction(1, 10)),
    ],
)
def test_quantities_are_exact(text: str | float, value: Fraction | int) -> None:
    assert parse_exact(text) == value


@pytest.mark.parametrize(("text", "value"), [("1.5", 2), ("500m", 1), ("1n", 1), ("-1.5", -1), ("8", 8)])
def test_whole_units_are_rounded_up(text: str, value: int) -> None:
    assert parse_quantity(text) == value


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("40GB", "write 40G"),
        ("40 GB", "write 40G"),
        ("40 Gi", "write 40Gi"),
        ("40gi", "write 40Gi"),
        ("40GiB", "write 40Gi"),
        ("40g", "write 40G"),
        ("1kb", "write 1k"),
        ("1.5ti", "write 1.5Ti"),
        ("40 cards", "the suffixes are Ki, Mi, Gi, Ti or k, M, G, T"),
        ("", "write a number and a suffix, such as 40Gi"),
        ("Gi", "write a number and a suffix, such as 40Gi"),
        ("1,5Gi", "the suffixes are Ki, Mi, Gi, Ti or k, M, G, T"),
        ("1e999", "look at the suffix"),
        ("9" * 65, "write it with a suffix, such as 40Gi"),
        (float("nan"), "write a number and a suffix, such as 40Gi"),
        (float("inf"), "write a number and a suffix, such as 40Gi"),
        (True, "write a number and a suffix, such as 40Gi"),
    ],
)
def test_what_is_no_quantity_is_refused_with_what_was_meant(text: str | float, hint: str) -> None:
    with pytest.raises(QuantityError) as caught:
        parse_exact(text)
    assert caught.value.hint == hint


def test_memory_is_never_negative() -> None:
    with pytest.raises(QuantityError, match="less than nothing"):
        parse_bytes("-1Gi")


def test_gi_are_rounded_down_so_that_what_is_shown_can_be_asked_for() -> None:
    assert format_gi(81_559 * MI) == "79.64Gi"
    assert format_gi(40 * GI) == "40.00Gi"
    assert format_gi(0) == "0.00Gi"


@given(st.integers(0, 2**62))
def test_bytes_come_back_from_their_canonical_form(amount: int) -> None:
    assert parse_bytes(format_bytes(amount)) == amount


@given(st.integers(0, 2**62))
def test_what_is_shown_in_gi_is_never_more_than_there_is(amount: int) -> None:
    shown = parse_exact(format_gi(amount))
    assert amount - GI // 100 - 1 <= shown <= amount


@given(st.text(alphabet="0123456789.+-eEKMGTikmun ", max_size=20))
def test_any_text_is_a_quantity_or_refused(text: str) -> None:
    try:
        value = parse_exact(text)
    except QuantityError as error:
        value, told = Fraction(0), (error.message, error.hint)
    else:
        told = ("a quantity", "nothing")
    assert all(told)
    assert abs(value) < 2**63
