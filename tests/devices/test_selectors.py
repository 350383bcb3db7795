"""The selectors that this version evaluates, and what it says of the others."""

from __future__ import annotations

import pytest

from allotment.devices.selectors import SelectorError, evaluate
from allotment.devices.slices import Device


@pytest.mark.parametrize(
    ("expression", "passes"),
    [
        ("device.driver == 'gpu.nvidia.com'", True),
        ('device.driver == "gpu.nvidia.com"', True),
        ("  device.driver=='gpu.nvidia.com'\n", True),
        ("device.driver == 'cpu.allotment'", False),
        ("device.driver == ''", False),
    ],
)
def test_the_driver_is_compared(expression: str, *, passes: bool) -> None:
    assert evaluate(expression, "gpu.nvidia.com", Device("gpu-0")) is passes


@pytest.mark.parametrize(
    "expression",
    [
        "",
        "true",
        "device.driver == 'a' || true",
        "device.driver == 'a' && device.driver == 'b'",
        "device.driver != 'a'",
        "device.driver == 'a\"",
        "device.driver == r'a'",
        "device.driver == 'a\\x62'",
        "'a' == device.driver",
    ],
)
def test_anything_else_is_refused_aloud(expression: str) -> None:
    with pytest.raises(SelectorError, match="this version evaluates"):
        evaluate(expression, "a", Device("x"))
