"""Decisions where campaigns ask for parts of cards beside others that ask for whole ones."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from allotment.devices.card_shares import CardShare, amounts_taken, memory_of_cards, sized
from allotment.devices.claims import ClaimSpec
from allotment.devices.describe import parse_description
from allotment.devices.slices import Device, DeviceId, RequestPolicy
from allotment.needs import claim_for
from allotment.platform.need import Need
from allotment.quantities import GI
from allotment.repository.model import Window
from allotment.scheduling.local import (
    CampaignQueue,
    LocalMemory,
    LocalState,
    Start,
    Wait,
    WaitReason,
    decide,
)

WORLD = parse_description("1 nodes of 2 x L4")
FIRST, SECOND = memory_of_cards(WORLD)
L4 = memory_of_cards(WORLD)[FIRST]
WHOLE = claim_for(Need())


def part(amount: int) -> ClaimSpec:
    return sized(WHOLE, {"device": CardShare(amount=amount)}, memory_of_cards(WORLD))[0]


def campaign(name: str, claim: ClaimSpec, *, shared: bool, arrival: int = 0, most: int = 8) -> CampaignQueue:
    return CampaignQueue(name, 0, arrival, Window(1, most), 0, range(9), claim, shared=shared)


def decided(
    *campaigns: CampaignQueue,
    taken: frozenset[DeviceId] = frozenset(),
    shares: tuple[tuple[DeviceId, int], ...] = (),
) -> tuple[list[Start], list[Wait]]:
    state = LocalState(campaigns, WORLD, taken=taken, shares=shares)
    decisions, _ = decide(state, LocalMemory(), 0.0)
    return (
        [each for each in decisions if isinstance(each, Start)],
        [each for each in decisions if isinstance(each, Wait)],
    )


def test_as_many_workers_share_a_card_as_its_memory_has_room_for() -> None:
    starts, waits = decided(campaign("parts", part(10 * GI), shared=True))
    assert [each.allocation.ids for each in starts] == [(FIRST,), (FIRST,), (SECOND,), (SECOND,)]
    assert waits[0].reason is WaitReason.DEVICES


def test_who_asks_for_a_whole_card_gets_one_of_which_nothing_is_given() -> None:
    starts, _ = decided(
        campaign("parts", part(10 * GI), shared=True, most=1),
        campaign("whole", WHOLE, shared=False, arrival=1),
    )
    assert [(each.campaign, each.allocation.ids) for each in starts] == [
        ("parts", (FIRST,)),
        ("whole", (SECOND,)),
    ]


def test_no_part_is_given_of_a_card_that_is_given_whole() -> None:
    starts, _ = decided(
        campaign("whole", WHOLE, shared=False, most=1),
        campaign("parts", part(10 * GI), shared=True, arrival=1),
    )
    assert [each.allocation.ids for each in starts] == [(FIRST,), (SECOND,), (SECOND,)]


def test_a_card_that_is_published_for_several_goes_whole_to_one_alone() -> None:
    policy = RequestPolicy(default="1Gi")

    def of(device: Device) -> Device:
        capacity = {name: replace(each, request_policy=policy) for name, each in device.capacity.items()}
        return replace(device, allow_multiple_allocations=True, capacity=capacity)

    several = replace(
        WORLD, slices=tuple(replace(each, devices=tuple(map(of, each.devices))) for each in WORLD.slices)
    )
    queues = (
        campaign("whole", WHOLE, shared=False),
        campaign("parts", part(10 * GI), shared=True, arrival=1),
    )
    decisions, _ = decide(LocalState(queues, several), LocalMemory(), 0.0)
    starts = [each for each in decisions if isinstance(each, Start)]
    assert [each.allocation.ids for each in starts] == [(FIRST,), (SECOND,)]
    decisions, _ = decide(LocalState(queues[::-1], several), LocalMemory(), 0.0)
    assert decisions[0] == starts[0]


def test_what_others_hold_counts_shares_and_whole_cards() -> None:
    parts = campaign("parts", part(10 * GI), shared=True)
    starts, _ = decided(parts, taken=frozenset({SECOND}), shares=((FIRST, 12 * GI),))
    assert [each.allocation.ids for each in starts] == [(FIRST,)]
    starts, _ = decided(campaign("whole", WHOLE, shared=False), shares=((FIRST, GI),))
    assert [each.allocation.ids for each in starts] == [(SECOND,)]


def test_a_part_that_no_card_has_never_fits() -> None:
    _, waits = decided(campaign("parts", part(30 * GI), shared=True))
    assert waits[0].reason is WaitReason.NEVER


@given(
    st.lists(st.tuples(st.sampled_from([None, 3, 7, 11, 20]), st.integers(1, 4)), max_size=5),
    st.lists(st.tuples(st.sampled_from([FIRST, SECOND]), st.integers(1, 11 * GI)), max_size=2),
)
def test_no_card_gives_more_than_it_has_and_none_both_ways(
    asked: list[tuple[int | None, int]], held: list[tuple[DeviceId, int]]
) -> None:
    queues = [
        campaign(
            f"c{place}",
            WHOLE if amount is None else part(amount * GI),
            shared=amount is not None,
            arrival=place,
            most=most,
        )
        for place, (amount, most) in enumerate(asked)
    ]
    starts, _ = decided(*queues, shares=tuple(held))
    given: dict[DeviceId, int] = {}
    for device, amount in held:
        given[device] = given.get(device, 0) + amount
    for start in starts:
        amounts = amounts_taken(start.allocation)
        for device in start.allocation.ids:
            given[device] = given.get(device, 0) + amounts.get(device, L4)
    assert all(amount <= L4 for amount in given.values())
