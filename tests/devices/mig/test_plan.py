"""The layout that serves a load best, the file that sets it, and what the scheduler does with the load."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from allotment.devices.catalogue import cards, find
from allotment.devices.describe import parse_description
from allotment.devices.mig.cuts import lay_out
from allotment.devices.mig.fleet import FleetCard, cards_of, unknown_products
from allotment.devices.mig.load import parse_load
from allotment.devices.mig.memory import is_assumed, partition_memory
from allotment.devices.mig.mig_parted import mig_parted
from allotment.devices.mig.plan import MigPlan, plan_mig
from allotment.errors import UsageError


def plan(fleet: str, load: str) -> MigPlan:
    return plan_mig(cards_of(parse_description(fleet)), parse_load(load))


def test_small_and_large_pods_share_cards() -> None:
    found = plan("2 x H100-SXM", "8 x 9.5Gi, 2 x 39Gi")
    assert found.served(found.layout.seats) == (8, 2)
    assert found.layout.exact
    for card in (0, 1):
        seats = found.seats_of(card)
        assert [(seat.name, seat.start) for seat in seats] == [
            *((f"{'1g.10gb'}", start) for start in range(4)),
            ("3g.40gb", 4),
        ]
    assert found.served(found.on_demand) == (8, 1)
    assert (found.by_name, found.at_worst) == ((8, 1), (8, 0))
    assert found.range_of(0) == (9728 << 20, 9984 << 20)


def test_what_is_left_over_is_said() -> None:
    found = plan("1 x A100-40", "1 x 19Gi")
    assert [profile.name for profile in found.room(0)] == ["4g.20gb"]
    assert found.computing(0) == (3, 7)


def test_what_just_misses_and_what_never_fits() -> None:
    found = plan("1 x H100-SXM", "2 x 40Gi, 1 x 80Gi, 4 x 10Gi")
    assert [part.words for part in found.never_fit()] == ["80Gi"]
    near = {each.part.words: (each.profile.name, each.seats_now, each.seats_then) for each in found.nearly()}
    assert near == {"40Gi": ("3g.40gb", 1, 2), "10Gi": ("1g.10gb", 4, 7)}


@pytest.mark.parametrize(
    ("fleet", "load", "expected"),
    [
        (
            "2 x H100-SXM",
            "8 x 9.5Gi, 2 x 39Gi",
            [{"devices": "all", "mig-enabled": True, "mig-devices": {"1g.10gb": 4, "3g.40gb": 1}}],
        ),
        (
            "2 x A100-40",
            "1 x 19Gi",
            [
                {"devices": [0], "mig-enabled": True, "mig-devices": {"3g.20gb": 1}},
                {"devices": [1], "mig-enabled": False},
            ],
        ),
        ("2 x A30", "2 x whole", [{"devices": "all", "mig-enabled": False}]),
    ],
)
def test_the_file_that_sets_the_layout(fleet: str, load: str, expected: list[object]) -> None:
    found = plan(fleet, load)
    config, by_node = mig_parted(found.fleet, found.layout.seats)
    assert config == {"version": "v1", "mig-configs": {"allotment-1": expected}}
    assert by_node == {"node-1": "allotment-1"}


def test_cards_without_mig_are_no_part_of_the_file() -> None:
    found = plan("1 x L4, 2 nodes of 1 x A30", "1 x 20Gi, 8 x 5Gi")
    config, by_node = mig_parted(found.fleet, found.layout.seats)
    assert list(by_node) == ["node-2", "node-3"]
    assert list(config["mig-configs"]) == ["allotment-1"]


@pytest.mark.parametrize("fleet", ["2 nodes of 2 x H100-SXM, 1 x L4", "2 x A100-40 mig=1g.5gb*7, 1 x T4"])
def test_cards_are_found_however_they_are_cut(fleet: str) -> None:
    world = parse_description(fleet)
    found = cards_of(world)
    assert unknown_products(world) == ()
    assert len(found) == sum(2 if "2 x" in each else 1 for each in fleet.split(",")) + (
        2 if "nodes" in fleet else 0
    )
    assert found[0].name == "node-1 gpu-0"


@pytest.mark.parametrize(
    ("words", "column", "what"),
    [
        ("8 x 10Gi,, 1 x 40Gi", 10, "missing"),
        ("0 x 10Gi", 1, "none of a part"),
        ("2 x 10 GB", 5, "no part of a card"),
        ("2 x 10", 5, "10 bytes"),
        ("2 x 40Gi..20Gi", 5, "ends before"),
        ("1 x 9Gi, 2 x nonsense", 14, "no part of a card"),
        ("999999 x 10Gi", 1, "more than can be planned"),
    ],
)
def test_a_load_that_makes_no_sense_is_refused_with_its_column(words: str, column: int, what: str) -> None:
    with pytest.raises(UsageError, match=f"column {column}: .*{what}"):
        parse_load(words)


def test_a_load_is_read_as_it_is_written() -> None:
    load = parse_load("8x10Gi, 10Gi, >40Gi, 2 * 1G.10GB+me, whole")
    assert str(load) == "9 x 10Gi, 1 x >40Gi, 2 x 1g.10gb+me, 1 x whole"
    assert load.parts[1].at_least == (40 << 30) + 1


def test_unknown_memory_is_taken_from_below() -> None:
    for card in cards():
        for profile in card.mig.profiles if card.mig else ():
            memory = partition_memory(card, profile)
            if is_assumed(card, profile):
                assert memory is not None
                assert memory < (card.memory or 0) * profile.memory_slices / card.mig.slots  # type: ignore[union-attr]
            elif profile.memory.value is not None and card.memory is not None and card.mig is not None:
                assert memory is not None
                assert memory >= 0.91 * card.memory * profile.memory_slices / card.mig.slots


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.sampled_from(["H100-SXM", "A100-40", "A30", "L4", "RTX-PRO-6000"]), min_size=1, max_size=4),
    st.lists(
        st.sampled_from(["4 x 4Gi", "3 x 9.5Gi", "2 x 19Gi", "1 x 39Gi", "1 x whole", "1 x 1g.5gb"]),
        min_size=1,
    ),
)
def test_a_layout_can_be_cut_and_seats_nobody_twice(names: list[str], entries: list[str]) -> None:
    fleet = [FleetCard("node-1", number, find(name)) for number, name in enumerate(names)]
    found = plan_mig(fleet, parse_load(", ".join(entries)))
    for at, each in enumerate(fleet):
        cut = [seat.profile for seat in found.seats_of(at) if seat.profile is not None]
        if cut:
            assert each.card.mig is not None
            assert lay_out(cut, each.card.mig.slots) is not None
    assert all(got <= count for got, count in zip(found.at_worst, found.load.counts, strict=True))
    assert sum(found.served(found.layout.seats)) >= 1 or not any(
        part.served_by(each.card, None) for part in found.load.parts for each in fleet
    )
