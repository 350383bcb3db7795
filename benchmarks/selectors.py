"""Selectors a second, ours beside cel-expr-python (the CEL team's bindings of cel-cpp), in one run.

Both sides get the same made-up devices and ask each of them by every selector, each in the way it is meant to
be used: ours over views that are made once for a device, as the allocator keeps them, the rival by
``program.eval(data=…)``. The goal is ten times that rate. An activation of the rival can be kept too, which
its users must do by hand; that is told beside it, and is nearer. The selectors are those that both can
compile; quantities and versions, which the rival does not have, would favour us.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

from allotment.devices.cel import Environment, compile_selector, device_view
from allotment.devices.slices import Device
from benchmarks.ratio import Ratio

DRIVER = "gpu.nvidia.com"
GOAL = 10.0
DEVICES = 400
ROUNDS = 7
OF = f"device.attributes['{DRIVER}']"
SELECTORS = (
    f"device.driver == '{DRIVER}'",
    f"device.driver == '{DRIVER}' && {OF}.type == 'gpu'",
    f"has({OF}.productName) && {OF}.productName.matches('^.*(A100|H100).*$')",
    f"{OF}.productName in ['NVIDIA A100-SXM4-80GB', 'NVIDIA H100 80GB HBM3']",
    f"{OF}.index < 4 && {OF}.healthy",
    f"'{DRIVER}' in device.attributes && {OF}.architecture == 'Hopper'",
    f"{OF}.productName.startsWith('NVIDIA') && !({OF}.index in [1, 3, 5])",
    f"[0, 1, 2, 3].exists(index, index == {OF}.index)",
)
PRODUCTS = ("NVIDIA A100-SXM4-80GB", "NVIDIA H100 80GB HBM3", "NVIDIA L4", "Tesla T4")

Attributes = dict[str, str | int | bool]


def made_up(count: int) -> list[Attributes]:
    """Attributes of as many different devices."""
    rng = random.Random(7)
    return [
        {
            "type": "gpu",
            "productName": rng.choice(PRODUCTS),
            "architecture": rng.choice(("Hopper", "Ampere", "Ada Lovelace")),
            "index": rng.randrange(8),
            "healthy": rng.random() < 0.9,
            "uuid": f"GPU-{number:08x}",
        }
        for number in range(count)
    ]


def ours(devices: Sequence[Attributes]) -> Callable[[], list[bool]]:
    """Every selector over every device, by our engine."""
    programs = [compile_selector(selector, Environment()) for selector in SELECTORS]
    views = [device_view(DRIVER, Device(f"gpu-{n}", attributes=each)) for n, each in enumerate(devices)]

    def ask() -> list[bool]:
        return [program.evaluate(view) for view in views for program in programs]

    return ask


def rivals(devices: Sequence[Attributes], *, ready: bool) -> Callable[[], list[bool]]:
    """The same by cel-expr-python: by its ordinary call, or with each device made ``ready`` once."""
    from cel_expr_python import cel

    environment = cel.NewEnv(variables={"device": cel.Type.DYN})
    programs = [environment.compile(selector) for selector in SELECTORS]
    data: list[dict[str, Any]] = [
        {"device": {"driver": DRIVER, "attributes": {DRIVER: each}, "capacity": {}}} for each in devices
    ]

    def ask() -> list[bool]:
        return [program.eval(data=device).plain_value() for device in data for program in programs]

    activations = [environment.Activation(device) for device in data]

    def ask_ready() -> list[bool]:
        return [program.eval(act).plain_value() for act in activations for program in programs]

    return ask_ready if ready else ask


def seconds(ask: Callable[[], list[bool]]) -> float:
    """Processor time of one round."""
    begun = time.process_time()
    ask()
    return time.process_time() - begun


def run() -> list[Ratio]:
    """The medians of alternating rounds."""
    devices = made_up(DEVICES)
    us, them, them_ready = ours(devices), rivals(devices, ready=False), rivals(devices, ready=True)
    if not us() == them() == them_ready():
        raise AssertionError("the two engines do not agree")
    rounds = [(seconds(us), seconds(them), seconds(them_ready)) for _ in range(ROUNDS)]
    times = statistics.median(theirs / own for own, theirs, _ in rounds)
    times_ready = statistics.median(theirs / own for own, _, theirs in rounds)
    rate = DEVICES * len(SELECTORS) / min(own for own, _, _ in rounds)
    explanation = (
        f"{times:.1f} times the rate of cel-expr-python, {times_ready:.1f} times with its activations kept; "
        f"{rate / 1000:,.0f}k selectors/s"
    )
    return [
        Ratio(
            "selectors, the goal of ten times a rival over what was reached", GOAL / times, 1.0, explanation
        )
    ]
