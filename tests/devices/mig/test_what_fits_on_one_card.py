"""What fits on one card: the layouts that NVIDIA lists come out of slots and places alone."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allotment.devices.catalogue import Card, MigLayout, MigProfile, cards, find
from allotment.devices.mig.cuts import (
    all_cuts,
    fit_together,
    full_layouts,
    is_plain,
    lay_out,
    room_left,
)

# NVIDIA MIG User Guide, the table of possible placements of A100 and H100: compute slices from the left
GUIDE = {
    (7,), (4, 3), (4, 2, 1), (4, 1, 1, 1), (3, 3), (3, 2, 1), (3, 1, 1, 1),
    (2, 2, 3), (2, 1, 1, 3), (1, 1, 2, 3), (1, 1, 1, 1, 3),
    (2, 2, 2, 1), (2, 1, 1, 2, 1), (1, 1, 2, 2, 1), (2, 1, 1, 1, 1, 1), (1, 1, 2, 1, 1, 1),
    (1, 1, 1, 1, 2, 1), (2, 2, 1, 1, 1), (1, 1, 1, 1, 1, 1, 1),
}  # fmt: skip
CUTTABLE = [card for card in cards() if card.mig is not None]


def narrow(card: Card) -> tuple[MigLayout, list[MigProfile]]:
    """The layout of a card, and the profiles of the guide's table."""
    assert card.mig is not None
    plain = [profile for profile in card.mig.profiles if is_plain(profile)]
    return card.mig, [
        profile for profile in plain if (profile.compute_slices, profile.memory_slices) != (1, 2)
    ]


@pytest.mark.parametrize("name", ["A100-40", "A100-80", "H100-SXM-80", "H100-PCIE-80", "H100-NVL-94"])
def test_the_layouts_of_the_guide_follow_from_slots(name: str) -> None:
    found = [tuple(cut.profile.compute_slices for cut in each) for each in full_layouts(*narrow(find(name)))]
    assert len(found) == 19
    assert set(found) == GUIDE


@pytest.mark.parametrize(
    ("name", "plain", "with_wide", "with_media"),
    [("A100-40", (19, 14), (78, 38), (239, 64)), ("H100-SXM-80", (19, 14), (78, 38), (239, 64))],
)
def test_how_many_ways_there_are_to_cut_a_card(
    name: str, plain: tuple[int, int], with_wide: tuple[int, int], with_media: tuple[int, int]
) -> None:
    layout, few = narrow(find(name))
    all_plain = [profile for profile in layout.profiles if is_plain(profile)]
    for profiles, expected in ((few, plain), (all_plain, with_wide), (layout.profiles, with_media)):
        found = list(full_layouts(layout, profiles))
        multisets = {tuple(sorted(cut.profile.name for cut in each)) for each in found}
        assert (len(found), len(multisets)) == expected


@pytest.mark.parametrize(("name", "expected"), [("A30", (5, 4)), ("RTX-PRO-6000-BW", (5, 4))])
def test_smaller_and_larger_cards_are_cut_alike(name: str, expected: tuple[int, int]) -> None:
    layout, plain = narrow(find(name))
    found = list(full_layouts(layout, [each for each in layout.profiles if is_plain(each)]))
    assert (len(found), len({tuple(sorted(cut.profile.name for cut in each)) for each in found})) == expected
    assert plain


@pytest.mark.parametrize(
    ("wanted", "fits"),
    [
        ("3g 3g", True),
        ("4g 3g", True),
        ("4g 2g 1g", True),
        ("3g 2g 2g", True),
        ("1g 1g 1g 1g 1g 1g 1g", True),
        ("2g 2g 2g 1g", True),
        ("3g 3g 1g", False),
        ("4g 4g", False),
        ("2g 2g 2g 2g", False),
        ("7g 1g", False),
    ],
)
def test_what_a_card_can_hold_at_once(wanted: str, fits: bool) -> None:
    layout, few = narrow(find("H100-SXM-80"))
    by_size = {f"{profile.compute_slices}g": profile for profile in few}
    assert (lay_out([by_size[each] for each in wanted.split()], layout.slots) is not None) == fits


@pytest.mark.parametrize("card", CUTTABLE, ids=lambda card: card.id)
def test_every_card_is_cut_within_itself(card: Card) -> None:
    assert card.mig is not None
    for cut in all_cuts(card.mig):
        assert cut.slots < 1 << card.mig.slots
        assert card.mig.placements.sources
    whole = [
        profile for profile in card.mig.profiles if card.mig.is_whole_card(profile) and is_plain(profile)
    ]
    assert len(whole) == 1


@given(st.sampled_from(CUTTABLE), st.data())
def test_what_a_full_layout_leaves_takes_nothing_more(card: Card, data: st.DataObject) -> None:
    assert card.mig is not None
    cuts = data.draw(st.lists(st.sampled_from(all_cuts(card.mig)), max_size=4))
    if not fit_together(cuts):
        return
    used = sum(cut.slots for cut in cuts)
    more = room_left(card.mig, used)
    assert sum(each.memory_slices for each in more) + bin(used).count("1") <= card.mig.slots
    assert lay_out([*more], card.mig.slots) is not None
    assert all(not one.slots & other.slots for one, other in combinations(cuts, 2))
