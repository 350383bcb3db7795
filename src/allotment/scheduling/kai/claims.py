"""Claims on devices while a cycle is under way: who uses them and what they were given.

A claim is allocated on the node on which its first pod is placed, and given back with the last one. Devices
are taken in the order of their slices. A claim on GPUs that several pods may share must carry the label of
their queue. ``plugins/dynamicresources`` of KAI 0.17, which gives its allocator no optional features.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from allotment.quantities.kubernetes import INT64_MAX
from allotment.scheduling.kai.tasks import Task
from allotment.scheduling.state.claimed_devices import Allocation, Claim, DeviceOfNode, is_gpu
from allotment.scheduling.state.pod_groups import GroupPod
from allotment.scheduling.state.state import State

QUEUE_LABEL: Final = "kai.scheduler/queue"
MOST_USERS: Final = 256


def claimed_gpus(claim: Claim) -> int:
    """How many GPUs a claim counts for, in quota and on nodes.

    What a pod asked for as an extended resource counts if the resource is named like GPUs are.
    """
    if claim.extended is not None:
        return claim.count if claim.extended.endswith("gpu") else 0
    return claim.count if is_gpu(claim.device_class) else 0


def _sorted(devices: Iterable[DeviceOfNode]) -> dict[str, list[DeviceOfNode]]:
    by_node: dict[str, list[DeviceOfNode]] = {}
    for device in devices:
        by_node.setdefault(device.node, []).append(device)
    return by_node


class Claims:
    """All claims of the session; ``by_node`` are its devices, where they have been sorted before."""

    def __init__(self, state: State, by_node: Mapping[str, Sequence[DeviceOfNode]] | None = None) -> None:
        self.claims: dict[str, Claim] = dict(state.claims)
        self.classes = state.device_classes
        self.nodes = state.nodes
        self.by_node = _sorted(state.devices) if by_node is None else by_node

    def gpus_of_node(self, node: str) -> int:
        """How many devices of GPU drivers a node has."""
        return sum(is_gpu(device.driver) for device in self.by_node.get(node, ()))

    def of(self, pod: GroupPod) -> tuple[Claim | None, ...]:
        """The claims of a pod; None for one that is not there."""
        return tuple(self.claims.get(name) for name in pod.claims)

    def gpus_of(self, pod: GroupPod) -> int:
        """How many GPUs the claims of a pod count for."""
        return min(INT64_MAX, sum(claimed_gpus(claim) for claim in self.of(pod) if claim is not None))

    def attach(self, task: Task) -> None:
        """What the claims of a pod were given before."""
        task.given = self.of(task.pod)
        for name in task.pod.claims:
            claim = self.claims.get(name)
            if claim is not None:
                task.claims[name] = claim.allocation.devices if claim.allocation else None

    def refusal(self, task: Task) -> str | None:
        """Why a pod with these claims may go nowhere, if so."""
        for name in task.pod.claims:
            claim = self.claims.get(name)
            if claim is None:
                return f"failed to get resource claim {name}"
            if len(claim.reserved_for) >= MOST_USERS:
                return f"resource claim {name} has reached its maximum number of consumers ({MOST_USERS})"
            label = self._label_fault(claim, task.group.queue)
            if label:
                return f"pod {task.id} cannot be scheduled: {label}"
            if claim.allocation is None and claim.device_class not in self.classes:
                return f"device class {claim.device_class} does not exist for claim {name} request request"
        return None

    @staticmethod
    def _label_fault(claim: Claim, queue: str) -> str | None:
        if claim.template or not is_gpu(claim.device_class):
            return None
        label = claim.labels.get(QUEUE_LABEL, "")
        if not label:
            return (
                f"DRA claim {claim.name} is a shared GPU claim but does not have a queue label"
                f" ({QUEUE_LABEL})"
            )
        if label != queue:
            return (
                f"DRA claim {claim.name} is a shared GPU claim with wrong queue label"
                f" (expected queue: {queue}, claim queue label: {label})"
            )
        return None

    def misfit(self, task: Task, node: str) -> str | None:
        """Why the claims of a pod cannot be met on a node, if so."""
        open_claims: list[Claim] = []
        for name in task.pod.claims:
            claim = self.claims[name]
            if self._by_plugin(claim, node):
                continue
            if claim.allocation is None:
                open_claims.append(claim)
            elif claim.allocation.node != node:
                return f"claim {name} node selector does not match node {node}"
        if open_claims and self._found(open_claims, node) is None:
            return f"cannot allocate all DRA claims on node {node}"
        return None

    def _by_plugin(self, claim: Claim, node: str) -> bool:
        """Whether the node has the extended resource from a device plugin, so that nothing is claimed."""
        return claim.extended is not None and self.nodes[node].allocatable.get(claim.extended, 0) > 0

    def _found(self, claims: Sequence[Claim], node: str) -> list[tuple[str, ...]] | None:
        """Devices for each of the claims together."""
        taken = {
            key for claim in self.claims.values() if claim.allocation for key in claim.allocation.devices
        }
        found: list[tuple[str, ...]] = []
        for claim in claims:
            free = self._free(claim.device_class, node, taken)
            if len(free) < claim.count:
                return None
            found.append(tuple(free[: claim.count]))
            taken.update(free[: claim.count])
        return found

    def _free(self, device_class: str, node: str, taken: Iterable[str]) -> list[str]:
        devices = self.by_node.get(node, ())
        return [each.key for each in devices if device_class in each.classes and each.key not in taken]

    def allocate(self, task: Task) -> None:
        """A pod was placed: it uses its claims, which get their devices if they have none."""
        for name in task.pod.claims:
            claim = self.claims.get(name)
            if claim is None or task.node is None or self._by_plugin(claim, task.node):
                continue
            devices = task.claims.get(name)
            if devices is None and claim.allocation is not None:
                devices = claim.allocation.devices
            if devices is None:
                found = self._found([claim], task.node)
                if found is None:
                    continue
                devices = found[0]
            users = claim.reserved_for if task.id in claim.reserved_for else (*claim.reserved_for, task.id)
            self.claims[name] = replace(claim, allocation=Allocation(task.node, devices), reserved_for=users)
            task.claims[name] = devices

    def give_back(self, task: Task) -> None:
        """A pod lost its place: claims without another user lose their devices."""
        for name in task.pod.claims:
            claim = self.claims.get(name)
            if claim is None:
                continue
            users = tuple(user for user in claim.reserved_for if user != task.id)
            allocation = claim.allocation if users else None
            self.claims[name] = replace(claim, allocation=allocation, reserved_for=users)
            task.claims[name] = allocation.devices if allocation else None
