"""A selector as a matcher: devices pass or do not, and what cannot be told is an error with a text."""

from __future__ import annotations

import pytest

from allotment.devices import selectors
from allotment.devices.selectors import SelectorError, Selectors, evaluate
from allotment.devices.slices import Capacity, Device

DRIVER = "gpu.nvidia.com"
H100 = Device("gpu-0", attributes={"type": "gpu", "index": 3}, capacity={"memory": Capacity("81559Mi")})


@pytest.mark.parametrize(
    ("expression", "passes"),
    [
        ("device.driver == 'gpu.nvidia.com'", True),
        ("device.driver == 'cpu.allotment'", False),
        ("device.attributes['gpu.nvidia.com'].type == 'gpu'", True),
        ("device.capacity['gpu.nvidia.com'].memory.compareTo(quantity('81559Mi')) >= 0", True),
        ("device.capacity['gpu.nvidia.com'].memory.isGreaterThan(quantity('80Gi'))", False),
        ("device.attributes['other.example'].?name.orValue('') == 'x'", False),
    ],
)
def test_a_device_passes_or_does_not(expression: str, *, passes: bool) -> None:
    assert evaluate(expression, DRIVER, H100) is passes


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("device.driver ==", "CEL compile error: .*Syntax error"),
        ("device.drivr == 'x'", "CEL compile error: .*undefined field"),
        ("device.attributes['gpu.nvidia.com'].nothing == 1", "CEL runtime error: no such key: nothing"),
        ("device.attributes['gpu.nvidia.com'].index > 'a'", "CEL"),
    ],
)
def test_what_cannot_be_told_is_an_error(expression: str, said: str) -> None:
    with pytest.raises(SelectorError, match=said):
        evaluate(expression, DRIVER, H100)


def test_two_devices_of_one_name_are_kept_apart_however_many_came_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(selectors, "MOST_VIEWS", 2)
    matches = Selectors()
    devices = [Device("gpu-0", attributes={"index": number}) for number in range(9)]
    for _ in range(2):
        for number, device in enumerate(devices):
            assert matches(f"device.attributes['{DRIVER}'].index == {number}", DRIVER, device)
