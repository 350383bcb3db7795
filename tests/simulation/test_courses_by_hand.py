"""Courses that are worked out by hand: of each thing that can happen to a pod one, or two."""

from __future__ import annotations

from dataclasses import replace

import pytest

from allotment.simulation.adapters.adapter import MayRun, Order
from allotment.simulation.draws import Draws
from allotment.simulation.outcome import End, Outcome
from allotment.simulation.run_times import Basis, RunTimes, Sampled, Times
from allotment.simulation.setting import Chances, Pace, Scheduler
from allotment.simulation.simulate import simulate
from allotment.simulation.work import Kind, Running, Unit, Work
from tests.simulation import adapter_scenes
from tests.simulation.courses import ONE_CARD, Told, campaign, course, runs, setting_of, stop, volumes

LOADS = RunTimes(guess=Times(Sampled([10.0]), Sampled([7.0]), Basis.GUESS))
FREE = Pace(pod_start=0.0, job_sync=0.0)
Row = tuple[int, int, float, float, float, str, int, float]


@pytest.mark.parametrize(
    ("work", "expected"),
    [
        pytest.param(campaign(*volumes(3)), [(0, 0, 0, 2, 32, "complete", 3, 0)], id="one volume"),
        pytest.param(
            campaign(*volumes(2, 1), most=1),
            [(0, 0, 0, 2, 22, "complete", 2, 0), (1, 0, 22, 24, 34, "complete", 1, 0)],
            id="a window of one",
        ),
        pytest.param(
            campaign(*volumes(2, 1, 3), pack=2, most=1),
            [(0, 0, 0, 2, 32, "complete", 3, 0), (1, 0, 32, 34, 64, "complete", 3, 0)],
            id="two volumes to a pod",
        ),
        pytest.param(
            campaign(*volumes(1), image="registry.example.org/htr"),
            [(0, 0, 0, 62, 72, "complete", 1, 0)],
            id="an image to pull",
        ),
        pytest.param(
            campaign(*volumes(1, 1), image="registry.example.org/htr", most=1),
            [(0, 0, 0, 62, 72, "complete", 1, 0), (1, 0, 72, 74, 84, "complete", 1, 0)],
            id="an image is pulled once",
        ),
        pytest.param(
            campaign(Unit("v", 2), recipe="r"), [(0, 0, 0, 9, 29, "complete", 2, 0)], id="models to load"
        ),
        pytest.param(
            campaign(Unit("v", 3, done=2, seconds=30.0)),
            [(0, 0, 0, 2, 12, "complete", 1, 0)],
            id="pages that are done stay done",
        ),
        pytest.param(
            campaign(Unit("a", 1, done=1, seconds=10.0), Unit("b", 1, seconds=10.0)),
            [(1, 0, 0, 2, 12, "complete", 1, 0)],
            id="a volume that is complete gets no pod",
        ),
        pytest.param(
            campaign(*volumes(2, fails=True)),
            [(0, 0, 0, 2, 22, "failed", 2, 0)],
            id="a failure that is known beforehand is not tried again",
        ),
        pytest.param(
            campaign(*volumes(3), max_seconds=15.0, retries=1),
            [(0, 0, 0, 2, 17, "failed", 1, 5), (0, 1, 27, 29, 44, "failed", 1, 5)],
            id="a deadline is a failure, after which pages are kept",
        ),
        pytest.param(
            campaign(*volumes(1), arrival=50.0), [(0, 0, 50, 52, 62, "complete", 1, 0)], id="a later arrival"
        ),
    ],
)
def test_a_campaign_on_its_own(work: Work, expected: list[Row]) -> None:
    assert runs(course(work, times=LOADS)) == expected


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        pytest.param(
            [(15.0, stop(0))],
            [(0, 0, 0, 2, 22, "reclaimed", 2, 0), (0, 1, 22, 24, 34, "complete", 1, 0)],
            id="the page in work is finished",
        ),
        pytest.param(
            [(1.0, stop(0))],
            [(0, 0, 0, 1, 1, "reclaimed", 0, 0), (0, 1, 1, 3, 33, "complete", 3, 0)],
            id="before the first page",
        ),
        pytest.param([(25.0, stop(0))], [(0, 0, 0, 2, 32, "complete", 3, 0)], id="on the last page"),
        pytest.param(
            [(15.0, stop(0)), (16.0, stop(0))],
            [(0, 0, 0, 2, 22, "reclaimed", 2, 0), (0, 1, 22, 24, 34, "complete", 1, 0)],
            id="told twice",
        ),
        pytest.param(
            [(15.0, stop(0)), (25.0, stop(0, 1, End.SHRUNK))],
            [(0, 0, 0, 2, 22, "reclaimed", 2, 0), (0, 1, 22, 24, 34, "complete", 1, 0)],
            id="again on the last page",
        ),
        pytest.param(
            [(3.0, MayRun("w", 0)), (3.0, stop(0)), (40.0, MayRun("w", 1))],
            [(0, 0, 0, 2, 12, "reclaimed", 1, 0), (0, 1, 40, 42, 62, "complete", 2, 0)],
            id="evicted until it is admitted again",
        ),
    ],
)
def test_a_pod_that_is_told_to_leave(script: list[tuple[float, Order]], expected: list[Row]) -> None:
    assert runs(course(campaign(*volumes(3)), script=script)) == expected


def test_a_page_that_does_not_end_within_the_grace_period_is_lost() -> None:
    slow = campaign(Unit("v", 2, seconds=2000.0), grace=100.0)
    assert runs(course(slow, script=[(502.0, stop(0))])) == [
        (0, 0, 0, 2, 602, "reclaimed", 0, 600),
        (0, 1, 602, 604, 2604, "complete", 2, 0),
    ]


def test_who_takes_is_told_and_a_reclaim_burns_no_retry() -> None:
    work = campaign(Unit("v", 1, seconds=1000.0), grace=0.0, retries=0)
    outcome = course(work, script=[(10.0, stop(0)), (20.0, stop(0, 1))])
    assert [each.by for each in outcome.spans] == ["other", "other", ""]
    assert outcome.ends[0].complete == 1


def test_too_many_reclaims_without_a_new_page_are_a_failure() -> None:
    work = campaign(Unit("v", 1, seconds=1000.0), grace=0.0, reclaims=2)
    end = course(work, script=[(10.0, stop(0)), (20.0, stop(0, 1))]).ends[0]
    assert (end.complete, end.failed, end.finished) == (0, 1, 20.0)


def test_a_new_page_begins_the_count_of_reclaims_anew() -> None:
    work = campaign(Unit("v", 4, seconds=40.0), reclaims=2)
    script = [(1.0, stop(0)), (4.0, stop(0, 1)), (14.0, stop(0, 2))]
    assert course(work, script=script).ends[0].complete == 1


@pytest.mark.parametrize("sync", [0.0, 1.0], ids=["seen at once", "seen later"])
def test_chance_makes_units_fail_after_a_part_and_retries_run_out(sync: float) -> None:
    pace = replace(FREE, job_sync=sync)
    outcome = course(campaign(*volumes(10), retries=2), chances=Chances(unit_fails=1.0), pace=pace)
    assert [str(each.end) for each in outcome.spans] == ["failed"] * 3
    first, second, third = outcome.spans
    assert second.bound == first.ended + 10
    assert third.bound == second.ended + 20
    assert sum(each.pages for each in outcome.spans) < 10
    assert (outcome.ends[0].complete, outcome.ends[0].failed) == (0, 1)


def test_of_a_pack_the_volumes_are_tried_again_that_failed() -> None:
    chances, seed = Chances(unit_fails=0.5), 3
    outcome = course(campaign(*volumes(5, 5, 5, 5), pack=4, retries=50), chances=chances, seed=seed)
    assert outcome.ends[0].complete == 4
    assert sum(each.pages for each in outcome.spans) == 20
    assert len(outcome.spans) > 1


def test_a_window_that_grows_and_is_cut() -> None:
    work = campaign(*volumes(2, 2, 2, 2), most=4)
    script: list[tuple[float, Order]] = [
        (5.0, MayRun("w", 3)),
        (6.0, MayRun("w", 1)),
        (6.0, stop(2, end=End.SHRUNK)),
    ]
    outcome = course(work, adapter=Told(script, most=1), pace=FREE)
    assert [(each.index, each.bound, each.ended, str(each.end)) for each in outcome.spans] == [
        (2, 5, 15, "shrunk"),
        (0, 0, 20, "complete"),
        (1, 5, 25, "complete"),
        (2, 25, 35, "complete"),
        (3, 35, 55, "complete"),
    ]
    assert [each.what for each in outcome.decisions if each.what != "started"] == [
        "grown",
        "shrunk",
        "shrunk",
    ]


def test_pods_without_a_node_are_let_go_when_fewer_may_exist() -> None:
    class Slow(Told):
        """Gives nobody a place before 50."""

        def due(self, now: float) -> float | None:
            return self.script[0][0] if self.script else max(now, 50.0) if self.waiting else None

        def round(self, now: float) -> list[Order]:
            held, self.waiting = self.waiting, [] if now < 50 else self.waiting
            orders = list(super().round(now))
            self.waiting = held if now < 50 else []
            return orders

    slow = Slow([(10.0, MayRun("w", 1))], most=3)
    outcome = course(campaign(*volumes(1, 1, 1)), adapter=slow, pace=FREE)
    assert [what for what, _ in slow.heard][:2] == ["ended", "ended"]
    assert [(each.index, each.bound) for each in outcome.spans] == [(0, 50), (1, 60), (2, 70)]


FLEET = Work("f", "team", Kind.FLEET, ONE_CARD, least=1, most=2)


def test_a_fleet_runs_until_the_horizon() -> None:
    outcome = course(FLEET, until=100.0)
    assert runs(outcome) == [(n, 0, 0, 2, 100, "running", 0, 0) for n in (0, 1)]
    assert outcome.ends[0].finished is None


def test_a_fleet_goes_at_its_time_and_a_replica_that_was_taken_comes_back() -> None:
    outcome = course(
        replace(FLEET, ends=50.0, most=1), script=[(20.0, stop(0, work="f"))], until=100.0, pace=FREE
    )
    assert runs(outcome) == [(0, 0, 0, 0, 20, "reclaimed", 0, 0), (0, 1, 20, 20, 50, "complete", 0, 0)]
    assert outcome.ends[0].finished == 50.0


GANG = Work("g", "team", Kind.GANG, ONE_CARD, volumes(4), least=2, most=2)


def test_a_gang_works_on_one_volume_together() -> None:
    outcome = course(GANG)
    assert runs(outcome) == [(0, 0, 0, 2, 42, "complete", 4, 0), (1, 0, 0, 2, 42, "complete", 0, 0)]
    assert (outcome.ends[0].started, outcome.ends[0].finished, outcome.ends[0].complete) == (2, 42, 1)


def test_a_gang_begins_when_the_last_is_ready_and_loses_what_a_lost_pod_interrupts() -> None:
    script = [(25.0, stop(1, work="g"))]
    outcome = course(replace(GANG, grace=3.0), script=script)
    assert runs(outcome) == [
        (1, 0, 0, 2, 28, "reclaimed", 2, 12),
        (0, 0, 0, 2, 50, "complete", 2, 0),
        (1, 1, 28, 30, 50, "complete", 0, 0),
    ]


def test_a_gang_that_is_told_to_leave_on_its_last_page_is_through() -> None:
    outcome = course(GANG, script=[(35.0, stop(1, work="g"))])
    assert {each.end for each in outcome.spans} == {End.COMPLETE}


def test_a_gang_that_can_do_with_fewer_goes_on_without_those_that_are_lost() -> None:
    script: list[tuple[float, Order]] = [(15.0, stop(2, work="g")), (15.0, MayRun("g", 2))]
    outcome = course(replace(GANG, most=3), script=script)
    assert [(each.index, each.ended, str(each.end)) for each in outcome.spans] == [
        (2, 22, "reclaimed"),
        (0, 42, "complete"),
        (1, 42, "complete"),
    ]


def test_a_gang_that_fails_for_good_fails_whole() -> None:
    outcome = course(replace(GANG, units=volumes(4, fails=True)))
    assert {each.end for each in outcome.spans} == {End.FAILED}
    assert outcome.ends[0].failed == 1


def test_a_gang_that_stumbles_is_tried_again() -> None:
    outcome = course(replace(GANG, retries=1), chances=Chances(unit_fails=1.0))
    assert [str(each.end) for each in outcome.spans] == ["failed"] * 4
    assert outcome.ends[0].failed == 1


def test_pods_that_run_already_are_in_the_middle_of_a_page() -> None:
    unit = Unit("v", 4, done=1, seconds=40.0)
    adapter = Told()
    outcome = course(campaign(unit, running=(Running(0, "node-1", ("d",), -100.0),)), adapter=adapter)
    (span,) = outcome.spans
    assert (span.bound, span.ready, span.pages) == (0.0, 0.0, 3)
    assert 20.0 <= span.ended <= 30.0
    assert adapter.heard[0][0] == "placed"


def test_one_that_runs_for_less_than_its_first_page_takes_is_on_that_page() -> None:
    work = campaign(*volumes(2), running=(Running(0, "node-1", ("d",), -6.0),))
    (span,) = course(work).spans
    assert span.ended == 16.0  # six seconds are over, of which it took two to start


def test_of_a_pod_that_its_job_deletes_nobody_hears_that_it_is_through() -> None:
    order = replace(stop(0), by_its_job=True)
    assert runs(course(campaign(*volumes(3), recipe="r"), script=[(32.0, order)], times=LOADS)) == [
        (0, 0, 0, 9, 39, "complete", 3, 0),
        (0, 1, 39, 41, 41, "complete", 0, 0),
    ]


def test_a_deadline_counts_from_when_a_pod_began() -> None:
    running = (Running(0, "node-1", ("d",), -100.0),)
    work = campaign(Unit("v", 1, seconds=500.0), running=running, max_seconds=110.0, retries=0)
    assert runs(course(work))[0][4:6] == (10.0, "failed")


def test_a_lost_node_takes_its_pods_and_comes_back() -> None:
    chances = Chances(node_lost_per_hour=1.0, node_back_hours=0.5)
    adapter = Told()
    outcome = course(
        campaign(Unit("v", 1000, seconds=10_000.0), max_seconds=1e9),
        chances=chances,
        adapter=adapter,
        until=20_000.0,
    )
    lost = [each for each in outcome.spans if each.end is End.NODE_LOST]
    nodes = [what for kind, what in adapter.heard if kind == "node"]
    assert lost
    assert [up for _, up in nodes] == [number % 2 == 1 for number in range(len(nodes))]
    assert all(each.lost < 10.0 for each in lost)


@pytest.mark.parametrize(
    ("first", "second", "ready"),
    [
        pytest.param("gpu-0-mig-1g10gb-19-0", "gpu-0-mig-1g10gb-19-0", (12, 2), id="the same cut"),
        pytest.param("gpu-0-mig-1g10gb-19-0", "gpu-0-mig-3g40gb-9-0", (12, 12), id="another cut"),
        pytest.param("gpu-0", "gpu-0-mig-3g40gb-9-0", (2, 12), id="from the whole card"),
        pytest.param("gpu-0-mig-1g10gb-19-0", "gpu-0", (12, 12), id="to the whole card"),
    ],
)
def test_a_card_that_is_cut_on_demand_takes_time_to_cut(
    first: str, second: str, ready: tuple[float, float]
) -> None:
    class Cutting(Told):
        """Gives one device, and then another."""

        def round(self, now: float) -> list[Order]:
            self.devices = (f"gpu.nvidia.com/node-1/{second if now else first}",)
            return list(super().round(now))

    setting = setting_of(described="1 nodes of 1 x H100-SXM mig=on-demand", pace=Pace())
    outcome: Outcome = simulate(
        setting, [campaign(*volumes(2, 2), most=1)], RunTimes(), Draws(1), 1e6, adapter=Cutting()
    )
    start = outcome.spans[1].bound
    assert (outcome.spans[0].ready, outcome.spans[1].ready - start) == ready


@pytest.mark.parametrize("scheduler", [Scheduler.SIMPLE, Scheduler.DEFAULT, Scheduler.KUEUE], ids=str)
def test_pods_that_get_a_node_when_their_gang_is_through_go_with_its_job(scheduler: Scheduler) -> None:
    made = adapter_scenes.setting(scheduler, {"a": 8.0}, cards=(1,), pace=Pace(job_sync=1.0))
    work = replace(adapter_scenes.gang("g", "a", 2, seconds=100.0), least=1)
    outcome = simulate(made, [work], RunTimes(), Draws(1), 1e6)
    finished = outcome.ends[0].finished
    assert finished is not None
    assert max(span.ended for span in outcome.spans) <= finished
