"""Devices that draw on one counter set together have a compatibility group in common, or name none."""

from __future__ import annotations

from dataclasses import replace

import pytest

from allotment.devices.allocation.features import NEWEST
from allotment.devices.slices import CounterConsumption, Device, DeviceId
from tests.devices.allocation.scenes import Scene, card, one, pool

GROUPS = replace(NEWEST, compatibility_groups=True)


def device(name: str, groups: str) -> Device:
    uses = CounterConsumption("card", {"slices": "1"}, tuple(groups))
    return Device(name, consumes_counters=(uses,))


def scene(*groups: str) -> Scene:
    devices = (device(f"x{at}", letters) for at, letters in enumerate(groups))
    return Scene(pool(*devices, counters=[card(8)]), GROUPS)


@pytest.mark.parametrize(
    ("groups", "count", "given"),
    [
        (("a", "b", "a"), 2, ["x0", "x2"]),
        (("a", "b", "c"), 2, None),
        (("ab", "bc", "c"), 2, ["x0", "x1"]),
        (("ab", "bc", "ac"), 3, None),
        (("", "a", ""), 2, ["x0", "x2"]),
        (("a", "", "b"), 2, None),
        (("ab", "c", "b", "bd"), 3, ["x0", "x2", "x3"]),
    ],
)
def test_a_group_in_common_or_none(groups: tuple[str, ...], count: int, given: list[str] | None) -> None:
    assert scene(*groups).devices(one(count)) == given


def test_devices_that_are_allocated_count() -> None:
    here = scene("a", "b", "a")
    here.taken.add_device(DeviceId("d", "p", "x1"))
    assert here.devices(one()) is None
    here.taken.remove_device(DeviceId("d", "p", "x1"))
    here.taken.add_device(DeviceId("d", "p", "x0"))
    assert here.devices(one()) == ["x2"]


def test_without_the_feature_the_pool_is_incomplete() -> None:
    assert replace(scene("a"), features=NEWEST).devices(one()) is None
    assert replace(scene(""), features=NEWEST).devices(one()) == ["x0"]
