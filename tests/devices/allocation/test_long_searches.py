"""Searches that take upstream for ever: the same answer and its number of steps, and soon."""

from __future__ import annotations

import math
import time

import pytest

from allotment.devices.allocation.hopeless import Wanted, can_deal
from allotment.devices.allocator import allocate
from allotment.devices.claims import Allocation, ClaimSpec, Constraint, Request
from allotment.devices.funnel import NoFit
from allotment.devices.slices import Device
from allotment.devices.world import World
from tests.devices.allocation.scenes import CLASSES, NODE, Scene, card, claim, exact, one, part, pool


def singles(count: int) -> ClaimSpec:
    return claim(*(Request(f"r{at}", exact()) for at in range(count)))


def cards(count: int) -> Scene:
    return Scene(pool(*(Device(f"x{at}", {"uuid": f"u{at}", "n": at % 3}) for at in range(count))))


def permutations_of(count: int) -> int:
    """Upstream's steps for one single request more than there are devices."""
    return sum(math.perm(count, taken) * (2 if taken else 1) for taken in range(count + 1)) + 0


@pytest.mark.parametrize("count", [3, 8, 20, 30])
def test_one_device_more_than_there_are(count: int) -> None:
    attempt = cards(count).attempt(one(count + 1))
    assert attempt.allocations is None
    assert attempt.steps == 2**count
    assert attempt.times_out == (count > 23)


@pytest.mark.parametrize("count", [3, 5, 8, 30])
def test_one_request_more_than_there_are_devices(count: int) -> None:
    attempt = cards(count).attempt(singles(count + 1))
    assert attempt.allocations is None
    assert attempt.steps == permutations_of(count)


def test_a_solution_after_a_long_search_is_upstreams() -> None:
    scene = Scene(pool(*(part(f"x{at}", 2) for at in range(12)), *(part(f"y{at}") for at in range(8)),
                       counters=[card(16)]))  # fmt: skip
    attempt = scene.attempt(one(12))
    assert attempt.allocations is not None
    names = [each.device for each in attempt.allocations[0].ids]
    assert names == ["x0", "x1", "x2", "x3", *(f"y{at}" for at in range(8))]


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        (one(21, ), "21 of class d needed, only 20 would do"),
        (ClaimSpec((Request("r", exact(17)),), (Constraint(distinct_attribute="d/n"),)), "must differ"),
        (ClaimSpec((Request("r", exact(9)),), (Constraint(match_attribute="d/n"),)), "must have the same"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_soon(spec: ClaimSpec, words: str) -> None:
    world = World(tuple(cards(20).slices), CLASSES, NODE)
    started = time.process_time()
    answer = allocate(spec, world, NODE)
    assert isinstance(answer, NoFit)
    assert words in str(answer)
    assert time.process_time() - started < 5


@pytest.mark.parametrize(
    ("wanted", "gone", "possible"),
    [
        ([(1, [0]), (1, [0, 1])], set(), True),
        ([(1, [0, 1]), (1, [0])], set(), True),
        ([(1, [0]), (1, [0])], set(), False),
        ([(2, [0, 1, 2]), (1, [0])], {1}, False),
        ([(2, [0, 1, 2]), (1, [0])], set(), True),
        ([], set(), True),
    ],
)
def test_dealing_devices_out(wanted: list[tuple[int, list[int]]], gone: set[int], possible: bool) -> None:
    assert can_deal([Wanted(*each) for each in wanted], gone) is possible


def test_an_answer_without_a_search_is_that_of_the_search() -> None:
    scene = cards(6)
    world = World(tuple(scene.slices), CLASSES, NODE)
    for count in range(1, 7):
        answer = allocate(one(count), world, NODE)
        assert isinstance(answer, Allocation)
        (searched,) = scene.attempt(one(count)).allocations or ()
        assert answer == searched
