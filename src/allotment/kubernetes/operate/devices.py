"""How many pods more of a Job would find their devices, as far as what is published tells.

A claim of each template that its pods name is placed again and again beside all that is held, and beside the
claims of pods that still wait, which come first. Quota is no device: it changes hands before the devices do,
by the grace period of whoever gives them up.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from allotment.devices.claims import ClaimSpec
from allotment.devices.fleet import Fleet
from allotment.devices.funnel import NoFit
from allotment.devices.read_allocations import allocation_of
from allotment.devices.world import World
from allotment.kubernetes.cluster import Snapshot
from allotment.kubernetes.cluster.world import world_of
from allotment.kubernetes.follow import fields
from allotment.kubernetes.kinds import CLAIM, DEVICE_CLASS, SLICE
from allotment.kubernetes.operate.part import Part


@dataclass(frozen=True)
class Devices:
    """The devices of a snapshot."""

    snapshot: Snapshot

    def pods(self, part: Part, most: int) -> int | None:
        """How many pods more, up to ``most``; None where nothing tells. Pods that claim nothing all do."""
        named = fields.items(part.job, "spec", "template", "spec", "resourceClaims")
        if not named:
            return most
        if not self.snapshot.of(SLICE) or any(self.snapshot.lacks(kind) for kind in (CLAIM, DEVICE_CLASS)):
            return None
        templates = {(each.namespace, each.name): each.spec for each in self._world.templates}
        claims: list[ClaimSpec] = []
        for each in named:
            found = templates.get((part.namespace, fields.text(each, "resourceClaimTemplateName")))
            if found is None:
                return None
            claims.append(found)
        fleet = self._fleet()
        for number in range(most):
            if any(isinstance(fleet.place(claim), NoFit) for claim in claims):
                return number
        return most

    @cached_property
    def _world(self) -> World:
        return world_of(self.snapshot).world

    def _fleet(self) -> Fleet:
        fleet = Fleet(self._world)
        waiting = []
        for claim in self._world.claims:
            allocation = allocation_of(claim.status)
            if allocation is None:
                waiting.append(claim.spec)
            else:
                fleet.hold(allocation)
        for spec in waiting:
            fleet.place(spec)
        return fleet
