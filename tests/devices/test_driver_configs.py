"""Which configurations a driver gets with each device of an allocation."""

from __future__ import annotations

import pytest

from allotment.devices.claims import AllocatedConfig, AllocatedDevice, Allocation, ClaimSpec, ConfigSource
from allotment.devices.classes import OpaqueConfig
from allotment.devices.driver_configs import configs_for, parameters_for, unused_configs
from allotment.devices.slices import DeviceId

ENTRIES = (
    ("class, all", ConfigSource.FROM_CLASS, "gpu.example", ()),
    ("class, one", ConfigSource.FROM_CLASS, "gpu.example", ("one",)),
    ("class, big", ConfigSource.FROM_CLASS, "gpu.example", ("two/big",)),
    ("class, nic", ConfigSource.FROM_CLASS, "nic.example", ()),
    ("claim, two", ConfigSource.FROM_CLAIM, "gpu.example", ("two",)),
    ("claim, both", ConfigSource.FROM_CLAIM, "gpu.example", ("one", "two/small")),
)
CONFIG = tuple(
    AllocatedConfig(source, OpaqueConfig(driver, {"is": name}, requests))
    for name, source, driver, requests in ENTRIES
)


@pytest.mark.parametrize(
    ("request_name", "driver", "expected"),
    [
        ("one", "gpu.example", ["class, all", "class, one", "claim, both"]),
        ("two/big", "gpu.example", ["class, all", "class, big", "claim, two"]),
        ("two/small", "gpu.example", ["class, all", "claim, two", "claim, both"]),
        ("three", "gpu.example", ["class, all"]),
        ("one", "nic.example", ["class, nic"]),
        ("one", "other.example", []),
    ],
)
def test_configurations_of_a_device(request_name: str, driver: str, expected: list[str]) -> None:
    result = AllocatedDevice(request_name, DeviceId(driver, "p", "x"))
    allocation = Allocation((result,), CONFIG)
    assert [found["is"] for found in parameters_for(allocation, result)] == expected
    assert [each.config.parameters["is"] for each in configs_for(allocation, result)] == expected


def test_a_configuration_for_a_driver_that_is_not_there() -> None:
    claim = ClaimSpec(config=tuple(OpaqueConfig(driver, {}) for driver in ("a.example", "b.example")))
    assert [config.driver for config in unused_configs(claim, ["a.example"])] == ["b.example"]
