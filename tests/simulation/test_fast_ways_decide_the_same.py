"""What spares work changes nothing: pods that are counted, not listed, and not hearing of all that run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from allotment.simulation.adapters import kai
from allotment.simulation.adapters.choosing import adapter_for
from allotment.simulation.adapters.kai_ground import Asked
from allotment.simulation.draws import Draws
from allotment.simulation.outcome import Outcome
from allotment.simulation.run_times import RunTimes
from allotment.simulation.setting import Chances, Scheduler, Setting
from allotment.simulation.simulate import simulate
from allotment.simulation.work import Work
from tests.simulation.adapter_scenes import ask, campaign, fleet, gang, setting

QUOTAS = {"a": 3.0, "b": 4.0, "c": 1.0}
END = 60_000.0
SOME = settings(
    max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


class Listing(kai.KaiAdapter):
    """KAI with every pod that waits in its group."""

    def _most(self, asked: Asked, queue: str) -> int | None:
        return None


@st.composite
def works(draw: st.DrawFn) -> list[Work]:
    """Campaigns that are far wider than there is room, and others among them."""
    made: list[Work] = []
    for number in range(draw(st.integers(1, 6))):
        team, at = draw(st.sampled_from(sorted(QUOTAS))), float(draw(st.integers(0, 900)))
        name, lane = f"w{number}", draw(st.sampled_from([0, 50]))
        kind = draw(st.sampled_from(["campaign", "campaign", "campaign", "gang", "fleet"]))
        if kind == "campaign":
            low = draw(st.integers(1, 4))
            volumes, width = draw(st.integers(1, 40)), draw(st.integers(low, 40))
            one = campaign(name, team, volumes, (low, width), seconds=200.0)
        elif kind == "gang":
            one = gang(name, team, draw(st.integers(1, 5)), seconds=300.0)
        else:
            one = fleet(name, team, draw(st.integers(1, 3)), ends=at + 800.0)
        asked = ask(draw(st.sampled_from([1, 1, 2])))
        made.append(replace(one, arrival=at, priority=lane, ask=asked, preemptible=lane == 0))
    return made


CHANCES = st.builds(Chances, unit_fails=st.sampled_from([0.0, 0.2]), node_lost_per_hour=st.just(0.5))


def same(one: Outcome, other: Outcome) -> None:
    assert one.spans == other.spans
    assert one.ends == other.ends
    assert one.waits == other.waits
    assert one.decisions == other.decisions


WHILE_OTHERS_LEAVE = [
    gang("w0", "a", 1, seconds=300.0),
    replace(campaign("w1", "b", 10, (1, 10), seconds=200.0), arrival=398.0),
    gang("w2", "a", 4, seconds=300.0),
    replace(gang("w3", "a", 1, seconds=300.0), arrival=529.0, ask=ask(2)),
    campaign("w4", "a", 1, (1, 1), seconds=200.0),
    campaign("w5", "a", 1, (1, 1), seconds=200.0),
]


@SOME
@given(given_works=works(), limit=st.sampled_from([None, 2.0, 6.0]), chances=CHANCES)
@example(given_works=WHILE_OTHERS_LEAVE, limit=2.0, chances=Chances(unit_fails=0.2, node_lost_per_hour=0.5))
def test_pods_that_wait_as_a_number_are_decided_on_as_if_they_were_listed(
    given_works: list[Work], limit: float | None, chances: Chances
) -> None:
    limits = {} if limit is None else {"a": limit}
    made = setting(Scheduler.KAI, QUOTAS, cards=(4, 2, 2), limits=limits, chances=chances)
    counted, listed = (
        simulate(made, given_works, RunTimes(), Draws(1), END, adapter=make(made, given_works))
        for make in (kai.KaiAdapter, Listing)
    )
    same(counted, listed)


@pytest.mark.parametrize("scheduler", [Scheduler.DEFAULT, Scheduler.KUEUE, Scheduler.KAI], ids=str)
@SOME
@given(given_works=works(), chances=CHANCES)
def test_who_need_not_hear_that_pods_run_decides_the_same_when_told(
    scheduler: Scheduler, given_works: list[Work], chances: Chances
) -> None:
    made = setting(scheduler, QUOTAS, cards=(4, 2, 2), chances=chances)
    same(told_of_all(made, given_works, heeds=True), told_of_all(made, given_works, heeds=False))


def told_of_all(made: Setting, given_works: Sequence[Work], *, heeds: bool) -> Outcome:
    adapter = adapter_for(made, given_works)
    adapter.heeds_ready = heeds
    return simulate(made, given_works, RunTimes(), Draws(1), END, adapter=adapter)
