"""KAI over time: lends and takes back, holds gangs together, counts claims by what would do for them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from allotment.devices.claims import ClaimSpec, ExactRequest, Request, SubRequest
from allotment.scheduling.kai import Bound, Evicted, decide
from allotment.scheduling.state.pod_groups import PodRequest
from allotment.scheduling.state.pods import PodClaim
from allotment.simulation.adapters import kai
from allotment.simulation.adapters.adapter import Order, Start, Stop
from allotment.simulation.adapters.matching import COUNTERS, FALLBACKS
from allotment.simulation.draws import Draws
from allotment.simulation.outcome import End, Outcome
from allotment.simulation.run_times import RunTimes
from allotment.simulation.setting import Chances, Scheduler, Setting
from allotment.simulation.simulate import simulate
from allotment.simulation.work import Ask, Running, Work
from tests.simulation.adapter_scenes import (
    ask,
    at_once,
    campaign,
    claim,
    described,
    finish,
    fleet,
    gang,
    played,
    setting,
    started,
    taken,
)

KAI = Scheduler.KAI
TWO = {"a": 4.0, "b": 4.0}
BIG = "device.capacity['gpu.nvidia.com'].memory.compareTo(quantity('40Gi')) >= 0"


def test_what_is_idle_is_lent_and_taken_back_one_pod_after_the_other() -> None:
    outcome = played(
        setting(KAI, TWO), campaign("lent", "a", 16, (1, 8)), campaign("back", "b", 4, (1, 4), arrival=300.0)
    )
    assert started(outcome, "lent")[:8] == [0.0] * 8
    lost = taken(outcome, "lent")
    assert sorted(span.index for span in lost) == [4, 5, 6, 7]
    assert {span.by for span in lost} == {"back"}
    decided = [each.at for each in outcome.decisions if each.what == "reclaimed"]
    assert decided == [
        300.0,
        301.0,
        302.0,
        303.0,
    ]  # a session takes one pod for a job, and one is every second
    assert at_once(outcome, 400.0) == {"a": 4.0, "b": 4.0}
    assert all(end.finished is not None for end in outcome.ends)


def test_a_pod_starts_when_the_one_that_it_was_promised_the_place_of_is_gone() -> None:
    outcome = played(
        setting(KAI, TWO), campaign("lent", "a", 16, (1, 8)), campaign("back", "b", 4, (1, 4), arrival=300.0)
    )
    gone = sorted(span.ended for span in taken(outcome, "lent"))
    assert all(start >= end for start, end in zip(started(outcome, "back"), gone, strict=True))


def test_nothing_within_quota_is_taken() -> None:
    outcome = played(
        setting(KAI, {"a": 8.0, "b": 0.0}),
        campaign("own", "a", 8, (1, 8)),
        campaign("more", "b", 2, (1, 2), arrival=100.0),
    )
    assert not taken(outcome, "own")
    assert started(outcome, "more") == [600.0, 600.0]


def test_a_gang_starts_whole_and_only_when_there_is_room_for_all() -> None:
    outcome = played(setting(KAI, TWO), campaign("first", "a", 1, (1, 1)), gang("whole", "b", 8))
    assert started(outcome, "whole") == [600.0] * 8


def test_pods_that_need_a_whole_node_wait_for_one() -> None:
    spread = campaign("small", "a", 2, (1, 2), seconds=1000.0)
    big = replace(gang("big", "b", 1, arrival=10.0), ask=ask(8))
    outcome = played(setting(KAI, {"a": 8.0, "b": 8.0}, cards=(8, 8)), spread, big)
    assert started(outcome, "big") == [10.0]  # both small ones were packed on one node


def test_a_higher_priority_preempts_in_its_own_queue() -> None:
    outcome = played(
        setting(KAI, {"a": 8.0}),
        campaign("bulk", "a", 8, (1, 8), priority=50),
        campaign("now", "a", 1, (1, 1), priority=75, arrival=100.0),
    )
    assert [span.by for span in taken(outcome, "bulk")] == ["now"]


def test_what_may_not_be_preempted_is_not() -> None:
    outcome = played(
        setting(KAI, {"a": 8.0}),
        fleet("served", "a", 8, preemptible=False, ends=5000.0, priority=50),
        campaign("now", "a", 1, (1, 1), priority=75, arrival=100.0),
        until=10_000.0,
    )
    assert not taken(outcome, "served")
    assert started(outcome, "now") == [5000.0]


def test_a_job_that_is_one_piece_is_left_alone_for_the_minimum_runtime() -> None:
    made = setting(KAI, {"a": 0.0, "b": 8.0})
    made = replace(made, kai=replace(made.kai, reclaim_min_runtime=300.0))
    outcome = played(made, gang("lent", "a", 8, seconds=3000.0), gang("owner", "b", 8, arrival=10.0))
    decided = [each.at for each in outcome.decisions if each.what == "reclaimed"]
    assert decided == [300.0] * 8


def test_who_asks_for_more_than_there_is_never_starts() -> None:
    outcome = played(
        setting(KAI, TWO), replace(gang("huge", "a", 1), ask=ask(9)), campaign("fine", "b", 1, (1, 1))
    )
    never = {end.work: end.never for end in outcome.ends}
    assert never["huge"]
    assert not never["fine"]


def test_least_that_cannot_be_met_any_more_is_lowered_and_said() -> None:
    outcome = played(
        setting(KAI, {"a": 0.0, "b": 8.0}),
        campaign("lent", "a", 5, (4, 4)),
        gang("owner", "b", 8, arrival=700.0),
    )
    assert finish(outcome, "lent") is not None
    assert any("batch-min-member" in note for note in outcome.notes)


def test_a_claim_is_met_by_the_cards_that_would_do_and_no_device_twice() -> None:
    made = described(KAI, "2 nodes of 4 x A100-40, 4 x H100-SXM", {"a": 12.0})
    work = replace(campaign("big", "a", 6, (1, 6)), ask=claim(BIG.replace("40Gi", "60Gi")))
    outcome = played(made, work)
    assert started(outcome, "big") == [0.0] * 4 + [600.0] * 2
    running = [span.devices for span in outcome.spans if span.bound == 0.0]
    assert len({device for devices in running for device in devices}) == 4


@pytest.mark.parametrize("count", [1, 2])
def test_counting_and_claiming_come_to_the_same(count: int) -> None:
    made = described(KAI, "2 nodes of 4 x H100-SXM", {"a": 4.0, "b": 4.0})
    works = (
        replace(campaign("lent", "a", 8, (1, 8)), ask=claim(BIG, count=count)),
        replace(campaign("back", "b", 4, (1, 4), arrival=300.0), ask=claim(BIG, count=count)),
    )
    counting = kai.KaiAdapter(made, works)
    claiming = kai.KaiAdapter(made, works)
    assert counting.ground.counts
    _claims_itself(claiming, made, works)
    courses = [_course(made, works, each) for each in (counting, claiming)]
    assert courses[0] == courses[1]


def _claims_itself(adapter: kai.KaiAdapter, made: Setting, works: tuple[Work, ...]) -> None:
    ground = adapter.ground
    ground.counts = False
    ground.nodes = made.state.nodes
    adapter.state = replace(made.state, devices=ground.matching.devices, device_classes=ground.matching.names)


def _course(made: Setting, works: tuple[Work, ...], adapter: kai.KaiAdapter) -> list[tuple[object, ...]]:
    outcome: Outcome = simulate(made, works, RunTimes(), Draws(1), 1e6, adapter=adapter)
    return [(each.work, each.index, each.bound, each.ended, each.node) for each in outcome.spans]


def test_what_kai_cannot_count_is_said() -> None:
    made = described(KAI, "1 x H100-SXM mig=on-demand", {"a": 8.0})
    low, high = (ExactRequest("gpu.nvidia.com", (BIG.replace("40Gi", size),)) for size in ("500Gi", "10Gi"))
    spec = ClaimSpec((Request("card", None, (SubRequest("huge", low), SubRequest("some", high))),))
    work = replace(
        campaign("either", "a", 1, (1, 1)), ask=Ask((PodClaim("card", spec),), charges={"gpus": 1}, gpus=1)
    )
    outcome = played(made, work)
    assert finish(outcome, "either") == 600.0
    assert FALLBACKS in outcome.notes
    assert COUNTERS in outcome.notes


def test_pods_that_run_already_hold_their_cards() -> None:
    running = tuple(Running(number, "n0") for number in range(6))
    outcome = played(
        setting(KAI, TWO), campaign("old", "a", 6, (1, 6), running=running), campaign("new", "b", 4, (1, 4))
    )
    assert at_once(outcome, 0.5)["b"] == 2.0
    assert len(taken(outcome, "old")) == 2


def test_parts_of_cards_are_packed_together() -> None:
    half = replace(ask(0), request=PodRequest(cpu=1000, memory=1e9, fraction=0.25), gpus=0.25)
    work = replace(campaign("small", "a", 6, (1, 6)), ask=half)
    outcome = played(setting(KAI, {"a": 2.0}, cards=(1, 1)), work, until=300.0)
    nodes = [span.node for span in outcome.spans]
    assert sorted(nodes) == ["n0"] * 4 + ["n1"] * 2


def test_a_gang_that_has_lost_a_worker_for_good_is_evicted_after_its_grace_period() -> None:
    made = setting(KAI, {"a": 2.0}, cards=(1, 1))
    made = replace(made, chances=Chances(node_lost_per_hour=0.5, node_back_hours=1.0))
    outcome = played(made, gang("pair", "a", 2, seconds=20_000.0), until=50_000.0)
    lost = [span for span in outcome.spans if span.end is End.NODE_LOST]
    stale = [each for each in outcome.decisions if each.reason == "stalegangeviction"]
    assert lost
    assert stale
    assert stale[0].at >= lost[0].ended + 60.0


class _Checked(kai.KaiAdapter):
    """Compares each round with a direct call of the model."""

    rounds = 0

    def round(self, now: float) -> list[Order]:
        self._write_down()
        decisions, _ = decide(self.state, self.memory, now, self.ties)
        names = {pod: name for name, pod in self.names.items()}
        orders = list(super().round(now))
        told = [names[each.pod] for each in orders if isinstance(each, Start | Stop)]
        assert told == [each.pod for each in decisions if isinstance(each, Bound | Evicted)]
        self.rounds += 1
        return orders


def test_each_round_is_what_the_model_decides() -> None:
    made = setting(KAI, TWO)
    works = (campaign("lent", "a", 16, (1, 8)), campaign("back", "b", 4, (1, 4), arrival=300.0))
    adapter = _Checked(made, works)
    simulate(made, works, RunTimes(), Draws(1), 1e6, adapter=adapter)
    assert adapter.rounds > 5
