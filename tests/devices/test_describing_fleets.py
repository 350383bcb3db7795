"""Fleets in words: what they publish, and what is said about words that make no sense."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from allotment.devices.catalogue import cards
from allotment.devices.describe import parse_description
from allotment.devices.limits import slice_problems
from allotment.devices.mig.cuts import lay_out
from allotment.devices.slices import Capacity, Version
from allotment.errors import EXIT_USAGE, UsageError


def test_a_whole_card_is_published_as_its_driver_would() -> None:
    (published,) = parse_description("1 x h100-sxm").slices
    (card,) = published.devices
    assert (published.driver, published.pool.name, published.node_name) == (
        "gpu.nvidia.com",
        "node-1",
        "node-1",
    )
    assert card.name == "gpu-0"
    assert card.capacity == {"memory": Capacity("81559Mi")}
    told = {key: value for key, value in card.attributes.items() if key != "uuid"}
    assert told == {
        "type": "gpu",
        "productName": "NVIDIA H100 80GB HBM3",
        "brand": "Nvidia",
        "architecture": "Hopper",
        "cudaComputeCapability": Version("9.0.0"),
        "driverVersion": Version("580.126.20"),
        "cudaDriverVersion": Version("13.0.0"),
        "resource.kubernetes.io/pciBusID": "0000:12:00.0",
        "resource.kubernetes.io/pcieRoot": "pci0000:10",
        "addressingMode": "HMM",
    }


def test_a_cut_card_offers_its_partitions_and_not_itself() -> None:
    (published,) = parse_description("2 x A100-40 mig=3g.20gb mig=1g.5gb*3").slices
    assert [device.name for device in published.devices] == [
        f"gpu-{minor}-mig-{part}"
        for minor in (0, 1)
        for part in ("3g20gb-9-0", "1g5gb-19-4", "1g5gb-19-5", "1g5gb-19-6")
    ]
    first, second = published.devices[:2]
    assert first.attributes["parentUUID"] == second.attributes["parentUUID"]
    assert first.attributes["parentUUID"] != published.devices[4].attributes["parentUUID"]
    assert (first.attributes["type"], first.attributes["profile"]) == ("mig", "3g.20gb")
    assert {key: capacity.value for key, capacity in second.capacity.items()} == {
        "memory": "4864Mi",
        "multiprocessors": "14",
        "copyEngines": "1",
        "decoders": "0",
        "encoders": "0",
        "jpegEngines": "0",
        "ofaEngines": "0",
        "memorySlice4": "1",
    }


@pytest.mark.parametrize(
    ("text", "nodes"),
    [
        ("8 x H100-SXM", {"node-1": 8}),
        ("8xH100-SXM,2×t4", {"node-1": 8, "node-2": 2}),
        (" 2 nodes of 8 x H100-SXM , 1 node of 2 x L4 ", {"node-1": 8, "node-2": 8, "node-3": 2}),
        ("10 nodes of 1 x T4", {f"node-{number:02d}": 1 for number in range(1, 11)}),
        ("1 x A100-40 mig=1g.5gb*7", {"node-1": 7}),
        ("1 x A100-40 MIG=7g.40gb", {"node-1": 1}),
        ("12 x A100-40 mig=1g.5gb*7, 130 x T4", {"node-1": 84, "node-2": 130}),
    ],
)
def test_nodes_and_their_devices(text: str, nodes: dict[str, int]) -> None:
    world = parse_description(text)
    assert Counter(device_id.pool for device_id, _ in world.devices()) == nodes
    assert world.node == next(iter(nodes))
    assert [problem for published in world.slices for problem in slice_problems(published)] == []
    assert world == parse_description(text)


def test_ids_are_of_the_card_and_not_of_chance() -> None:
    both = parse_description("2 nodes of 2 x T4")
    ids = [device.attributes["uuid"] for _, device in both.devices()]
    assert len(set(ids)) == 4
    assert ids[0] == next(parse_description("3 x L4").devices())[1].attributes["uuid"]


@pytest.mark.parametrize("card", cards(), ids=lambda card: card.id)
def test_every_card_and_every_profile_can_be_described(card: object) -> None:
    known = next(each for each in cards() if each is card)
    texts = [f"1 x {known.id}"]
    if known.mig is not None:
        texts += [f"1 x {known.id} mig={each.name}*{each.most}" for each in known.mig.profiles]
    for text in texts:
        world = parse_description(text)
        assert [problem for published in world.slices for problem in slice_problems(published)] == []


def test_what_the_catalogue_does_not_know_is_said() -> None:
    (note,) = parse_description("1 x GB10").notes
    assert "not known" in note
    assert parse_description("1 x H100-SXM").notes == ()


@pytest.mark.parametrize(
    ("text", "column", "what", "remedy"),
    [
        ("", 1, "an entry is missing", "[N nodes of] K x CARD"),
        ("8 x T4,, 1 x L4", 8, "an entry is missing", ""),
        ("many cards", 1, "`many cards` is no entry", "[N nodes of] K x CARD"),
        ("H100-SXM", 1, "is no entry", "write how many: `1 x H100-SXM-80`"),
        ("8 H100-SXM", 1, "is no entry", "write `8 x H100-SXM-80`"),
        ("2 nodes of 8 x H10-SXM", 16, "no card `H10-SXM`", "did you mean `H100-SXM-80`?"),
        ("1 x T4, 8 x H100", 13, "names several cards", "`H100-SXM-80`"),
        ("8 x L4 mig=1g.5gb", 12, "the L4 cannot be cut", "leave `mig=` out"),
        ("1 x A100-40 mig=1g.5gb*8", 17, "cannot hold 8 of 1g.5gb", "1 to 7"),
        ("1 x A100-40 mig=1g.6gb", 17, "no MIG profile `1g.6gb`", "did you mean `1g.5gb`?"),
        ("1 x A100-40 mig=", 17, "no MIG profile ``", "`7g.40gb`"),
        ("1 x A100-40 mig=4g.20gb mig=3g.20gb*2", 13, "do not fit on one A100-40", "8 memory slots"),
        ("1 x A100-40 mig=1g.5gb*2 twice", 26, "`twice` is not understood", ""),
        ("0 x T4", 1, "a node of 0 cards", "1 to 256"),
        ("300 x T4", 1, "a node of 300 cards", "N nodes of"),
        ("0 nodes of 1 x T4", 1, "0 nodes", ""),
        ("100000 nodes of 256 x T4", 1, "more than can be described", ""),
    ],
)
def test_words_that_make_no_sense(text: str, column: int, what: str, remedy: str) -> None:
    with pytest.raises(UsageError) as raised:
        parse_description(text)
    error = raised.value
    assert error.where == f"--describe, column {column}"
    assert what in error.what
    assert remedy in error.remedy
    assert error.exit_code == EXIT_USAGE


@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_partitions_never_overlap_and_none_that_fits_is_refused(data: st.DataObject) -> None:
    layout = data.draw(st.sampled_from([card.mig for card in cards() if card.mig is not None]))
    wanted = data.draw(st.lists(st.sampled_from(layout.profiles), max_size=8))
    placed = lay_out(wanted, layout.slots)
    if placed is None:
        return
    used = [slot for cut in placed for slot in range(cut.start, cut.start + cut.profile.memory_slices)]
    assert len(used) == len(set(used))
    assert Counter(cut.profile.name for cut in placed) == Counter(profile.name for profile in wanted)
    assert all(cut.start in {place.start for place in cut.profile.placements} for cut in placed)
    for number in range(len(wanted)):  # less than what fits fits
        assert lay_out(wanted[:number] + wanted[number + 1 :], layout.slots) is not None


@given(st.text(max_size=40))
def test_any_text_is_a_fleet_or_a_clear_refusal(text: str) -> None:
    with suppress(UsageError):
        assert parse_description(text).slices
