"""Devices for the claims of a pod on a node: the upstream allocator, kept for all nodes of a world.

Every claim of the pod is allocated, or none; a claim with a name that another pod uses already keeps its
devices and binds the pod to where they are. The rules are those of the plugin ``dynamicresources``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from allotment.devices.allocation import NamedClaim, Taken, allocate_on
from allotment.devices.allocator import Allocator, ground_of, pools_of
from allotment.devices.claims import Allocation
from allotment.devices.world import World
from allotment.scheduling.state.pods import Pod

NOT_ALL: Final = "cannot allocate all claims"
NOT_HERE: Final = "resourceclaim not available on the node"
ALTERNATIVES: Final = 8


class DeviceIndex:
    """What a world publishes, made ready once. It answers, and does not change with what is taken."""

    def __init__(self, world: World) -> None:
        self.world = world
        self._ground = ground_of(world)
        self._pools = pools_of(world, self._ground)
        self._allocators: dict[str, Allocator] = {}

    def _allocator(self, node: str) -> Allocator:
        known = self._allocators.get(node)
        if known is None:
            known = Allocator(self.world, node, pools=self._pools, ground=self._ground)
            self._allocators[node] = known
        return known

    def fault_of(self, pod: Pod) -> str | None:
        """What is wrong with the claims on every node."""
        return next(filter(None, map(self._allocator("").fault_of, (each.spec for each in pod.claims))), None)

    def find(
        self, pod: Pod, node: str, taken: Taken, shared: Mapping[str, Allocation]
    ) -> tuple[Allocation, ...] | str:
        """The allocations of a pod's claims on a node, or why there are none; AllocationError for good."""
        if len(pod.claims) == 1 and pod.claims[0].shared is None:
            one = self._allocator(node).find(pod.claims[0].spec, taken)
            return NOT_ALL if one is None else (one,)
        known = [shared.get(claim.shared) if claim.shared else None for claim in pod.claims]
        here = self.world.node_named(node)
        for each in known:
            if each is not None and each.node_selector is not None and not each.node_selector.matches(here):
                return NOT_HERE
        new = [claim for claim, each in zip(pod.claims, known, strict=True) if each is None]
        found = self._new([NamedClaim(claim.name, claim.spec) for claim in new], node, taken)
        if found is None:
            return NOT_ALL
        fresh = iter(found)
        return tuple(each or next(fresh) for each in known)

    def _new(self, claims: list[NamedClaim], node: str, taken: Taken) -> tuple[Allocation, ...] | None:
        if not claims:
            return ()
        if len(claims) == 1:
            one = self._allocator(node).find(claims[0].spec, taken)
            return None if one is None else (one,)
        site = self._pools.site(self.world.node_named(node))
        attempt = allocate_on(site, claims, taken, self._ground)
        if attempt.error is not None and not attempt.error.only_this_node:
            raise attempt.error
        return attempt.allocations


def named(
    pod: Pod, allocations: tuple[Allocation, ...], shared: Mapping[str, Allocation]
) -> tuple[Allocation, ...]:
    """The allocations with new shares named by whose they are, so that they are the same each time."""
    return tuple(
        allocation
        if claim.shared in shared or not any(each.share_id for each in allocation.results)
        else _named(allocation, pod.key, number)
        for number, (claim, allocation) in enumerate(zip(pod.claims, allocations, strict=False))
    )


def _named(allocation: Allocation, pod: str, number: int) -> Allocation:
    results = tuple(
        each if each.share_id is None else replace(each, share_id=f"{pod}/{number}/{place}")
        for place, each in enumerate(allocation.results)
    )
    return replace(allocation, results=results)


def preference(pod: Pod, allocations: tuple[Allocation, ...]) -> int:
    """How early in their lists the alternatives stand that a pod was given (the plugin's score)."""
    score = 0
    for claim, allocation in zip(pod.claims, allocations, strict=False):
        given = {result.request for result in allocation.results}
        for request in claim.spec.requests:
            for index, each in enumerate(request.first_available):
                if f"{request.name}/{each.name}" in given:
                    score += ALTERNATIVES - index
                    break
    return score
