"""What holds in every course, whoever decides: nothing is given twice, and nothing that is done is lost."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from allotment.scheduling.default import Settings
from allotment.simulation.adapters.adapter import Order, PodId, Stop
from allotment.simulation.draws import Draws
from allotment.simulation.outcome import End, Outcome, Span
from allotment.simulation.setting import Chances, Pace, Scheduler
from allotment.simulation.simulate import simulate
from allotment.simulation.work import Kind, Unit, Work
from tests.simulation.adapter_scenes import ask as counted
from tests.simulation.adapter_scenes import campaign as of_team
from tests.simulation.adapter_scenes import gang as of_team_together
from tests.simulation.adapter_scenes import setting as of_teams
from tests.simulation.courses import CARD, ONE_CARD, TENS, Told, campaign, setting_of

UNITS = st.lists(
    st.builds(
        lambda pages, seconds, done, fails: Unit(
            f"v{pages}{done}", pages, min(done, pages), seconds * pages, fails=fails
        ),
        st.integers(1, 4),
        st.sampled_from([1.0, 7.5, 300.0]),
        st.integers(0, 2),
        st.sampled_from([False, False, False, True]),
    ),
    min_size=1,
    max_size=6,
).map(lambda units: tuple(replace(unit, name=f"v{n}") for n, unit in enumerate(units)))
WORKS = st.lists(
    st.builds(
        lambda units, arrival, most, pack, grace, retries: campaign(
            *units, arrival=arrival, most=most, pack=pack, grace=grace, retries=retries
        ),
        UNITS,
        st.sampled_from([0.0, 0.0, 5.0, 100.0]),
        st.integers(1, 5),
        st.integers(1, 3),
        st.sampled_from([0.0, 5.0, 1000.0]),
        st.integers(0, 3),
    ),
    min_size=1,
    max_size=4,
).map(lambda works: [replace(work, name=f"w{n}") for n, work in enumerate(works)])
GANGS = st.builds(
    lambda least, more, pages: Work(
        "gang",
        "team",
        Kind.GANG,
        ONE_CARD,
        (Unit("v", pages, seconds=20.0 * pages),),
        3.0,
        least,
        least + more,
    ),
    st.integers(1, 2),
    st.integers(0, 1),
    st.integers(1, 3),
)
CHANCES = st.builds(
    Chances, st.sampled_from([0.0, 0.0, 0.3]), st.sampled_from([0.0, 0.0, 2.0]), st.sampled_from([0.05, 0.5])
)
FREELY = [Scheduler.SIMPLE, Scheduler.DEFAULT]


@pytest.mark.parametrize("scheduler", FREELY)
@given(
    st.tuples(st.integers(1, 2), st.integers(1, 3)),
    WORKS,
    st.none() | GANGS,
    st.tuples(CHANCES, st.sampled_from([Pace(), Pace(pod_start=0.0)])),
)
@settings(deadline=None, max_examples=25)
def test_nothing_is_given_twice_and_everything_comes_to_an_end(
    scheduler: Scheduler,
    size: tuple[int, int],
    works: list[Work],
    gang: Work | None,
    luck: tuple[Chances, Pace],
) -> None:
    (nodes, cards), (chances, pace) = size, luck
    works = [*works, gang] if gang is not None and gang.most <= nodes * cards else works
    setting = setting_of(scheduler, f"{nodes} nodes of {cards} x {CARD}", chances=chances, pace=pace)
    outcome = simulate(setting, works, TENS, Draws(1), 1e6)
    assert simulate(setting, works, TENS, Draws(1), 1e6) == outcome
    look(outcome, works, chances)
    assert most_at_once(span for span in outcome.spans if span.gpus) <= nodes * cards
    if gang not in works or scheduler is Scheduler.SIMPLE:  # single pods of a gang may stand in its own way
        assert all(end.finished is not None for end in outcome.ends)


class Reclaiming(Told):
    """Takes pods away when it is told to, whichever runs then."""

    def __init__(self, times: Sequence[float]) -> None:
        super().__init__()
        self.times = sorted(times)
        self.running: list[PodId] = []

    def ready(self, pods: Iterable[PodId], now: float) -> None:
        self.running += pods

    def ended(self, pods: Iterable[PodId], now: float) -> None:
        gone = set(pods)
        self.running = [each for each in self.running if each not in gone]
        super().ended(gone, now)

    def due(self, now: float) -> float | None:
        return now if self.waiting else self.times[0] if self.times else None

    def round(self, now: float) -> Sequence[Order]:
        orders = list(super().round(now))
        while self.times and self.times[0] <= now:
            number = int(self.times.pop(0))
            if self.running:
                orders.append(Stop(self.running[number % len(self.running)], "other"))
        return orders


@given(WORKS, st.none() | GANGS, st.lists(st.floats(0, 2000), max_size=12), CHANCES)
@settings(deadline=None, max_examples=50)
def test_a_reclaim_costs_no_more_than_a_page(
    works: list[Work], gang: Work | None, times: list[float], chances: Chances
) -> None:
    works = [*works, gang] if gang is not None else works
    outcome = simulate(setting_of(chances=chances), works, TENS, Draws(1), 1e6, adapter=Reclaiming(times))
    look(outcome, works, chances, one_device_each=False)
    assert all(end.finished is not None for end in outcome.ends)


OF_TEAMS = st.lists(
    st.builds(
        lambda team, volumes, more, seconds, arrival, priority, cards: replace(
            of_team("w", team, volumes, (1, 1 + more), seconds=seconds, arrival=arrival, priority=priority),
            ask=counted(cards),
        ),
        st.sampled_from("ab"),
        st.integers(1, 6),
        st.integers(0, 4),
        st.sampled_from([30.0, 600.0]),
        st.sampled_from([0.0, 0.0, 50.0, 300.0]),
        st.sampled_from([0, 0, 10]),
        st.sampled_from([1, 1, 1, 2]),
    ),
    min_size=1,
    max_size=5,
).map(lambda works: [replace(work, name=f"w{n}") for n, work in enumerate(works)])
GANGS_OF_TEAMS = st.lists(
    st.builds(
        lambda team, workers, arrival: of_team_together("g", team, workers, seconds=300.0, arrival=arrival),
        st.sampled_from("ab"),
        st.integers(1, 3),
        st.sampled_from([0.0, 70.0]),
    ),
    max_size=2,
).map(lambda works: [replace(work, name=f"g{n}") for n, work in enumerate(works)])
LUCK = st.sampled_from([Chances(), Chances(), Chances(0.2), Chances(0.0, 0.5, 0.1)])


def of_every_scheduler(
    scheduler: Scheduler, cards: list[int], works: list[Work], gangs: list[Work], chances: Chances
) -> None:
    """Play it twice, and look at it."""
    taking = Settings(is_early=True, preempts=True)
    made = of_teams(scheduler, {"a": 2.0, "b": 2.0}, cards=cards, chances=chances, default=taking)
    works = [*works, *gangs]
    outcome = simulate(made, works, TENS, Draws(1), 1e5)
    assert simulate(made, works, TENS, Draws(1), 1e5) == outcome
    look(outcome, works, chances)
    for number, there in enumerate(cards):
        node = [span for span in outcome.spans if span.node == f"n{number}"]
        assert most_at_once(span for span in node for _ in range(int(span.gpus))) <= there
    if not gangs and not chances.node_lost_per_hour and all(work.ask.gpus <= min(cards) for work in works):
        assert all(end.finished is not None for end in outcome.ends)


COURSES = (st.lists(st.integers(1, 4), min_size=1, max_size=3), OF_TEAMS, GANGS_OF_TEAMS, LUCK)


@pytest.mark.parametrize("scheduler", list(Scheduler))
@given(*COURSES)
@settings(deadline=None, max_examples=8)
def test_no_scheduler_gives_more_than_there_is(
    scheduler: Scheduler, cards: list[int], works: list[Work], gangs: list[Work], chances: Chances
) -> None:
    of_every_scheduler(scheduler, cards, works, gangs, chances)


@pytest.mark.soak
@pytest.mark.parametrize("scheduler", list(Scheduler))
@given(*COURSES)
@settings(deadline=None, max_examples=300)
def test_no_scheduler_gives_more_than_there_is_however_often_it_is_tried(
    scheduler: Scheduler, cards: list[int], works: list[Work], gangs: list[Work], chances: Chances
) -> None:
    of_every_scheduler(scheduler, cards, works, gangs, chances)


def look(outcome: Outcome, works: Sequence[Work], chances: Chances, *, one_device_each: bool = True) -> None:
    """Look at every run and wait."""
    by_pod: dict[object, list[Span]] = defaultdict(list)
    by_device: dict[str, list[Span]] = defaultdict(list)
    by_work: dict[str, list[Span]] = defaultdict(list)
    for span in outcome.spans:
        assert 0 <= span.bound <= span.ready <= span.ended <= outcome.until
        by_pod[span.work, span.index].append(span)
        by_work[span.work].append(span)
        for device in span.devices:
            by_device[device].append(span)
    for spans in (*by_pod.values(), *(by_device.values() if one_device_each else ())):
        apart([(each.bound, each.ended) for each in spans])
    for work, end in zip(works, outcome.ends, strict=True):
        spans = by_work[work.name]
        assert most_at_once(spans) <= work.most
        assert end.complete + end.failed + end.left == len(work.units)
        slowest = max((unit.seconds or 0.0) / unit.pages for unit in work.units)
        taken = [each for each in spans if each.end in {End.RECLAIMED, End.NODE_LOST, End.SHRUNK}]
        pages = work.pack if chances.unit_fails else 1  # volumes of a pack may have failed before
        pods = work.most if work.kind is Kind.GANG else 1  # all of them repeat what one of them ended
        assert all(each.lost <= pods * pages * slowest + 1e-6 for each in taken)
        todo = sum(unit.pages - unit.done for unit in work.units)
        done = sum(each.pages for each in spans)
        assert done <= todo
        if not end.failed and not end.left:
            assert done == todo
        waits = [each for each in outcome.waits if each.work == work.name]
        apart([(each.since, each.until) for each in waits])


def apart(times: list[tuple[float, float]]) -> None:
    """None of these begins before another one ends."""
    times = sorted(times)
    assert all(ended <= bound for (_, ended), (bound, _) in pairwise(times))


def most_at_once(spans: Iterable[Span]) -> int:
    """How many of the runs there were at one time."""
    changes = sorted(
        change for each in spans if each.ended > each.bound for change in ((each.bound, 1), (each.ended, -1))
    )
    most = now = 0
    for _time, change in changes:
        now += change
        most = max(most, now)
    return most
