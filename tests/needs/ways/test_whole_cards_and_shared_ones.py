"""A whole card is nobody else's: one that is published for several claims is none."""

from __future__ import annotations

from dataclasses import replace

import pytest

from allotment.devices.describe import parse_description
from allotment.devices.server import Server
from allotment.devices.slices import Capacity, RequestPolicy
from allotment.devices.world import World
from allotment.needs.claim import claim_for
from allotment.needs.fit import explain
from allotment.needs.fit_words import sentence
from allotment.needs.ways.choosing import able
from allotment.needs.ways.whole import NOT_SHARED
from allotment.platform.model import Platform, Versions
from allotment.platform.need import Need

CLUSTER = Platform(engine="kubernetes")


def shared(world: World) -> World:
    """The world with cards of 22Gi of which 1Gi is given to who asks for no amount."""
    memory = {"memory": Capacity("22Gi", RequestPolicy(default="1Gi"))}

    slices = tuple(
        replace(
            each,
            devices=tuple(
                replace(device, allow_multiple_allocations=True, capacity=memory) for device in each.devices
            ),
        )
        for each in world.slices
    )
    return replace(world, slices=slices, server=Server.of("1.36"))


WORLD = shared(parse_description("1 x L4"))


@pytest.mark.parametrize(
    ("need", "pods"),
    [
        (Need(), 0),
        (Need(isolation="hardware"), 0),
        (Need(sharing=("time-slicing",)), 0),
        (Need(sharing=("consumable", "whole"), share="8Gi"), 2),
        (Need(sharing=("consumable",), share="1Gi"), 22),
    ],
)
def test_no_pod_that_asks_for_a_whole_card_gets_a_share_of_one(need: Need, pods: int) -> None:
    assert explain(claim_for(need, able=able(CLUSTER, WORLD)), WORLD).pods == pods


def test_the_answer_says_that_the_card_is_given_out_in_shares() -> None:
    told = explain(claim_for(Need(), able=able(CLUSTER, WORLD)), WORLD)
    assert "it is given out in shares, and never whole" in sentence(told)


@pytest.mark.parametrize(
    ("sharing", "kubernetes", "guarded"),
    [
        (("whole", "consumable"), "1.36", True),
        (("whole", "consumable"), "1.35", False),
        (("whole", "mig"), "1.36", False),
    ],
)
def test_a_claim_is_guarded_where_amounts_may_be_claimed_and_a_selector_can_tell(
    sharing: tuple[str, ...], kubernetes: str, *, guarded: bool
) -> None:
    platform = replace(CLUSTER, sharing=sharing, versions=Versions(kubernetes=kubernetes))
    claim = claim_for(Need(), able=able(platform))
    assert (NOT_SHARED in claim.requests[0].alternatives[0].exactly.selectors) is guarded
