"""The default scheduler over time: it knows no teams, binds at its own pace, and those who fail back off."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest

from allotment.scheduling.default import Gangs, Settings
from allotment.scheduling.state.pod_groups import PodRequest
from allotment.simulation.adapters import binding
from allotment.simulation.adapters.binding import NO_PARTS
from allotment.simulation.outcome import End
from allotment.simulation.setting import Chances, Pace, Scheduler
from allotment.simulation.work import Ask, Running, Work
from tests.simulation.adapter_scenes import (
    AT_ONCE,
    ask,
    campaign,
    claim,
    described,
    finish,
    gang,
    played,
    setting,
    started,
)

TEAMS = {"a": 1.0, "b": 1.0}
DEFAULT = Scheduler.DEFAULT
H100 = "1 nodes of 2 x H100-SXM"


def wide(
    name: str, team: str, volumes: int, what: Ask | None = None, seconds: float = 600.0, **more: object
) -> Work:
    """A campaign whose volumes may all run at once."""
    made = campaign(name, team, volumes, (1, volumes), seconds=seconds)
    return replace(made, ask=what or ask(), **more)  # type: ignore[arg-type]


def test_it_knows_no_teams() -> None:
    outcome = played(
        setting(DEFAULT, TEAMS, cards=(4,)), wide("first", "a", 8), wide("second", "b", 1, arrival=1.0)
    )
    assert started(outcome, "first") == [0.0] * 4 + [600.0] * 4
    assert started(outcome, "second") == [1200.0]


def test_what_waits_has_the_card_before_the_next_pod_of_its_job_is_there() -> None:
    first = replace(campaign("first", "a", 3, (1, 1), seconds=100.0), ask=ask())
    second = replace(campaign("second", "b", 3, (1, 1), seconds=100.0, arrival=1.0), ask=ask())
    seen = setting(DEFAULT, TEAMS, cards=(1,), pace=replace(AT_ONCE, job_sync=1.0))
    outcome = played(seen, first, second)
    assert started(outcome, "first") == [0.0, 200.0, 400.0]
    assert started(outcome, "second") == [100.0, 300.0, 500.0]
    assert finish(outcome, "second") == 601.0


def test_a_jobs_next_pods_come_a_second_after_the_first_of_those_that_ended() -> None:
    made = setting(DEFAULT, TEAMS, cards=(2,), pace=replace(AT_ONCE, job_sync=Pace().job_sync))
    work, lengths = campaign("w", "a", 4, (1, 2)), (100.0, 100.4, 50.0, 50.0)
    units = tuple(replace(each, seconds=seconds) for each, seconds in zip(work.units, lengths, strict=True))
    outcome = played(made, replace(work, units=units))
    assert started(outcome, "w") == [0.0, 0.0, 101.0, 101.0]
    assert finish(outcome, "w") == 152.0


def test_pods_are_bound_at_a_rate() -> None:
    slow = setting(DEFAULT, TEAMS, cards=(8,), pace=replace(AT_ONCE, default_rate=2.0))
    assert started(played(slow, wide("w", "a", 6)), "w") == [0, 0, 1, 1, 2, 2]


def test_cards_that_have_been_freed_are_given_when_the_back_off_is_over() -> None:
    short = replace(campaign("w", "a", 4, (1, 4), seconds=1.5), ask=ask())
    outcome = played(setting(DEFAULT, TEAMS, cards=(1,)), short)
    # tried at 0, 1.5, 3.5 (after two seconds, not 3.0) and 7.5 (after four, not 5.0)
    assert started(outcome, "w") == [0, 1.5, 3.5, 7.5]


@pytest.mark.parametrize(
    ("what", "never"),
    [
        pytest.param(
            claim("device.capacity['gpu.nvidia.com'].memory.compareTo(quantity('40Gi')) >= 0"),
            False,
            id="fits",
        ),
        pytest.param(
            claim("device.capacity['gpu.nvidia.com'].memory.compareTo(quantity('200Gi')) >= 0"),
            True,
            id="too large",
        ),
        pytest.param(claim(count=3), True, id="too many"),
        pytest.param(Ask(request=PodRequest(fraction=0.5), gpus=0.5), True, id="a part of a card"),
    ],
)
def test_what_will_never_fit_is_told_apart_from_what_waits(what: Ask, never: bool) -> None:
    works = [wide("fill", "b", 2, claim()), wide("w", "a", 1, what)]
    outcome = played(described(DEFAULT, H100, TEAMS), *works)
    end = outcome.ends[1]
    assert bool(end.never) == never
    assert (end.finished is None) == never
    reasons = [each.message for each in outcome.waits if each.work == "w"]
    assert (NO_PARTS in reasons) == what.request.shared


def test_pods_that_run_already_hold_what_they_have() -> None:
    running = tuple(Running(n, "node-1", (f"gpu.nvidia.com/node-1/gpu-{n}",)) for n in range(2))
    first = wide("first", "a", 2, claim(), running=running)
    second = wide("second", "b", 1, claim())
    outcome = played(described(DEFAULT, H100, TEAMS), first, second)
    assert started(outcome, "first") == [0, 0]
    assert started(outcome, "second")[0] >= min(end.ended for end in outcome.spans if end.work == "first")


def test_pods_of_gangs_stand_in_each_others_way_where_gangs_are_not_known() -> None:
    made = setting(DEFAULT, TEAMS, cards=(4,))
    works = [
        wide("fill", "b", 2, seconds=10.0),
        wide("nudge", "b", 1, Ask(), seconds=9.5),  # its end makes the third pod of `one` back off once more
        gang("one", "a", 3),
        gang("two", "a", 3, arrival=10.0),
    ]
    outcome = played(made, *works, until=10_000.0)
    assert [len(started(outcome, name)) for name in ("one", "two")] == [2, 2]
    assert [finish(outcome, name) for name in ("one", "two")] == [None, None]


def test_gangs_start_whole_where_they_are_known() -> None:
    made = setting(DEFAULT, TEAMS, cards=(4,), default=Settings(gangs=Gangs.TOGETHER))
    outcome = played(made, gang("one", "a", 3), gang("two", "b", 3))
    assert started(outcome, "one") == [0] * 3
    assert len(set(started(outcome, "two"))) == 1
    assert finish(outcome, "two") is not None


def test_a_lost_node_is_not_used_until_it_is_back() -> None:
    chances = Chances(node_lost_per_hour=1.0, node_back_hours=0.25)
    made = setting(DEFAULT, TEAMS, cards=(2, 2), chances=chances)
    outcome = played(made, wide("w", "a", 12, max_seconds=1e6), until=1e5)
    assert finish(outcome, "w") is not None
    lost = [each for each in outcome.spans if str(each.end) == "node lost"]
    assert lost
    for gone in lost:
        while_away = (each for each in outcome.spans if each.node == gone.node)
        assert not [each for each in while_away if gone.ended < each.bound < gone.ended + 900]


@pytest.mark.parametrize("cards", [1, 3])
def test_showing_few_pods_of_many_that_are_alike_changes_nothing(
    monkeypatch: pytest.MonkeyPatch, cards: int
) -> None:
    works = [
        wide("x", "a", 9, seconds=70.0),
        wide("y", "b", 5, arrival=3.0, seconds=50.0),
        wide("z", "a", 2, ask(2)),
    ]

    def times(made: Iterable[Work]) -> list[tuple[str, float]]:
        outcome = played(setting(DEFAULT, TEAMS, cards=(cards, 2)), *made)
        return sorted((each.work, each.bound) for each in outcome.spans)

    few = times(works)
    monkeypatch.setattr(binding, "_SHOWN", 1000)
    assert times(works) == few


TAKING = Settings(is_early=True, preempts=True)


def test_pods_of_a_higher_priority_take_cards_from_others_who_go_on_later() -> None:
    made = setting(DEFAULT, TEAMS, cards=(2, 2), default=TAKING)
    low = replace(wide("low", "a", 4), grace=30.0)
    outcome = played(made, low, wide("high", "b", 3, seconds=300.0, arrival=100.0, priority=10))
    taken = [each for each in outcome.spans if each.end is End.RECLAIMED]
    assert [(each.work, each.by, each.ended) for each in taken] == [("low", "high", 120.0)] * 3
    assert started(outcome, "high") == [120.0] * 3
    assert started(outcome, "low") == [0.0] * 4 + [420.0] * 3
    assert finish(outcome, "low") == 420.0 + 480.0


def test_without_that_they_wait_and_go_first() -> None:
    made = setting(DEFAULT, TEAMS, cards=(2,), default=Settings(is_early=True))
    works = [wide("low", "a", 4), wide("high", "b", 1, arrival=100.0, priority=10)]
    assert started(played(made, *works), "high") == [600.0]


def test_behind_kueue_no_lane_takes_from_another_in_kube_scheduler() -> None:
    made = setting(Scheduler.KUEUE, {"a": 2.0, "b": 2.0}, cards=(2,), default=TAKING, window=None)
    works = [campaign("low", "a", 2, (2, 2)), campaign("high", "b", 2, (2, 2), priority=10, arrival=1.0)]
    outcome = played(made, *works)
    assert started(outcome, "high") == [600.0] * 2
    assert not [each for each in outcome.spans if each.end is End.RECLAIMED]


def test_more_that_take_than_are_shown_at_once_all_take() -> None:
    slow = replace(AT_ONCE, default_rate=3.0)
    made = setting(DEFAULT, TEAMS, cards=(8,), default=TAKING, pace=slow)
    low = wide("low", "a", 8, seconds=6000.0)
    outcome = played(made, replace(low, grace=0.0), wide("high", "b", 8, arrival=100.0, priority=1))
    assert len([each for each in outcome.spans if each.end is End.RECLAIMED]) == 8
    assert max(started(outcome, "high")) < 110.0
