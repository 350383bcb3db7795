"""What the scheduler does with MIG on demand: the first device by name, card by card."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from allotment.devices.catalogue import Card, MigProfile, find
from allotment.devices.mig.first_fit import Wish, candidates, first_fit, first_fit_of
from allotment.devices.mig.fleet import FleetCard
from allotment.devices.mig.load import parse_load
from allotment.devices.mig.memory import partition_memory
from allotment.devices.mig.seats import Seat
from allotment.quantities import parse_bytes

H100 = find("H100-SXM-80")
TWO = [FleetCard("node-a", 0, H100), FleetCard("node-a", 1, H100)]


def profile(name: str) -> Wish:
    return lambda _card, each: each is not None and each.name == name


def whole(least: str = "0") -> Wish:
    return lambda card, each: each is None and (card.memory or 0) >= parse_bytes(least)


def mig(least: str = "0") -> Wish:
    def wish(card: Card, each: MigProfile | None) -> bool:
        return each is not None and (partition_memory(card, each) or 0) >= parse_bytes(least)

    return wish


def told(seats: Sequence[Seat]) -> list[str]:
    return [
        f"{seat.part}: gpu-{seat.card}"
        + ("" if seat.profile is None else f" {seat.profile.name} at {seat.start}")
        for seat in seats
    ]


def test_small_ones_first_spoil_the_card_for_large_ones() -> None:
    wishes = [profile("1g.10gb"), profile("4g.40gb"), profile("3g.40gb"), whole()]
    assert told(first_fit_of(TWO, [(number, [wish]) for number, wish in enumerate(wishes)])) == [
        "0: gpu-0 1g.10gb at 0",
        "1: gpu-1 4g.40gb at 0",
        "2: gpu-0 3g.40gb at 4",
    ]


def test_three_small_then_three_halves() -> None:
    small, half = profile("1g.10gb"), profile("3g.40gb")
    pods = [(number, [small if number < 3 else half]) for number in range(6)]
    assert told(first_fit_of(TWO, pods)) == [
        "0: gpu-0 1g.10gb at 0",
        "1: gpu-0 1g.10gb at 1",
        "2: gpu-0 1g.10gb at 2",
        "3: gpu-0 3g.40gb at 4",
        "4: gpu-1 3g.40gb at 0",
        "5: gpu-1 3g.40gb at 4",
    ]


def test_four_halves_leave_no_room_for_a_small_one() -> None:
    half = profile("3g.40gb")
    seats = first_fit_of(TWO, [*((number, [half]) for number in range(4)), (4, [profile("1g.10gb")])])
    assert [seat.part for seat in seats] == [0, 1, 2, 3]


def test_memory_alone_takes_the_profile_with_the_least_computing() -> None:
    wish = mig("19Gi")
    assert told(first_fit_of(TWO, [(0, [wish])])) == ["0: gpu-0 1g.20gb at 0"]
    eight = first_fit_of(TWO, [(number, [wish]) for number in range(9)])
    assert len(eight) == 8
    assert {seat.name for seat in eight} == {"1g.20gb"}


def test_a_partition_without_any_condition_is_the_smallest() -> None:
    assert told(first_fit_of(TWO, [(0, [mig()])])) == ["0: gpu-0 1g.10gb at 0"]


def test_an_amount_that_no_half_has_yields_the_whole_card_in_disguise() -> None:
    assert told(first_fit_of(TWO, [(0, [mig("40Gi"), whole("40Gi")])])) == ["0: gpu-0 7g.80gb at 0"]
    four = first_fit_of(TWO, [(number, [mig("39Gi"), whole("39Gi")]) for number in range(5)])
    assert [seat.name for seat in four] == ["3g.40gb"] * 4


def test_a_load_takes_no_disguise() -> None:
    assert told(first_fit(TWO, parse_load("1 x 40Gi"))) == ["0: gpu-0"]
    assert told(first_fit(TWO, parse_load("1 x 39Gi"))) == ["0: gpu-0 3g.40gb at 0"]


def test_a_card_with_any_partition_is_no_whole_card() -> None:
    assert told(first_fit(TWO, parse_load("1 x 9Gi, 2 x whole"))) == ["0: gpu-0 1g.10gb at 0", "1: gpu-1"]


@pytest.mark.parametrize(("name", "count"), [("H100-SXM-80", 26), ("A100-40", 26), ("A30", 14), ("L4", 1)])
def test_every_profile_is_offered_at_every_place_by_name(name: str, count: int) -> None:
    offered = candidates(find(name))
    assert len(offered) == count
    assert [each.name for each in offered] == sorted(each.name for each in offered)
