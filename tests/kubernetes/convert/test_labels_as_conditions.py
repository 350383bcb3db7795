"""Node labels about cards as conditions on a device: the same cards pass, and no device is an error."""

from __future__ import annotations

from itertools import chain

import pytest

from allotment.devices.describe import parse_description
from allotment.devices.selectors import Selectors
from allotment.devices.slices import Device
from allotment.kubernetes.convert.labels import Wanted, is_shared, selector

CARDS = {"A100": "1x A100-40", "H100": "1x H100-SXM", "L4": "1x L4", "L40S": "1x L40S"}


def _device(card: str) -> Device:
    world = parse_description(CARDS[card])
    return next(chain.from_iterable(each.devices for each in world.slices))


def _passing(expression: str) -> set[str]:
    matches = Selectors()
    assert matches(expression, "gpu.nvidia.com", Device("bare")) in {True, False}
    return {card for card in CARDS if matches(expression, "gpu.nvidia.com", _device(card))}


@pytest.mark.parametrize(
    ("key", "operator", "values", "cards"),
    [
        ("nvidia.com/gpu.product", "In", ("NVIDIA-A100-SXM4-40GB",), {"A100"}),
        ("nvidia.com/gpu.product", "In", ("NVIDIA-L4", "NVIDIA-L40S"), {"L4", "L40S"}),
        ("nvidia.com/gpu.product", "In", ("NVIDIA-UNHEARD-OF", "NVIDIA-L4"), {"L4"}),
        ("nvidia.com/gpu.product", "NotIn", ("NVIDIA-L4",), {"A100", "H100", "L40S"}),
        ("nvidia.com/gpu.family", "In", ("ada-lovelace",), {"L4", "L40S"}),
        ("nvidia.com/gpu.family", "NotIn", ("ampere", "hopper"), {"L4", "L40S"}),
        ("nvidia.com/gpu.memory", "Gt", ("45000",), {"H100", "L40S"}),
        ("nvidia.com/gpu.memory", "Lt", ("30000",), {"L4"}),
        ("nvidia.com/gpu.memory", "In", ("81559",), {"H100"}),
        ("nvidia.com/gpu.compute.major", "In", ("8",), {"A100", "L4", "L40S"}),
        ("nvidia.com/gpu.compute.major", "Gt", ("8",), {"H100"}),
        ("nvidia.com/gpu.compute.minor", "NotIn", ("0",), {"L4", "L40S"}),
    ],
)
def test_the_same_cards_pass(key: str, operator: str, values: tuple[str, ...], cards: set[str]) -> None:
    expression = selector(Wanted(key, operator, values))
    assert expression
    assert _passing(expression) == cards


@pytest.mark.parametrize(
    "wanted",
    [
        Wanted("nvidia.com/gpu.present", "In", ("true",)),
        Wanted("nvidia.com/gpu.present", "Exists"),
        Wanted("nvidia.com/gpu.sharing-strategy", "In", ("none",)),
    ],
)
def test_what_every_device_meets_needs_no_condition(wanted: Wanted) -> None:
    assert selector(wanted) == ""


@pytest.mark.parametrize(
    "wanted",
    [
        Wanted("nvidia.com/gpu.product", "Gt", ("5",)),
        Wanted("nvidia.com/gpu.product", "Exists"),
        Wanted("nvidia.com/gpu.product", "In", ("it's' || true",)),
        Wanted("nvidia.com/gpu.memory", "In", ("much",)),
        Wanted("nvidia.com/gpu.count", "In", ("8",)),
        Wanted("nvidia.com/gpu.present", "DoesNotExist"),
        Wanted("cloud.google.com/gke-accelerator", "In", ("nvidia-l4",)),
    ],
)
def test_what_no_device_publishes_is_no_condition(wanted: Wanted) -> None:
    assert selector(wanted) is None


@pytest.mark.parametrize(
    ("wanted", "shared"),
    [
        (Wanted("nvidia.com/gpu.product", "In", ("Tesla-T4-SHARED",)), True),
        (Wanted("nvidia.com/gpu.replicas", "In", ("4",)), True),
        (Wanted("nvidia.com/gpu.replicas", "In", ("1",)), False),
        (Wanted("nvidia.com/gpu.sharing-strategy", "In", ("mps",)), True),
        (Wanted("nvidia.com/gpu.sharing-strategy", "In", ("none",)), False),
    ],
)
def test_replicas_are_known_by_their_labels(wanted: Wanted, shared: bool) -> None:
    assert is_shared(wanted) is shared


@pytest.mark.parametrize(
    "key",
    [
        *(f"nvidia.com/cuda.driver.{part}" for part in ("major", "minor")),
        *(f"nvidia.com/cuda.driver-version.{part}" for part in ("major", "minor")),
        *(f"nvidia.com/cuda.runtime.{part}" for part in ("major", "minor")),
        *(f"nvidia.com/cuda.runtime-version.{part}" for part in ("major", "minor")),
    ],
)
@pytest.mark.parametrize("operator", ["In", "NotIn", "Gt", "Lt"])
def test_versions_are_compared_on_every_device(key: str, operator: str) -> None:
    expression = selector(Wanted(key, operator, ("12",)))
    assert expression
    assert isinstance(_passing(expression), set)
