"""Fleets whose cards are cut on demand: what is published, and that the allocator does as first fit says."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from allotment.devices.allocation import Taken
from allotment.devices.allocator import Allocator
from allotment.devices.catalogue import cards
from allotment.devices.claims import Allocation, ClaimSpec, ExactRequest, Request
from allotment.devices.describe import parse_description
from allotment.devices.limits import slice_problems
from allotment.devices.lint import lint_slices
from allotment.devices.mig.first_fit import first_fit_of
from allotment.devices.mig.fleet import cards_of
from allotment.devices.world import World
from allotment.errors import UsageError
from tests.devices.mig.test_first_fit import profile, whole

CUTTABLE = [card for card in cards() if card.mig is not None]
CLASSES = {"whole": "gpu.nvidia.com"}


@pytest.mark.parametrize("card", CUTTABLE, ids=lambda card: card.id)
def test_what_is_published_is_right_and_clean(card: object) -> None:
    text = f"2 x {card.id} mig=on-demand"  # type: ignore[attr-defined]
    slices = parse_description(text).slices
    assert all(not slice_problems(each) for each in slices)
    allowed = {"partitions-only", "no-memory"}
    assert {finding.rule for finding in lint_slices(slices, "fleet").findings} <= allowed
    assert len(slices) == 3


def test_an_h100_is_itself_and_25_partitions() -> None:
    counters, card = parse_description("1 x H100-SXM mig=on-demand").slices
    assert [shared.name for shared in counters.shared_counters] == ["gpu-0-counter-set"]
    assert len(card.devices) == 26
    assert card.devices[0].name == "gpu-0"
    assert card.devices[0].capacity["memory"].value == "81152Mi"
    assert [device.name for device in card.devices] == sorted(device.name for device in card.devices)
    (taken,) = card.devices[1].consumes_counters
    assert taken.counters["memory-slice-0"] == "1"
    assert "memory-slice-1" not in taken.counters


def test_an_ampere_card_is_offered_in_partitions_only() -> None:
    _, card = parse_description("1 x A30 mig=on-demand").slices
    assert {str(device.attributes["type"]) for device in card.devices} == {"mig"}


@pytest.mark.parametrize(
    ("text", "what"),
    [("1 x L4 mig=on-demand", "has no MIG"), ("9 x H100-SXM mig=on-demand", "8 counter sets")],
)
def test_what_cannot_be_cut_on_demand(text: str, what: str) -> None:
    with pytest.raises(UsageError, match=what):
        parse_description(text)


def by_allocator(world: World, names: Sequence[str]) -> list[str]:
    """The devices that the allocator gives, one claim after the other."""
    taken = Taken()
    found = []
    for name in names:
        selector = f"device.attributes['gpu.nvidia.com'].profile == '{name}'"
        exactly = ExactRequest(
            device_class=CLASSES.get(name, "mig.nvidia.com"),
            selectors=() if name in CLASSES else (selector,),
        )
        answer = Allocator(world, "node-1").allocate(ClaimSpec((Request("gpu", exactly),)), taken)
        if isinstance(answer, Allocation):
            (given_device,) = answer.ids
            found.append(given_device.device)
            taken.add_device(given_device)
    return found


@settings(max_examples=25, deadline=None)
@given(
    st.integers(1, 2),
    st.lists(st.sampled_from(["1g.10gb", "1g.20gb", "2g.20gb", "3g.40gb", "4g.40gb", "whole"]), max_size=7),
)
def test_the_allocator_gives_what_first_fit_says(count: int, names: list[str]) -> None:
    world = parse_description(f"{count} x H100-SXM mig=on-demand")
    pods = [(number, [whole() if name == "whole" else profile(name)]) for number, name in enumerate(names)]
    seats = first_fit_of(cards_of(world), pods)
    ids = {p.name: p.id for p in cards_of(world)[0].card.mig.profiles}  # type: ignore[union-attr]
    expected = [
        f"gpu-{seat.card}"
        + ("" if seat.profile is None else f"-mig-{seat.name.replace('.', '')}-{ids[seat.name]}-{seat.start}")
        for seat in seats
    ]
    assert by_allocator(world, names) == expected
