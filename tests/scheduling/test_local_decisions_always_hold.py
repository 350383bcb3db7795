"""What holds for every decision on a machine, whatever campaigns there are and whatever is taken."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from allotment.devices.allocator import allocate
from allotment.devices.claims import ClaimSpec, ExactRequest
from allotment.devices.funnel import NoFit
from allotment.devices.slices import DeviceId
from allotment.scheduling.local import (
    CampaignQueue,
    LocalMemory,
    LocalState,
    Start,
    Ties,
    Wait,
    WaitReason,
    decide,
)
from tests.devices.worlds import NODE, first_of, one, pool, world

NOW = 1000.0
MEMORY = 10


@dataclass(frozen=True)
class Span:
    min: int
    max: int


CLAIMS: tuple[ClaimSpec, ...] = (
    one("cpu"),
    one("cpu", 2),
    one("gpu"),
    one("gpu", 9),
    one("unknown"),
    first_of(ExactRequest("gpu"), ExactRequest("cpu", count=2)),
    first_of(ExactRequest("gpu", count=2), ExactRequest("gpu"), ExactRequest("cpu")),
)


@st.composite
def queues(draw: st.DrawFn, name: str) -> CampaignQueue:
    most = draw(st.integers(1, 6))
    return CampaignQueue(
        name=name,
        lane_value=draw(st.sampled_from([-10, 0, 50])),
        arrival=draw(st.integers(0, 2)),
        window=Span(1, most),
        running=draw(st.integers(0, most)),
        ready=range(start := draw(st.integers(0, 3)), start + draw(st.integers(0, 8))),
        claim=draw(st.sampled_from(CLAIMS)),
        memory_bytes=draw(st.sampled_from([0, 1, 4, MEMORY + 1])),
    )


@st.composite
def states(draw: st.DrawFn) -> LocalState:
    cpus = [f"c{place}" for place in range(draw(st.integers(0, 6)))]
    gpus = [f"g{place}" for place in range(draw(st.integers(0, 3)))]
    here = world(pool("cpu", cpus), pool("gpu", gpus), memory=MEMORY)
    ids = [device_id for device_id, _ in here.devices()]
    taken = draw(st.sets(st.sampled_from(ids))) if ids else set()
    names = draw(st.permutations(["ada", "bo", "cy", "di"]))[: draw(st.integers(0, 4))]
    return LocalState(
        campaigns=tuple(draw(queues(name)) for name in names),
        world=here,
        taken=frozenset(taken),
        free_memory=draw(st.none() | st.integers(0, MEMORY)),
    )


def split(state: LocalState, ties: Ties = Ties.NAME) -> tuple[list[Start], list[Wait]]:
    decisions, _ = decide(state, LocalMemory(), NOW, ties)
    starts = [each for each in decisions if isinstance(each, Start)]
    waits = [each for each in decisions if isinstance(each, Wait)]
    assert [*starts, *waits] == list(decisions)
    return starts, waits


def given_out(starts: list[Start]) -> list[DeviceId]:
    return [device for start in starts for device in start.allocation.ids]


@given(states())
def test_no_device_twice_and_none_that_is_taken(state: LocalState) -> None:
    devices = given_out(split(state)[0])
    assert len(set(devices)) == len(devices)
    assert state.taken.isdisjoint(devices)


@given(states())
def test_windows_are_never_passed(state: LocalState) -> None:
    started = Counter(start.campaign for start in split(state)[0])
    assert all(queue.running + started[queue.name] <= queue.window.max for queue in state.campaigns)


@given(states())
def test_memory_is_never_promised_twice(state: LocalState) -> None:
    need = {queue.name: queue.memory_bytes for queue in state.campaigns}
    promised = sum(need[start.campaign] for start in split(state)[0])
    assert state.free_memory is None or promised <= state.free_memory


@given(states())
def test_each_campaign_starts_its_first_indexes_in_order_or_says_why_not(state: LocalState) -> None:
    starts, waits = split(state)
    waiting = Counter(wait.campaign for wait in waits)
    for queue in state.campaigns:
        indexes = [start.index for start in starts if start.campaign == queue.name]
        assert indexes == list(queue.ready[: len(indexes)])
        assert waiting[queue.name] == (1 if len(indexes) < len(queue.ready) else 0)
    assert all(start.reason for start in starts)
    assert all(wait.message for wait in waits)


@given(states())
def test_nothing_that_fits_is_left_waiting(state: LocalState) -> None:
    starts, waits = split(state)
    taken = state.taken | set(given_out(starts))
    queues_by_name = {queue.name: queue for queue in state.campaigns}
    started = Counter(start.campaign for start in starts)
    used = sum(queues_by_name[start.campaign].memory_bytes for start in starts)
    for wait in waits:
        queue = queues_by_name[wait.campaign]
        memory_is_short = state.free_memory is not None and queue.memory_bytes > state.free_memory - used
        window_is_full = queue.running + started[queue.name] >= queue.window.max
        nothing_fits = isinstance(allocate(queue.claim, state.world, NODE, taken), NoFit)
        assert memory_is_short or window_is_full or nothing_fits
        if wait.reason is WaitReason.WINDOW:
            assert window_is_full
        if wait.reason is WaitReason.DEVICES:
            assert nothing_fits
        if wait.reason is WaitReason.MEMORY:
            assert memory_is_short


@given(states())
def test_never_fitting_is_kept_apart_from_waiting(state: LocalState) -> None:
    for wait in split(state)[1]:
        queue = next(each for each in state.campaigns if each.name == wait.campaign)
        fits_alone = not isinstance(allocate(queue.claim, state.world, NODE), NoFit)
        too_big = state.free_memory is not None and queue.memory_bytes > MEMORY
        assert (wait.reason is WaitReason.NEVER) == (not fits_alone or too_big)


@given(states())
def test_lanes_go_first_and_then_arrival(state: LocalState) -> None:
    starts, _ = split(state)
    order = sorted(state.campaigns, key=lambda queue: (-queue.lane_value, queue.arrival, queue.name))
    places = {queue.name: place for place, queue in enumerate(order)}
    assert [places[start.campaign] for start in starts] == sorted(places[start.campaign] for start in starts)


@given(states())
def test_what_goes_first_is_decided_as_if_the_rest_were_not_there(state: LocalState) -> None:
    order = sorted(state.campaigns, key=lambda queue: (-queue.lane_value, queue.arrival, queue.name))
    starts, _ = split(state)
    for count in range(len(order)):
        front = {queue.name for queue in order[:count]}
        alone = LocalState(tuple(order[:count]), state.world, state.taken, state.free_memory)
        assert split(alone)[0] == [start for start in starts if start.campaign in front]


@given(states())
def test_a_campaign_that_can_never_fit_changes_nothing_for_the_others(state: LocalState) -> None:
    hopeless = CampaignQueue("hopeless", 100, 0, Span(1, 5), 0, range(5), one("gpu", 20))
    with_it = LocalState((*state.campaigns, hopeless), state.world, state.taken, state.free_memory)
    assert split(with_it)[0] == split(state)[0]


@given(states(), st.sampled_from(Ties))
def test_the_same_state_gets_the_same_decisions(state: LocalState, ties: Ties) -> None:
    assert decide(state, LocalMemory(), NOW, ties) == decide(state, LocalMemory(), NOW, ties)


@given(states(), st.randoms(use_true_random=False))
def test_by_name_the_order_of_the_list_does_not_matter(state: LocalState, random: object) -> None:
    campaigns = list(state.campaigns)
    random.shuffle(campaigns)  # type: ignore[attr-defined]
    shuffled = LocalState(tuple(campaigns), state.world, state.taken, state.free_memory)
    assert decide(shuffled, LocalMemory(), NOW) == decide(state, LocalMemory(), NOW)
