"""What KAI does not count of what it places: that holds to no quota and to no limit.

KAI counts a claim by the name of its class, which has to have ``gpu`` in it, and an extended resource by its
own, which has to end so. Beside Kueue, which alone holds quotas then, that does not matter. Facts: KAI 0.17.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from allotment.devices.classes import CPU_CLASS
from allotment.devices.extended_resources import PREFIX
from allotment.devices.world import World
from allotment.scheduling.state.claimed_devices import is_gpu
from allotment.simulation.setting import Scheduler
from allotment.simulation.work import Work

_MOST: Final = 3


def uncounted(works: Sequence[Work], world: World, scheduler: Scheduler, version: str) -> Iterator[str]:
    """What KAI counts nothing for, and whose work asks for it."""
    if scheduler is not Scheduler.KAI:
        return
    named = {each.extended_resource_name for each in world.classes.values()}
    beyond: dict[str, list[str]] = {}
    for work in works:
        for name in sorted(_classes(work) - {CPU_CLASS}):
            if not is_gpu(name):
                beyond.setdefault(f"claims of class `{name}`", []).append(work.name)
        for name, _ in work.ask.request.others:
            if (name in named or name.startswith(PREFIX)) and not name.endswith("gpu"):
                beyond.setdefault(f"pods that ask for `{name}`", []).append(work.name)
    for what, of in beyond.items():
        rest = f" and {len(of) - _MOST:,} more" if len(of) > _MOST else ""
        whom = f"{', '.join(of[:_MOST])}{rest}"
        yield f"KAI {version} does not count {what}: no quota and no limit holds for those of {whom}"


def _classes(work: Work) -> frozenset[str]:
    return frozenset(
        each.exactly.device_class
        for claim in work.ask.claims
        for request in claim.spec.requests
        for each in request.alternatives
    )
