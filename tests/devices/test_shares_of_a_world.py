"""Devices of which claims hold shares: held by nobody whole, with so much less to give."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from allotment.devices.card_shares import shareable
from allotment.devices.claim_objects import ResourceClaim
from allotment.devices.claims import ClaimSpec, ExactRequest, Request
from allotment.devices.describe import parse_description
from allotment.devices.inventory import State, inventory
from allotment.devices.world import World
from allotment.needs.fit import explain

CARD = ("gpu.nvidia.com", "node-1", "gpu-0")


def claim(**result: Any) -> ResourceClaim:
    """A claim that was given the card, or a part of it."""
    said = {"request": "gpu", "driver": CARD[0], "pool": CARD[1], "device": CARD[2], **result}
    request = Request("gpu", ExactRequest("gpu.nvidia.com"))
    return ResourceClaim("c", "n", ClaimSpec((request,)), {"allocation": {"devices": {"results": [said]}}})


def world(*claims: ResourceClaim) -> World:
    return replace(shareable(parse_description("1 x L4")), claims=claims)


SHARE = claim(shareID="11111111-2222-3333-4444-555555555555", consumedCapacity={"memory": "16Gi"})
EIGHT = ClaimSpec((Request("gpu", ExactRequest("gpu.nvidia.com", capacity={"memory": "8Gi"})),))
SIX = ClaimSpec((Request("gpu", ExactRequest("gpu.nvidia.com", capacity={"memory": "6Gi"})),))


def test_a_share_holds_no_device_whole() -> None:
    assert world(SHARE).held() == {}
    assert SHARE.devices == CARD_IDS
    assert list(world(claim()).held()) == list(CARD_IDS)


CARD_IDS = tuple(id_ for id_, _ in world().devices())


@pytest.mark.parametrize(("asked", "now", "ever"), [(SIX, 1, 3), (EIGHT, 0, 2)])
def test_what_is_left_of_a_device_can_be_had(asked: ClaimSpec, now: int, ever: int) -> None:
    found = explain(asked, world(SHARE))
    assert (found.pods, found.pods_ever) == (now, ever)


def test_a_card_that_workers_share_is_listed_so() -> None:
    (listed,) = inventory(parse_description("1 x L4"), {}, dict.fromkeys(CARD_IDS, "by 2 workers"))
    assert (listed.state, listed.why) == (State.SHARED, "by 2 workers")
