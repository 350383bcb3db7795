"""What `allot why` and `allot claim` say of shares, of classes and of one device, word for word."""

from __future__ import annotations

from dataclasses import replace

import pytest

from allotment.devices.claims import AllocatedDevice, Allocation, ClaimSpec, ExactRequest, Request
from allotment.devices.classes import DeviceClass
from allotment.devices.describe import parse_description
from allotment.devices.slices import Capacity, Device, DeviceId, RequestPolicy, ResourceSlice, ValidRange
from allotment.devices.world import World
from allotment.needs.fit import explain
from allotment.needs.fit_words import funnel_lines, never_words, sentence
from allotment.needs.words import left_words
from allotment.planning.why.needs import asked_of
from allotment.planning.why.room import Holding
from allotment.planning.why.why import why
from allotment.platform.model import Platform
from allotment.platform.need import MemoryRange, Need
from allotment.repository.model import Pipeline, StepCall

GPU = "gpu.nvidia.com"
ONE = parse_description("1 x L4")
CARD: DeviceId = next(device for device, _ in ONE.devices())


def shared(world: World = ONE) -> World:
    """The world with cards of 22Gi of which shares of whole GiB are given."""
    policy = RequestPolicy(default="1Gi", valid_range=ValidRange(min="1Gi", step="1Gi"))

    def of(published: ResourceSlice) -> tuple[Device, ...]:
        return tuple(
            replace(each, allow_multiple_allocations=True, capacity={"memory": Capacity("22Gi", policy)})
            for each in published.devices
        )

    return replace(world, slices=tuple(replace(each, devices=of(each)) for each in world.slices))


def share(amount: str) -> ClaimSpec:
    return ClaimSpec((Request("device", ExactRequest(GPU, capacity={"memory": amount})),))


HELD = Holding(
    "claim t/holder",
    Allocation((AllocatedDevice("r", CARD, share_id="1", consumed_capacity={"memory": "15Gi"}),)),
)


def test_a_share_that_has_to_wait_says_what_is_left_and_who_has_the_rest() -> None:
    told = why(share("8Gi"), shared(), [HELD])
    assert told.sentence == (
        "it waits: the only device that would do is in use: 1 x L4: 7Gi of its `memory` is left, and claim "
        "t/holder has the rest"
    )
    assert [each.words for each in told.changes] == [
        "wait for claim t/holder to end",
        "write `share: 7Gi` (asked: 8Gi)",
    ]


def test_a_share_over_the_card_is_told_what_is_left_and_what_the_card_has() -> None:
    told = why(share("23Gi"), shared(), [HELD])
    assert [(each.words, each.now) for each in told.changes] == [
        ("write `share: 7Gi` (asked: 23Gi)", True),
        ("write `share: 22Gi` (asked: 23Gi)", False),
    ]


def test_a_claim_and_a_check_know_a_share_as_a_clause() -> None:
    told = explain(share("23Gi"), shared())
    assert list(funnel_lines(told.alternatives[0]))[-1] == "0 have 23Gi of `memory` to claim  (-1)"
    assert sentence(told).startswith("nothing here will ever do: the nearest is ")
    assert "its `memory` is 22Gi, and 23Gi of it is claimed" in sentence(told)
    assert never_words(told)[1] == "write `share: 22Gi`, and 1 device would do"


@pytest.mark.parametrize(
    ("asked", "world", "word", "said"),
    [
        (
            Need(count=2),
            "1 x H100-SXM mig=1g.10gb*2",
            "mig",
            "2 x H100-SXM-80 MIG 1g.10gb of 9.75Gi (9984Mi) each",
        ),
        (
            Need(memory=MemoryRange(at_least=70 << 30), sharing=("mig",)),
            "1 x H100-SXM, 1 x H100-SXM mig=3g.40gb*2",
            "whole",
            "1 x H100-SXM-80 of 79.64Gi (81559Mi)",
        ),
    ],
)
def test_another_way_to_share_says_what_it_gives_and_more_comes_before_less(
    asked: Need, world: str, word: str, said: str
) -> None:
    file = Pipeline("p", (StepCall("checksum"),), gpu=asked)
    fleet = parse_description(world)
    found = asked_of(file, Platform(engine="kubernetes"), fleet, here=False)
    assert found.claim is not None
    told = why(found.claim, fleet, others=found.others)
    changes = [each.words for each in told.changes]
    (sharing,) = [each for each in changes if f"`sharing: {word}`" in each]
    assert sharing.endswith(f", which gives {said}")
    assert word != "whole" or changes[0] == sharing


@pytest.mark.parametrize(
    ("asked", "change"),
    [
        ("30Gi", None),
        ("8Gi", "write `sharing: whole` and `memory: 8Gi` instead of `share` (asked: consumable)"),
    ],
)
def test_a_whole_card_is_proposed_for_a_share_only_where_it_has_as_much(
    asked: str, change: str | None
) -> None:
    file = Pipeline("p", (StepCall("checksum"),), gpu=Need(sharing=("consumable",), share=asked))
    found = asked_of(file, Platform(engine="kubernetes"), ONE, here=False)
    said = [each.words for each in found.others if explain(each.claim, ONE).fits_ever]
    assert said == ([] if change is None else [change])


def test_amounts_in_bytes_are_told_with_a_unit() -> None:
    told = why(share(str(30 << 30)), shared())
    assert told.asks == "a card (30Gi of it)"
    assert "asked 30Gi" in told.sentence


def of_class(selector: str) -> World:
    return replace(ONE, classes={**ONE.classes, GPU: DeviceClass(GPU, (selector,))})


WHOLE = ClaimSpec((Request("device", ExactRequest(GPU)),))
WRONG = "device.driver == 'gpu.amd.com'"
FAILS = f"device.attributes['{GPU}'].nothing == 'x'"


def test_a_class_that_refuses_whole_cards_is_told_apart_from_cards_that_are_none() -> None:
    world = of_class(WRONG)
    assert f"the only device does not pass `{WRONG}` (class {GPU})" in why(WHOLE, world).sentence
    assert f"the device class `{GPU}` refuses it: `{WRONG}`" in sentence(explain(WHOLE, world))


def test_an_error_of_a_class_is_told_as_the_class_s_own() -> None:
    world, said = of_class(FAILS), f"`{FAILS}` of the device class `{GPU}`, and not of the need"
    assert said in why(WHOLE, world).sentence
    told = explain(WHOLE, world)
    assert said in sentence(told)
    assert not any("free now" in line for line in funnel_lines(told.alternatives[0]))


def test_a_class_that_is_missing_is_for_the_cluster_s_people() -> None:
    told = why(WHOLE, replace(ONE, classes={}))
    assert "whoever runs the cluster creates it" in told.sentence
    assert not any("free now" in line for line in funnel_lines(explain(WHOLE, ONE).alternatives[0]))


@pytest.mark.parametrize(
    ("left", "words", "said"),
    [
        (2, "are whole NVIDIA cards", "are whole NVIDIA cards"),
        (1, "are whole NVIDIA cards", "is a whole NVIDIA card"),
        (1, "are partitions of cards", "is a partition of a card"),
        (1, "are L4", "is L4"),
        (1, "have at least 8Gi of memory", "has at least 8Gi of memory"),
        (1, "pass `true`", "passes `true`"),
        (1, "device", "device"),
    ],
)
def test_one_device_is_told_as_one(left: int, words: str, said: str) -> None:
    assert left_words(left, words) == said


def test_access_of_administrators_is_for_any_number_and_for_labelled_namespaces() -> None:
    claim = ClaimSpec((Request("all", ExactRequest(GPU, admin_access=True)),))
    told = why(claim, ONE)
    assert told.sentence.endswith("for any number of pods at once")
    assert any("resource.kubernetes.io/admin-access" in note for note in told.notes)
    assert any("resource.kubernetes.io/admin-access" in note for note in explain(claim, ONE).notes)


def test_a_pool_that_is_being_updated_says_how_much_of_it_is_there() -> None:
    slices = tuple(
        replace(each, pool=replace(each.pool, resource_slice_count=2)) if each.driver == GPU else each
        for each in ONE.slices
    )
    told = why(WHOLE, replace(ONE, slices=slices))
    assert told.sentence.endswith("its pool is being updated, and 1 of 2 slices is there")


def test_the_end_of_a_search_for_a_card_is_told_for_one_and_for_several() -> None:
    two = parse_description("2 x L4")
    first = next(device for device, _ in two.devices())
    held = Holding("claim t/a", Allocation((AllocatedDevice("r", first),)))
    told = why(ClaimSpec((Request("device", ExactRequest(GPU, count=2)),)), two, [held])
    assert "2 are asked for, and only 1 is free" in told.sentence
