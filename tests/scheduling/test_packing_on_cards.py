"""Parts of cards come from cards that are in use, so that whole ones stay free for who needs them whole."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from allotment.devices.card_shares import CardShare, memory_of_cards, sized
from allotment.devices.claims import ClaimSpec, ExactRequest, Request
from allotment.devices.describe import parse_description
from allotment.devices.slices import DeviceId
from allotment.devices.world import World
from allotment.repository.model import Window
from allotment.scheduling.local import CampaignQueue, LocalMemory, LocalState, Start, decide

GI = 1 << 30
L4S = parse_description("3 x L4")
MIGS = parse_description("2 x H100-SXM mig=3g.40gb*2, 1 x H100-SXM")


def given(
    world: World,
    queues: Sequence[CampaignQueue],
    taken: Sequence[str] = (),
    shares: Sequence[tuple[str, int]] = (),
) -> list[str]:
    ids = {device.device: device for device, _ in world.devices()}
    state = LocalState(
        tuple(queues),
        world,
        frozenset(ids[name] for name in taken),
        shares=tuple((ids[name], amount) for name, amount in shares),
    )
    decisions, _ = decide(state, LocalMemory(), 0.0)
    return [
        f"{each.campaign} {each.allocation.ids[0].device}" for each in decisions if isinstance(each, Start)
    ]


def queue(name: str, claim: ClaimSpec, ready: int, *, shared: bool = False) -> CampaignQueue:
    return CampaignQueue(name, 0, 0, Window(1, 9), 0, range(ready), claim, shared=shared)


def whole(count: int = 1) -> ClaimSpec:
    return ClaimSpec((Request("r", ExactRequest("gpu.nvidia.com", count=count)),))


def part(gibibytes: int) -> ClaimSpec:
    claim, _ = sized(whole(), {"r": CardShare(amount=gibibytes * GI)}, memory_of_cards(L4S))
    return claim


def test_a_part_comes_from_a_card_of_which_something_is_in_use() -> None:
    cards = sorted(device.device for device, _ in L4S.devices())
    assert given(L4S, [queue("p", part(8), 1, shared=True)], shares=[(cards[2], 8 * GI)]) == [f"p {cards[2]}"]
    assert given(L4S, [queue("p", part(8), 3, shared=True)], shares=[(cards[2], 8 * GI)]) == [
        f"p {cards[2]}",
        f"p {cards[0]}",
        f"p {cards[0]}",
    ]


def test_what_needs_two_whole_cards_finds_them_beside_parts() -> None:
    cards = sorted(device.device for device, _ in L4S.devices())
    said = given(
        L4S,
        [queue("p", part(6), 2, shared=True), queue("w", whole(2), 1)],
        shares=[(cards[1], 6 * GI)],
    )
    assert said == [f"p {cards[1]}", f"p {cards[1]}", f"w {cards[0]}"]


def test_a_partition_comes_from_a_card_of_which_another_is_in_use() -> None:
    migs = [device for device, each in MIGS.devices() if each.attributes.get("type") == "mig"]
    claim = ClaimSpec((Request("r", ExactRequest("mig.nvidia.com")),))
    assert len(migs) == 4
    (first,) = given(MIGS, [queue("m", claim, 1)], taken=[migs[2].device])
    assert first == f"m {migs[3].device}"


def parents(world: World) -> dict[DeviceId, object]:
    return {device: each.attributes.get("parentUUID") for device, each in world.devices()}


@pytest.mark.parametrize("ready", [1, 2, 3, 4])
def test_partitions_fill_one_card_after_the_other(ready: int) -> None:
    claim = ClaimSpec((Request("r", ExactRequest("mig.nvidia.com")),))
    names = {device.device: parent for device, parent in parents(MIGS).items()}
    said = given(MIGS, [queue("m", claim, ready)])
    cards = [names[each.split()[1]] for each in said]
    assert len(set(cards)) == (ready + 1) // 2
