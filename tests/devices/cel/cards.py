"""Devices that the tests of selectors ask about."""

from __future__ import annotations

from allotment.devices.cel import DeviceView, Environment, compile_selector, device_view
from allotment.devices.slices import Capacity, Device, Version

DRIVER = "gpu.example.com"
CARD = Device(
    "gpu-0",
    attributes={
        "type": "gpu",
        "model": "Example A40-48GB",
        "index": 3,
        "driverVersion": Version("550.54.15"),
        "healthy": True,
        "rack.example.org/row": "b",
        "links": (1, 2, 4),
    },
    capacity={"memory": Capacity("48Gi"), "share": Capacity("500m")},
)
BARE = Device("bare", allow_multiple_allocations=True)

card: DeviceView = device_view(DRIVER, CARD)
bare: DeviceView = device_view("other.example.com", BARE)


def ask(expression: str, view: DeviceView = card, environment: Environment | None = None) -> bool:
    """What a selector says of a device, by both ways of evaluating, which must agree."""
    program = compile_selector(expression, environment or Environment())
    counted = program.count(view)
    answer = program.evaluate(view)
    assert counted.outcome() is answer
    return answer
