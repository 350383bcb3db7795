"""What the upstream allocator may do otherwise than a plan says: defects of releases that a cluster may run.

Facts: up to Kubernetes 1.36.2 the counters of a device stay charged when a constraint or a taint refuses it
afterwards (kubernetes#140436, #140431), so that "two slices of one card" can be refused while a card is
empty. 1.36.3 mends it; which patch release a cluster runs is not always known.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from allotment.devices.claims import ClaimSpec
from allotment.devices.world import World
from allotment.simulation.work import Work

MENDED: Final = "1.36.3"
_NEVER_HAD: Final = 37


def caveats_of(name: str, claim: ClaimSpec, world: World, version: str) -> Iterator[str]:
    """What to beware of for a claim in this world; ``version`` is the cluster's, as far as it is told."""
    if world.server.is_at_least(_NEVER_HAD) or _is_mended(version):
        return
    counted = any(device.consumes_counters for _, device in world.devices())
    tainted = any(device.taints for _, device in world.devices())
    if not counted or not (claim.constraints or (tainted and len(claim.requests) > 1)):
        return
    why = (
        "devices that are to be of one card" if claim.constraints else "several requests beside tainted cards"
    )
    yield (
        f"{name} asks for {why}, of cards that are cut on demand: Kubernetes before {MENDED} may refuse it "
        "though a card is empty, for it keeps counters charged of devices that it has refused; this plan "
        "takes the cluster for one that is mended"
    )


def sharing_caveats(works: Iterable[Work]) -> Iterator[str]:
    """What to beware of where pods share a card: nobody knows how much they slow each other down."""
    for work in works:
        if work.ask.request.shared or any(claim.shared for claim in work.ask.claims):
            yield (
                f"pods of {work.name} share cards and are taken to be as fast as alone: where they take "
                "turns, as many as are on a card take up to as many times as long"
            )


def _is_mended(version: str) -> bool:
    numbers = [int(part) for part in version.removeprefix("v").split(".") if part.isdigit()]
    return numbers >= [1, 36, 3]
