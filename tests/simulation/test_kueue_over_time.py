"""Kueue over time: windows grow while there is room, whole Jobs are evicted, quota comes before devices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from allotment.scheduling.kueue import decide
from allotment.simulation.adapters import both, kueue
from allotment.simulation.adapters.adapter import MayRun
from allotment.simulation.draws import Draws
from allotment.simulation.outcome import End, Outcome
from allotment.simulation.run_times import RunTimes
from allotment.simulation.setting import Chances, Scheduler, Setting, WindowPace
from allotment.simulation.simulate import simulate
from allotment.simulation.work import Running
from tests.simulation.adapter_scenes import (
    AT_ONCE,
    ask,
    at_once,
    campaign,
    finish,
    fleet,
    gang,
    played,
    setting,
    started,
    taken,
)

KUEUE, BOTH = Scheduler.KUEUE, Scheduler.BOTH
ADMITTING = [KUEUE, BOTH]
TWO = {"a": 4.0, "b": 4.0}


def widths(outcome: Outcome, work: str) -> list[tuple[float, str]]:
    """When a work was admitted, grew, was cut or evicted."""
    kinds = {"admitted", "grown", "shrunk", "evicted"}
    return [(each.at, each.what) for each in outcome.decisions if each.work == work and each.what in kinds]


@pytest.mark.parametrize("scheduler", ADMITTING)
def test_a_window_starts_at_its_least_and_doubles_while_there_is_room(scheduler: Scheduler) -> None:
    outcome = played(setting(scheduler, TWO), campaign("wide", "a", 16, (1, 8)))
    assert widths(outcome, "wide")[:4] == [
        (0.0, "admitted"),
        (20.0, "grown"),
        (40.0, "grown"),
        (60.0, "grown"),
    ]
    assert started(outcome, "wide")[:8] == [0.0, 20.0, 40.0, 40.0, 60.0, 60.0, 60.0, 60.0]


@pytest.mark.parametrize("pace", [None, WindowPace(grows=False)], ids=["no controller", "before 0.19"])
def test_without_a_controller_that_may_grow_it_stays_as_it_was_admitted(pace: WindowPace | None) -> None:
    outcome = played(setting(KUEUE, TWO, window=pace), campaign("wide", "a", 6, (2, 8)))
    assert started(outcome, "wide") == [0.0, 0.0, 600.0, 600.0, 1200.0, 1200.0]


def test_nobody_grows_while_a_peer_of_the_queue_waits() -> None:
    outcome = played(
        setting(KUEUE, {"a": 4.0}),
        campaign("first", "a", 8, (2, 4)),
        gang("second", "a", 3, arrival=5.0),
    )
    assert widths(outcome, "first")[:2] == [(0.0, "admitted"), (2400.0, "shrunk")] or all(
        what != "grown" for at, what in widths(outcome, "first") if at < 1800.0
    )
    assert max(at_once(outcome, moment).get("a", 0.0) for moment in range(0, 1700, 50)) == 2.0


@pytest.mark.parametrize("scheduler", ADMITTING)
def test_an_eviction_takes_the_whole_job_which_comes_back_as_wide_as_fits(scheduler: Scheduler) -> None:
    outcome = played(
        setting(scheduler, TWO),
        campaign("lent", "a", 24, (1, 8)),
        gang("back", "b", 3, arrival=300.0, seconds=3000.0),
    )
    lost = taken(outcome, "lent")
    assert len(lost) == 8
    assert {span.by for span in lost} == {"back"}
    assert at_once(outcome, 1000.0) == {"a": 5.0, "b": 3.0}


def test_quota_is_back_before_the_devices_are() -> None:
    works = (campaign("lent", "a", 16, (8, 8)), gang("back", "b", 2, arrival=310.0))
    outcome = played(setting(KUEUE, TWO), *works)
    admitted = next(at for at, what in widths(outcome, "back") if what == "admitted")
    assert admitted == pytest.approx(311.1)
    assert min(started(outcome, "back")) > max(span.ended for span in taken(outcome, "lent")) - 1e-9
    slow = replace(AT_ONCE, kueue_release=None)
    later = played(setting(KUEUE, TWO, pace=slow), *works)
    assert next(at for at, what in widths(later, "back") if what == "admitted") == pytest.approx(360.0)


@pytest.mark.parametrize("scheduler", ADMITTING)
def test_a_gang_is_admitted_whole_or_not(scheduler: Scheduler) -> None:
    made = setting(scheduler, {"a": 8.0})
    outcome = played(made, gang("first", "a", 5), gang("whole", "a", 4, arrival=1.0))
    assert started(outcome, "whole") == [pytest.approx(600.0, abs=1.0)] * 4


def test_a_gang_that_may_start_with_fewer_is_admitted_in_part() -> None:
    work = replace(gang("some", "a", 8), least=3)
    outcome = played(setting(KUEUE, {"a": 5.0}), work)
    assert len(started(outcome, "some")) == 5


def test_the_controller_keeps_its_hands_off_a_gang() -> None:
    work = replace(gang("some", "a", 8), least=3)
    outcome = played(setting(KUEUE, {"a": 2.0}), work, campaign("fine", "a", 1, (1, 1)))
    assert not started(outcome, "some")
    assert outcome.ends[0].never


def test_a_higher_priority_takes_the_place_of_a_lower_one_in_its_queue() -> None:
    outcome = played(
        setting(KUEUE, {"a": 4.0}),
        campaign("bulk", "a", 8, (4, 4)),
        campaign("now", "a", 1, (1, 1), priority=50, arrival=100.0),
    )
    assert len(taken(outcome, "bulk")) == 4
    assert widths(outcome, "now")[0][0] == pytest.approx(101.1)


def test_lanes_are_nothing_to_who_places_what_is_admitted() -> None:
    outcome = played(
        setting(KUEUE, {"a": 1.0, "b": 2.0}, cards=(1,)),
        campaign("now", "b", 1, (1, 1), arrival=0.0, seconds=100.0),
        campaign("bulk", "a", 1, (1, 1), arrival=1.0, seconds=100.0),
        campaign("lane", "b", 1, (1, 1), arrival=2.0, seconds=100.0, priority=50),
    )
    assert started(outcome, "bulk")[0] < started(outcome, "lane")[0]


def test_quota_is_given_back_for_volumes_that_have_run_out() -> None:
    outcome = played(
        setting(KUEUE, {"a": 4.0}, window=None),
        campaign("old", "a", 5, (4, 4)),
        gang("next", "a", 3, arrival=10.0),
    )
    assert started(outcome, "old")[-1] == 600.0
    assert started(outcome, "next") == [pytest.approx(600.0, abs=0.1)] * 3


def test_the_last_volume_after_an_eviction_is_not_held_by_a_least_that_cannot_be_met() -> None:
    outcome = played(
        setting(KUEUE, {"a": 0.0, "b": 4.0}, window=None),
        campaign("lent", "a", 5, (4, 4)),
        gang("owner", "b", 3, arrival=700.0, seconds=5000.0),
        gang("owner-2", "b", 1, arrival=700.0, seconds=100.0),
    )
    assert finish(outcome, "lent") is not None
    assert (finish(outcome, "lent") or 0.0) < 5000.0


def test_a_deployment_is_admitted_pod_by_pod() -> None:
    outcome = played(setting(KUEUE, {"a": 3.0}), fleet("served", "a", 4, ends=1000.0), until=2000.0)
    assert started(outcome, "served") == [pytest.approx(0.0, abs=0.1)] * 3


def test_pods_that_run_already_hold_quota() -> None:
    running = tuple(Running(number, "n0") for number in range(6))
    outcome = played(
        setting(KUEUE, {"a": 8.0}, window=None),
        campaign("old", "a", 12, (6, 6), running=running),
        gang("new", "a", 3, arrival=1.0),
    )
    assert at_once(outcome, 100.0) == {"a": 6.0}
    assert len(set(started(outcome, "new"))) == 1


def test_a_growth_that_is_not_granted_is_taken_back_and_asked_for_later() -> None:
    made = setting(KUEUE, {"a": 4.0})
    adapter = kueue.adapter(made)
    work = campaign("wide", "a", 8, (2, 4))
    adapter.arrived(work, 0.0)
    adapter.round(0.0)
    job = adapter.ledger.job_of(work)
    job.asked = adapter.ledger.put(job, job.workload(job.next_name(), 4, 20.0, job.granted))
    job.width, job.stepped = 4, 20.0
    adapter.ledger.take_back(job, 30.0)
    assert (job.width, job.paused) == (2, 90.0)
    assert list(adapter.ledger.state.workloads) == [job.granted]


def test_a_peer_is_given_its_own_quota_where_kueue_takes_none_back() -> None:
    made = setting(KUEUE, TWO)
    state = made.state
    calm = {name: replace(queue, preemption=replace(queue.preemption, reclaim="Never")) for name, queue in
            state.cluster_queues.items()}  # fmt: skip
    made = replace(made, state=replace(state, cluster_queues=calm))
    outcome = played(
        made, campaign("lent", "a", 40, (1, 8)), gang("peer", "b", 3, arrival=300.0, seconds=3000.0)
    )
    cut = [each for each in outcome.decisions if each.work == "lent" and each.what == "shrunk"]
    assert [(each.at, each.by) for each in cut][:1] == [(660.0, "peer")]  # ten minutes after its last step
    assert at_once(outcome, 700.0) == {"a": 5.0, "b": 3.0}


@pytest.mark.parametrize(
    ("cards", "reason"), [(9, "ExceedsMaxQuota"), (1, "NoMatchingFlavor")], ids=["too large", "not given"]
)
def test_who_asks_for_more_than_there_is_waits_for_ever(cards: int, reason: str) -> None:
    charges = {"gpus": cards} if reason == "ExceedsMaxQuota" else {"others": 1}
    work = replace(gang("huge", "a", 1), ask=replace(ask(cards), charges=charges))
    outcome = played(setting(KUEUE, TWO), work)
    assert outcome.ends[0].never
    assert [wait.reason for wait in outcome.waits] == [reason]


def test_a_least_above_all_quota_is_lowered_to_what_there_is() -> None:
    outcome = played(setting(KUEUE, TWO), campaign("wide", "a", 16, (12, 12)))
    assert len([start for start in started(outcome, "wide") if start < 30.0]) == 8


def test_those_put_aside_with_one_like_them_are_told_the_same() -> None:
    works = [campaign(f"single-{number}", "a", 1, (1, 1)) for number in range(6)]
    outcome = played(setting(KUEUE, {"a": 2.0}), *works)
    told = [(wait.work, wait.reason) for wait in outcome.waits if wait.since < 1.0 < wait.until]
    assert told == [(f"single-{number}", "WaitingForQuota") for number in range(2, 6)]


def test_admissions_take_time() -> None:
    works = [campaign(f"single-{number}", "a", 1, (1, 1)) for number in range(5)]
    pace = replace(AT_ONCE, kueue_rate=2.0)
    outcome = played(setting(KUEUE, {"a": 8.0}, pace=pace), *works)
    assert sorted(end.started or 0.0 for end in outcome.ends) == [0.0, 0.5, 1.0, 1.5, 2.0]
    coarse = played(setting(KUEUE, {"a": 8.0}, pace=replace(pace, coarse=2.0)), *works)
    assert sorted(end.started or 0.0 for end in coarse.ends) == [0.0, 0.0, 0.0, 0.0, 2.0]


@pytest.mark.parametrize("scheduler", [*ADMITTING, Scheduler.KAI])
def test_what_was_on_a_lost_node_runs_again(scheduler: Scheduler) -> None:
    made = setting(scheduler, {"a": 8.0}, cards=(4, 4), chances=Chances(1e-9, 0.3, 0.5))
    outcome = played(
        made, campaign("wide", "a", 40, (2, 8), seconds=1000.0), fleet("served", "a", 1, ends=9000.0)
    )
    assert any(span.end is End.NODE_LOST for span in outcome.spans)
    assert next(end.complete for end in outcome.ends if end.work == "wide") == 40


class _Checked(kueue.KueueAdapter):
    """Compares what is admitted with direct calls of the model, cycle after cycle."""

    admitted = 0

    def round(self, now: float) -> Sequence[object]:  # type: ignore[override]  # orders are objects
        ledger = self.ledger
        for key in [key for key, at in ledger.releasing.items() if at <= now]:
            ledger.release(ledger.jobs[key])
        expected: list[str] = []
        if ledger.dirty and self.cycles.next <= now:
            state, memory = ledger.state, ledger.memory
            for _ in range(20):
                decisions, memory = decide(state, memory, now)
                expected = [each.workload for each in decisions if type(each).__name__ == "Admitted"]
                if expected or not decisions:
                    break
        known = {key: ledger.jobs[ledger.owners[key]].work.name for key in expected}
        orders = super().round(now)
        told = [each.work for each in orders if isinstance(each, MayRun) and each.reason == "Admitted"]
        assert told == list(known.values())
        self.admitted += len(told)
        return orders


@pytest.mark.parametrize("scheduler", ADMITTING)
def test_each_admission_is_what_the_model_decides(scheduler: Scheduler) -> None:
    made: Setting = setting(scheduler, TWO)
    works = (campaign("lent", "a", 16, (1, 8)), campaign("back", "b", 4, (2, 4), arrival=300.0))
    make = {KUEUE: kueue.adapter, BOTH: both.adapter}[scheduler]
    adapter = _Checked(made, works, make(made, works).binder)
    simulate(made, works, RunTimes(), Draws(1), 1e6, adapter=adapter)  # type: ignore[arg-type]  # as above
    assert adapter.admitted >= 6
