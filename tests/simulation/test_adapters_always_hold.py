"""Whatever works come: no card twice, no limit passed, nobody within quota taken from, a seed is a course."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from allotment.simulation.adapters.adapter import Order, Stop
from allotment.simulation.adapters.choosing import adapter_for
from allotment.simulation.adapters.kai import KaiAdapter
from allotment.simulation.adapters.kueue import KueueAdapter
from allotment.simulation.draws import Draws
from allotment.simulation.outcome import Outcome
from allotment.simulation.run_times import RunTimes
from allotment.simulation.setting import Scheduler, Setting
from allotment.simulation.simulate import simulate
from allotment.simulation.work import Work
from tests.simulation.adapter_scenes import ask, campaign, claim, described, fleet, gang, setting

FULL = [Scheduler.KUEUE, Scheduler.KAI, Scheduler.BOTH]
QUOTAS = {"a": 3.0, "b": 4.0, "c": 1.0}
LIMITS = {"a": 6.0, "c": 4.0}
END = 60_000.0
FEW = settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


@st.composite
def works(draw: st.DrawFn) -> list[Work]:
    made: list[Work] = []
    for number in range(draw(st.integers(1, 6))):
        team, at = draw(st.sampled_from(sorted(QUOTAS))), float(draw(st.integers(0, 900)))
        name, lane = f"w{number}", draw(st.sampled_from([0, 50]))
        kind = draw(st.sampled_from(["campaign", "campaign", "gang", "fleet"]))
        if kind == "campaign":
            low, more = draw(st.integers(1, 3)), draw(st.integers(0, 6))
            one = campaign(name, team, draw(st.integers(1, 12)), (low, low + more), seconds=200.0)
        elif kind == "gang":
            one = gang(name, team, draw(st.integers(1, 5)), seconds=300.0)
        else:
            one = fleet(name, team, draw(st.integers(1, 3)), ends=at + 800.0)
        cards = draw(st.sampled_from([1, 1, 2]))
        made.append(
            replace(
                one, arrival=at, priority=lane, ask=ask(cards), preemptible=draw(st.booleans()) or lane == 0
            )
        )
    return made


class Watched:
    """An adapter that is looked at after every round."""

    def __init__(self, made: Setting, given_works: Sequence[Work]) -> None:
        self.adapter = adapter_for(made, given_works)

    def __getattr__(self, name: str) -> object:
        return getattr(self.adapter, name)

    def round(self, now: float) -> Sequence[Order]:
        orders = self.adapter.round(now)
        if isinstance(self.adapter, KueueAdapter):
            self._within_quota(self.adapter)
        if isinstance(self.adapter, KaiAdapter):
            self._taken_back(self.adapter, orders)
            held = self._held()
            assert all(held.get(name, 0.0) <= limit for name, limit in LIMITS.items())
        return orders

    def _held(self) -> dict[str, float]:
        """Cards that each queue of KAI has, those that are leaving included."""
        if not isinstance(self.adapter, KaiAdapter):
            return {}
        held: dict[str, float] = {}
        for job in self.adapter.jobs.values():
            cards = job.asked.request.gpus
            held[job.queue] = held.get(job.queue, 0.0) + cards * sum(
                pod.node is not None and key not in self.adapter.leaving for key, pod in job.pods.items()
            )
        return held

    def _taken_back(self, adapter: KaiAdapter, orders: Sequence[Order]) -> None:
        """What is taken is taken of a queue that uses more than its quota; what it is promised counts."""
        for order in orders:
            if isinstance(order, Stop) and order.reason == "reclaim":
                queue = adapter.jobs[order.pod.work].queue
                used = re.search(rf"(?m)^{queue} uses <GPU: ([0-9.]+)", order.message)
                assert used is not None
                assert float(used[1]) > QUOTAS[queue]

    @staticmethod
    def _within_quota(adapter: KueueAdapter) -> None:
        """Never over nominal and borrowing, and in all not over what there is."""
        ledger, used = adapter.ledger, dict.fromkeys(QUOTAS, 0)
        for workload in ledger.state.workloads.values():
            if workload.evicted is not None:
                continue  # Kueue lets others in while those are on their way out
            if workload.admission is not None and not workload.finished:
                pods = workload.pod_sets[0]
                replaced = {
                    each.replaces for each in ledger.state.workloads.values() if each.admission is not None
                }
                if workload.key not in replaced:
                    given = workload.admission.pod_sets[0].count
                    left = min(given, pods.count - workload.reclaimable.get(pods.name, 0))
                    used[workload.admission.cluster_queue] += left * pods.requests["gpus"]
        assert sum(used.values()) <= sum(QUOTAS.values())
        assert all(used[name] <= limit for name, limit in LIMITS.items())


def _cards_hold(outcome: Outcome, most: dict[str, float]) -> None:
    """At no moment more cards of a node than it has, nor a device twice."""
    events = sorted(
        [(span.bound, 1, span.gpus, span.node) for span in outcome.spans]
        + [(span.ended, 0, -span.gpus, span.node) for span in outcome.spans]
    )
    used: dict[str, float] = {}
    for _at, _kind, cards, node in events:
        used[node] = used.get(node, 0.0) + cards
        assert used[node] <= most[node]
    runs: dict[str, list[tuple[float, float]]] = {}
    for span in outcome.spans:
        for device in span.devices:
            runs.setdefault(device, []).append((span.bound, span.ended))
    for spans in runs.values():
        spans.sort()
        assert all(before[1] <= after[0] for before, after in pairwise(spans))


@pytest.mark.parametrize("scheduler", FULL)
@given(works())
@FEW
def test_cards_quotas_and_limits_hold(scheduler: Scheduler, given_works: list[Work]) -> None:
    made = setting(scheduler, QUOTAS, cards=(4, 4), limits=LIMITS)
    made = replace(
        made, kai=replace(made.kai, consolidating_reclaim=False)
    )  # which moves whoever finds a place
    watched = Watched(made, given_works)
    outcome = simulate(made, given_works, RunTimes(), Draws(3), END, adapter=watched)  # type: ignore[arg-type]  # it hands all on
    _cards_hold(outcome, {"n0": 4.0, "n1": 4.0})


@pytest.mark.parametrize("scheduler", FULL)
@given(works())
@FEW
def test_the_same_seed_has_the_same_course(scheduler: Scheduler, given_works: list[Work]) -> None:
    made = setting(scheduler, QUOTAS, cards=(4, 4), limits=LIMITS)
    first, second = (simulate(made, given_works, RunTimes(), Draws(3), END) for _ in range(2))
    assert first == second


@pytest.mark.parametrize("scheduler", FULL)
@given(counts=st.lists(st.tuples(st.integers(1, 3), st.integers(1, 6)), min_size=1, max_size=4))
@FEW
def test_no_device_is_given_twice(scheduler: Scheduler, counts: list[tuple[int, int]]) -> None:
    made = described(scheduler, "2 nodes of 2 x A100-40, 2 x H100-SXM", QUOTAS)
    memory = "device.capacity['gpu.nvidia.com'].memory.compareTo(quantity('{}Gi')) >= 0"
    given_works = [
        replace(
            campaign(f"w{number}", sorted(QUOTAS)[number % 3], volumes, (1, 4), seconds=200.0),
            ask=claim(memory.format(60 if number % 2 else 10), count=cards),
            arrival=50.0 * number,
        )
        for number, (cards, volumes) in enumerate(counts)
    ]
    outcome = simulate(made, given_works, RunTimes(), Draws(3), END)
    _cards_hold(outcome, dict.fromkeys(made.state.nodes, 4.0))
