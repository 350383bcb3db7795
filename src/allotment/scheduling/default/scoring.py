"""How well a node suits a pod: LeastAllocated, BalancedAllocation and what DynamicResources prefers.

Their weights are 1, 1 and 2, as in kube-scheduler's default profile.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from allotment.devices.claims import Allocation
from allotment.scheduling.state.amounts import CPU
from allotment.scheduling.state.nodes import ClusterNode
from allotment.scheduling.state.pods import Pod

MEMORY: Final = "memory"
LEAST: Final = {CPU: 100, MEMORY: 200 * 1024**2}  # what a pod that asks for nothing is taken to use
TOP: Final = 100
DEVICES_WEIGHT: Final = 2


@dataclass(frozen=True, slots=True)
class Candidate:
    """A node on which a pod may stand, the devices that it would get, and the parts of the score."""

    node: ClusterNode
    allocations: tuple[Allocation, ...]
    resources: int = 0
    preference: int = 0


def room(pod: Pod, node: ClusterNode, counted: Mapping[str, int]) -> int:
    """LeastAllocated: how much of processors and memory would be left."""
    asked = {**LEAST, **pod.requests}
    parts = []
    for resource in LEAST:
        whole = node.allocatable.get(resource, 0)
        if whole:
            wanted = counted[resource] + asked[resource]
            parts.append((whole - wanted) * TOP // whole if wanted <= whole else 0)
    return sum(parts) // len(parts) if parts else 0


def balance(pod: Pod, node: ClusterNode, used: Mapping[str, int]) -> int:
    """BalancedAllocation: how alike the parts would be that are used of processors and memory."""
    parts = [
        min((used[resource] + pod.requests.get(resource, 0)) / whole, 1.0)
        for resource in LEAST
        if (whole := node.allocatable.get(resource, 0))
    ]
    return int((1 - abs(parts[0] - parts[1]) / 2) * TOP) if len(parts) == 2 else TOP


def scores(candidates: Sequence[Candidate]) -> list[int]:
    """How well each candidate suits."""
    most = max([each.preference for each in candidates], default=0)
    if not most:
        return [each.resources for each in candidates]
    return [each.resources + DEVICES_WEIGHT * (each.preference * TOP // most) for each in candidates]
