"""Every way to share a card is one value that says all there is to say, and its claim follows from it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from allotment.devices.catalogue import cards
from allotment.devices.cel import Environment, compile_selector, device_view
from allotment.devices.describe import parse_description
from allotment.devices.fleet import Fleet, Placed
from allotment.devices.slices import Device
from allotment.devices.validation import Server, validate
from allotment.documents import read_text
from allotment.documents.checking import Check
from allotment.needs.claim import claim_for
from allotment.needs.limits import faults_of
from allotment.needs.manifests import manifest_for
from allotment.needs.rules import RULES
from allotment.needs.ways import WAYS, Isolation, Scope, Way, way_of, ways_of
from allotment.needs.ways.choosing import Able, able, choice_of
from allotment.needs.ways.fraction import annotations_for
from allotment.needs.ways.gates import off_by_default
from allotment.needs.ways.here import findings_here
from allotment.needs.ways.share import pods_on_a_card
from allotment.needs.ways.slices import LESS_THAN_A_CARD
from allotment.platform.model import Platform
from allotment.platform.need import SHARING, MemoryRange, Need
from allotment.platform.need_shapes import NEED
from allotment.repository.model import Gang, Pipeline, StepCall

GI = 1 << 30
FORTY = MemoryRange(at_least=40 * GI)
WITHOUT_KAI, WITHOUT_LISTS = Able(fractions=False), Able(lists=False)


def written(way: Way) -> Need:
    """The need that a way's example writes."""
    check = Check(read_text(way.writes, name="example"))
    return NEED.read(check.document.value["gpu"], check.root / "gpu")


def test_every_word_of_sharing_has_a_way_and_mig_has_two() -> None:
    assert {way.word for way in WAYS.values()} == set(SHARING)
    assert [way.id for way in ways_of("mig")] == ["mig-in-advance", "mig-on-demand"]
    assert len(WAYS) == 7


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_a_way_says_everything_and_its_example_is_a_need_for_it(way: Way) -> None:
    need = written(way)
    assert way.word in need.sharing
    assert choice_of(need).ways[0].word == way.word
    assert claim_for(need).requests
    assert way.lints
    assert set(way.lints) <= RULES.keys()
    for said in (way.title, way.becomes, way.keeps_apart, way.maturity, way.accounting):
        assert (said and said[0].islower()) or said.startswith(("MIG", "KAI")), said
    assert way.measured is (way.isolation is not Isolation.HARDWARE)


@pytest.mark.parametrize("name", [name for name, way in WAYS.items() if way.scope is not Scope.ANNOTATION])
def test_gates_of_kubernetes_are_off_before_they_are_on(name: str) -> None:
    gates = WAYS[name].gates
    assert off_by_default(gates, "1.35") == gates
    assert off_by_default(gates, "1.36.2") == ()


@pytest.mark.parametrize("card", [card for card in cards() if card.mig is not None], ids=lambda card: card.id)
def test_a_slice_is_never_the_whole_card(card: object) -> None:
    layout = next(each.mig for each in cards() if each is card)
    assert layout is not None
    program = compile_selector(LESS_THAN_A_CARD, Environment())
    for profile in layout.profiles:
        device = device_view("gpu.nvidia.com", Device("d", {"profile": profile.name}, {}))
        assert program.evaluate(device) is not layout.is_whole_card(profile), profile.name
    assert program.evaluate(device_view("gpu.nvidia.com", Device("d", {}, {}))) is True


@pytest.mark.parametrize(
    ("fleet", "least", "expected"),
    [
        ("1 x H100-SXM mig=7g.80gb*1", 40, []),
        ("1 x H100-SXM mig=7g.80gb*1, 1 x H100-SXM", 40, ["device/card"]),
        ("1 x H100-SXM mig=3g.40gb*2", 39, ["device/slice", "device/slice"]),
        ("1 x H100-SXM mig=on-demand", 40, ["device/card"]),
        ("1 x H100-SXM mig=on-demand", 39, ["device/slice", "device/slice"]),
        ("1 x RTX-PRO-6000-BW mig=4g.96gb*1", 40, []),
    ],
)
def test_a_list_of_a_slice_or_a_card_takes_no_card_for_a_slice(
    fleet: str, least: int, expected: list[str]
) -> None:
    claim = claim_for(Need(MemoryRange(at_least=least * GI), sharing=("mig", "whole")))
    nodes = Fleet(parse_description(fleet))
    given = [
        found.allocation.results[0].request
        for _ in range(3)
        if isinstance(found := nodes.place(claim), Placed)
    ]
    assert given == expected


@pytest.mark.parametrize(
    ("need", "able_to", "words", "given_up"),
    [
        (Need(), Able(), ["whole"], []),
        (Need(sharing=("mig", "whole")), Able(), ["mig", "whole"], []),
        (Need(sharing=("mig", "whole")), WITHOUT_LISTS, ["mig"], ["`whole`: no list of alternatives"]),
        (Need(sharing=("consumable", "whole"), share="8Gi"), Able(), ["consumable", "whole"], []),
        (Need(sharing=("mps", "mig"), isolation="hardware"), Able(), ["mig"], ["`mps`: hardware is asked"]),
        (Need(sharing=("fraction", "mig"), share=0.5), Able(), ["fraction"], ["`mig`: cannot fall back"]),
        (Need(sharing=("fraction", "mig"), share=0.5), WITHOUT_KAI, ["mig"], ["`fraction`: only KAI"]),
        (Need(sharing=("fraction",), share=0.5), WITHOUT_KAI, ["fraction"], []),
        (Need(sharing=("time-slicing", "whole")), Able(), ["time-slicing"], ["`whole`: one claim for"]),
        (Need(fallback=(Need(sharing=("mig",)), Need(cpu=2))), Able(), ["whole", "mig", None], []),
        (
            Need(sharing=("fraction",), share=0.5, fallback=(Need(sharing=("fraction",), share=0.2),)),
            Able(),
            ["fraction"],
            ["`fraction`: an annotation has no"],
        ),
    ],
)
def test_ways_are_alternatives_as_far_as_they_can_stand_together(
    need: Need, able_to: Able, words: list[str | None], given_up: list[str]
) -> None:
    choice = choice_of(need, able_to)
    assert [None if each.way is None else each.way.word for each in choice.alternatives] == words
    assert len(choice.given_up) == len(given_up)
    for said, expected in zip(choice.given_up, given_up, strict=True):
        word, why = expected.split(": ")
        assert said.startswith(f"{word} is left out: ")
        assert set(why.split()) & set(said.replace("`", "").split())


@pytest.mark.parametrize(
    ("engine", "scheduler", "expected"),
    [
        ("local", "kueue", Able()),
        ("kubernetes", "default", Able(fractions=False)),
        ("kubernetes", "kueue", Able(fractions=False, lists=False)),
        ("kubernetes", "kai", Able(lists=False, by_name=True)),
        ("kubernetes", "both", Able(lists=False, by_name=True)),
    ],
)
def test_what_a_platform_can_do_follows_from_its_scheduler(
    engine: str, scheduler: str, expected: Able
) -> None:
    assert able(Platform(engine=engine, scheduler=scheduler)) == expected


@pytest.mark.parametrize(
    ("need", "memory", "cards", "pods"),
    [
        (Need(sharing=("fraction",), share=0.25), None, 0.25, 4),
        (Need(sharing=("fraction",), share=0.3, count=2), 80 * GI, 0.6, 3),
        (Need(sharing=("fraction",), share="8Gi"), 80 * GI, 0.1, 10),
        (Need(sharing=("fraction",), share="8Gi"), None, None, None),
        (Need(sharing=("consumable",), share="8Gi", count=2), 16 * GI, 1.0, 2),
    ],
)
def test_a_share_counts_as_its_part_of_a_card(
    need: Need, memory: int | None, cards: float | None, pods: int | None
) -> None:
    assert way_of(need.sharing[0]).cards(need, memory) == cards
    assert pods_on_a_card(need, memory) == pods


def test_other_ways_count_as_cards_and_slices_by_their_memory() -> None:
    assert way_of("whole").cards(Need(count=3), None) == 3.0
    assert way_of("mps").cards(Need(sharing=("mps",)), None) == 1.0
    assert way_of("mig").cards(Need(FORTY, sharing=("mig",)), 80 * GI) == 0.5
    assert way_of("mig").cards(Need(sharing=("mig",)), 80 * GI) is None


@pytest.mark.parametrize(
    ("need", "annotations"),
    [
        (Need(share=0.5), {"gpu-fraction": "0.5"}),
        (Need(share="8Gi"), {"gpu-memory": "8192"}),
        (Need(share="8G"), {"gpu-memory": "7630"}),
        (Need(share=0.25, count=2), {"gpu-fraction": "0.25", "gpu-fraction-num-devices": "2"}),
    ],
)
def test_a_fraction_is_said_to_kai_in_its_words(need: Need, annotations: dict[str, str]) -> None:
    assert annotations_for(need) == annotations


@pytest.mark.parametrize(
    ("need", "rules"),
    [
        (None, []),
        (Need(), []),
        (Need(cpu=2), []),
        (Need(sharing=("mig", "whole")), []),
        (Need(sharing=("consumable",), share="8Gi"), ["sharing-not-here"]),
        (Need(fallback=(Need(sharing=("consumable",), share="8Gi"),)), ["sharing-not-here"]),
    ],
)
def test_a_gang_gets_no_part_of_a_card_here(need: Need | None, rules: list[str]) -> None:
    found = findings_here(Gang("g", 2, 2, gpu=need))
    assert [each.rule for each in found] == rules
    assert all("whole" in each.hint for each in found)


@pytest.mark.parametrize(
    ("need", "rules"),
    [
        *((Need(sharing=(word,)), []) for word in ("whole", "mig", "time-slicing", "mps")),
        (Need(sharing=("fraction",), share=0.5), []),
        (Need(sharing=("consumable",), share="8Gi", count=2), ["sharing-not-here"]),
    ],
)
def test_volumes_share_one_card_in_every_way(need: Need, rules: list[str]) -> None:
    assert [each.rule for each in findings_here(Pipeline("p", (StepCall("checksum"),), gpu=need))] == rules


words = st.lists(st.sampled_from(SHARING), min_size=1, max_size=4, unique=True).map(tuple)
single = st.builds(
    Need,
    memory=st.none() | st.builds(MemoryRange, at_least=st.integers(1, 80 * GI)),
    count=st.integers(1, 4),
    card=st.sampled_from([(), ("L4",), ("H100-SXM", "Ampere")]),
    same=st.sampled_from([None, "card", "card-model"]),
    sharing=words,
    share=st.sampled_from(["8Gi", 0.5]),
    isolation=st.sampled_from([None, "hardware"]),
    config=st.sampled_from([None, {"time_slice": "Long"}, {"mps": {"threads": 20, "pinned_memory": GI}}]),
)


@settings(deadline=None)
@given(single, st.lists(single, max_size=2), st.builds(Able, st.booleans(), st.booleans()))
def test_a_need_without_faults_is_an_object_that_an_api_server_takes(
    need: Need, fallback: list[Need], able_to: Able
) -> None:
    whole = replace(need, fallback=tuple(fallback))
    assume(not any(faults_of(whole)))
    manifest = manifest_for("p", whole, able=able_to, kai_queue="team")
    kind, value = manifest.value["kind"], dict(manifest.value)
    assert validate(kind, value, server=Server.of("1.36")) == ((), ())
    assert len({way.scope for way in manifest.ways}) == 1
    assert able_to.lists or len(manifest.choice.alternatives) == 1
    if need.isolation is not None and not fallback:
        assert {way.isolation for way in manifest.ways} == {Isolation.HARDWARE}
