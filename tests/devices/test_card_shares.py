"""Cards in parts of their memory: what is published, what a claim takes, never more than a card has."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allotment.devices.allocation import Taken
from allotment.devices.allocator import Allocator
from allotment.devices.card_shares import CardShare, amounts_taken, memory_of_cards, shareable, sized
from allotment.devices.claims import Allocation, ClaimSpec
from allotment.devices.describe import parse_description
from allotment.needs import claim_for
from allotment.platform.need import Need
from allotment.quantities import GI, MI

WORLD = parse_description("1 x H100-SXM, 1 x L4")
H100, L4 = 81559 * MI, 23034 * MI


def claim(share: CardShare, need: Need | None = None) -> ClaimSpec:
    return sized(claim_for(need or Need()), {"device": share}, memory_of_cards(WORLD))[0]


def placed(asked: ClaimSpec, node: str, taken: Taken) -> Allocation | None:
    found = Allocator(shareable(WORLD), node).find(asked, taken)
    if found is not None:
        taken.take(found)
    return found


def test_workers_of_8_gi_share_a_card_until_its_memory_is_given_out() -> None:
    taken = Taken()
    given = [placed(claim(CardShare(amount=8 * GI)), "node-2", taken) for _ in range(3)]
    assert [amounts_taken(each) if each else None for each in given] == [
        {each: 8 * GI for each in memory_of_cards(WORLD) if each.pool == "node-2"}
    ] * 2 + [None]


@pytest.mark.parametrize(("node", "memory"), [("node-1", H100), ("node-2", L4)])
def test_a_part_is_of_the_card_that_is_given(node: str, memory: int) -> None:
    taken = Taken()
    half = claim(CardShare(part=0.5))
    given = [placed(half, node, taken) for _ in range(3)]
    assert [list(amounts_taken(each).values()) if each else None for each in given] == [
        [memory // 2],
        [memory // 2],
        None,
    ]


def test_whoever_asks_for_no_part_takes_all_of_the_card() -> None:
    taken = Taken()
    whole = placed(claim(CardShare()), "node-1", taken)
    assert whole is not None
    assert list(amounts_taken(whole).values()) == [H100]
    assert placed(claim(CardShare(amount=1)), "node-1", taken) is None


def test_alternatives_keep_their_names_and_tell_which_they_are_of() -> None:
    need = Need(sharing=("consumable",), share="8Gi", fallback=(Need(cpu=2),))
    asked, origins = sized(claim_for(need), {"device/part": CardShare(part=0.25)}, memory_of_cards(WORLD))
    names = [sub.name for sub in asked.requests[0].alternatives]
    assert names == ["part-of-1", "part-of-2", "cores"]
    assert origins["device/part-of-2"] == "device/part"


def test_slices_of_a_card_are_shared_by_memory_alone() -> None:
    world = shareable(parse_description("1 x H100-SXM mig=3g.40gb*2"))
    cut = [device for _, device in world.devices()]
    assert cut
    assert all(device.allow_multiple_allocations for device in cut)
    assert all(
        each.request_policy is not None
        for device in cut
        for name, each in device.capacity.items()
        if name != "memory"
    )


@given(st.lists(st.integers(1, 100 * GI), max_size=8))
def test_never_more_than_the_card_has_is_given(amounts: list[int]) -> None:
    taken, given = Taken(), 0
    for amount in amounts:
        found = placed(claim(CardShare(amount=amount)), "node-1", taken)
        assert (found is not None) == (given + amount <= H100)
        given += amount if found is not None else 0
