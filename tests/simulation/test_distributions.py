"""Distributions keep their quantiles, and sums of many values are as spread as sums of single ones."""

from __future__ import annotations

import random
from statistics import mean, quantiles, stdev

import pytest

from allotment.simulation.distributions import Clustered, Constant, LogNormal, Scaled, through
from allotment.simulation.run_times import Distribution, Sampled

WIDE = through(4.0, 0.95, 16.0)
KINDS: dict[str, Distribution] = {
    "constant": Constant(3.0),
    "log-normal": WIDE,
    "cut": LogNormal(4.0, 1.2, 20.0),
    "scaled": Scaled(WIDE, 2.0),
    "sampled": Sampled((1.0, 2.0, 30.0)),
}


def test_a_log_normal_goes_through_the_quantiles_that_were_told() -> None:
    stream = random.Random(1)
    drawn = sorted(WIDE.draw(stream) for _ in range(20_000))
    assert drawn[10_000] == pytest.approx(4.0, rel=0.03)
    assert drawn[19_000] == pytest.approx(16.0, rel=0.06)


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_the_sum_of_many_has_the_mean_and_the_spread_of_single_values(kind: str) -> None:
    distribution, count, stream = KINDS[kind], 300, random.Random(2)
    one_by_one = [sum(distribution.draw(stream) for _ in range(count)) for _ in range(500)]
    at_once = [distribution.total(stream, count) for _ in range(500)]
    assert mean(at_once) == pytest.approx(mean(one_by_one), rel=0.03)
    assert stdev(at_once) == pytest.approx(stdev(one_by_one), rel=0.25, abs=1e-9)


@pytest.mark.parametrize("kind", sorted(set(KINDS) - {"constant"}))
def test_a_sum_is_never_a_mean_alone(kind: str) -> None:
    stream = random.Random(3)
    low, *_, high = quantiles((KINDS[kind].total(stream, 200) for _ in range(200)), n=20)
    assert high > low * 1.02


def test_what_was_told_the_wrong_way_round_is_a_constant() -> None:
    assert through(5.0, 0.95, 5.0) == Constant(5.0)
    assert through(0.0, 0.95, 5.0) == Constant(0.0)


def test_nothing_passes_the_most() -> None:
    stream = random.Random(4)
    cut = through(4.0, 0.95, 16.0, 20.0)
    assert max(cut.draw(stream) for _ in range(5_000)) == 20.0


def test_the_pages_of_a_volume_are_alike_and_volumes_differ() -> None:
    stream = random.Random(5)
    volumes = Clustered(((1.0, 1.2), (10.0, 12.0)))
    sums = [volumes.total(stream, 100) for _ in range(200)]
    assert not [each for each in sums if 130 < each < 900]
    assert mean(volumes.draw(stream) for _ in range(4_000)) == pytest.approx(6.05, rel=0.05)
