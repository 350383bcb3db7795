"""How large a cluster a trace comes to, of which it says nothing."""

from __future__ import annotations

import pytest

from allotment.errors import UsageError
from allotment.simulation.traces.clusters import Demand, sized
from allotment.simulation.traces.jobs import Job, JobKind


def jobs(gap: float) -> list[Job]:
    return [Job(f"j{number}", number * gap, gpus=4, seconds=3600.0) for number in range(10)]


def test_jobs_that_come_at_once_hold_no_more_than_all_of_them() -> None:
    assert Demand.of(jobs(0.0001)).cards == Demand.of(jobs(1.0)).cards == 40
    assert Demand.of(jobs(3600.0)).cards == pytest.approx(40 / 9)
    campaigns = [
        Job(f"c{number}", float(number), kind=JobKind.CAMPAIGN, pods=3, volumes=100, gpus=2, seconds=60.0)
        for number in range(2)
    ]
    assert Demand.of(campaigns).cards == 12


@pytest.mark.parametrize("factor", [1e6, 1e308])
def test_a_cluster_that_nobody_can_play_is_refused(factor: float) -> None:
    with pytest.raises(UsageError, match="at most 100,000 are played"):
        sized(Demand.of(jobs(1.0)), factor)
