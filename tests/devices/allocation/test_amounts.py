"""How much of a capacity a claim takes, and which devices that makes unsuitable."""

from __future__ import annotations

import pytest

from allotment.devices.allocation.amounts import demand_of
from allotment.devices.slices import Capacity, RequestPolicy, ValidRange
from tests.devices.allocation.scenes import Scene, one, pool, shared

STEPS = RequestPolicy("10Gi", valid_range=ValidRange("10Gi", "40Gi", "5Gi"))
VALUES = RequestPolicy("5Gi", ("5Gi", "10Gi", "20Gi"))
FRACTIONS = RequestPolicy("500m", valid_range=ValidRange("500m", "4", "250m"))


def taken(asked: str | None, capacity: Capacity, *, fractions: bool = False) -> str | None:
    demand = demand_of({} if asked is None else {"memory": asked}, {"memory": capacity}, fractions=fractions)
    return None if demand is None else demand.texts["memory"]


@pytest.mark.parametrize(
    ("policy", "asked", "expected"),
    [
        (None, None, "40Gi"),
        (None, "3Gi", "3Gi"),
        (STEPS, None, "10Gi"),
        (STEPS, "3Gi", "10Gi"),
        (STEPS, "10Gi", "10Gi"),
        (STEPS, "12Gi", "15Gi"),
        (STEPS, "40Gi", "40Gi"),
        (STEPS, "41Gi", None),
        (STEPS, "20E", None),
        (VALUES, None, "5Gi"),
        (VALUES, "7Gi", "10Gi"),
        (VALUES, "20Gi", "20Gi"),
        (VALUES, "21Gi", None),
        (RequestPolicy("2Gi"), "7Gi", "7Gi"),
        (RequestPolicy(valid_range=ValidRange("1Gi")), "1500Mi", "1500Mi"),
        (RequestPolicy(valid_range=ValidRange("1Gi", "2Gi")), "3Gi", None),
    ],
)
def test_what_is_asked_for_is_rounded_up(
    policy: RequestPolicy | None, asked: str | None, expected: str | None
) -> None:
    assert taken(asked, Capacity("40Gi", policy)) == expected


@pytest.mark.parametrize(
    ("asked", "whole", "thousandths"),
    [("600m", None, "750m"), ("750m", None, "750m"), ("1", None, "1"), ("5", None, None)],
)
def test_steps_are_thousandths_where_fractions_are_allowed(
    asked: str, whole: str | None, thousandths: str | None
) -> None:
    capacity = Capacity("4", FRACTIONS)
    assert taken(asked, capacity) is None or whole is None
    assert taken(asked, capacity, fractions=True) == thousandths


def test_a_name_has_to_be_there_to_the_letter() -> None:
    capacity = {"memory": Capacity("40Gi")}
    assert demand_of({"gpu.x/memory": "3Gi"}, capacity, fractions=False) is None


def test_what_is_not_named_is_taken_too() -> None:
    demand = demand_of({"a": "1"}, {"a": Capacity("4"), "b": Capacity("3")}, fractions=False)
    assert demand is not None
    assert demand.texts == {"a": "1", "b": "3"}


def test_shares_are_given_until_the_device_is_full() -> None:
    scene = Scene(pool(shared("x", "8"), shared("y", "8")))
    spec = one(capacity={"memory": "3"})
    assert scene.devices(spec, spec, spec) == ["x", "x", "y"]
    for _ in range(4):
        (allocation,) = scene.attempt(spec).allocations or ()
        assert allocation.results[0].consumed_capacity == {"memory": "3"}
        assert allocation.results[0].share_id == "share"
        scene.taken.take(allocation)
    assert scene.devices(spec) is None


def test_a_request_without_capacity_takes_the_whole_of_a_device_without_a_policy() -> None:
    scene = Scene(pool(shared("x")))
    assert scene.devices(one()) == ["x"]
    assert scene.devices(one(), one()) is None


def test_a_device_for_one_claim_only_has_to_be_large_enough() -> None:
    devices = [shared(name, memory, request_policy=None) for name, memory in (("small", "2"), ("large", "8"))]
    alone = [device.__class__(device.name, capacity=device.capacity) for device in devices]
    (allocation,) = Scene(pool(*alone)).attempt(one(capacity={"memory": "3"})).allocations or ()
    assert allocation.results[0].id.device == "large"
    assert not allocation.results[0].consumed_capacity
