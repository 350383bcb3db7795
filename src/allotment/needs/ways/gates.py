"""What must be switched on for a way of sharing a card: gates of Kubernetes, of NVIDIA's driver, of KAI.

A gate of Kubernetes that is off makes the API server take a field out without a word; one of the driver that
is off lets the pod be placed, and hang when it is prepared.
Facts: ``pkg/features/kube_features.go`` of Kubernetes 1.34 to 1.37; ``pkg/featuregates`` and the README of
NVIDIA's DRA driver for GPUs v0.5; the chart of KAI 0.17.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from allotment.devices.server import GATES, Gate, Server


@dataclass(frozen=True, slots=True)
class DriverGate:
    """A feature gate of NVIDIA's driver: all are alpha, and off by default. ``refuses`` exclude it."""

    name: str
    since: str
    refuses: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting of something else that must be switched on, and what it is when left alone."""

    owner: str
    name: str
    left_alone: str


DYNAMIC_MIG: Final = DriverGate(
    "DynamicMIG", "25.12", ("PassthroughSupport", "NVMLDeviceHealthCheck", "MPSSupport")
)
TIME_SLICING: Final = DriverGate("TimeSlicingSettings", "25.8")
MPS: Final = DriverGate("MPSSupport", "25.8", ("DynamicMIG", "ConsumableShares"))
CONSUMABLE_SHARES: Final = DriverGate("ConsumableShares", "0.5", ("MPSSupport",))
GPU_SHARING: Final = Setting("KAI", "global.gpuSharing", "false")

GATE_WORDS: Final[Mapping[Gate, str]] = {
    Gate.PARTITIONABLE_DEVICES: "cards that are cut on demand",
    Gate.CONSUMABLE_CAPACITY: "claims for an amount of a device",
    Gate.PRIORITIZED_LIST: "claims with a list of alternatives",
}


def off_by_default(gates: tuple[Gate, ...], version: str) -> tuple[Gate, ...]:
    """Those gates that a Kubernetes of this version has off unless somebody switches them on."""
    server = Server.of(version)
    return tuple(gate for gate in gates if not server.has(gate))


def kubernetes_words(gate: Gate) -> str:
    """``DRAConsumableCapacity (on by default from Kubernetes 1.36)``."""
    _, on_since = GATES[gate]
    since = (
        "off by default" if on_since is None else f"on by default from Kubernetes {on_since[0]}.{on_since[1]}"
    )
    return f"{gate} ({since})"


def driver_words(gate: DriverGate) -> str:
    """``the gate MPSSupport of NVIDIA's driver (alpha, off by default, since 25.8)``."""
    return f"the gate {gate.name} of NVIDIA's driver (alpha, off by default, since {gate.since})"
