"""Constraints: devices that must share an attribute do, and those that must differ do."""

from __future__ import annotations

import time
from collections.abc import Mapping
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allotment.devices.allocator import allocate
from allotment.devices.claims import Allocation, ClaimSpec, Constraint, ExactRequest, Request, SubRequest
from allotment.devices.funnel import NoFit
from allotment.devices.slices import AttributeValue, Device, Pool, ResourceSlice, Version
from allotment.devices.world import World
from tests.devices.worlds import NODE, world

ROOT = "resource.kubernetes.io/pcieRoot"


def cards(*each: Mapping[str, AttributeValue]) -> World:
    devices = tuple(Device(f"gpu-{place}", attributes) for place, attributes in enumerate(each))
    return world(ResourceSlice("s", "g", Pool("p"), node_name=NODE, devices=devices))


def models(text: str) -> World:
    return cards(*({"model": letter} for letter in text))


def several(count: int, *constraints: Constraint) -> ClaimSpec:
    return ClaimSpec((Request("r", ExactRequest("g", count=count)),), constraints)


def given_to(claim: ClaimSpec, here: World, *taken: str) -> list[str] | None:
    held = {each for each, device in here.devices() if device.name in taken}
    answer = allocate(claim, here, NODE, held)
    return [each.device for each in answer.ids] if isinstance(answer, Allocation) else None


SAME = Constraint(match_attribute="g/model")
OTHER = Constraint(distinct_attribute="g/model")


@pytest.mark.parametrize(
    ("here", "count", "constraint", "devices"),
    [
        ("ab", 1, SAME, [0]),
        ("aab", 2, SAME, [0, 1]),
        ("abab", 2, SAME, [0, 2]),
        ("abb", 2, SAME, [1, 2]),
        ("abc", 2, SAME, None),
        ("abacaa", 4, SAME, [0, 2, 4, 5]),
        ("aab", 2, OTHER, [0, 2]),
        ("aaa", 2, OTHER, None),
        ("abab", 3, OTHER, None),
        ("abcab", 3, OTHER, [0, 1, 2]),
    ],
)
def test_devices_share_or_differ(
    here: str, count: int, constraint: Constraint, devices: list[int] | None
) -> None:
    expected = None if devices is None else [f"gpu-{place}" for place in devices]
    assert given_to(several(count, constraint), models(here)) == expected


def test_a_device_that_is_taken_cannot_be_one_of_them() -> None:
    assert given_to(several(2, SAME), models("aabb"), "gpu-0") == ["gpu-2", "gpu-3"]


@pytest.mark.parametrize(
    ("first", "second", "alike"),
    [
        ({"model": "a"}, {"model": "a"}, True),
        ({"g/model": "a"}, {"model": "a"}, True),
        ({"other/model": "a"}, {"other/model": "a"}, False),
        ({"model": "8.0.0"}, {"model": Version("8.0.0")}, False),
        ({"model": Version("8.0.0")}, {"model": Version("8.0.0")}, True),
        ({"model": 1}, {"model": True}, False),
        ({"model": ("a",)}, {"model": ("a",)}, False),
        ({}, {}, False),
    ],
)
def test_values_are_the_same_when_type_and_value_are(
    first: Mapping[str, AttributeValue], second: Mapping[str, AttributeValue], alike: bool
) -> None:
    assert (given_to(several(2, SAME), cards(first, second)) is not None) is alike


def test_a_device_without_the_attribute_is_passed_over() -> None:
    here = cards({}, {ROOT: "pci0000:00"}, {}, {ROOT: "pci0000:00"})
    assert given_to(several(2, Constraint(match_attribute=ROOT)), here) == ["gpu-1", "gpu-3"]


def test_a_constraint_holds_for_the_requests_that_it_names() -> None:
    here = models("abab")
    requests = tuple(Request(name, ExactRequest("g")) for name in ("x", "y", "z"))
    over_two = ClaimSpec(requests, (Constraint(("x", "z"), match_attribute="g/model"),))
    assert given_to(over_two, here) == ["gpu-0", "gpu-1", "gpu-2"]
    over_all = ClaimSpec(requests, (SAME,))
    assert given_to(over_all, here) is None


def test_a_constraint_may_name_one_alternative() -> None:
    subs = (SubRequest("card", ExactRequest("g", count=3)), SubRequest("any", ExactRequest("g", count=2)))
    claim = ClaimSpec(
        (Request("r", first_available=subs),), (Constraint(("r/card",), match_attribute="g/model"),)
    )
    assert given_to(claim, models("abab")) == ["gpu-0", "gpu-1"]
    assert given_to(claim, models("abaa")) == ["gpu-0", "gpu-2", "gpu-3"]


def test_an_earlier_choice_is_undone_when_the_rest_does_not_fit() -> None:
    claim = ClaimSpec(
        (Request("one", ExactRequest("g")), Request("two", ExactRequest("g", count=2))), (SAME,)
    )
    assert given_to(claim, models("abbb")) == ["gpu-1", "gpu-2", "gpu-3"]


def test_why_nothing_fits_names_the_constraint() -> None:
    answer = allocate(several(2, SAME), models("abc"), NODE)
    assert isinstance(answer, NoFit)
    assert str(answer) == "2 of class g needed, 3 free, 0 taken; the devices must have the same g/model"
    assert not answer.waiting


def test_devices_in_use_elsewhere_are_waited_for() -> None:
    here = models("aab")
    held = frozenset(each for each, device in here.devices() if device.name == "gpu-0")
    answer = allocate(several(2, SAME), here, NODE, held)
    assert isinstance(answer, NoFit)
    assert answer.waiting


def test_hopeless_searches_end_soon() -> None:
    started = time.process_time()
    assert given_to(several(21, SAME), models("a" * 20 + "b" * 20)) is None
    assert given_to(several(11, OTHER), models("abcdefghij" * 4)) is None
    assert time.process_time() - started < 5


@given(st.text("abc", min_size=1, max_size=7), st.integers(1, 4), st.sampled_from([SAME, OTHER]), st.data())
def test_the_first_combination_in_order_is_taken(
    letters: str, count: int, constraint: Constraint, data: st.DataObject
) -> None:
    taken = data.draw(st.sets(st.integers(0, len(letters) - 1)))
    free = [place for place in range(len(letters)) if place not in taken]

    def holds(places: tuple[int, ...]) -> bool:
        kinds = {letters[place] for place in places}
        return len(kinds) == (1 if constraint is SAME else len(places))

    first = next((places for places in combinations(free, count) if holds(places)), None)
    expected = None if first is None else [f"gpu-{place}" for place in first]
    names = [f"gpu-{place}" for place in taken]
    assert given_to(several(count, constraint), models(letters), *names) == expected
