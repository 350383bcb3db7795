"""What the default scheduler decides about a pod, in its words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from allotment.devices.claims import Allocation


@dataclass(frozen=True, slots=True)
class Bound:
    """A pod gets a node, and its claims these devices."""

    pod: str
    node: str
    allocations: tuple[Allocation, ...] = ()


@dataclass(frozen=True, slots=True)
class Waits:
    """A pod was looked at and gets no node now; ``error``: it is tried again without anything happening."""

    pod: str
    message: str
    error: bool = False


@dataclass(frozen=True, slots=True)
class Preempted:
    """A pod has to leave its node for another, of a higher priority, which is to have its place there."""

    pod: str
    by: str
    node: str


Decision = Bound | Waits | Preempted


def refused(nodes: int, reasons: Mapping[str, int]) -> str:
    """Why no node will do, as the scheduler tells it; what it adds about preemption is left out."""
    told = ", ".join(sorted(f"{number} {reason}" for reason, number in reasons.items()))
    return f"0/{nodes} nodes are available: {told}." if told else f"0/{nodes} nodes are available."
