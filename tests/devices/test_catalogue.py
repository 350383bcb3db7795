"""The catalogue: cards are found by what people write, and its figures hold together."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from allotment.devices.catalogue import Card, Figure, by_product_name, cards, find
from allotment.errors import UsageError

MEBIBYTE = 1 << 20
CUT = [pytest.param(card, id=card.id) for card in cards() if card.mig is not None]
ALL = [pytest.param(card, id=card.id) for card in cards()]


@pytest.mark.parametrize(
    ("text", "card"),
    [
        ("H100-SXM-80", "H100-SXM-80"),
        ("h100-sxm", "H100-SXM-80"),
        (" H100 SXM ", "H100-SXM-80"),
        ("h100_nvl", "H100-NVL-94"),
        ("a100-40", "A100-40"),
        ("L4", "L4"),
        ("l40", "L40"),
        ("L40s", "L40S"),
        ("H20", "H20-96"),
        ("H200", "H200-141"),
        ("rtx4090", "RTX-4090"),
        ("gb10", "GB10"),
        ("H100-P", "H100-PCIE-80"),
    ],
)
def test_an_id_or_a_leading_part_of_one_names_a_card(text: str, card: str) -> None:
    assert find(text).id == card


def test_a_part_that_several_cards_have_names_none_and_lists_them() -> None:
    with pytest.raises(UsageError) as refused:
        find("h100")
    assert str(refused.value) == (
        "`h100` names several cards of the catalogue\n"
        "  write one of `H100-PCIE-80`, `H100-SXM-80`, `H100-NVL-94`"
    )


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("H100-SMX", "did you mean `H100-SXM-80`?"),
        ("qwertz", "known: P100-PCIE-16, "),
        ("", "known: "),
        ("80GB", "known: "),
    ],
)
def test_an_unknown_card_is_refused_with_the_closest_or_all(text: str, hint: str) -> None:
    with pytest.raises(UsageError, match="the catalogue has no card") as refused:
        find(text)
    assert refused.value.remedy.startswith(hint)


@pytest.mark.parametrize("card", ALL)
def test_every_card_is_found_by_its_id_and_by_its_product_names(card: Card) -> None:
    assert find(card.id) is card
    assert find(card.id.lower()) is card
    for name in card.names.value:
        assert by_product_name(name) is card


def test_ids_and_product_names_are_of_one_card_each() -> None:
    for names in ([card.id.lower() for card in cards()], [name for c in cards() for name in c.names.value]):
        assert [name for name, count in Counter(names).items() if count > 1] == []


def test_a_product_name_is_taken_as_a_whole() -> None:
    assert by_product_name("NVIDIA H100") is None


@pytest.mark.parametrize("card", ALL)
def test_every_figure_that_is_given_says_where_it_comes_from(card: Card) -> None:
    figures: list[Figure[Any]] = [card.names, card.brand, card.architecture, card.compute_capability]
    figures += [card.sold_gb, *([card.reported] if card.memory is not None else [])]
    if card.mig is not None:
        figures += [card.mig.names, card.mig.placements]
        figures += [profile.memory for profile in card.mig.profiles if profile.memory.value is not None]
    assert all(figure.sources and all(figure.sources) for figure in figures)


@pytest.mark.parametrize("card", ALL)
def test_a_card_reports_no_more_than_a_little_less_or_more_than_it_is_sold_as(card: Card) -> None:
    if card.memory is None:
        return
    assert 0.85 < card.memory / (card.sold_gb.value * 10**9) < 1.1


@pytest.mark.parametrize(
    ("card", "mebibytes"),
    [("T4", 15360), ("L4", 23034), ("A100-40", 40960), ("H100-SXM-80", 81559), ("H200-141", 143771)],
)
def test_memory_is_what_drivers_report(card: str, mebibytes: int) -> None:
    assert find(card).memory == mebibytes * MEBIBYTE


def test_a_card_that_tells_no_memory_has_none() -> None:
    assert find("GB10").memory is None


@pytest.mark.parametrize("card", CUT)
def test_partitions_lie_within_the_card(card: Card) -> None:
    assert card.mig is not None
    for profile in card.mig.profiles:
        assert profile.placements == tuple(sorted(set(profile.placements)))
        for placement in profile.placements:
            assert 0 <= placement.start < placement.start + placement.size <= card.mig.slots
        assert 1 <= profile.most <= len(profile.placements)


@pytest.mark.parametrize("card", CUT)
def test_a_partition_has_less_memory_than_its_card(card: Card) -> None:
    assert card.mig is not None
    known = [profile.memory.value for profile in card.mig.profiles if profile.memory.value is not None]
    assert all(card.memory is not None and 0 < memory < card.memory for memory in known)


@pytest.mark.parametrize("card", CUT)
def test_profiles_are_told_apart_by_name_and_by_id(card: Card) -> None:
    assert card.mig is not None
    assert len({profile.name for profile in card.mig.profiles}) == len(card.mig.profiles)
    assert len({profile.id for profile in card.mig.profiles}) == len(card.mig.profiles)
    assert [p.name for p in card.mig.profiles if card.mig.is_whole_card(p)]


@pytest.mark.parametrize(
    ("card", "profile", "mebibytes", "starts"),
    [
        ("A100-40", "1g.5gb", 4864, [0, 1, 2, 3, 4, 5, 6]),
        ("A100-80", "3g.40gb", 40192, [0, 4]),
        ("H100-SXM-80", "3g.40gb", 40448, [0, 4]),
        ("H100-SXM-80", "1G.20GB", 20096, [0, 2, 4, 6]),
        ("A30", "2g.12gb", 11968, [0, 2]),
        ("RTX-PRO-6000-BW", "1g.24gb-me", 24192, [0, 3, 6, 9]),
    ],
)
def test_a_profile_has_memory_as_reported_and_places(
    card: str, profile: str, mebibytes: int, starts: list[int]
) -> None:
    mig = find(card).mig
    assert mig is not None
    found = mig.profile(profile)
    assert found is not None
    assert found.memory.value == mebibytes * MEBIBYTE
    assert [placement.start for placement in found.placements] == starts


def test_a_card_that_cannot_be_cut_has_no_profiles() -> None:
    assert find("L4").mig is None
