"""Quantiles are values that were drawn, and what does not come about is later than all that does."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allotment.simulation.quantiles import Steps, bands, evenly, quantile, share_beyond, spread

VALUES = st.lists(st.one_of(st.none(), st.floats(0, 1e9)), min_size=1, max_size=60)
SHARES = st.floats(0.01, 1)


@pytest.mark.parametrize(
    ("values", "share", "found"),
    [
        pytest.param([], 0.5, None, id="of nothing there is none"),
        pytest.param([7.0], 0.1, 7.0, id="one value is all of them"),
        pytest.param([3.0, 1.0, 2.0], 0.5, 2.0, id="the middle"),
        pytest.param([4.0, 1.0, 2.0, 3.0], 0.5, 2.0, id="of an even number the lower middle"),
        pytest.param([float(n) for n in range(1, 41)], 0.9, 36.0, id="nine tenths of forty"),
        pytest.param([1.0, None], 0.5, 1.0, id="half within the horizon"),
        pytest.param([1.0, None], 0.9, None, id="nine tenths beyond it"),
    ],
)
def test_a_quantile_is_the_nearest_rank(
    values: list[float | None], share: float, found: float | None
) -> None:
    assert quantile(values, share) == found


@given(VALUES, SHARES)
def test_so_large_a_share_does_not_pass_the_quantile(values: list[float | None], share: float) -> None:
    found = quantile(values, share)
    if found is None:
        assert sum(each is not None for each in values) < share * len(values)
        return
    assert found in values
    assert sum(each is not None and each <= found for each in values) >= share * len(values) - 1e-6


@given(VALUES, SHARES, SHARES)
def test_quantiles_grow_with_their_share(values: list[float | None], one: float, other: float) -> None:
    low, high = (quantile(values, share) for share in sorted((one, other)))
    assert high is None or (low is not None and low <= high)


@given(VALUES)
def test_the_order_of_draws_does_not_matter(values: list[float | None]) -> None:
    assert spread(values) == spread(values[::-1])


@given(VALUES, st.floats(0, 1e9))
def test_what_is_beyond_and_what_is_not_are_all(values: list[float | None], limit: float) -> None:
    within = sum(each is not None and each <= limit for each in values)
    assert share_beyond(values, limit) * len(values) + within == pytest.approx(len(values))


def test_a_deadline_is_kept_by_nine_of_ten_where_the_quantile_keeps_it() -> None:
    values = [float(number) for number in range(1, 21)]
    assert share_beyond(values, 18.0) == pytest.approx(0.1)
    assert quantile(values, 0.9) == 18.0


def test_a_window_is_how_many_run_at_a_time() -> None:
    steps = Steps([(2.0, 1), (0.0, 1), (5.0, -1), (7.0, -1)])
    assert [steps.at(time) for time in (-1.0, 0.0, 2.0, 4.9, 5.0, 7.0)] == [0, 1, 2, 2, 1, 0]


def test_a_band_is_of_all_draws_at_one_time() -> None:
    draws = [Steps([(0.0, number)]) for number in range(1, 11)]
    (found,) = bands(draws, [1.0])
    assert (found.p10, found.p50, found.p90) == (1, 5, 9)


def test_moments_are_evenly_spread_up_to_the_end() -> None:
    assert evenly(10.0, 3) == (0.0, 5.0, 10.0)
