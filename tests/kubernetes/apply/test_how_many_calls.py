"""How many calls an apply makes: a campaign of very many volumes costs no more than a small one."""

from __future__ import annotations

import pytest

from allotment.kubernetes.kinds import JOB
from allotment.platform.model import SCHEDULERS
from tests.kubernetes.apply.stage import Stage, campaign


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_ten_thousand_volumes_are_applied_in_less_than_sixty_calls(scheduler: str) -> None:
    stage = Stage(scheduler)
    assert stage.apply(campaign(count=10_000)).is_fine
    assert len(stage.all(JOB)) == 1
    assert len(stage.server.requests) < 60
    stage.kueue()
    assert stage.apply(campaign(count=10_000)).is_nothing
    assert len(stage.server.requests) < 20


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_a_dry_run_writes_nothing_and_says_what_would_be(scheduler: str) -> None:
    stage = Stage(scheduler)
    report = stage.apply(campaign(), dry_run=True)
    assert report.is_dry_run
    assert {str(each.verb) for each in report.outcomes} == {"created"}
    assert stage.writes() == []
    assert stage.all() == []
    assert not any("leases" in each.path for each in stage.server.requests)


@pytest.mark.parametrize("version", ["1.34", "1.35", "1.36", "1.37"])
@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_every_version_takes_it_and_has_nothing_to_do_afterwards(version: str, scheduler: str) -> None:
    stage = Stage(scheduler, version=version)
    assert stage.apply(campaign()).is_fine
    stage.kueue()
    assert stage.apply(campaign()).is_nothing
